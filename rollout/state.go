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

// read gives the state that a report stands for at the time now, and the time after which it becomes
// another by time alone; 0 if it does not (R1 to R5).
func (r *rules) read(report *status.Report, now time.Time) (state, time.Duration) {
	switch report.Status {
	case status.ToApply:
		return toApply, 0
	case status.Succeeded:
		if r.minSuccessTime == 0 {
			return succeeded, 0
		}
		if left := remaining(report.LastTransitionTime, r.minSuccessTime, now); left > 0 {
			return soaking, left
		}
		return succeeded, 0
	case status.Skip:
		return skipped, 0
	case status.TimeOut:
		return timedOut, 0
	}

	s := progressing
	if report.Status == status.Failed {
		s = failed
	}
	if r.deadline == nil {
		return s, 0
	}
	if report.LastTransitionTime.IsZero() {
		return s, *r.deadline // it never passes, but look again (R4)
	}
	if left := remaining(report.LastTransitionTime, *r.deadline, now); left > 0 {
		return s, left
	}
	return timedOutNow, 0
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
