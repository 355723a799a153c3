package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// state is where a selected cluster stands, in a byte. The zero state is that of a cluster that was never
// reported, so that a fleet starts as a cleared slice.
type state uint8

const (
	unreported  state = iota // waiting
	toApply                  // waiting
	progressing              // in flight
	failed                   // in flight and a failure
	soaking                  // in flight
	succeeded                // settled
	skipped                  // settled
	timedOut                 // settled and a failure: reported so
	timedOutNow              // settled and a failure: by its deadline
	numStates
)

// starting marks a waiting state that starts.
const starting state = 0x80

func (s state) waiting() bool  { return s&^starting <= toApply }
func (s state) inFlight() bool { return s == progressing || s == failed || s == soaking }

// status is what the result says of a cluster in this state.
func (s state) status() status.RolloutStatus {
	switch s &^ starting {
	case progressing:
		return status.Progressing
	case failed:
		return status.Failed
	case soaking, succeeded:
		return status.Succeeded
	case skipped:
		return status.Skip
	case timedOut, timedOutNow:
		return status.TimeOut
	default:
		return status.ToApply
	}
}

// kind is the state that a report stands for as long as time changes nothing. A status that the API may
// add one day counts as Progressing (R1).
func kind(s status.RolloutStatus) state {
	switch s {
	case status.ToApply:
		return toApply
	case status.Succeeded:
		return succeeded
	case status.Failed:
		return failed
	case status.TimeOut:
		return timedOut
	case status.Skip:
		return skipped
	default:
		return progressing
	}
}

// at gives the state at the time now of a cluster that has been of a kind since the given time, and the
// time after which to look again; 0 if time changes nothing (R3 to R5).
func (r *rules) at(kind state, since, now time.Time) (state, time.Duration) {
	limit, before, after := r.phase(kind)
	if before == kind && after == kind {
		return kind, 0
	}
	if left := remaining(since, limit, now); left > 0 || since.IsZero() {
		return before, left
	}
	return after, 0
}

// phase gives for a kind how long it is in one state and what it is before and after that time.
func (r *rules) phase(kind state) (limit time.Duration, before, after state) {
	switch {
	case kind == succeeded && r.minSuccessTime > 0:
		return r.minSuccessTime, soaking, succeeded
	case (kind == progressing || kind == failed) && r.deadline != nil:
		return *r.deadline, kind, timedOutNow
	default:
		return 0, kind, kind
	}
}

// remaining is the time from now until d after since. An unknown since counts as now, so that the time
// never runs out (R4, R5).
func remaining(since time.Time, d time.Duration, now time.Time) time.Duration {
	if since.IsZero() {
		return d
	}
	return since.Add(d).Sub(now)
}

// tally is how many clusters are in each state.
type tally [numStates]int32

func (t *tally) waiting() int  { return int(t[unreported] + t[toApply]) }
func (t *tally) inFlight() int { return int(t[progressing] + t[failed] + t[soaking]) }
func (t *tally) failures() int { return int(t[failed] + t[timedOut] + t[timedOutNow]) }

// unsettled is the number of clusters that R6 does not count as settled.
func (t *tally) unsettled() int { return t.waiting() + int(t[progressing]+t[soaking]) }

func (t *tally) add(other *tally) {
	for i := range t {
		t[i] += other[i]
	}
}

// counts is the tally as the summary has it; held of its waiting clusters do not start.
func (t *tally) counts(held int) status.Counts {
	return status.Counts{
		ToApply:     t.waiting(),
		Progressing: int(t[progressing]),
		Succeeded:   int(t[soaking] + t[succeeded]),
		Failed:      int(t[failed]),
		TimeOut:     int(t[timedOut] + t[timedOutNow]),
		Skip:        int(t[skipped]),
		Soaking:     int(t[soaking]),
		Held:        held,
	}
}
