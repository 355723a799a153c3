package rollout

import (
	"fmt"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// ReasonType is the kind of a [Reason], in the form of a condition's reason.
type ReasonType string

const (
	// Pause: the caller paused the rollout.
	Pause ReasonType = "Paused"
	// BudgetBreached: more clusters failed than may.
	BudgetBreached ReasonType = "BudgetBreached"
	// MandatoryGroupIncomplete: a mandatory group comes first.
	MandatoryGroupIncomplete ReasonType = "MandatoryGroupIncomplete"
	// EarlierGroupIncomplete: a group with a lower index comes first.
	EarlierGroupIncomplete ReasonType = "EarlierGroupIncomplete"
	// GateClosed: the gate before the cluster's group is closed.
	GateClosed ReasonType = "GateClosed"
	// ConcurrencyUsedUp: as many clusters are in flight or start as may.
	ConcurrencyUsedUp ReasonType = "ConcurrencyUsedUp"
)

// Reason is why a waiting cluster is held (R20). Where several apply it is the first in the order of the
// constants. Reasons are comparable; fields that the type does not name are zero.
type Reason struct {
	Type ReasonType `json:"type"`

	// Group is the incomplete group that is waited for, the group with the closed gate, the group whose
	// budget is breached unless AllGroups, or under ProgressivePerGroup the group whose concurrency is used
	// up.
	Group grouping.Key `json:"group"`
	// AllGroups says that the budget or the concurrency is not one of a single group.
	AllGroups bool `json:"allGroups,omitempty"`

	// Failures were counted, of which MaxFailures are tolerated (BudgetBreached).
	Failures    int `json:"failures,omitempty"`
	MaxFailures int `json:"maxFailures,omitempty"`

	// InFlight clusters hold a slot and Starting clusters take one, of MaxConcurrency (ConcurrencyUsedUp).
	InFlight       int `json:"inFlight,omitempty"`
	Starting       int `json:"starting,omitempty"`
	MaxConcurrency int `json:"maxConcurrency,omitempty"`
	// Failed of those InFlight have failed; each keeps its slot until its deadline, or where ForEver, until it
	// recovers (R25).
	Failed  int  `json:"failed,omitempty"`
	ForEver bool `json:"forEver,omitempty"`

	// Gate is the closed one (GateClosed).
	Gate Gate `json:"gate,omitzero"`
}

// String is a sentence without its full stop, fit for the message of a condition or an event:
// `waiting for group 1 "canary"`.
func (r Reason) String() string {
	switch r.Type {
	case Pause:
		return "the rollout is paused"
	case BudgetBreached:
		return fmt.Sprintf("stopped: %d failed%s, %d tolerated", r.Failures, r.where(), r.MaxFailures)
	case MandatoryGroupIncomplete:
		return "waiting for mandatory " + r.Group.String()
	case EarlierGroupIncomplete:
		return "waiting for " + r.Group.String()
	case GateClosed:
		return r.gate()
	case ConcurrencyUsedUp:
		return r.concurrency()
	default:
		return string(r.Type)
	}
}

func (r Reason) where() string {
	if r.AllGroups {
		return ""
	}
	return " in " + r.Group.String()
}

func (r Reason) gate() string {
	var b strings.Builder
	b.WriteString("the gate ")
	if r.Gate.Name != "" {
		fmt.Fprintf(&b, "%q ", r.Gate.Name)
	}
	fmt.Fprintf(&b, "before %v is closed", r.Group)
	if !r.Gate.Opens.IsZero() {
		b.WriteString(" until " + r.Gate.Opens.UTC().Format(time.RFC3339))
	}
	return b.String()
}

func (r Reason) concurrency() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no free slot%s: %d in flight", r.where(), r.InFlight)
	if r.Starting > 0 {
		fmt.Fprintf(&b, " and %d starting", r.Starting)
	}
	fmt.Fprintf(&b, ", %d at a time", r.MaxConcurrency)
	if r.Failed > 0 {
		until := "its deadline"
		if r.ForEver {
			until = "it recovers, as there is no progressDeadline"
		}
		fmt.Fprintf(&b, "; %d of them failed: a failed cluster keeps its slot until %s", r.Failed, until)
	}
	return b.String()
}

// reason says why the waiting clusters of a group are held that do not start.
func (s *schedule) reason(c *choice, group int) Reason {
	stage := int(s.stageOf[group])
	switch {
	case s.options.paused:
		return Reason{Type: Pause}
	case c.breach != nil:
		return *c.breach
	case stage > c.active:
		r := Reason{Type: EarlierGroupIncomplete, Group: s.Stages[c.active].Groups[0]}
		if s.Stages[c.active].Mandatory {
			r.Type = MandatoryGroupIncomplete
		}
		return r
	case c.closed != nil && c.closed[group]:
		key := s.groups.Key(group)
		return Reason{Type: GateClosed, Group: key, Gate: s.options.gates[key]}
	default:
		return s.usedUp(c)
	}
}

func (s *schedule) usedUp(c *choice) Reason {
	stage := &s.Stages[c.active]
	r := Reason{
		Type:           ConcurrencyUsedUp,
		InFlight:       s.holdingSlots(&c.used),
		Starting:       c.slots,
		MaxConcurrency: stage.MaxConcurrency,
	}
	if r.AllGroups = s.Type != clusterv1alpha1.ProgressivePerGroup; !r.AllGroups {
		r.Group = stage.Groups[0]
	}
	if failed := int(c.used[failed]); failed > 0 && !s.options.freeFailed {
		r.Failed, r.ForEver = failed, s.rules.deadline == nil
	}
	return r
}
