package rollout

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Gate blocks a group until an operator opens it: an approval, a maintenance window.
type Gate struct {
	// Name is what the reason of a blocked cluster calls it.
	Name string `json:"name,omitempty"`
	// Opens is when it opens by itself; zero where that is unknown.
	Opens time.Time `json:"opens,omitzero"`
}

// String is `gate`, or `gate "approval"`.
func (g Gate) String() string {
	if g.Name == "" {
		return "gate"
	}
	return fmt.Sprintf("gate %q", g.Name)
}

// ClosedGate is a gate before a group: the group's waiting clusters are blocked. Where groups go one after the other (mandatory
// groups, and all groups under ProgressivePerGroup), nothing starts in the later groups either, even while the group
// itself is empty or complete. The gate is open from Opens on.
//
// Where a group has several gates, it is blocked until all of them are open. The reason of a blocked cluster is the gate that
// opens last; one that opens at an unknown time is the last of all. An approval and a maintenance window for one group
// both block it.
type ClosedGate struct {
	// Group is the group behind the gate. A group with a name means every group of that name, whatever its index. A group
	// without a name means the group with that index. A group with a placement means that placement alone. A gate before a
	// group that does not exist blocks nothing, and the result warns of it.
	Group grouping.Key `json:"group"`
	Gate
}

// newGates gives the gates in a list; nil where there are none.
func newGates(closed []ClosedGate) limits.Gates {
	all := make([]limits.GroupGate, len(closed))
	for i, gate := range closed {
		all[i] = limits.GroupGate{Group: gate.Group, Gate: limits.Gate(gate.Gate)}
	}
	return limits.NewGates(all)
}

// checkGates warns of gates before groups that do not exist: with a mistyped name the group would start
// unnoticed.
func (s *schedule) checkGates() {
	for _, group := range s.options.gates.Unmatched(s.Members) {
		s.warn(Warning{Type: WarningGateWithoutGroup, Group: group, Known: s.known()})
	}
}

// opening gives the time from now until a gate opens that blocks clusters of an active stage; 0 if there is none.
func (s *schedule) opening(c *choice, t *fleet.Totals, now time.Time) (next time.Duration) {
	if c.closed == nil || s.stopped(c) {
		return 0
	}
	for i := range c.grants() {
		switch g := &c.grants()[i]; {
		case g.used.Waiting() == 0:
		case g.barrier >= 0:
			next = fleet.Sooner(next, c.closed[g.barrier].UntilOpen(now))
		case !s.Graph.IsSingle(g.stage):
			for group, gate := range c.closed {
				if s.Graph.Of(group) == g.stage && t.Groups[group].Waiting() > 0 {
					next = fleet.Sooner(next, gate.UntilOpen(now))
				}
			}
		}
	}
	for group := range stages.Group(len(t.Ignored)) {
		if _, waits := c.waitsFor(s.Graph.Of(group)); waits || t.Ignored[group].Waiting() == 0 {
			continue
		}
		if barrier := s.barrierOf(c, s.Graph.Of(group)); barrier >= 0 {
			group = barrier
		}
		if gate, closed := c.closed[group]; closed {
			next = fleet.Sooner(next, gate.UntilOpen(now))
		}
	}
	return next
}
