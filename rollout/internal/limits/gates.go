// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Gate blocks a group until it opens (R23).
type Gate struct {
	Name  string
	Opens time.Time // when it opens by itself; zero where that is unknown
}

// IsOpen says whether the gate has opened by the time now.
func (g Gate) IsOpen(now time.Time) bool { return !g.Opens.IsZero() && !now.Before(g.Opens) }

// UntilOpen gives the time from now until a closed gate opens; 0 where that is unknown.
func (g Gate) UntilOpen(now time.Time) time.Duration {
	if g.Opens.IsZero() {
		return 0
	}
	return g.Opens.Sub(now)
}

// OpensAfter says whether the gate opens later than another. An unknown time is the latest; for equal times the names decide.
func (g Gate) OpensAfter(other Gate) bool {
	switch {
	case g.Opens.Equal(other.Opens):
		return g.Name < other.Name
	case g.Opens.IsZero() || other.Opens.IsZero():
		return g.Opens.IsZero()
	default:
		return g.Opens.After(other.Opens)
	}
}

// Gates has for each group that gates name the gate that opens last, by the key without its index where the name counts. Nil has none.
type Gates map[grouping.Key]GroupGate

// GroupGate is a gate before a group.
type GroupGate struct {
	Group grouping.Key // as it was given; of several with one name the lowest index
	Gate
}

// NewGates gives the gates in a list.
func NewGates(all []GroupGate) Gates {
	if len(all) == 0 {
		return nil
	}
	gates := make(Gates, len(all))
	for _, last := range all {
		last.Opens = last.Opens.Round(0) // without the monotonic clock, like all times here
		key := gateKey(last.Group)
		if other, several := gates[key]; several { // whenever one of them is closed, the one that opens last is
			last.Group.Index = min(last.Group.Index, other.Group.Index)
			if other.OpensAfter(last.Gate) {
				last.Gate = other.Gate
			}
		}
		gates[key] = last
	}
	return gates
}

// Without gives the gates without those before a group, by its key.
func (gates Gates) Without(group grouping.Key) Gates {
	others := maps.Clone(gates)
	delete(others, gateKey(group))
	return others
}

// Closed gives the closed gate before each group that has one, the one that opens last; nil if there is none.
func (gates Gates) Closed(keys stages.Keys, now time.Time) (closed map[stages.Group]Gate) {
	if len(gates) == 0 {
		return nil
	}
	for group := range keys.Len() {
		for _, key := range gateKeys(keys.Key(group)) {
			gate, ok := gates[key]
			if !ok || gate.IsOpen(now) {
				continue
			}
			if closed == nil {
				closed = make(map[stages.Group]Gate)
			}
			if other, ok := closed[stages.Group(group)]; !ok || gate.OpensAfter(other) {
				closed[stages.Group(group)] = gate.Gate
			}
		}
	}
	return closed
}

// Unmatched gives the groups with gates that do not exist, in the order of their keys.
func (gates Gates) Unmatched(keys stages.Keys) (unmatched []grouping.Key) {
	if len(gates) == 0 {
		return nil
	}
	matched := make(map[grouping.Key]bool, keys.Len())
	for group := range keys.Len() {
		for _, key := range gateKeys(keys.Key(group)) {
			matched[key] = true
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(gates), grouping.Key.Compare) {
		if !matched[key] {
			unmatched = append(unmatched, gates[key].Group)
		}
	}
	return unmatched
}

// IsGateBefore says whether a gate before a group with the first key is one before the second group.
func IsGateBefore(gate, group grouping.Key) bool {
	keys := gateKeys(group)
	return slices.Contains(keys[:], gateKey(gate))
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
