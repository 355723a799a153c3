// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"slices"
	"time"
)

// Starts bounds how many clusters start within any span of time (R36). The zero value bounds nothing.
type Starts struct {
	Most int
	Per  time.Duration
}

// Recent has what Starts has to know of the clusters that started within its span.
type Recent struct {
	N       int       // how many started, with the unknown
	Unknown int       // how many are in flight and started at an unknown time
	Next    time.Time // when enough have left the span for one more to start than now; zero if time alone does not tell
}

// IsSet says whether there is a bound.
func (s Starts) IsSet() bool { return s.Most > 0 }

// Left gives how many more may start.
func (s Starts) Left(recent Recent) int {
	if !s.IsSet() {
		return Unlimited
	}
	return max(0, s.Most-recent.N)
}

// Recent looks at the starts within the span, in any order, and at how many clusters in flight started at an unknown
// time.
//
// For example, with at most 3 within an hour, after starts at 12:00, 12:10, 12:20 and 12:30 the next is possible at
// 13:10.
func (s Starts) Recent(starts []time.Time, unknown int) Recent {
	recent := Recent{N: len(starts) + unknown, Unknown: unknown}
	over := max(0, recent.N-s.Most)
	if over >= len(starts) {
		return recent
	}
	slices.SortFunc(starts, time.Time.Compare)
	recent.Next = starts[over].Add(s.Per).UTC()
	return recent
}
