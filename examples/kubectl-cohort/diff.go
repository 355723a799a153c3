package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/commandline"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

const diffUsage = `Say what changed of each rollout between two dumps of a hub.

Each dump is as of the newest time in it, unless a flag says when it was made: a deadline that passed after that has not passed in
it. Where the version changed meanwhile, what is told is of the new version.`

// difference is the command line of kubectl cohort diff.
type difference struct {
	rollout           string
	wasAt, isAt       instant
	wasGiven, isGiven bool
	format            format
}

// diffCommand compares two dumps.
func diffCommand() *cobra.Command {
	var d difference
	cmd := &cobra.Command{
		Use:     "diff OLD NEW",
		Short:   "Say what changed of each rollout between two dumps of a hub",
		Long:    diffUsage,
		Example: "  kubectl cohort diff yesterday.yaml today.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("diff: must be followed by two files or directories, the older one first")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			d.wasGiven, d.isGiven = cmd.Flags().Changed("old-at"), cmd.Flags().Changed("new-at")
			all, err := d.changed(cmd.InOrStdin(), files[0], files[1])
			if err != nil {
				return err
			}
			return d.format.write(all, cmd.OutOrStdout())
		},
	}
	s := cmd.Flags()
	s.StringVar(&d.rollout, "rollout", "", "`name` of the one object that rolls out, where there are several")
	commandline.Var(s, &d.wasAt, "old-at", "", "`time` of the old dump, in RFC 3339; the newest time in it unless given")
	commandline.Var(s, &d.isAt, "new-at", "", "`time` of the new dump, in RFC 3339; the newest time in it unless given")
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
	// Joined and Left are the clusters that are selected now and were not, and the other way round.
	Joined []string `json:"joined,omitempty"`
	Left   []string `json:"left,omitempty"`
	rollout.Changes
}

// stood is how a rollout stood at a time.
type stood struct {
	Time   time.Time     `json:"time"`
	Counts status.Counts `json:"counts"`
}

// changed compares two dumps, rollout by rollout.
func (d *difference) changed(stdin io.Reader, oldFile, newFile string) (all changes, err error) {
	var dumps [2][]manifest.Object
	for i, file := range []string{oldFile, newFile} {
		if dumps[i], err = scenario.Reader().Read(stdin, file); err != nil {
			return nil, err
		}
	}
	specs := takeOver(dumps[0], dumps[1])
	wanted := scenario.Wanted{Rollout: d.rollout}
	is, err := scenario.Load(dumps[1], wanted)
	if err != nil {
		return nil, err
	}
	was, err := scenario.Load(dumps[0], wanted)
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
		c, err := d.compare(named(was, s.Rollout), s)
		if err != nil {
			return nil, err
		}
		object, _, _ := strings.Cut(s.Rollout, " to placement ")
		c.Spec = specs[object]
		all = append(all, c)
	}
	for _, s := range was {
		if named(is, s.Rollout) == nil {
			c, err := d.compare(s, nil)
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
		if fields := differing(o.Object["spec"], new[at].Object["spec"]); len(fields) > 0 {
			specs[o.String()], old[i].Object = fields, new[at].Object
		}
	}
	return specs
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

// compare says what changed of a rollout, of which one may be nil.
func (d *difference) compare(was, is *scenario.Scenario) (c change, err error) {
	var before, after *rollout.Result
	if was != nil {
		c.Rollout = was.Rollout
		if c.Was, before, err = standing(was, d.wasAt, d.wasGiven); err != nil {
			return c, err
		}
	}
	if is != nil {
		c.Rollout = is.Rollout
		if c.Is, after, err = standing(is, d.isAt, d.isGiven); err != nil {
			return c, err
		}
	}
	if was == nil || is == nil {
		return c, nil
	}
	c.Joined, c.Left = missing(is, was), missing(was, is)
	c.Changes = after.Changes(before)
	return c, nil
}

// standing is how a rollout stood when it was written down.
func standing(s *scenario.Scenario, at instant, given bool) (*stood, *rollout.Result, error) {
	if when := newest(s, time.Now()); !given {
		at.Time = when
	}
	if at.IsZero() { // nothing was written yet
		at.Time = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	plan, err := s.Now(rollout.Options{Uncounted: s.GivenUp}, at.Time)
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
func (all changes) Text(w io.Writer) error {
	var b bytes.Buffer
	for i, c := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		c.text(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c change) text(b *bytes.Buffer) {
	fmt.Fprintln(b, c.Rollout)
	if c.Was == nil {
		fmt.Fprintln(b, "  is new")
	} else {
		fmt.Fprintf(b, "  at %s: %v\n", c.Was.Time.Format(time.RFC3339), c.Was.Counts)
	}
	if c.Is == nil {
		fmt.Fprintln(b, "  is gone")
	} else {
		fmt.Fprintf(b, "  at %s: %v\n", c.Is.Time.Format(time.RFC3339), c.Is.Counts)
	}
	if len(c.Spec) > 0 {
		fmt.Fprintf(b, "  changed: %s\n", strings.Join(c.Spec, ", "))
	}
	for _, part := range []struct {
		title    string
		clusters []string
	}{{"selected", c.Joined}, {"not selected any more", c.Left}, {"started", c.Started}, {"succeeded", c.Succeeded}, {"failed", c.Failed},
		{"timed out", c.TimedOut}, {"recovered", c.Recovered}} {
		if len(part.clusters) > 0 {
			fmt.Fprintf(b, "  %s (%d): %s\n", part.title, len(part.clusters), strings.Join(part.clusters, " "))
		}
	}
	if c.Breached != nil {
		fmt.Fprintf(b, "  %v\n", c.Breached)
	}
	if c.Resumed {
		fmt.Fprintln(b, "  goes on: no budget is breached any more")
	}
	for _, w := range c.Warned {
		fmt.Fprintf(b, "  warning: %v\n", w)
	}
	if c.Was != nil && c.Is != nil && len(c.Spec)+len(c.Joined)+len(c.Left) == 0 && c.Changes.String() == "" {
		fmt.Fprintln(b, "  nothing changed")
	}
}

// Value is a list of all.
func (all changes) Value() (any, error) { return map[string]changes{"rollouts": all}, nil }
