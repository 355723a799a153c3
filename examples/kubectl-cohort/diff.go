// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/recording"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

const diffUsage = `Say what changed of each rollout between two dumps of a hub, or since one until now.

A dump is a file of objects or a directory of such files, as of the newest time in it, unless a flag says when it was made: a
deadline that passed after that has not passed in it. Or it is a recording: its first reading where it is the older one, its last
where it is the newer one, unless a flag says which. Without NEW the hub is read. Where the version changed meanwhile, what is told
is of the new version.`

// difference is the command line of kubectl cohort diff.
type difference struct {
	input
	wasAt, isAt moment
	format      format
}

// diffCommand compares two dumps.
func diffCommand(hub *genericclioptions.ConfigFlags) *cobra.Command {
	d := difference{input: input{hub: hub}}
	cmd := &cobra.Command{
		Use:   "diff OLD [NEW]",
		Short: "Say what changed of each rollout between two dumps of a hub or recordings, or since one until now",
		Long:  diffUsage,
		Example: `  kubectl cohort diff yesterday.yaml today.yaml
  kubectl cohort diff yesterday.yaml                     what changed since yesterday?
  kubectl cohort diff monday.rec --old-at 10:15          and since a quarter past ten?`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errors.New("diff: must be followed by two files or directories, the older one first, or by the older one alone")
			}
			if len(args) == 1 && cmd.Flags().Changed("new-at") {
				return errors.New("--new-at: must be given with NEW, as the hub is read now")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			d.progress = progressOn(cmd.ErrOrStderr())
			all, err := d.changed(cmd, files)
			if err != nil {
				return err
			}
			return d.format.write(all, cmd.OutOrStdout())
		},
	}
	s := cmd.Flags()
	s.StringVar(&d.rollout, "rollout", "", "`name` of the one object that rolls out, where there are several")
	commandline.Var(s, &d.wasAt, "old-at", "", "`time` of the old dump, such as 10:15 (UTC, of the last day in it) or in RFC 3339")
	commandline.Var(s, &d.isAt, "new-at", "", "`time` of the new dump, likewise")
	commandline.Var(s, &d.format, "output", "o", "`format` of the output: text, json or yaml")
	return cmd
}

// changes are what changed of several rollouts.
type changes []change

// change is what changed of a rollout.
type change struct {
	Rollout string `json:"rollout"`
	// Was and Is are how it stood, and when; Was is nil for a rollout that is new, and Is for one that is gone.
	Was *stood `json:"was,omitempty"`
	Is  *stood `json:"is,omitempty"`
	// Spec are the fields of the object's spec that are not as they were.
	Spec []string `json:"spec,omitempty"`
	// Joined and Deselected are the clusters that are selected now and were not, and the other way round.
	Joined     []string `json:"joined,omitempty"`
	Deselected []string `json:"deselected,omitempty"`
	rollout.Changes
}

// stood is how a rollout stood at a time.
type stood struct {
	Time   time.Time     `json:"time"`
	Counts status.Counts `json:"counts"`
}

// dump is what was of a hub, and when; the time is zero where it is the newest one of each rollout.
type dump struct {
	objects []manifest.Object
	at      time.Time
}

// load reads a dump or a recording, in which a moment is asked for or else the first or the last one.
func (diff *difference) load(cmd *cobra.Command, file string, at moment, last bool) (dump, error) {
	p := past{file: file, at: at}
	if recorded(file) {
		r, when, err := p.open()
		if err != nil {
			return dump{}, err
		}
		if at.IsZero() && !last {
			when = r.Times()[0]
		}
		objects, err := r.At(when, scenario.Reader())
		return dump{objects, when}, err
	}
	objects, err := scenario.Reader().Read(cmd.InOrStdin(), file)
	if at.ofDay {
		return dump{}, fmt.Errorf("--old-at, --new-at: of %s, which is no recording, the time must have a date, as in 2025-01-31T22:00:00Z", file)
	}
	return dump{objects, at.Time}, err
}

// recorded says whether a file is a recording: gzip of readings. A dump may be compressed, too.
func recorded(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() { // reading a pipe would empty it
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	return err == nil && recording.Begins(text)
}

// now reads the hub.
func (diff *difference) now(cmd *cobra.Command) (dump, error) {
	client, err := diff.client()
	if err != nil {
		return dump{}, err
	}
	defer diff.progress.begin("reading the hub")()
	objects, _, err := client.Rollouts(cmd.Context(), scenario.Wanted{Rollout: diff.rollout, Namespace: diff.namespace()})
	return dump{objects, time.Now().UTC().Truncate(time.Second)}, err
}

// changed compares two dumps, rollout by rollout.
func (diff *difference) changed(cmd *cobra.Command, files []string) (all changes, err error) {
	old, err := diff.load(cmd, files[0], diff.wasAt, false)
	if err != nil {
		return nil, err
	}
	var new dump
	if len(files) > 1 {
		new, err = diff.load(cmd, files[1], diff.isAt, true)
	} else {
		new, err = diff.now(cmd)
	}
	if err != nil {
		return nil, err
	}
	specs := takeOver(old.objects, new.objects)
	wanted := scenario.Wanted{Rollout: diff.rollout, Namespace: diff.namespace()}
	is, err := scenario.Load(new.objects, wanted)
	if err != nil {
		return nil, err
	}
	was, err := scenario.Load(old.objects, wanted)
	if err != nil {
		return nil, err
	}
	named := func(of []*scenario.Scenario, name string) *scenario.Scenario {
		if i := slices.IndexFunc(of, func(s *scenario.Scenario) bool { return s.Rollout == name }); i >= 0 {
			return of[i]
		}
		return nil
	}
	for _, s := range is {
		c, err := compared(named(was, s.Rollout), s, old.at, new.at)
		if err != nil {
			return nil, err
		}
		c.Spec = specs[s.Owner]
		all = append(all, c)
	}
	for _, s := range was {
		if named(is, s.Rollout) == nil {
			c, err := compared(s, nil, old.at, new.at)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// takeOver has the objects that roll out in the new dump take the place of those of the same name in the old one, where their
// specs differ. So the old dump says how clusters stood with the version that is wanted now. It says which fields differ.
func takeOver(old, new []manifest.Object) map[string][]string {
	specs := make(map[string][]string)
	for i, o := range old {
		at := slices.IndexFunc(new, func(n manifest.Object) bool {
			return n.String() == o.String() && n.GroupVersionKind() == o.GroupVersionKind()
		})
		if at < 0 || !rollsOut(o) {
			continue
		}
		fields := differing(o.Object["spec"], new[at].Object["spec"])
		if len(fields) > 0 {
			old[i].Object = new[at].Object
		}
		if fields = append(fields, decidedMeanwhile(o, new[at])...); len(fields) > 0 {
			specs[o.String()] = fields
		}
	}
	return specs
}

// decidedMeanwhile are the annotations with which people decide that are not as they were.
func decidedMeanwhile(was, is manifest.Object) (names []string) {
	for _, word := range []string{"pause", "gates", "open-gates", "retry", "block", "ignore", "give-up", "freeze", "hold", "allowlist", "reviewed"} {
		name := "cohort.open-cluster-management.io/" + word
		if was.GetAnnotations()[name] != is.GetAnnotations()[name] {
			names = append(names, fmt.Sprintf("metadata.annotations[%s]", name))
		}
	}
	return names
}

// rollsOut says whether an object is of a kind that rolls out.
func rollsOut(o manifest.Object) bool {
	_, replicated := o.GetLabels()["policy.open-cluster-management.io/root-policy"]
	return !replicated && slices.Contains([]string{"ManifestWorkReplicaSet", "ClusterManagementAddOn", "Policy"}, o.GetKind())
}

// differing are the fields of two objects that are not alike, by name.
func differing(a, b any) (fields []string) {
	was, _ := a.(map[string]any)
	is, _ := b.(map[string]any)
	both := maps.Clone(was)
	if both == nil {
		both = make(map[string]any)
	}
	maps.Copy(both, is)
	for _, field := range slices.Sorted(maps.Keys(both)) {
		if !reflect.DeepEqual(was[field], is[field]) {
			fields = append(fields, "spec."+field)
		}
	}
	return fields
}

// compared says what changed of a rollout, of which one may be nil, between two times.
func compared(was, is *scenario.Scenario, wasAt, isAt time.Time) (c change, err error) {
	var before, after *rollout.Result
	if was != nil {
		c.Rollout = was.Rollout
		if c.Was, before, err = standing(was, wasAt); err != nil {
			return c, err
		}
	}
	if is != nil {
		c.Rollout = is.Rollout
		if c.Is, after, err = standing(is, isAt); err != nil {
			return c, err
		}
	}
	if was == nil || is == nil {
		return c, nil
	}
	c.Joined, c.Deselected = missing(is, was), missing(was, is)
	c.Changes = after.Changes(before)
	return c, nil
}

// standing is how a rollout stood when it was written down.
func standing(s *scenario.Scenario, at time.Time) (*stood, *rollout.Result, error) {
	if at.IsZero() {
		at = newest(s, time.Now())
	}
	if at.IsZero() { // nothing was written yet
		at = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	plan, err := s.Now(s.Options(), at)
	if err != nil {
		return nil, nil, err
	}
	return &stood{at.UTC(), plan.Counts}, plan, nil
}

// missing are the clusters of one that the other does not select.
func missing(one, other *scenario.Scenario) (names []string) {
	for i := range one.Groups.NumClusters() {
		if _, selected := other.Groups.Position(one.Groups.Cluster(i)); !selected {
			names = append(names, one.Groups.Cluster(i))
		}
	}
	return names
}

// Text has a block for each rollout.
func (list changes) Text(w io.Writer) error {
	var b bytes.Buffer
	for i, c := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		c.text(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (one change) text(b *bytes.Buffer) {
	fmt.Fprintln(b, one.Rollout)
	if one.Was == nil {
		fmt.Fprintln(b, "  is new")
	} else {
		of := ""
		if slices.Contains(one.Spec, "spec.manifestWorkTemplate") || slices.Contains(one.Spec, "spec.policy-templates") {
			of = ", counted by the version that is wanted now"
		}
		fmt.Fprintf(b, "  at %s: %v%s\n", one.Was.Time.Format(time.RFC3339), one.Was.Counts, of)
	}
	if one.Is == nil {
		fmt.Fprintln(b, "  is gone")
	} else {
		fmt.Fprintf(b, "  at %s: %v\n", one.Is.Time.Format(time.RFC3339), one.Is.Counts)
	}
	if len(one.Spec) > 0 {
		fmt.Fprintf(b, "  changed: %s\n", strings.Join(one.Spec, ", "))
	}
	for _, part := range []struct {
		title    string
		clusters []string
	}{{"selected", one.Joined}, {"deselected", one.Deselected}, {"started", one.Started}, {"succeeded", one.Succeeded}, {"failed", one.Failed},
		{"timed out", one.TimedOut}, {"recovered", one.Recovered}} {
		if len(part.clusters) > 0 {
			fmt.Fprintf(b, "  %s (%d): %s\n", part.title, len(part.clusters), strings.Join(part.clusters, " "))
		}
	}
	if one.Breached != nil {
		fmt.Fprintf(b, "  %v\n", one.Breached)
	}
	if one.Resumed {
		fmt.Fprintln(b, "  goes on: maxFailures is not exceeded any more, and the rollout continues")
	}
	for _, w := range one.Warned {
		fmt.Fprintf(b, "  warning: %v\n", w)
	}
	if one.Was != nil && one.Is != nil && len(one.Spec)+len(one.Joined)+len(one.Deselected) == 0 && one.Changes.String() == "" {
		fmt.Fprintln(b, "  nothing changed")
	}
}

// Value is a list of all.
func (list changes) Value() (any, error) { return map[string]changes{"rollouts": list}, nil }
