package trial

import (
	"slices"
	"testing"
	"time"
)

// A process looks at its clock when it plans, with caches that show what was there when its reconcile began. On a busy machine that takes
// long, and for as long it may take a cluster to be away that has come back.
func TestAProcessMayReadItsClockUntilItWrites(t *testing.T) {
	for plans, want := range map[time.Duration]int{0: 1, time.Second: 0} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a", "b")
		s.place("p", told{"", 2})
		s.work("a", "v1")
		s.decide("p", 0, "", "b")
		s.place("p", told{"", 1})
		read := s.look(1, s.now())
		s.decide("p", 0, "", "a", "b") // after two seconds it is back
		s.place("p", told{"", 2})
		s.events[s.work("a", "v1")-1].gone = true
		s.writes = []write{{verb: "DELETE", kind: Works, key: "a/" + setName, done: true, life: 1, sent: read.read.Add(plans)}}
		kept := slices.DeleteFunc(s.history().check(0, 3*time.Second), func(v violation) bool { return v.invariant != invKept })
		if len(kept) != want {
			t.Errorf("with %v until it writes: %v, want %d violations", plans, kept, want)
		}
	}
}
