// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// BlockType is the kind of a [BlockReason], in the form of a condition's reason.
type BlockType string

const (
	// BlockFrozen says that the cluster is frozen ([Options].Freezes).
	BlockFrozen BlockType = "ClusterFrozen"
	// BlockNotAllowed says that the cluster is not among those of the allowlist ([Options].Allowlist).
	BlockNotAllowed BlockType = "NotAllowed"
	// BlockGroupsIncomplete says that not all of the placement's decisions are there yet.
	BlockGroupsIncomplete BlockType = "GroupsIncomplete"
	// BlockPaused says that the caller paused the rollout.
	BlockPaused BlockType = "Paused"
	// BlockBreached says that more clusters failed than a budget allows.
	BlockBreached BlockType = "BudgetBreached"
	// BlockRecordFull says that more clusters left with the version than the record ([StoredRecord]) has room for.
	BlockRecordFull BlockType = "RecordFull"
	// BlockMandatoryGroup says that a mandatory group comes first and is not complete.
	BlockMandatoryGroup BlockType = "MandatoryGroupIncomplete"
	// BlockEarlierGroup says that a group that comes before is not complete.
	BlockEarlierGroup BlockType = "EarlierGroupIncomplete"
	// BlockGateClosed says that the gate before the cluster's group, or before an earlier one, is closed.
	BlockGateClosed BlockType = "GateClosed"
	// BlockWait says that the time of [Options].WaitBetweenGroups has not passed since the last success in the groups that come
	// before.
	BlockWait BlockType = "WaitNotOver"
	// BlockShares says that this hub has no share of concurrency, or no share of failures for a cluster that failed, or that clusters in flight
	// or starting take all its shares ([Options].Shares).
	BlockShares BlockType = "SharesUsedUp"
	// BlockConcurrency says that clusters in flight or starting take all slots.
	BlockConcurrency BlockType = "ConcurrencyUsedUp"
	// BlockPlaces says that clusters that were deselected or moved to another group still take the places of the cluster's group.
	BlockPlaces BlockType = "PlacesTaken"
	// BlockExposed says that as many clusters have the version and are not done with it as the groups expose at most.
	BlockExposed BlockType = "ExposureReached"
	// BlockRamp says that clusters in flight or starting take all that [Options].Ramp allows.
	BlockRamp BlockType = "RampUsedUp"
	// BlockStarts says that recent starts, and those now, are as many as [Options].MaxStarts allows.
	BlockStarts BlockType = "StartsUsedUp"
)

// BlockReason says why a waiting cluster does not start. If several kinds apply, it is the first in the order of the
// constants. Among the last six, it is the one that lets the fewest start; of equals, BlockShares comes first. Block reasons
// are comparable. A field whose comment does not name the Type is zero.
type BlockReason struct {
	Type BlockType `json:"type"`

	// Group is the first incomplete group that is waited for (BlockMandatoryGroup, BlockEarlierGroup), the group with the
	// closed gate (BlockGateClosed), or the group with the last success (BlockWait). Unless AllGroups, it is the group whose
	// budget is breached (BlockBreached) or whose slots are taken (BlockConcurrency).
	Group grouping.Key `json:"group"`
	// AllGroups says that the budget or the limit does not belong to a single group (BlockBreached, BlockShares, BlockConcurrency,
	// BlockRamp, BlockStarts).
	AllGroups bool `json:"allGroups,omitempty"`

	// Detail describes the clusters that are waited for (BlockBreached, BlockMandatoryGroup, BlockEarlierGroup,
	// BlockShares, BlockConcurrency, BlockRamp), or names all clusters that are blocked so (BlockFrozen, BlockNotAllowed), Many
	// of them or one. It stays the same while nothing happens.
	Detail string `json:"detail,omitempty"`
	Many   bool   `json:"many,omitempty"`
	// Reason is the reason of the freeze, if it has one (BlockFrozen).
	Reason string `json:"reason,omitempty"`

	// Missing is a sentence that says what the groups lack (BlockGroupsIncomplete).
	Missing string `json:"missing,omitempty"`

	// Failures is how many were counted, and MaxFailures how many are tolerated (BlockBreached). Failures is also how many
	// clusters the record has no room for (BlockRecordFull). Where more clusters failed than this hub has shares of failures, these are
	// both numbers (BlockShares).
	Failures    int `json:"failures,omitempty"`
	MaxFailures int `json:"maxFailures,omitempty"`

	// Gate is the closed gate (BlockGateClosed).
	Gate Gate `json:"gate,omitzero"`

	// InFlight clusters hold a slot and Starting clusters take one; there are MaxConcurrency slots (BlockConcurrency, BlockRamp) or
	// shares of concurrency (BlockShares).
	InFlight       int `json:"inFlight,omitempty"`
	Starting       int `json:"starting,omitempty"`
	MaxConcurrency int `json:"maxConcurrency,omitempty"`
	// Failed is how many of those in flight are failed. Each keeps its slot until its deadline or, where Forever, until
	// it recovers (BlockShares, BlockConcurrency, BlockRamp).
	Failed  int  `json:"failed,omitempty"`
	Forever bool `json:"forever,omitempty"`
	// WithoutTime is how many of those in flight have no time, so that their deadline or soak never ends (BlockShares,
	// BlockConcurrency, BlockRamp) or they count as started now (BlockStarts).
	WithoutTime int `json:"withoutTime,omitempty"`

	// MaxStarts is how many clusters may start within Per; Starting of them start now (BlockStarts). Per is also the
	// time to wait (BlockWait).
	MaxStarts int           `json:"maxStarts,omitempty"`
	Per       time.Duration `json:"per,omitempty"`
	// Until is when one more cluster may start (BlockStarts), when the wait or the freeze ends (BlockWait, BlockFrozen), or when the clusters without room
	// count no longer (BlockRecordFull). It is zero if that depends on clusters that start now or have no time, or on a user.
	Until time.Time `json:"until,omitzero"`
}

// String is a sentence without its full stop, fit for the message of a condition or an event:
// `waiting for group 1 "canary": 9 of 10 done; cls037 is progressing and times out at 2026-01-02T10:50:00Z`.
func (reason BlockReason) String() string {
	switch reason.Type {
	case BlockFrozen, BlockNotAllowed:
		return reason.frozen()
	case BlockPaused:
		return "the rollout is paused"
	case BlockGroupsIncomplete:
		return "the PlacementDecisions are only partially observed (" + reason.Missing + ")"
	case BlockBreached:
		return reason.detailed(theRolloutStopped)
	case BlockRecordFull:
		return reason.full()
	case BlockMandatoryGroup:
		if reason.Group == fleet.UnknownGroup() {
			return reason.detailed("waiting for deselected clusters whose group is unknown, of which none may fail")
		}
		return reason.detailed("waiting for mandatory " + reason.Group.String())
	case BlockEarlierGroup:
		return reason.detailed("waiting for " + reason.Group.String())
	case BlockGateClosed:
		return reason.gate()
	case BlockShares:
		return reason.shares()
	case BlockConcurrency, BlockRamp:
		return reason.concurrency()
	case BlockPlaces:
		return reason.detailed(fmt.Sprintf("%v still counts clusters that left it (deselected, or moved to another group); as many of its clusters, the last in order, start only once all others are done", reason.Group))
	case BlockExposed:
		return reason.exposure()
	case BlockStarts:
		return reason.starts()
	case BlockWait:
		return reason.wait()
	default:
		return string(reason.Type)
	}
}

func (reason BlockReason) full() string {
	text := fmt.Sprintf("the record of deselected clusters in the rollout's object is full: %s cannot be added", plural(reason.Failures > 1, "1 deselected cluster", fmt.Sprintf("%d deselected clusters", reason.Failures)))
	if reason.Until.IsZero() {
		return text + "; no cluster starts until the record is deleted, or another version or attempt is rolled out"
	}
	return text + fmt.Sprintf(", and %s until %s", plural(reason.Failures > 1, "counts", "count"), inUTC(reason.Until))
}

func (reason BlockReason) detailed(text string) string {
	if reason.Detail != "" {
		text += ": " + reason.Detail
	}
	return text
}

func (reason BlockReason) gate() string {
	text := fmt.Sprintf("the %s before %v is closed", reason.Gate, reason.Group)
	if !reason.Gate.Opens.IsZero() {
		text += " until " + inUTC(reason.Gate.Opens)
	}
	return text
}

func (reason BlockReason) concurrency() string {
	of, rises := "the concurrency limit", ""
	if reason.Type == BlockRamp { // the ramp adds a slot with each cluster that soaks
		of, rises = "the ramp limit", fmt.Sprintf("; it rises once more than %d %s done", reason.MaxConcurrency, plural(reason.MaxConcurrency > 1, "is", "are"))
	}
	if !reason.AllGroups {
		of += fmt.Sprintf(" of %v", reason.Group)
	}
	taken := reason.InFlight + reason.Starting
	text := fmt.Sprintf("%s is reached (%d of %d %s%s)", of, taken, reason.MaxConcurrency, reason.takers(), rises)
	if taken > reason.MaxConcurrency { // some came back after their timeout, moved here, or the limit was lowered
		if rises == "" {
			rises = fmt.Sprintf("; the next cluster starts once %d of these are no longer in flight", taken-reason.MaxConcurrency+1)
			if reason.MaxConcurrency == 1 {
				rises = "; the next cluster starts once none of these is in flight"
			}
		}
		text = fmt.Sprintf("%s is exceeded (%d in flight, the limit is %d%s)", of, taken, reason.MaxConcurrency, rises)
	}
	return reason.detailed(text)
}

// takers says of the clusters that take the slots what they do.
func (reason BlockReason) takers() string {
	if reason.Starting > 0 {
		return "in flight or starting"
	}
	return "in flight"
}

func (reason BlockReason) starts() string {
	var parts []string
	if reason.Starting > 0 {
		parts = append(parts, fmt.Sprintf("%d %s starting", reason.Starting, plural(reason.Starting > 1, "is", "are")))
	}
	switch {
	case !reason.Until.IsZero():
		parts = append(parts, "the next starts at "+inUTC(reason.Until))
	case reason.Starting > 0:
		parts = append(parts, fmt.Sprintf("the next starts %v later", reason.Per))
	default:
		parts = append(parts, "it is unknown when the next starts")
	}
	if reason.WithoutTime > 0 {
		parts = append(parts, fmt.Sprintf("because the status of %s in flight has no timestamp", clusters(reason.WithoutTime)))
	}
	return fmt.Sprintf("the start limit is reached (maxStarts: %d within %v): %s", reason.MaxStarts, reason.Per, strings.Join(parts, ", "))
}
