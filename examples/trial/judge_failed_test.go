package trial

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// R49: a cluster times out, leaves, and comes back while its work is being deleted. Its agent says that all is well, and lets go of the work. A
// cache may show the last of both alone: then the failure stays on record, and the next group starts. Whoever saw the success starts it again first.
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
