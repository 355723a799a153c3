// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// R52: a cluster that moves to another group counts where it started. The judge blames no controller that counts it in either.
func TestAClusterThatMovedCountsInEither(t *testing.T) {
	at := func(s int, groups ...place) dated {
		d := dated{stay{places: map[string]place{}}, dawn.Add(time.Duration(s) * time.Second)}
		for _, g := range groups {
			d.places["a"] = g
		}
		return d
	}
	zero, one := place{"p", "", 0}, place{"p", "", 1}
	for name, tt := range map[string]struct {
		stays []dated
		want  bool
	}{
		"it stays":                          {[]dated{at(0, zero), at(20, zero)}, false},
		"it moves":                          {[]dated{at(0, zero), at(20, one)}, true},
		"it moved long before it started":   {[]dated{at(0, one), at(5, zero), at(20, zero)}, false},
		"it moved just before it started":   {[]dated{at(0, one), at(9, zero)}, true},
		"it left and came back":             {[]dated{at(0, zero), at(20), at(21, zero)}, false},
		"it left and came back elsewhere":   {[]dated{at(0, zero), at(20), at(21, one)}, true},
		"it is unknown where it ever was":   {nil, false},
		"it was moved there and back again": {[]dated{at(0, zero), at(20, one), at(21, zero)}, true},
	} {
		s := &scene{works: map[string][]seenWork{"a": {{version: "v1", applied: dawn.Add(10 * time.Second)}}}, stays: tt.stays}
		if got := s.changedGroup("a", "v1"); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		if s.changedGroup("a", "v2") || s.changedGroup("b", "v1") {
			t.Errorf("%s: of what has no work with this version nothing is known", name)
		}
	}

	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(0), ProgressDeadline: "1s"}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	failing := seenWork{manifestWork: &manifestWork{}, version: "v1", applied: dawn.Add(10 * time.Second)}
	groups := []seenGroup{{index: 0, clusters: []string{"a"}}, {index: 1, clusters: []string{"b"}}}
	for moved, want := range map[bool]bool{false: true, true: false} {
		s := &scene{set: &replicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, works: map[string][]seenWork{"a": {failing}}, stays: []dated{at(0, zero), at(20, zero)}}
		if moved {
			s.stays = []dated{at(0, one), at(20, zero)}
		}
		s.refs = []*seenRef{{name: "p", strategy: strategy, groups: groups, groupOf: map[string]int{"a": 0, "b": 1}, selected: map[string]int{"a": 0, "b": 1}}}
		broken := false
		for _, v := range s.forbids("b", "v1", dawn.Add(time.Minute), leniency{}) {
			broken = broken || v.invariant == invOrder || v.invariant == invBudget
		}
		if broken != want {
			t.Errorf("moved %v: broken %v", moved, broken)
		}
	}
}

// R50: a cluster that moves to another placement while it counts keeps counting in the one before. So a status may say at the end that this one waits for it,
// also where it is done, or has timed out, by the one that selects it.
func TestAClusterThatMovedMayHoldUpThePlacementBefore(t *testing.T) {
	const a = "a (deselected) has not reported on this version"
	moves, stays := [][]string{{"a", "c"}, nil, {"a"}}, [][]string{{"c"}, {"a"}, nil}
	for name, tt := range map[string]struct {
		deadline string     // of the placement before
		are      [][]string // the first group there, the rest of the second, and those in the other placement after that
		early    bool       // it moved before it got the version
		waiting  bool       // a cluster waits there, and another one left
		message  string
		want     []Invariant
	}{
		"it is named":                                     {"None", moves, false, false, a, nil},
		"none is named":                                   {"None", moves, false, false, "1 in flight", []Invariant{invStatus}},
		"it timed out there, too":                         {"4s", moves, false, false, a, []Invariant{invStatus}},
		"it was never there with the version":             {"None", moves, true, false, a, []Invariant{invStatus}},
		"a cluster waits for it and for one that left":    {"None", moves, false, true, a, nil},
		"a cluster waits for them, and none is named":     {"None", moves, false, true, "2 in flight", []Invariant{invStuck}},
		"a cluster waits for one that left, and it stays": {"None", stays, false, true, a, []Invariant{invStuck}},
	} {
		s := &tale{}
		refs := s.events[s.set("v1", "p", "q")-1].object.(*replicaSet).Spec.PlacementRefs
		for i, deadline := range []string{"4s", tt.deadline} {
			config, _, _, _ := parts(&refs[i].RolloutStrategy)
			config.ProgressDeadline, config.MaxFailures = deadline, intstr.FromInt32(1)
		}
		last := append([]string{"d"}, tt.are[1]...)
		decide := func(p, q []string) {
			s.decide("p", 0, "", p...)
			s.place("p", told{"", int32(len(p))})
			s.decide("q", 0, "", q...)
			s.decide("q", 1, "", last...)
			s.place("q", told{"", int32(len(q))}, told{"", int32(len(last))})
		}
		decide(nil, tt.are[0])
		if !tt.early {
			s.work("a", "v1")
		}
		if tt.waiting {
			s.events[s.work("c", "v1")-1].object.(*manifestWork).DeletionTimestamp = &metav1.Time{Time: dawn}
		} else {
			s.events[s.work("d", "v1")-1].object.(*manifestWork).Status.Conditions = observe(nil, ok, 1, dawn)
		}
		decide(tt.are[2], nil)
		for range 3 {
			s.decide("q", 1, "", last...)
		}
		if tt.early {
			s.work("a", "v1")
		}
		h := s.history()
		h.keepMoves()
		var got []Invariant
		for _, v := range h.checkEnd(dawn.Add(time.Minute), func(*replicaSet) Saying { return Saying{Message: tt.message, Current: true} }) {
			got = append(got, v.invariant)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
