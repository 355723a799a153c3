// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

// contents are objects with their groups and clusters, in some order that depends on nothing else.
func contents(objects []*pd) string {
	var lines []string
	for _, o := range objects {
		lines = append(lines, fmt.Sprint(o.Name, groupOf(o), slices.Sorted(slices.Values(clustersIn(o)))))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func clustersIn(o *pd) []string {
	var names []string
	for _, d := range o.Status.Decisions {
		names = append(names, d.ClusterName)
	}
	return names
}

// D18, G17: a reader without the Placement finds sealed objects complete when they are what was stored at the beginning or what is
// desired, and at no request in between; whatever the strategy, the order of a step's requests, and wherever the writer stops.
func TestSealedObjectsAreCompleteAtNoRequestInBetween(t *testing.T) {
	check(t, func(t *rapid.T) {
		first := drawState(t, "desired", steady)
		s := newServer(grouping.Sealed(first)...)
		known := []string{contents(first)}
		for range rapid.IntRange(1, 3).Draw(t, "updates") {
			desired := drawState(t, "desired", steady)
			known = append(known, contents(desired))
			strategy := drawRolling(t)
			if rapid.Bool().Draw(t, "all") {
				strategy = decisionupdate.UpdateStrategy{}
			}
			update := mustDiff(t, s.list(), grouping.Sealed(desired), strategy)
			plain := mustDiff(t, s.list(), desired, strategy)
			if update.Writes() > plain.Writes()+1 {
				t.Fatalf("D18: the seal takes more than a write:\n%s\n%s", update, plain)
			}
			stop := rapid.IntRange(0, 12).Draw(t, "stop after")
			made := 0
			for _, step := range update.Steps {
				for _, r := range interleave(step, picker(t)) {
					if made++; made > stop {
						break
					}
					s.do(r)
					groups, err := grouping.Read(nil, s.list())
					if err != nil {
						t.Fatal(err)
					}
					if now := contents(s.list()); groups.Incomplete() == "" && !slices.Contains(known, now) {
						t.Fatalf("D18: complete after %d requests:\n%s\nupdate:\n%s", made, now, update)
					}
				}
			}
			if groups, err := grouping.Read(nil, s.list()); made <= stop && len(desired) > 0 && (err != nil || groups.Incomplete() != "") {
				t.Fatalf("D18: not complete at the end: %v %v\n%s", groups.Incomplete(), err, update)
			}
		}
	})
}

// D18: the seal is written with its object, or alone.
func TestSealIsWrittenWithItsObject(t *testing.T) {
	stored := grouping.Sealed(state("w1 0: a", "w2 0: b"))
	want(t, mustDiff(t, stored, grouping.Sealed(state("w1 0: a", "w2 0: b")), rolling))
	want(t, mustDiff(t, stored, grouping.Sealed(state("w1 0: a", "w2 0: b c")), rolling), "step 1: update PlacementDecision w1 (labels)", "step 1: update PlacementDecision w2 (status): add c")
	want(t, mustDiff(t, stored, grouping.Sealed(state("w1 0: a c", "w2 0: b")), rolling), "step 1: update PlacementDecision w1 (status, labels): add c")
	s := newServer(stored...)
	update := mustDiff(t, s.list(), grouping.Sealed(state("w1 0: b", "w2 0: a")), rolling)
	if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), update); err != nil {
		t.Fatal(err)
	}
	if groups, err := grouping.Read(nil, s.list()); err != nil || groups.Incomplete() != "" {
		t.Errorf("D18: %v %v after\n%s", groups.Incomplete(), err, update)
	}
}

// D18: other annotations of an object stay, whether the seal is written with the clusters or alone.
func TestSealLeavesOtherAnnotations(t *testing.T) {
	for _, desired := range [][]*pd{state("w1 0: a", "w2 0: b"), state("w1 0: b", "w2 0: a")} {
		stored := state("w1 0: a", "w2 0: b")
		for _, o := range stored {
			o.Annotations = map[string]string{"team": "web"}
		}
		s := newServer(stored...)
		update := mustDiff(t, s.list(), grouping.Sealed(desired), rolling)
		if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), update); err != nil {
			t.Fatal(err)
		}
		for _, o := range s.list() {
			if o.Annotations["team"] != "web" {
				t.Errorf("%s has the annotations %v", o.Name, o.Annotations)
			}
		}
		if groups, err := grouping.Read(nil, s.list()); err != nil || groups.Incomplete() != "" {
			t.Errorf("not complete: %v %v", groups.Incomplete(), err)
		}
		for _, step := range update.Steps {
			for _, w := range step {
				if w.Verb == decisionupdate.VerbUpdate && w.To.Annotations["team"] != "web" {
					t.Errorf("%v asks for the annotations %v", w, w.To.Annotations)
				}
			}
		}
	}
}
