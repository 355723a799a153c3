// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// R49: a cluster times out, leaves, and comes back while its work is being deleted. Its agent says that all is well, and lets go of the work. A
// cache may show the last of both alone: then the failure stays on record, and the next group starts. A process that saw the success starts it again first.
func TestASuccessThatNoCacheNeedHaveShown(t *testing.T) {
	for name, tt := range map[string]struct {
		deadline string
		patience time.Duration // for how long a success may go unseen
		sees     bool          // the caches show the success, and not that the work is gone
		broken   bool
	}{
		"the work is gone a second later":            {"2s", 5 * time.Second, false, false},
		"the success stood for long":                 {"2s", 500 * time.Millisecond, false, true},
		"the caches show the success":                {"2s", 5 * time.Second, true, true},
		"it never failed, and waits to have it anew": {"None", 5 * time.Second, false, true},
	} {
		s := &tale{}
		set := s.events[s.set("v1", "p")-1].object.(*replicaSet)
		config, _, _, _ := parts(&set.Spec.PlacementRefs[0].RolloutStrategy)
		config.ProgressDeadline, config.MaxFailures = tt.deadline, intstr.FromInt32(1)
		write := func(verb string, rv int64) {
			r := s.reconciles[len(s.reconciles)-1]
			cluster := s.events[rv-1].object.GetNamespace()
			s.writes = append(s.writes, write{verb: verb, kind: Works, key: cluster + "/" + setName, done: true, rv: rv, life: 1, reconcile: len(s.reconciles) - 1, setShown: 1, sent: r.read, answered: r.read})
		}
		deletedWork := func(conditions []metav1.Condition) int64 {
			o := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: setName, Generation: 2, DeletionTimestamp: &metav1.Time{Time: dawn}}, Spec: payload("v1")}
			o.Status.Conditions = conditions
			return s.add(Works, o)
		}
		s.decide("p", 0, "", "a")
		s.decide("p", 1, "", "b")
		s.place("p", told{"", 1}, told{"", 1})
		s.look(1, s.now())
		write("POST", s.work("a", "v1"))
		for range 6 {
			s.place("p", told{"", 1}, told{"", 1})
		}
		s.decide("p", 0, "")
		s.place("p", told{"", 0}, told{"", 1})
		s.look(1, s.now())
		write("DELETE", deletedWork(nil))
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1}, told{"", 1})
		succeeded := deletedWork(observe(nil, ok, 2, dawn.Add(time.Duration(s.now())*time.Second)))
		s.events[deletedWork(nil)-1].gone = true
		if tt.sees {
			s.look(1, succeeded)
		} else {
			s.look(1, s.now())
		}
		write("POST", s.work("b", "v1"))
		h := s.history()
		h.keepFailures(tt.patience)
		broken := h.check(0, 0)
		if found := len(broken) == 1 && broken[0].invariant == invOrder; found != tt.broken || !tt.broken && len(broken) > 0 {
			t.Errorf("%s: %v", name, broken)
		}
	}
}

// R46: a cluster leaves as its version is taken back, and the version before comes to it all the same, since no cache had shown that. If it fails,
// it counts, and a cluster that joins waits: seeds 283488401 and 550268448 had that called a cluster that waits for nothing.
func TestADeselectedClusterInARollbackBlocksOneThatJoins(t *testing.T) {
	for is, waits := range map[phase]bool{failing: true, ok: false} {
		s := &tale{}
		s.set("v1", "p")
		set := s.events[s.set("v2", "p")-1].object.(*replicaSet)
		config, _, _, _ := parts(&set.Spec.PlacementRefs[0].RolloutStrategy)
		config.ProgressDeadline, config.MaxFailures = "2s", intstr.FromInt32(0)
		s.decide("p", 0, "", "a", "b")
		s.place("p", told{"", 2})
		answered := func(cluster string, at phase, deleted *metav1.Time) {
			o := s.events[s.work(cluster, "v1")-1].object.(*manifestWork)
			o.DeletionTimestamp, o.Status.Conditions = deleted, observe(nil, at, 1, dawn)
		}
		answered("b", ok, nil)
		s.look(1, s.now())
		s.decide("p", 0, "", "b", "c")
		s.place("p", told{"", 2})
		answered("a", is, nil)
		s.look(1, s.now())
		answered("a", is, &metav1.Time{Time: dawn.Add(20 * time.Second)})
		p := &player{world: &world{}, events: s.events, subject: &Subject{
			Revision: func(set *replicaSet) string { return wantedBy(set) },
			Revisions: func(*replicaSet, []byte) Revisions {
				return Revisions{Current: "v1", Update: "v2", Aborted: dawn.Add(time.Second)}
			},
		}}
		h := p.history(nil, s.reconciles)
		satisfied := true
		for _, v := range h.checkEnd(dawn.Add(time.Minute), func(*replicaSet) Saying { return Saying{Message: "a", Current: true, Over: true} }) {
			satisfied = satisfied && v.invariant != invLeft
		}
		if satisfied != waits {
			t.Errorf("%v: c waits for a %v, want %v", is, satisfied, waits)
		}
	}
}
