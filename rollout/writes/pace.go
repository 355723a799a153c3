package writes

import "time"

// Pace says when to look at an owner again. A controller keeps one for each owner. The zero value is ready to use.
type Pace struct{ failures int }

// The pauses after failures double from the first to the longest. Deadlines may be late by the longest.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// overdue is what stands for a time that has come already.
const overdue time.Duration = 1

// After says how long to wait after a look at the owner that ended with err. Recheck are the RecheckAfter of the plans and of own
// writes; the soonest that is not 0 counts. It is 0 where only an event changes something, and otherwise at least 100 ms.
//
// Beside an error it is no longer than a pause, which doubles with each error in a row from 100 ms to a minute. A time that has
// come already, as [Own.RecheckAfter] says with 1 ns, waits out the pause: the look that has just failed was for that, too.
//
// Return this time alone, and log the error: controller-runtime ignores RequeueAfter beside an error, and its own pause grows to
// a quarter of an hour. Then one cluster that always refuses would make the deadlines and soaks of all others late.
func (p *Pace) After(err error, recheck ...time.Duration) (after time.Duration) {
	if err == nil {
		p.failures = 0
	} else {
		after = longestPause
		if p.failures < 10 {
			after = min(firstPause<<p.failures, longestPause)
		}
		p.failures++
	}
	for _, r := range recheck {
		due := err != nil && r == overdue
		if r > 0 && !due && (after == 0 || r < after) {
			after = max(r, firstPause)
		}
	}
	return after
}
