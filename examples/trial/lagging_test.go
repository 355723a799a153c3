// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
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
			s.gone(s.now())
		}
		rv := s.work("a", "v1")
		for i := range s.reconciles[0].view { // but of the set it knows all
			if i.kind == ReplicaSets {
				s.reconciles[0].view[i] = rv
			}
		}
		s.writes = []write{{verb: "POST", kind: Works, key: "a/" + setName, done: true, rv: rv, life: 1, sent: read.read}}
		if got := s.history().laggings(func(e event) bool { return e.id.kind == Works })[rv].objects; got != tt.want {
			t.Errorf("%s: %v behind, want %v", name, got, tt.want)
		}
	}
}

// gone makes of an event that the object went.
func (s *tale) gone(rv int64) { s.events[rv-1].gone = true }

// What a process wrote itself is not what it knows where its caches have shown since that the object is gone: neither as long as the object
// lasted nor since is it behind.
func TestWhatCachesShowedToBeGoneIsKnownToBe(t *testing.T) {
	s := &tale{}
	s.writes = append(s.writes, write{verb: "POST", kind: Works, key: "x/" + setName, done: true, rv: s.work("x", "v1"), life: 1, sent: dawn, answered: dawn})
	s.look(1, 0)
	s.work("x", "v1") // its agent answers
	s.gone(s.work("x", "v1"))
	s.set("v1", "p")
	read := s.look(1, s.now())
	delete(read.view, id{Works, "x/" + setName})
	s.set("v1", "p")
	rv := s.work("a", "v1")
	s.writes = append(s.writes, write{verb: "POST", kind: Works, key: "a/" + setName, done: true, rv: rv, life: 1, reconcile: 1, sent: read.read, answered: read.read})
	got := s.history().laggings(func(e event) bool { return e.id.kind == Works })[rv]
	if want := (lagging{time.Second, 2 * time.Second}); got != want {
		t.Errorf("%v behind, want %v: the set has been another one for a second, and the plan is two seconds old", got, want)
	}
}

// A person deletes an object that has the name of one that the controller deleted long before.
func TestADeletionIsTheControllersOnlyOfWhatThereWas(t *testing.T) {
	for name, tt := range map[string]struct {
		answered int // seconds after dawn
		by       bool
	}{
		"it deleted the one before": {2, false},
		"it deleted this one":       {5, true},
	} {
		s := &tale{}
		s.look(1, 0)
		s.work("x", "v1")
		s.gone(s.work("x", "v1"))
		s.work("x", "v2")
		s.set("v2", "p")
		rv := s.work("x", "v2")
		s.gone(rv)
		answered := dawn.Add(time.Duration(tt.answered) * time.Second)
		s.writes = []write{{verb: "DELETE", kind: Works, key: "x/" + setName, done: true, life: 1, sent: answered.Add(-time.Second), answered: answered}}
		if _, by := s.history().laggings(func(e event) bool { return e.id.kind == Works })[rv]; by != tt.by {
			t.Errorf("%s: taken for a deletion of the controller is %v, want %v", name, by, tt.by)
		}
	}
}

// A start that was wrong in all that its process knew is broken, however far behind others were.
func TestEachWriteIsJudgedWithItsOwnLag(t *testing.T) {
	for name, tt := range map[string]struct {
		behind time.Duration
		want   time.Duration
	}{
		"it knew almost all":     {100 * time.Millisecond, 250 * time.Millisecond},
		"just too much for it":   {201 * time.Millisecond, 500 * time.Millisecond},
		"it was far behind":      {5 * time.Second, 8 * time.Second},
		"another client's write": {-1, 8 * time.Second},
	} {
		h := &history{events: []event{{rv: 7}}}
		traced := traced{history: h, lags: map[int64]lagging{}}
		if tt.behind >= 0 {
			traced.lags[7] = lagging{tt.behind, 10 * time.Second}
		}
		if got := traced.allows(&judge.Finding{Kind: judge.Concurrency, Line: 1 + headOfTrace}, 8*time.Second); got != tt.want {
			t.Errorf("%s: judged with %v, want %v", name, got, tt.want)
		}
	}
}
