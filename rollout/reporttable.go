package rollout

import (
	"math"
	"time"
)

// reportTable has the reports of the clusters by position.
type reportTable struct {
	kinds []state // unreported if there is none
	since []time.Time
	tries attempts
	lags  pagedSlice[time.Duration] // how long before since the version was applied
	far   map[int]time.Time         // when it was applied, where that is too long for a Duration
}

func newReportTable(n int) reportTable {
	return reportTable{kinds: make([]state, n), since: make([]time.Time, n)}
}

// reported gives the report of a position.
func (f *reportTable) reported(position int) report {
	return report{f.kinds[position], f.since[position], f.tries.of(position), f.applied(position)}
}

// applied gives the time when a position got the version; since where its report does not say.
func (f *reportTable) applied(position int) time.Time {
	if at, ok := f.far[position]; ok {
		return at
	}
	return f.since[position].Add(-f.lags.of(position))
}

// note takes in the report of a position.
func (f *reportTable) note(position int, r report) {
	f.kinds[position], f.since[position] = r.kind, r.since
	f.tries.set(position, r.attempt, len(f.kinds))
	lag := r.since.Sub(r.applied)
	f.lags.set(position, lag, len(f.kinds))
	delete(f.far, position)
	if lag == math.MaxInt64 {
		if f.far == nil {
			f.far = make(map[int]time.Time)
		}
		f.far[position] = r.applied
	}
}

// listedStates are the sets of states that a tracker can list.
var listedStates = [...]stateSet{inFlightStates, timedOutNowStates, failureStates, undatedStates, undatedSuccess, untrackedStates}
