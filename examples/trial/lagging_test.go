package trial

import (
	"testing"
	"time"
)

// What a watch shows late was written no later than anything behind it that another watch has shown. So a controller was as far behind as the
// judge of its trace takes it to have been.
func TestHowFarBehindAControllerWas(t *testing.T) {
	for name, tt := range map[string]struct{ late, want time.Duration }{
		"the watch of decisions is in time":           {0, 7 * time.Second},
		"it shows them when all else was shown":       {time.Hour, 6 * time.Second}, // the next event came a second later
		"it shows them late, and before what follows": {300 * time.Millisecond, 6700 * time.Millisecond},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a", "b")
		s.place("p", told{"", 2})
		read := s.look(1, s.now())
		s.decide("p", 0, "", "b") // which the process does not see
		s.events[s.now()-1].at = s.events[s.now()-1].at.Add(tt.late)
		s.set("v1", "p")
		s.set("v1", "p")
		for range 2 { // what comes and goes twice, and is not shown, may be shown to be gone
			s.work("x", "v1")
			s.work("x", "v1")
			s.events[s.now()-1].gone = true
		}
		rv := s.work("a", "v1")
		for i := range s.reconciles[0].view { // but of the set it knows all
			if i.kind == ReplicaSets {
				s.reconciles[0].view[i] = rv
			}
		}
		s.writes = []write{{verb: "POST", kind: Works, key: "a/" + setName, done: true, rv: rv, life: 1, sent: read.read}}
		if got := s.history().behind(func(e event) bool { return e.id.kind == Works }); got != tt.want {
			t.Errorf("%s: %v behind, want %v", name, got, tt.want)
		}
	}
}
