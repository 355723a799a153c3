// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// blockReason says why the waiting clusters of a group that do not start are blocked. Its cases are in the order of the
// constants.
func (s *schedule) blockReason(c *choice, group stages.Group) BlockReason {
	stage := s.Graph.Of(group)
	before, waits := c.waitsFor(stage)
	i, active := c.grantOf(stage)
	switch {
	case s.missing != "":
		return BlockReason{Type: BlockGroupsIncomplete, Missing: s.missing}
	case s.options.paused:
		return BlockReason{Type: BlockPaused}
	case c.breach != nil:
		return c.breach.blockReason()
	case c.full.n > 0:
		return BlockReason{Type: BlockRecordFull, Failures: c.full.n, Until: c.full.until}
	case waits:
		h := BlockReason{Type: BlockEarlierGroup, Group: s.keyOf(before)}
		if s.Graph.IsMandatory(before) {
			h.Type = BlockMandatoryGroup
		}
		return h
	}
	if barrier := s.barrierOf(c, stage); barrier >= 0 {
		group = barrier
	}
	switch {
	case c.isClosed(group):
		return BlockReason{Type: BlockGateClosed, Group: s.KeyOf(group), Gate: Gate(c.closed[group])}
	case c.isWaiting(stage):
		return s.waitNotOver(&c.waits[stage])
	case c.pace.noShare:
		return s.sharesUsedUp(c)
	case !active: // nothing waits then
		return BlockReason{}
	}
	switch g := &c.grants()[i]; g.limit {
	case limits.KindShares:
		return s.sharesUsedUp(c)
	case limits.KindPlaces:
		return s.placesTaken(g)
	case limits.KindExposure:
		return c.exposureReached()
	case limits.KindRamp:
		return s.rampUsedUp(c)
	case limits.KindStarts:
		return s.startsUsedUp(c)
	default:
		return s.usedUp(g)
	}
}

func (s *schedule) usedUp(g *grant) BlockReason {
	h := BlockReason{
		Type:           BlockConcurrency,
		InFlight:       s.slotsUsed(g.used),
		Starting:       g.slots,
		MaxConcurrency: s.limits[g.stage].maxConcurrency,
	}
	if h.AllGroups = !s.Graph.IsSingle(g.stage); !h.AllGroups {
		h.Group = s.keyOf(g.stage)
	}
	s.countSlow(&h, g.used, s.options.freeFailed)
	return h
}

// countSlow counts the clusters that may keep their slot for long. FreeFailed says whether failed ones have none.
func (s *schedule) countSlow(h *BlockReason, used *fleet.Tally, freeFailed bool) {
	if failed := used.Failed(); failed > 0 && !freeFailed {
		h.Failed, h.Forever = failed, s.rules.deadline == nil
	}
	if h.WithoutTime = used.Undated(); freeFailed {
		h.WithoutTime -= used.In(fleet.FailedUndated)
	}
}

// blockReason gives the breach as the reason of a blocked cluster.
func (b *Breach) blockReason() BlockReason {
	return BlockReason{Type: BlockBreached, Group: b.Group, AllGroups: b.AllGroups, Failures: b.Failures, MaxFailures: b.MaxFailures}
}
