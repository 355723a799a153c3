package trial

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A world that is broken twice is an error. One that is broken once is none where it is played again.
func TestWhatIsBrokenOnceIsPlayedAgain(t *testing.T) {
	defer func(n int) { *flagAgain = n }(*flagAgain)
	for name, tt := range map[string]struct {
		again       int
		plays       []bool // which of them are broken
		broken      bool
		playedTimes int
	}{
		"nothing is broken":          {3, []bool{false}, false, 1},
		"it is broken once":          {3, []bool{true, false, false, false}, false, 4},
		"it is broken at last":       {3, []bool{true, false, false, true}, true, 4},
		"it is broken at once again": {3, []bool{true, true}, true, 2},
		"it is not played again":     {0, []bool{true}, true, 1},
	} {
		*flagAgain = tt.again
		n := 0
		o := confirmed(t, func() *observation {
			o := &observation{world: &world{}, history: &history{}}
			if n++; slices.Index(tt.plays[n-1:], true) == 0 {
				o.violations = []violation{{invariant: invBudget, text: fmt.Sprint(n)}}
			}
			return o
		})
		if broken := len(o.violations) > 0; broken != tt.broken || n != tt.playedTimes {
			t.Errorf("%s: broken %v, want %v; played %d times, want %d", name, broken, tt.broken, n, tt.playedTimes)
		}
		if len(o.violations) > 0 && o.violations[0].text != "1" {
			t.Errorf("%s: told is %v", name, o.violations)
		}
	}
}

// A world in which something was late on a machine that stalled is played up to twice more. A limit that was broken meanwhile is broken
// all the same.
func TestWhatAMachineStalledIsPlayedAgain(t *testing.T) {
	defer func(n int) { *flagAgain = n }(*flagAgain)
	*flagAgain = 0
	for name, tt := range map[string]struct {
		excused     []bool // of each play
		broken      bool
		playedTimes int
	}{
		"nothing was late":                  {[]bool{false}, false, 1},
		"something was":                     {[]bool{true, false}, false, 2},
		"something was twice":               {[]bool{true, true, false}, false, 3},
		"something always is":               {[]bool{true, true, true}, false, 3},
		"something was, and a limit broken": {[]bool{true}, true, 1},
	} {
		n := 0
		o := confirmed(t, func() *observation {
			o := &observation{world: &world{}, history: &history{}, excused: tt.excused[n]}
			if n++; tt.broken {
				o.violations = []violation{{invariant: invBudget}}
			}
			return o
		})
		if n != tt.playedTimes || o.excused != tt.excused[n-1] {
			t.Errorf("%s: played %d times, want %d; the last was excused: %v", name, n, tt.playedTimes, o.excused)
		}
	}
}

// What a busy API server gave up, nobody knows: etcd's answer took too long, or its own.
func TestWhatTheServerGaveUpIsPlayedAgain(t *testing.T) {
	for _, tt := range []struct {
		err   error
		plays int
	}{
		{apierrors.NewInternalError(errors.New("etcdserver: request timed out")), 2},
		{errors.Join(nil, fmt.Errorf("scheduler: %w", apierrors.NewTimeoutError("request did not complete", 1))), 2},
		{apierrors.NewTooManyRequestsError("later"), 2},
		{apierrors.NewConflict(leases, "leader", nil), 1},
		{errors.New("no process of the subject called Process.Reconcile"), 1},
	} {
		n := 0
		o := confirmed(t, func() *observation {
			o := &observation{world: &world{}, history: &history{}}
			if n++; n == 1 {
				o.err = tt.err
			}
			return o
		})
		if n != tt.plays || (o.err == nil) != (tt.plays > 1) {
			t.Errorf("%v: it is played %d times, want %d; the last: %v", tt.err, n, tt.plays, o.err)
		}
	}
}

// A run that judged less than half of its worlds in full is no proof.
func TestARunThatSaysTooLittleFails(t *testing.T) {
	for _, tt := range []struct {
		judged, n int
		enough    bool
	}{{20, 20, true}, {10, 20, true}, {9, 20, false}, {0, 20, false}, {1, 1, true}, {0, 1, false}, {0, 0, false}} {
		if err := enough(tt.judged, tt.n); (err == nil) != tt.enough {
			t.Errorf("%d of %d: %v", tt.judged, tt.n, err)
		}
	}
}
