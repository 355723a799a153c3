package rollout

import (
	"fmt"
	"strings"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// HoldType is the kind of a [Hold], in the form of a condition's reason.
type HoldType string

const (
	// HoldGroupsIncomplete says that not all of the placement's decisions are there yet.
	HoldGroupsIncomplete HoldType = "GroupsIncomplete"
	// HoldPaused says that the caller paused the rollout.
	HoldPaused HoldType = "Paused"
	// HoldBreached says that more clusters failed than a budget allows.
	HoldBreached HoldType = "BudgetBreached"
	// HoldMandatoryGroup says that a mandatory group comes first and is not complete.
	HoldMandatoryGroup HoldType = "MandatoryGroupIncomplete"
	// HoldEarlierGroup says that a group that comes first is not complete.
	HoldEarlierGroup HoldType = "EarlierGroupIncomplete"
	// HoldGateClosed says that the gate before the cluster's group, or before an earlier one, is closed.
	HoldGateClosed HoldType = "GateClosed"
	// HoldConcurrency says that clusters in flight or starting take all slots.
	HoldConcurrency HoldType = "ConcurrencyUsedUp"
)

// Hold says why a waiting cluster does not start. Where several kinds apply it is the first in the order of the
// constants. Holds are comparable; fields that the type does not name are zero.
type Hold struct {
	Type HoldType `json:"type"`

	// Group is the incomplete group that is waited for, the group with the closed gate, the group whose budget is
	// breached unless AllGroups, or under ProgressivePerGroup the group whose concurrency is used up.
	Group grouping.Key `json:"group"`
	// AllGroups says that the budget or the concurrency is not one of a single group.
	AllGroups bool `json:"allGroups,omitempty"`

	// Detail is what the sentence says of the clusters that are waited for (HoldBreached, HoldMandatoryGroup,
	// HoldEarlierGroup, HoldConcurrency). It stays the same while nothing happens.
	Detail string `json:"detail,omitempty"`

	// Missing is a sentence that says what the groups lack (HoldGroupsIncomplete).
	Missing string `json:"missing,omitempty"`

	// Failures were counted, of which MaxFailures are tolerated (HoldBreached).
	Failures    int `json:"failures,omitempty"`
	MaxFailures int `json:"maxFailures,omitempty"`

	// Gate is the closed one (HoldGateClosed).
	Gate Gate `json:"gate,omitzero"`

	// InFlight clusters hold a slot and Starting clusters take one, of MaxConcurrency (HoldConcurrency).
	InFlight       int `json:"inFlight,omitempty"`
	Starting       int `json:"starting,omitempty"`
	MaxConcurrency int `json:"maxConcurrency,omitempty"`
	// Failed clusters are among those in flight. Each keeps its slot until its deadline, or where ForEver, until it
	// recovers.
	Failed  int  `json:"failed,omitempty"`
	ForEver bool `json:"forEver,omitempty"`
	// WithoutTime clusters are among those in flight. Nobody knows since when, so that neither their deadline nor their
	// soak ever ends.
	WithoutTime int `json:"withoutTime,omitempty"`
}

// String is a sentence without its full stop, fit for the message of a condition or an event:
// `waiting for group 1 "canary": 9 of 10 done; cls037 progressing, times out at 2026-01-02T10:50:00Z`.
func (h Hold) String() string {
	switch h.Type {
	case HoldPaused:
		return "the rollout is paused"
	case HoldGroupsIncomplete:
		return "the groups are incomplete (" + h.Missing + ")"
	case HoldBreached:
		return h.detailed("stopped")
	case HoldMandatoryGroup:
		return h.detailed("waiting for mandatory " + h.Group.String())
	case HoldEarlierGroup:
		return h.detailed("waiting for " + h.Group.String())
	case HoldGateClosed:
		return h.gate()
	case HoldConcurrency:
		return h.concurrency()
	default:
		return string(h.Type)
	}
}

func (h Hold) detailed(s string) string {
	if h.Detail != "" {
		s += ": " + h.Detail
	}
	return s
}

func (h Hold) gate() string {
	s := fmt.Sprintf("the %s before %v is closed", h.Gate, h.Group)
	if !h.Gate.Opens.IsZero() {
		s += " until " + inUTC(h.Gate.Opens)
	}
	return s
}

func (h Hold) concurrency() string {
	var b strings.Builder
	switch taken := h.InFlight + h.Starting; {
	case taken <= h.MaxConcurrency:
		fmt.Fprintf(&b, "%d of %s taken", taken, slots(h.MaxConcurrency))
	default: // some came back after their time-out, moved here, or the limit was lowered
		fmt.Fprintf(&b, "%s, %d taken, %d have to come free", slots(h.MaxConcurrency), taken, taken-h.MaxConcurrency+1)
	}
	if !h.AllGroups {
		fmt.Fprintf(&b, " in %v", h.Group)
	}
	return h.detailed(b.String())
}

func slots(n int) string {
	if n == 1 {
		return "1 slot"
	}
	return fmt.Sprintf("%d slots", n)
}

// hold says why the waiting clusters of a group are held that do not start. Its cases stand in the order of the
// constants.
func (s *schedule) hold(c *choice, group int) Hold {
	stage := int(s.stageOf[group])
	before, waits := c.waitsFor(stage)
	i, active := c.grantOf(stage)
	switch {
	case s.missing != "":
		return Hold{Type: HoldGroupsIncomplete, Missing: s.missing}
	case s.options.paused:
		return Hold{Type: HoldPaused}
	case c.breach != nil:
		return c.breach.hold()
	case waits:
		h := Hold{Type: HoldEarlierGroup, Group: s.Stages[before].Groups[0]}
		if s.Stages[before].Mandatory {
			h.Type = HoldMandatoryGroup
		}
		return h
	}
	if barrier := s.barrierOf(c, stage); barrier >= 0 {
		group = barrier
	}
	switch {
	case c.isClosed(group):
		return Hold{Type: HoldGateClosed, Group: s.groups.Key(group), Gate: c.closed[group]}
	case !active: // and nobody waits
		return Hold{}
	default:
		return s.usedUp(&c.grants()[i])
	}
}

func (s *schedule) usedUp(g *grant) Hold {
	stage := &s.Stages[g.stage]
	h := Hold{
		Type:           HoldConcurrency,
		InFlight:       s.holdingSlots(&g.used),
		Starting:       g.slots,
		MaxConcurrency: stage.MaxConcurrency,
	}
	if h.AllGroups = s.Type != clusterv1alpha1.ProgressivePerGroup; !h.AllGroups {
		h.Group = stage.Groups[0]
	}
	if failed := g.used.failed(); failed > 0 && !s.options.freeFailed {
		h.Failed, h.ForEver = failed, s.rules.deadline == nil
	}
	if h.WithoutTime = g.used.undated(); s.options.freeFailed {
		h.WithoutTime -= int(g.used[failedUndated])
	}
	return h
}
