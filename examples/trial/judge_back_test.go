// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// R43, R46: a deselected cluster with the version that is taken back counts as on its way until its object is gone or its deadline has passed since the abort,
// and so does one that went back and was deselected before it was done.
func TestADeselectedClusterCountsInARollback(t *testing.T) {
	for name, tt := range map[string]struct {
		has      string        // what a has, which left
		back     bool          // it got that after the abort
		after    time.Duration // the abort
		perGroup bool
		l        leniency
		want     Invariant // that is broken if b goes back; "" for none
	}{
		"it has the version that is taken back":            {has: "v2", want: invConcurrency},
		"its deadline has passed":                          {has: "v2", after: time.Minute},
		"it is on its rollback":                            {has: "v1", back: true, want: invConcurrency},
		"it never had the version":                         {has: "v1"},
		"it has nothing":                                   {},
		"a deselected cluster does not count":              {has: "v2", l: leniency{noLeft: true}},
		"its group goes back before":                       {has: "v2", perGroup: true, want: invBackOrder},
		"its group goes back before, a is done":            {has: "v1", perGroup: true},
		"it is unknown where a deselected cluster counted": {has: "v2", perGroup: true, l: leniency{everywhere: true}, want: invBackOrder},
	} {
		s := &tale{}
		s.set("v2", "p")
		strategy := &s.events[0].object.(*replicaSet).Spec.PlacementRefs[0].RolloutStrategy
		config := clusterv1alpha1.RolloutConfig{ProgressDeadline: "30s"}
		*strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{RolloutConfig: config, MaxConcurrency: intstr.FromInt32(1)}}
		if tt.perGroup {
			*strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
		}
		s.decide("p", 0, "", "b")
		s.decide("p", 1, "", "a")
		s.place("p", told{"", 1}, told{"", 1})
		s.work("b", "v2")
		if tt.has != "" && !tt.back {
			s.work("a", tt.has)
		}
		aborted := dawn.Add(time.Duration(s.now()+1) * time.Second)
		if tt.back {
			s.work("a", tt.has)
		}
		s.decide("p", 1, "", "c")
		s.place("p", told{"", 1}, told{"", 1})
		h := newHistory(s.events, nil, nil)
		h.revisions = func(*replicaSet) Revisions { return Revisions{Current: "v1", Update: "v2", Aborted: aborted} }
		h.keepLeavers("ignore", nil)
		got := Invariant("")
		for _, v := range h.truth(s.now()).forbids("b", "v1", aborted.Add(5*time.Second+tt.after), tt.l) {
			got = v.invariant
		}
		if got != tt.want {
			t.Errorf("%s: broken is %q, want %q", name, got, tt.want)
		}
	}
}

// R48: a record is of one version. So a failure with the version before does not count on the rollback to it, if another version was wanted in between.
func TestAFailureOfTheRolloutBeforeIsForgotten(t *testing.T) {
	for between, forgotten := range map[string]bool{"v1": false, "v2": true} {
		s := &tale{}
		s.set("v1", "p")
		failed := dawn.Add(1500 * time.Millisecond)
		s.set(between, "p")
		s.set("v1", "p")
		h := s.history()
		if at := h.replaced(goneFailure{cluster: "a", version: "v1", from: failed}); at.IsZero() == forgotten {
			t.Errorf("where %s was wanted in between it is forgotten at %v", between, at)
		}
	}
}
