package rollout

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
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

// gates has the gate that opens last of those with one gateKey, with the key that it was given. The key's index is the lowest
// of theirs.
type gates map[grouping.Key]ClosedGate

// newGates gives the gates in a list; nil where there are none.
func newGates(closed []ClosedGate) gates {
	if len(closed) == 0 {
		return nil
	}
	g := make(gates, len(closed))
	for _, last := range closed {
		last.Opens = last.Opens.Round(0) // without the monotonic clock, like all times here
		key := gateKey(last.Group)
		if other, several := g[key]; several { // whenever one of them is closed, the one that opens last is
			lowest := min(last.Group.Index, other.Group.Index)
			if other.opensAfter(&last.Gate) {
				last.Gate = other.Gate
			}
			last.Group.Index = lowest
		}
		g[key] = last
	}
	return g
}

// gateKey gives the key without its index where the name counts, so that the same gate is one entry.
func gateKey(key grouping.Key) grouping.Key {
	if key.Name != "" {
		key.Index = 0
	}
	return key
}

// gateKeys gives the keys under which a gate before the group may stand.
func gateKeys(group grouping.Key) [4]grouping.Key {
	byName, byIndex := gateKey(group), grouping.Key{Index: group.Index, Placement: group.Placement}
	if group.Name == "" {
		byName = byIndex
	}
	keys := [4]grouping.Key{byName, byIndex, byName, byIndex}
	keys[2].Placement, keys[3].Placement = "", ""
	return keys
}

// isOpen says whether the gate has opened by the time now.
func (g *Gate) isOpen(now time.Time) bool { return !g.Opens.IsZero() && !now.Before(g.Opens) }

// opensAfter says whether g opens later than other. An unknown time is the latest; for equal times the names decide.
func (g *Gate) opensAfter(other *Gate) bool {
	switch {
	case g.Opens.Equal(other.Opens):
		return g.Name < other.Name
	case g.Opens.IsZero() || other.Opens.IsZero():
		return g.Opens.IsZero()
	default:
		return g.Opens.After(other.Opens)
	}
}

// closedGates gives the closed gate before each group, by group; nil if there is none (R23).
func (s *schedule) closedGates(now time.Time) map[stages.Group]Gate {
	if len(s.options.gates) == 0 {
		return nil
	}
	var closed map[stages.Group]Gate
	for group := range s.graph.NumGroups() {
		for _, key := range gateKeys(s.groups.key(group)) {
			g, ok := s.options.gates[key]
			if !ok || g.isOpen(now) {
				continue
			}
			if closed == nil {
				closed = make(map[stages.Group]Gate)
			}
			if other, ok := closed[group]; !ok || g.opensAfter(&other) {
				closed[group] = g.Gate
			}
		}
	}
	return closed
}

// checkGates warns of gates before groups that do not exist: with a mistyped name the group would start
// unnoticed.
func (s *schedule) checkGates() {
	if len(s.options.gates) == 0 {
		return
	}
	matched := make(map[grouping.Key]bool, s.groups.Len())
	for i := range s.groups.Len() {
		for _, key := range gateKeys(s.groups.Key(i)) {
			matched[key] = true
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(s.options.gates), grouping.Key.Compare) {
		if !matched[key] {
			s.warn(Warning{Type: WarningGateWithoutGroup, Group: s.options.gates[key].Group, Known: s.known()})
		}
	}
}

// opening gives the time from now until a gate opens that blocks clusters of an active stage; 0 if there is none.
func (s *schedule) opening(c *choice, t *totals, now time.Time) (next time.Duration) {
	if c.closed == nil || s.stopped(c) {
		return 0
	}
	for i := range c.grants() {
		switch g := &c.grants()[i]; {
		case g.used.Waiting() == 0:
		case g.barrier >= 0:
			next = sooner(next, untilOpen(c.closed[g.barrier], now))
		case !s.graph.IsSingle(g.stage):
			for group, gate := range c.closed {
				if s.graph.Of(group) == g.stage && t.groups[group].Waiting() > 0 {
					next = sooner(next, untilOpen(gate, now))
				}
			}
		}
	}
	for group := range stages.Group(len(t.ignored)) {
		if _, waits := c.waitsFor(s.graph.Of(group)); waits || t.ignored[group].Waiting() == 0 {
			continue
		}
		if barrier := s.barrierOf(c, s.graph.Of(group)); barrier >= 0 {
			group = barrier
		}
		if gate, closed := c.closed[group]; closed {
			next = sooner(next, untilOpen(gate, now))
		}
	}
	return next
}

// untilOpen gives the time from now until the gate opens; 0 where that is unknown.
func untilOpen(g Gate, now time.Time) time.Duration {
	if g.Opens.IsZero() {
		return 0
	}
	return g.Opens.Sub(now)
}
