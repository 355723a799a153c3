// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/internal/seeds"
)

// Worlds of days have all that is meant to be in them, among few of them.
func TestDaysAreDrawn(t *testing.T) {
	have := map[string]int{}
	for seed := range uint64(60) {
		w := drawDays(seed, subject)
		for _, c := range w.script {
			have[c.what]++
		}
		for _, l := range w.long.leaps {
			have[map[bool]string{true: "ahead", false: "behind"}[l.by > 0]]++
		}
		if w.long.away[serverAway] > time.Hour {
			have["server away for hours"]++
		}
		if w.longestDeadline() >= 2*time.Hour {
			have["deadlines of hours"]++
		}
	}
	for _, what := range []string{serverAway, suspended, crashes, newTemplate, leaves, "ahead", "behind", "server away for hours", "deadlines of hours"} {
		if have[what] < 5 {
			t.Errorf("%s: in %d of 60", what, have[what])
		}
	}
}

// A controller that does not look again when a soak or a deadline is over is found, though everything may wait for hours; and whatever is away for
// hours while it does look is no fault.
func TestAControllerThatNeverLooksAgainIsFoundInDays(t *testing.T) {
	k := &kindOf[*world, *observation]{"Days", func(seed uint64) *world {
		w := drawDays(seed, subject)
		w.ignored = DutyRecheck
		return w
	}, func(w *world) *observation { return theHub.roll(t, subject, w) }}
	for seed := uint64(1); ; seed++ {
		if v := brokeIn(k.story(t, seeds.Story{Seed: seed}, 0), invLate); v != nil {
			t.Logf("found with seed %d: %s", seed, v)
			return
		}
		if seed == 20 {
			t.Fatal("not found in 20 worlds")
		}
	}
}

// While the API server or the process is away, nothing waits for the controller.
func TestAProcessThatIsAwayIsNotLate(t *testing.T) {
	for name, test := range map[string]struct {
		absent []span
		late   bool
	}{
		"nothing was away":         {nil, true},
		"all the time":             {[]span{{dawn, dawn.Add(time.Minute)}}, false},
		"until a short time ago":   {[]span{{dawn, dawn.Add(9 * time.Second)}}, false},
		"long ago, for some time":  {[]span{{dawn, dawn.Add(5 * time.Second)}}, true},
		"only when all was over":   {[]span{{dawn.Add(time.Hour), dawn.Add(2 * time.Hour)}}, true},
		"now, for a time to come":  {[]span{{dawn.Add(5 * time.Second), dawn.Add(time.Hour)}}, false},
		"before it had to be here": {[]span{{dawn.Add(-time.Hour), dawn}}, true},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		for range 9 {
			s.set("v1", "p")
		}
		h := s.history()
		h.absent = test.absent
		if late := h.checkWaits(4 * time.Second); len(late) > 0 != test.late {
			t.Errorf("%s: %v", name, late)
		}
	}
}

// The server may have carried out a write during which it went away. The process that sent it has made it, then, and no stranger.
func TestAWriteDuringWhichTheServerWentAway(t *testing.T) {
	for name, test := range map[string]struct {
		w     write
		found bool
	}{
		"carried out":                 {write{kind: Works, verb: "POST", key: "a", sent: dawn.Add(3500 * time.Millisecond), answered: dawn.Add(5 * time.Second)}, true},
		"it came before":              {write{kind: Works, verb: "POST", key: "a", sent: dawn.Add(4500 * time.Millisecond), answered: dawn.Add(5 * time.Second)}, false},
		"it came afterwards":          {write{kind: Works, verb: "POST", key: "a", sent: dawn, answered: dawn.Add(time.Second)}, false},
		"of another cluster":          {write{kind: Works, verb: "POST", key: "b", sent: dawn.Add(3500 * time.Millisecond), answered: dawn.Add(5 * time.Second)}, false},
		"a deletion creates no work":  {write{kind: Works, verb: "DELETE", key: "a/" + setName, sent: dawn.Add(3500 * time.Millisecond), answered: dawn.Add(5 * time.Second)}, false},
		"what exists is not a create": {write{kind: ReplicaSets, verb: "POST", key: "w", sent: dawn.Add(4500 * time.Millisecond), answered: dawn.Add(9 * time.Second)}, false},
		"an update of what exists":    {write{kind: ReplicaSets, verb: "PUT", key: "w/" + setName, sent: dawn.Add(4500 * time.Millisecond), answered: dawn.Add(9 * time.Second)}, true},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		s.work("a", "v1")
		s.set("v1", "p")
		test.w.unknown = true
		s.writes = []write{test.w}
		if w := s.history().writes[0]; w.done != test.found || w.done && (w.rv == 0 || !w.lost) {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// The clock of a cluster is right until it leaps.
func TestClocksLeap(t *testing.T) {
	w := &world{name: "w", long: &long{leaps: map[string]leap{"c0": {0, time.Hour}, "c1": {time.Hour, -time.Hour}}}}
	clock := w.clock()
	for cluster, want := range map[string]time.Duration{"w-c0": time.Hour, "w-c1": 0, "w-c2": 0} {
		if by := time.Until(clock(cluster)).Round(time.Minute); by != want {
			t.Errorf("%s is ahead by %v, want %v", cluster, by, want)
		}
	}
	if w.ahead() != time.Hour {
		t.Errorf("the most is %v", w.ahead())
	}
}
