package fleet

import (
	"math"
	"time"
)

// Reports has the reports of the clusters by position.
type Reports struct {
	kinds []Kind // KindNone if there is none
	since []time.Time
	tries Paged[int]
	lags  Paged[time.Duration]   // how long before since the version was applied
	far   map[Position]time.Time // when it was applied, where that is too long for a Duration
}

// NewReports gives a table of n clusters, none of which has a report.
func NewReports(n int) Reports {
	return Reports{kinds: make([]Kind, n), since: make([]time.Time, n)}
}

// Len is the number of clusters.
func (f *Reports) Len() int { return len(f.kinds) }

// Kind gives the kind of the report of a position.
func (f *Reports) Kind(position Position) Kind { return f.kinds[position] }

// Since gives the time from which the report of a position counts.
func (f *Reports) Since(position Position) time.Time { return f.since[position] }

// Attempt gives the attempt that a position is in.
func (f *Reports) Attempt(position Position) int { return f.tries.Of(position) }

// Attempts gives a copy of the attempts.
func (f *Reports) Attempts() Paged[int] { return f.tries.Clone() }

// Of gives the report of a position.
func (f *Reports) Of(position Position) Report {
	return Report{f.kinds[position], f.since[position], f.tries.Of(position), f.Applied(position)}
}

// Applied gives the time when a position got the version; since where its report does not say.
func (f *Reports) Applied(position Position) time.Time {
	if at, ok := f.far[position]; ok {
		return at
	}
	return f.since[position].Add(-f.lags.Of(position))
}

// Note takes in the report of a position.
func (f *Reports) Note(position Position, report Report) {
	f.kinds[position], f.since[position] = report.Kind, report.Since
	f.tries.Set(position, report.Attempt, len(f.kinds))
	lag := report.Since.Sub(report.Applied)
	f.lags.Set(position, lag, len(f.kinds))
	delete(f.far, position)
	if lag == math.MaxInt64 {
		if f.far == nil {
			f.far = make(map[Position]time.Time)
		}
		f.far[position] = report.Applied
	}
}
