// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cohort-ocm/cohort/grouping"
)

// removed is what kubectl cohort removals says of a rollout.
type removed struct {
	Rollout   string `json:"rollout"`
	Placement string `json:"placement"`
	// AtATime is how many clusters are on their way out at a time, at most; 0 for all. Group is the only one that goes; empty where all go.
	AtATime int    `json:"atATime"`
	Group   string `json:"group,omitempty"`
	// Leaving are on their way out already. Now are those to delete now.
	PendingRemoval []string `json:"pendingRemoval,omitempty"`
	Now            []string `json:"now,omitempty"`
	// NotWaitedFor go with their groups, and block no cluster.
	NotWaitedFor []string `json:"notWaitedFor,omitempty"`
	// Waves go one after the other, each once the one before and all in Leaving are gone.
	Waves []goes   `json:"waves,omitempty"`
	Notes []string `json:"notes,omitempty"`

	groupOf func(cluster string) (grouping.Key, bool)
	last    bool // of the placements: after it no cluster has anything
}

// goes is what goes at a time, by group. An unknown group has no key, and comes first.
type goes []ofGroup

type ofGroup struct {
	Group    *grouping.Key `json:"group,omitempty"`
	Clusters []string      `json:"clusters"`
}

func (named ofGroup) String() string {
	if named.Group == nil {
		return "not in any group"
	}
	return named.Group.String()
}

// wave divides clusters by group, the last group first.
func (r *removed) wave(clusters []string) (w goes) {
	for _, cluster := range clusters {
		var of *grouping.Key
		if key, known := r.groupOf(cluster); known {
			of = &key
		}
		at := slices.IndexFunc(w, func(g ofGroup) bool { return g.Group == of || g.Group != nil && of != nil && *g.Group == *of })
		if at < 0 {
			at, w = len(w), append(w, ofGroup{Group: of})
		}
		w[at].Clusters = append(w[at].Clusters, cluster)
	}
	slices.SortStableFunc(w, func(a, b ofGroup) int {
		switch {
		case a.Group == nil:
			return -1
		case b.Group == nil:
			return 1
		}
		return int(b.Group.Index) - int(a.Group.Index)
	})
	return w
}

// named are the groups of a wave.
func (run goes) named() (names []string) {
	for _, of := range run {
		names = append(names, of.String())
	}
	return names
}

func (r *removed) Text(w io.Writer) error {
	var b strings.Builder
	what := "all of it goes"
	if r.Group != "" {
		what = "group " + r.Group + " goes"
	}
	limit := " at once"
	if r.AtATime > 0 {
		limit = ", at most " + of(r.AtATime, "1 cluster", "%d clusters") + " at a time"
	}
	fmt.Fprintf(&b, "%s to placement %s: %s%s\n", r.Rollout, r.Placement, what, limit)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	b.WriteString("\n")
	if len(r.PendingRemoval) > 0 {
		fmt.Fprintf(&b, "on their way out: %s\n", listed(r.PendingRemoval, " "))
	}
	switch {
	case len(r.Now) > 0:
		fmt.Fprintf(&b, "to delete now: %s\n", listed(r.Now, " "))
	case len(r.Waves) > 0:
		b.WriteString("to delete now: none, before one that is on its way out is gone\n")
	case len(r.PendingRemoval) == 0:
		b.WriteString("to delete now: no cluster has it\n")
	}
	if len(r.NotWaitedFor) > 0 {
		fmt.Fprintf(&b, "not waited for: %s\n", listed(r.NotWaitedFor, " "))
	}
	r.table(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// table has a row for each wave, or where these are many one for each run of waves of the same groups.
func (r *removed) table(b *strings.Builder) {
	if len(r.Waves) > 0 {
		b.WriteString("\n")
	}
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	if len(r.Waves) > 0 {
		fmt.Fprintln(t, "WAVE\tGROUP\tCLUSTERS")
	}
	rows := 0
	for from, next := 0, 0; from < len(r.Waves); from = next {
		next = from + 1
		for len(r.Waves) > mostStages && next < len(r.Waves) && slices.Equal(r.Waves[from].named(), r.Waves[next].named()) {
			next++
		}
		if rows == mostStages {
			fmt.Fprintf(t, "and %d more\n", len(r.Waves)-from)
			break
		}
		number := fmt.Sprint(from + 1)
		if next > from+1 {
			number = fmt.Sprintf("%d-%d", from+1, next)
		}
		for i, of := range r.Waves[from] {
			var clusters []string
			for _, wave := range r.Waves[from:next] {
				clusters = append(clusters, wave[i].Clusters...)
			}
			fmt.Fprintf(t, "%s\t%v\t%s\n", number, of, listed(clusters, " "))
			number = ""
		}
		rows++
	}
	if r.last {
		fmt.Fprintf(t, "last\t%s itself, once no cluster has anything of it\n", r.Rollout)
	}
	t.Flush()
}

func (r *removed) Value() (any, error) { return r, nil }
