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
func (reports *Reports) Kind(position Position) Kind { return reports.kinds[position] }

// Since gives the time from which the report of a position counts; zero where that is unknown, or not needed.
func (reports *Reports) Since(position Position) time.Time { return reports.times.Of(position).since }

// Attempt gives the attempt that a position is in.
func (reports *Reports) Attempt(position Position) int { return reports.tries.Of(position) }

// Of gives the report of a position.
func (reports *Reports) Of(position Position) Report {
	times := reports.times.Of(position)
	applied, isFar := reports.far[position]
	if !isFar {
		applied = times.since.Add(-times.lag)
	}
	return Report{reports.kinds[position], times.since, reports.tries.Of(position), applied}
}

// Note takes in the report of a position.
func (reports *Reports) Note(position Position, report Report) {
	reports.kinds[position] = report.Kind
	reports.tries.Set(position, report.Attempt, len(reports.kinds))
	times := times{report.Since, report.Since.Sub(report.Applied)}
	reports.times.Set(position, times, len(reports.kinds))
	delete(reports.far, position)
	if times.lag == math.MaxInt64 {
		if reports.far == nil {
			reports.far = make(map[Position]time.Time)
		}
		reports.far[position] = report.Applied
	}
}

// clone gives a copy.
func (reports *Reports) clone() Reports {
	return Reports{slices.Clone(reports.kinds), reports.times.Clone(), reports.tries.Clone(), maps.Clone(reports.far)}
}
