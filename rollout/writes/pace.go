// SPDX-License-Identifier: Apache-2.0

package writes

import "time"

// Pace says when to requeue an owner. Keep one for each owner. The zero value is ready to use.
type Pace struct{ failures int }

// The pauses after failures double from the first to the longest. Deadlines are late by at most the longest.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// overdue stands for a time that has passed.
const overdue time.Duration = 1

// After returns when to requeue an owner after a reconcile that ended with err. Recheck are the RecheckAfter of the plans
// and of own writes; the soonest that is not 0 counts. The result is 0 if only an event changes something, and otherwise at
// least 100 ms.
//
// After an error the result is at most a pause, which doubles with each error in a row from 100 ms to a minute. A time that
// has passed, which [Own.RecheckAfter] returns as 1 ns, does not shorten the pause: the reconcile that failed was already
// due to it.
//
// Return only this time to controller-runtime, and log the error. If Reconcile returns an error, controller-runtime ignores
// RequeueAfter, and its own backoff grows to a quarter of an hour: one cluster with rejected writes would delay the
// deadlines and soaks of all others.
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
	for _, candidate := range recheck {
		due := err != nil && candidate == overdue
		if candidate > 0 && !due && (after == 0 || candidate < after) {
			after = max(candidate, firstPause)
		}
	}
	return after
}
