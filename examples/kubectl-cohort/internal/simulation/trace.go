// SPDX-License-Identifier: Apache-2.0

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
	// Stopped is the place in Waves of the instant at which it came to that. What happens later, such as the end of a
	// deadline after a breach, changes nothing of the outcome.
	Stopped int
	// Final is the last plan. It starts nothing, unless the rollout was aborted.
	Final *rollout.Result
	// Aborted is there where the rollout is rolled back from then on.
	Aborted *Aborted

	replay *replay // of Rollout.Play
}

// Wave is what happened at one instant, and how things stood when it had.
type Wave struct {
	// After is the time since the start of the rollout.
	After time.Duration
	// Started are the clusters that got the workload, in the order of the plan, for the first time or again.
	Started []string
	// Validating are the clusters that succeeded and are being validated from now on. Succeeded, Failed and TimedOut are those that
	// became so. All are in the order of their start.
	Validating                  []string
	Succeeded, Failed, TimedOut []string
	// Deselected are the clusters that have the version and that the scheduler drops, in the order of their start.
	Deselected []string
	// Deleted are those of them whose objects are deleted: no agent lets go of these, so that they stay.
	Deleted []string
	// Attempt is the one that begins now, 0 if none does. Again are the clusters of earlier attempts that failed and wait for
	// their turn once more from now on.
	Attempt int
	Again   []string
	// Counts are those after the start.
	Counts status.Counts
	// Breached says that more clusters have failed than may.
	Breached bool
	// Blocks says why the rest waits. It is there where the wave was planned as a whole, or explained.
	Blocks []rollout.BlockCount
}
