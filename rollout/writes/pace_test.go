// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// W16: when to requeue, also after an error.
func TestWhenToComeBack(t *testing.T) {
	failed := errors.New("a refuses")
	var pace writes.Pace
	for _, c := range []struct {
		reason  string
		err     error
		recheck time.Duration
		want    time.Duration
	}{
		{"only an event changes something", nil, 0, 0},
		{"when the plan says", nil, time.Minute, time.Minute},
		{"the first error", failed, time.Hour, 100 * time.Millisecond},
		{"the second", failed, time.Hour, 200 * time.Millisecond},
		{"the third, no later than the plan says", failed, 300 * time.Millisecond, 300 * time.Millisecond},
		{"it counted, and no plan asks to come back", failed, 0, 800 * time.Millisecond},
		{"a time that has come waits out the pause", failed, 1, 1600 * time.Millisecond},
		{"one that comes within the shortest pause waits for that", failed, 2, 100 * time.Millisecond},
		{"a success", nil, time.Hour, time.Hour},
		{"a success, and a time has come", nil, 1, 100 * time.Millisecond},
		{"an error after a success", failed, 0, 100 * time.Millisecond},
	} {
		if got := pace.After(c.err, c.recheck); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
	if got := new(writes.Pace).After(nil, 0, time.Hour, time.Minute, 0); got != time.Minute {
		t.Errorf("the soonest is %v", got)
	}
	for range 1000 {
		if got := pace.After(failed, 0); got <= 0 || got > time.Minute {
			t.Fatal(got)
		}
	}
	if got := pace.After(failed, time.Hour); got != time.Minute {
		t.Errorf("after many errors %v", got)
	}
}
