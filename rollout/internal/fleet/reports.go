// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Reports has the reports of the clusters by position. It has room only for the times of those that have some.
type Reports struct {
	kinds []Kind // KindNone if there is none
	times Paged[times]
	tries Paged[int]
	far   map[Position]time.Time // when the version was applied, where that is too long ago for a lag
}

// times has from when a report counts, and how long before that the version was applied.
type times struct {
	since time.Time
	lag   time.Duration
}

// NewReports gives a table of n clusters, none of which has a report.
func NewReports(n int) Reports { return Reports{kinds: make([]Kind, n)} }

// Kind gives the kind of the report of a position.
func (f *Reports) Kind(position Position) Kind { return f.kinds[position] }

// Since gives the time from which the report of a position counts; zero where that is unknown, or not needed.
func (f *Reports) Since(position Position) time.Time { return f.times.Of(position).since }

// Attempt gives the attempt that a position is in.
func (f *Reports) Attempt(position Position) int { return f.tries.Of(position) }

// Of gives the report of a position.
func (f *Reports) Of(position Position) Report {
	times := f.times.Of(position)
	applied, isFar := f.far[position]
	if !isFar {
		applied = times.since.Add(-times.lag)
	}
	return Report{f.kinds[position], times.since, f.tries.Of(position), applied}
}

// Note takes in the report of a position.
func (f *Reports) Note(position Position, report Report) {
	f.kinds[position] = report.Kind
	f.tries.Set(position, report.Attempt, len(f.kinds))
	times := times{report.Since, report.Since.Sub(report.Applied)}
	f.times.Set(position, times, len(f.kinds))
	delete(f.far, position)
	if times.lag == math.MaxInt64 {
		if f.far == nil {
			f.far = make(map[Position]time.Time)
		}
		f.far[position] = report.Applied
	}
}

// clone gives a copy.
func (f *Reports) clone() Reports {
	return Reports{slices.Clone(f.kinds), f.times.Clone(), f.tries.Clone(), maps.Clone(f.far)}
}
