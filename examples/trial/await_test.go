package trial

import (
	"testing"
	"time"
)

// A world is at rest when nothing has happened for a time in which something could have happened.
func TestBusyTimeIsNoRest(t *testing.T) {
	var s stillness
	at := func(seconds float64) time.Time { return dawn.Add(time.Duration(seconds * float64(time.Second))) }
	for _, look := range []struct {
		last, now float64
		busy      bool
		want      time.Duration
		why       string
	}{
		{0, 0.25, false, 250 * time.Millisecond, "nothing happens"},
		{0, 0.5, false, 500 * time.Millisecond, "nor does it now"},
		{0, 10.5, true, 500 * time.Millisecond, "a reconcile runs"},
		{0, 10.75, false, 750 * time.Millisecond, "it has ended, and nothing came of it"},
		{0, 20.75, false, 1250 * time.Millisecond, "the machine did not look for ten seconds"},
		{20.8, 21, false, 200 * time.Millisecond, "something happens"},
		{20.8, 21.2, false, 400 * time.Millisecond, "and nothing more"},
		{21.1, 21.4, true, 100 * time.Millisecond, "what happened before the last look shows now, and a reconcile has run since that look"},
	} {
		if got := s.since(at(look.last), at(look.now), look.busy); got.Round(time.Millisecond) != look.want {
			t.Errorf("at %vs, as %s: still for %v, want %v", look.now, look.why, got, look.want)
		}
	}
}
