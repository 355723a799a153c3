// SPDX-License-Identifier: Apache-2.0

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

// On a busy machine caches are later than they should be. A process that deletes what was away for long enough, as far as its caches
// showed, did nothing wrong if it was back meanwhile. One that waited for less did.
func TestToAProcessAClusterThatIsBackIsAwayUntilItsCachesShowIt(t *testing.T) {
	for name, tt := range map[string]struct {
		waits int // seconds from when the cluster left until the process looks
		shown bool
		want  int
	}{
		"it waited, and could not know":     {5, false, 0},
		"it waited, and its caches knew":    {5, true, 1},
		"it did not wait for long enough":   {3, false, 1},
		"it waited for as long as it takes": {4, false, 0},
	} {
		for _, of := range []Kind{Works, OnClusters} {
			s := &tale{}
			placed := map[Kind]string{Works: "p", OnClusters: placementName}[of]
			gets := func(version string) int64 { return s.work("t-c0", version) }
			if s.set("v1", placed); of == OnClusters {
				s.ownAddOn("v1")
				gets = func(version string) int64 { return s.addOn("t-c0", version) }
			}
			s.decide(placed, 0, "", "t-c0", "t-c1")
			s.place(placed, told{"", 2})
			gets("v1")
			left := s.decide(placed, 0, "", "t-c1")
			s.place(placed, told{"", 1})
			saw := s.now()
			s.decide(placed, 0, "", "t-c0", "t-c1") // after two seconds it is back
			back := s.place(placed, told{"", 2})
			for s.now() < left+int64(tt.waits) {
				s.set("v1", placed)
			}
			if tt.shown {
				saw = back
			}
			read := s.look(1, saw)
			gone := gets("v1")
			s.gone(gone)
			s.writes = []write{{verb: "DELETE", kind: of, key: s.events[gone-1].id.key, done: true, life: 1, sent: read.read}}
			var broken []violation
			if after := 4500 * time.Millisecond; of == Works {
				broken = s.history().check(0, after)
			} else {
				j := s.checker()
				j.removeAfter = after
				broken = j.checkKept(s.events[gone-1])
			}
			broken = slices.DeleteFunc(broken, func(v violation) bool { return v.invariant != invKept })
			if len(broken) != tt.want {
				t.Errorf("%s %s: %v, want %d violations", of, name, broken, tt.want)
			}
		}
	}
}
