// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// startsIgnored says whether the waiting, ignored clusters of a group start now. They do once no earlier stage is waited
// for, no closed gate is in the way, and the hub has a share.
func (s *schedule) startsIgnored(choice *choice, group stages.Group) bool {
	stage := s.Graph.Of(group)
	_, waits := choice.waitsFor(stage)
	return !waits && !s.stopped(choice) && s.barrierOf(choice, stage) < 0 && !choice.isClosed(group) && !choice.isWaiting(stage) &&
		!choice.pace.noShare
}

// barrierOf gives the group whose closed gate blocks a stage and all behind it; -1 if there is none. It takes constant
// time, since it is called for each group: in a chain the first barrier blocks all stages from its own on.
func (s *schedule) barrierOf(choice *choice, stage stages.Stage) stages.Group {
	switch {
	case choice.closed == nil:
		return stages.None
	case choice.activeStages == nil && (choice.barrier < 0 || s.Graph.Of(choice.barrier) > stage):
		return stages.None
	case choice.activeStages == nil:
		return choice.barrier
	case choice.activeStages.barriers[stage] < 0:
		return stages.None
	default:
		return s.Graph.First(choice.activeStages.barriers[stage])
	}
}
