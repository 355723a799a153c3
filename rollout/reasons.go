// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// blockReason says why the waiting clusters of a group that do not start are blocked. Its cases are in the order of the
// constants.
func (s *schedule) blockReason(choice *choice, group stages.Group) BlockReason {
	stage := s.Graph.Of(group)
	before, waits := choice.waitsFor(stage)
	i, active := choice.grantOf(stage)
	switch {
	case s.missing != "":
		return BlockReason{Type: BlockGroupsIncomplete, Missing: s.missing}
	case s.options.paused:
		return BlockReason{Type: BlockPaused}
	case choice.breach != nil:
		return choice.breach.blockReason()
	case choice.full.n > 0:
		return BlockReason{Type: BlockRecordFull, Failures: choice.full.n, Until: choice.full.until}
	case waits:
		reason := BlockReason{Type: BlockEarlierGroup, Group: s.keyOf(before)}
		if s.Graph.IsMandatory(before) {
			reason.Type = BlockMandatoryGroup
		}
		return reason
	}
	if barrier := s.barrierOf(choice, stage); barrier >= 0 {
		group = barrier
	}
	switch {
	case choice.isClosed(group):
		return BlockReason{Type: BlockGateClosed, Group: s.KeyOf(group), Gate: Gate(choice.closed[group])}
	case choice.isWaiting(stage):
		return s.waitNotOver(&choice.waits[stage])
	case choice.pace.noShare:
		return s.sharesUsedUp(choice)
	case !active: // nothing waits then
		return BlockReason{}
	}
	switch grant := &choice.grants()[i]; grant.limit {
	case limits.KindShares:
		return s.sharesUsedUp(choice)
	case limits.KindPlaces:
		return s.placesTaken(grant)
	case limits.KindExposure:
		return choice.exposureReached()
	case limits.KindRamp:
		return s.rampUsedUp(choice)
	case limits.KindStarts:
		return s.startsUsedUp(choice)
	default:
		return s.usedUp(grant)
	}
}

func (s *schedule) usedUp(grant *grant) BlockReason {
	reason := BlockReason{
		Type:           BlockConcurrency,
		InFlight:       s.slotsUsed(grant.used),
		Starting:       grant.slots,
		MaxConcurrency: s.limits[grant.stage].maxConcurrency,
	}
	if reason.AllGroups = !s.Graph.IsSingle(grant.stage); !reason.AllGroups {
		reason.Group = s.keyOf(grant.stage)
	}
	s.countSlow(&reason, grant.used, s.options.freeFailed)
	return reason
}

// countSlow counts the clusters that may keep their slot for long. FreeFailed says whether failed ones have none.
func (s *schedule) countSlow(reason *BlockReason, used *fleet.Tally, freeFailed bool) {
	if failed := used.Failed(); failed > 0 && !freeFailed {
		reason.Failed, reason.Forever = failed, s.rules.deadline == nil
	}
	if reason.WithoutTime = used.Undated(); freeFailed {
		reason.WithoutTime -= used.In(fleet.FailedUndated)
	}
}

// blockReason gives the breach as the reason of a blocked cluster.
func (breach *Breach) blockReason() BlockReason {
	return BlockReason{Type: BlockBreached, Group: breach.Group, AllGroups: breach.AllGroups, Failures: breach.Failures, MaxFailures: breach.MaxFailures}
}
