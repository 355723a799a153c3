// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"slices"
	"strconv"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// D7: each Misplaced comes true, with every strategy and in every order: what it says is seen. And a cluster that
// is seen in a wrong group is seen there late, never early: that group has no lower index than the one it is
// stored or desired in.
func TestMisplacedComesTrueAndNeverShowsAClusterEarly(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := newServer(drawState(t, "stored", sequential)...)
		desired := drawState(t, "desired", sequential)
		strategy := decisionupdate.UpdateStrategy{}
		if rapid.Bool().Draw(t, "rolling") {
			strategy = drawRolling(t)
		}
		update := mustDiff(t, s.list(), desired, strategy)
		s.run(update, allRequests, picker(t))
		for _, w := range update.Misplaced {
			for _, c := range w.Clusters {
				if slices.Contains(append(s.history[0].groups(c), worldOf(desired).groups(c)...), w.Seen) {
					t.Fatalf("%v\nbut there %s is right\n%s", w, c, update)
				}
				if !slices.ContainsFunc(s.history, func(seen world) bool {
					return slices.ContainsFunc(seen[c], func(s sight) bool { return s.object == w.Object && s.group == w.Seen })
				}) {
					t.Fatalf("%v\nbut %s never was\n%s", w, c, update)
				}
			}
		}
		wantNeverEarly(t, s.history, desired, update)
	})
}

// wantNeverEarly is D7, straight from its words. A sight in a wrong group is never under the name of an object that
// has a name in only one of its two groups. Where names don't decide, it is never in a group with a lower index than
// those that the cluster is stored and desired in. An object without its placement's label is told of by Misplaced alone: it
// gets the label as early as a reader needs it (D14).
func wantNeverEarly(t *rapid.T, history []world, desired []*clusterv1beta1.PlacementDecision, update decisionupdate.Update) {
	from, to := map[string]decisionupdate.Group{}, map[string]decisionupdate.Group{}
	for _, s := range history[0].all() {
		from[s.object] = s.group
	}
	for _, pd := range desired {
		to[pd.Name] = groupOf(pd)
	}
	last := worldOf(desired)
	for _, seen := range history {
		for c, sights := range seen {
			right := append(history[0].groups(c), last.groups(c)...)
			for _, s := range sights {
				if slices.Contains(right, s.group) || !s.labelled {
					continue
				}
				if slices.ContainsFunc(history[0].all(), func(first sight) bool { return first.object == s.object && !first.labelled }) {
					continue
				}
				was, is := from[s.object], to[s.object]
				if oneNamed := (was.Name == "") != (is.Name == ""); oneNamed {
					if s.group.Name != "" {
						t.Fatalf("%s is seen in group %s, which has a name, by %s: %s to %s\n%s", c, s.group, s.object, was, is, update)
					}
				} else if !slices.ContainsFunc(right, func(g decisionupdate.Group) bool { return index(g) <= index(s.group) }) {
					t.Fatalf("%s is seen in group %s, earlier than in any of %v\n%s", c, s.group, right, update)
				}
			}
		}
	}
}

// D8, D14: an update that stops between the two requests of an object without its placement's label leaves n in the group that the
// object shows. The next update may write that label first, and cannot know that n never belonged there. The first update has therefore reported it.
func TestWhatTheNextUpdateShowsWasToldOf(t *testing.T) {
	for _, stored := range [][]*pd{state("w1 1 edited: a"), state("w1 1 bare: a")} {
		s := newServer(stored...)
		first, next := state("w1 0: n"), state("w1 1: m", "w2 0: n")
		update := mustDiff(t, s.list(), first, rolling)
		s.run(update, 1, func(int) int { return 0 })
		s.run(mustDiff(t, s.list(), next, twoPhases), allRequests, func(int) int { return 0 })

		in1 := sight{object: "w1", group: decisionupdate.Group{Index: "1"}, labelled: true}
		if !slices.ContainsFunc(s.history, func(w world) bool { return slices.Contains(w["n"], in1) }) {
			t.Errorf("no reader saw n in group 1, so this test shows nothing:\n%s", update)
		}
		neverForeign(t, s.history, []world{worldOf(first), worldOf(next)}, update.Misplaced)
	}
}

func index(g decisionupdate.Group) int {
	i, err := strconv.Atoi(g.Index)
	if err != nil {
		return -1 // of an object without labels
	}
	return i
}
