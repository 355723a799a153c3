package simulation

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Trace is a rollout from its first plan to the last.
type Trace struct {
	// Waves are in the order of time, the last being the end.
	Waves []Wave
	// Outcome is how it ended.
	Outcome Outcome
	// Final is the last plan. It starts nothing.
	Final *rollout.Result
}

// Wave is what happened at one instant, and how things stood when it had.
type Wave struct {
	// After is the time since the start of the rollout.
	After time.Duration
	// Started are the clusters that got the workload, in the order of the plan.
	Started []string
	// Succeeded, Failed and TimedOut are the clusters that became so, in the order of their start.
	Succeeded, Failed, TimedOut []string
	// Counts are those after the start.
	Counts status.Counts
	// Holds says why the rest waits.
	Holds []rollout.HoldCount
}

// Outcome is how a rollout ended.
type Outcome string

const (
	// Completed: every cluster is settled, well or not.
	Completed Outcome = "Completed"
	// Stopped: more clusters failed than the budget allows, and nothing will change that.
	Stopped Outcome = "Stopped"
	// Stuck: clusters wait or are in flight, and nothing will ever happen.
	Stuck Outcome = "Stuck"
	// Unfinished: more would happen, but not before the horizon.
	Unfinished Outcome = "Unfinished"
)

func outcome(s status.Summary) Outcome {
	switch {
	case s.ToApply == 0 && s.InFlight() == 0:
		return Completed
	case s.Breach != "":
		return Stopped
	default:
		return Stuck
	}
}
