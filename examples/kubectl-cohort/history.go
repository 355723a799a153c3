// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/history"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/hub"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

const historyUsage = `Tell what was of a cluster: what it waited for, what blocked it, what ended the wait, when it started, and what became of it.

The objects of a hub keep a part of that: when each cluster got the version, and its last change. From these of all clusters it
is planned again which cluster waited for which, with the strategy and the clusters of now. Kubernetes Events that name the cluster are added;
a hub keeps these for an hour. What nothing says is not recorded. A recording has all from its first reading to its last.`

// historyCommand tells the past of a cluster.
func historyCommand(flags *genericclioptions.ConfigFlags) *cobra.Command {
	f := newFlags(flags)
	cmd := &cobra.Command{
		Use:   "history CLUSTER",
		Short: "Tell what was of a cluster: why it waited, for which clusters, what ended the wait, and from when on that is known",
		Long:  historyUsage,
		Example: `  kubectl cohort history edge-8                          why did it start at 10:15?
  kubectl cohort history edge-8 --recording monday.rec   each time at which the decision or its reason changed
  kubectl cohort history edge-8 -f all.yaml --start 2025-01-31T22:00:00Z`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("history: must be followed by one cluster, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			f.startGiven = cmd.Flags().Changed("start")
			f.progress = progressOn(cmd.ErrOrStderr())
			all, err := f.histories(cmd, names[0])
			if err != nil {
				return err
			}
			return f.format.write(all, cmd.OutOrStdout())
		},
	}
	cmd.ValidArgsFunction = f.offer(f.oneCluster)
	f.input.declare(cmd.Flags())
	commandline.Var(cmd.Flags(), &f.start, "start", "", "`time` that counts as now, in RFC 3339")
	commandline.Var(cmd.Flags(), &f.format, "output", "o", "`format` of the output: text, json or yaml")
	return cmd
}

// pastOf is what is known of a cluster in a rollout.
type pastOf struct {
	Cluster string `json:"cluster"`
	Rollout string `json:"rollout"`
	// Group is there where the cluster is selected, in the end. Why says why it is in its group, or why it is not selected.
	Group *grouping.Key `json:"group,omitempty"`
	Why   []string      `json:"why,omitempty"`
	// Since is the first time of which anything is known; zero where that is nothing. Until is the end, and now unless a recording
	// is asked.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until"`
	// By says what it is known by.
	By      string           `json:"by"`
	Moments []history.Moment `json:"moments"`
	Notes   []string         `json:"notes,omitempty"`

	clock output.Clock
}

// pasts are those of a cluster in all its rollouts.
type pasts []pastOf

// histories reads what there is, and tells it.
func (f *flags) histories(cmd *cobra.Command, cluster string) (pasts, error) {
	if f.past.file != "" && len(f.files) == 0 {
		defer f.progress.begin("reading the recording")()
		return f.recorded(cluster)
	}
	scenarios, events, err := f.present(cmd)
	if err != nil {
		return nil, err
	}
	f.from(scenarios)
	var all pasts
	for _, s := range with(scenarios, cluster) {
		p := pastOf{Cluster: cluster, Rollout: s.Rollout, Until: f.start.Time, By: "stamps and conditions, which keep the last change of each cluster alone", Notes: s.Notes,
			clock: output.Clock{Start: f.start.Time, Word: "now"}}
		if err := p.placed(s); err != nil {
			return nil, err
		}
		t := history.New(cluster)
		since, err := reconstruct(t, s, cluster, f.start.Time)
		if err != nil {
			return nil, err
		}
		if err := watch(t, s, cluster, f.start.Time, history.Stamps); err != nil {
			return nil, err
		}
		t.Tell(events, s.Owner)
		p.Since, p.Moments = since, t.Moments()
		all = append(all, p)
	}
	return all, nil
}

// placed says where the cluster is; an unknown cluster is an error.
func (asked *pastOf) placed(s *scenario.Scenario) error {
	group, selected, why, err := s.Why(asked.Cluster)
	if err != nil {
		return fmt.Errorf("history %w", err)
	}
	if asked.Why = why; selected {
		asked.Group = &group
	}
	return nil
}

// present reads the rollouts that are wanted, as they are, and the events.
func (f *flags) present(cmd *cobra.Command) (all []*scenario.Scenario, events []manifest.Object, err error) {
	if len(f.files) > 0 && f.past.file == "" && f.past.at.IsZero() {
		objects, notes, err := readFiles(cmd.InOrStdin(), f.files, nil)
		if err != nil {
			return nil, nil, err
		}
		events, objects = history.SplitEvents(objects)
		all, err = noted(notes)(scenario.Load(objects, scenario.Wanted{Rollout: f.rollout, Namespace: f.namespace(), Placement: f.placement.Ref}))
		return all, events, err
	}
	if all, err = f.scenarios(cmd); err != nil {
		return nil, nil, err
	}
	events, notes, err := f.events(cmd.Context(), all)
	for _, s := range all {
		s.Notes = append(s.Notes, notes...)
	}
	return all, events, err
}

// events are those of the hub about the rollouts.
func (f *flags) events(ctx context.Context, all []*scenario.Scenario) (events []manifest.Object, notes []string, err error) {
	client, err := f.client()
	if err != nil {
		return nil, nil, err
	}
	var namespaces []string
	for _, s := range all {
		_, name, _ := strings.Cut(s.Rollout, " ")
		namespace, _, found := strings.Cut(name, "/")
		if !found {
			namespace = "default" // where events stand about what has none
		}
		namespaces = append(namespaces, namespace)
	}
	slices.Sort(namespaces)
	var resources []hub.Resource
	for _, namespace := range slices.Compact(namespaces) {
		resources = append(resources, hub.Resource{Group: "events.k8s.io", Versions: []string{"v1"}, Name: "events", Namespace: namespace, Optional: true})
	}
	events, notes, err = client.List(ctx, resources...)
	return events, slices.Compact(notes), err
}

// watch shows a recorder how the rollout stands at a time.
func watch(t *history.Recorder, s *scenario.Scenario, cluster string, at time.Time, from history.Source) error {
	_, err := planned(t, s, cluster, at, from)
	return err
}

// planned does what watch does, and gives the time when that changes by itself; zero if it does not.
func planned(t *history.Recorder, s *scenario.Scenario, cluster string, at time.Time, from history.Source) (next time.Time, err error) {
	plan, err := s.Now(s.Options(), at)
	if err != nil {
		return next, err
	}
	reports := s.Reports(rollout.Options{})
	var report *status.Report
	if i := slices.IndexFunc(reports, func(r status.Report) bool { return r.Cluster == cluster }); i >= 0 {
		report = &reports[i]
	}
	t.Watch(at, plan, report, from)
	if plan.RecheckAfter > 0 {
		next = at.Add(plan.RecheckAfter)
	}
	return next, nil
}

const (
	// mostReplanned is how many clusters may be planned in all, to find out what was, and leastReplanned how often at least.
	mostReplanned  = 2_000_000
	leastReplanned = 30
)

// reconstruct tells what the objects of a rollout keep of the time before. It says from which time on; zero where they keep nothing.
func reconstruct(t *history.Recorder, s *scenario.Scenario, cluster string, before time.Time) (since time.Time, err error) {
	kept := s.Kept()
	if _, _, selected := s.Groups.Find(cluster); kept.Missing == "" && !selected {
		kept.Missing = "it is not selected"
	}
	if kept.Missing != "" {
		t.Say(history.Moment{What: history.NotRecorded, Message: "which cluster waited for which, as " + kept.Missing})
		return since, nil
	}
	moments := slices.DeleteFunc(kept.Moments, func(at time.Time) bool { return !at.Before(before) })
	if len(moments) == 0 {
		t.Say(history.Moment{What: history.NotRecorded, Until: before})
		return since, nil
	}
	most, gone := max(leastReplanned, mostReplanned/(s.Groups.NumClusters()+1)), history.Moment{What: history.NotRecorded}
	if more := len(moments) - most; more > 0 {
		moments = moments[more:]
		gone.Message = fmt.Sprintf("%d earlier changes of clusters are left out, as there are so many clusters", more)
	}
	gone.Until = moments[0]
	t.Say(gone)
	plans := 0
	for i, at := range moments {
		end := before
		if i+1 < len(moments) {
			end = moments[i+1]
		}
		seen, written := s.Then(at)
		if err := watch(t, seen, cluster, at, history.Stamps); err != nil {
			return since, err
		}
		for ; !at.IsZero() && at.Before(end); plans++ {
			next, err := planned(t, written, cluster, at, history.Stamps)
			if err != nil {
				return since, err
			}
			if at = next; plans > 2*most {
				break
			}
		}
	}
	return moments[0], nil
}

// Text has a block for each rollout.
func (events pasts) Text(w io.Writer) error {
	var b bytes.Buffer
	for i, p := range events {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(p.clock.Read(p.text()))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Value is a list of all.
func (events pasts) Value() (any, error) { return map[string]pasts{"rollouts": events}, nil }

func (asked pastOf) text() string {
	var b bytes.Buffer
	if asked.Group != nil {
		fmt.Fprintf(&b, "%s is in %v of %s\n", asked.Cluster, *asked.Group, asked.Rollout)
	} else {
		fmt.Fprintf(&b, "%s is not selected by %s\n", asked.Cluster, asked.Rollout)
	}
	for _, why := range asked.Why {
		fmt.Fprintf(&b, "  %s\n", why)
	}
	b.WriteString(asked.clock.Head())
	fmt.Fprintf(&b, "known by: %s\n", asked.By)
	for _, note := range asked.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	b.WriteString("\n")
	width := len("before")
	for _, m := range asked.Moments {
		width = max(width, len(asked.column(m)))
	}
	for i := 0; i < len(asked.Moments); i++ {
		m, words := asked.Moments[i], asked.words(asked.Moments[i])
		if i+1 < len(asked.Moments) && m.What == history.Succeeds && asked.Moments[i+1].What == history.Done && asked.Moments[i+1].Time.Equal(m.Time) {
			words, i = "succeeds and is done", i+1
		}
		fmt.Fprintf(&b, "%-*s  %s\n", width, asked.column(m), words)
		if n := alike(asked.Moments[i:]); n > 2*waitsShown {
			for _, m := range asked.Moments[i+1 : i+waitsShown] {
				fmt.Fprintf(&b, "%-*s  %s\n", width, asked.column(m), asked.words(m))
			}
			fmt.Fprintf(&b, "%-*s  … %d more changes …\n", width, "", n-2*waitsShown)
			i += n - waitsShown - 1
		}
	}
	return b.String()
}

// waitsShown is how many of the first and of the last changes of one wait a text has; data has all.
const waitsShown = 3

// alike is how many moments follow one another that are waits for the same reason, whichever clusters are waited for.
func alike(all []history.Moment) (n int) {
	for _, m := range all {
		if m.What != history.Waits || len(m.Explanation) == 0 || m.Explanation[0].Reason.Type != all[0].Explanation[0].Reason.Type || m.Explanation[0].Reason.Group != all[0].Explanation[0].Reason.Group {
			break
		}
		n++
	}
	return n
}

// column is what stands before a moment.
func (asked pastOf) column(m history.Moment) string {
	switch {
	case m.Time.IsZero():
		return "before"
	case m.Time.Equal(asked.Until):
		return asked.clock.Word
	}
	return asked.clock.Read(m.Time.UTC().Truncate(time.Second).Format(time.RFC3339))
}

// pastWords are what the text calls the moments.
var pastWords = map[history.What]string{
	history.NotRecorded: "not recorded", history.NotSelected: "is not selected", history.Waits: "waits", history.MayStart: "may start",
	history.Starts: "starts", history.Progressing: "is progressing again", history.Succeeds: "succeeds", history.Fails: "fails",
	history.Validates: "succeeds, and waits for validation", history.TimesOut: "times out", history.Done: "is done", history.Skipped: "is skipped", history.Deselected: "is deselected, and still counts",
	history.Changed: "changed", history.Gone: "the rollout is gone", history.Event: "event",
}

func (asked pastOf) words(m history.Moment) string {
	text := pastWords[m.What]
	if m.What == history.NotRecorded && !m.Until.IsZero() {
		text += " until " + m.Until.UTC().Format(time.RFC3339)
	}
	if m.Message != "" {
		text += ": " + m.Message
	}
	return text
}
