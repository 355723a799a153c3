// SPDX-License-Identifier: Apache-2.0

package override

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
)

// Groups gives the bound clusters in the decision groups of the placements that bound them, as a rollout goes through
// them: one placement after the other, in the order of the bindings' names. A cluster that several placements bind
// belongs to the first. Excluded clusters are in no group, so no rollout waits for them.
//
// Groups keep their names and indexes, even if no clusters are left, so an entry of mandatoryDecisionGroups means a
// group of each placement. If several bindings bind, the Placement of a key is the name of the binding, as two bindings
// may have the same placement.
//
// The groups are incomplete exactly if the Resolution is. The first call takes as long as grouping.Join, later calls
// take constant time.
func (r *Resolution) Groups() *grouping.Groups {
	if r == nil || !r.resolved {
		return nil
	}
	r.once.Do(func() { r.groups = joined(r.parts) })
	return r.groups
}

// GroupsByPlacement gives the same clusters as [Resolution.Groups] with the placements in the order of their own names, and
// bindings to one placement in the order of theirs. Each call takes as long as grouping.Join unless both orders are the same.
func (r *Resolution) GroupsByPlacement() *grouping.Groups {
	if r == nil || !r.resolved {
		return nil
	}
	byPlacement := func(a, b part) int { return cmp.Compare(a.PlacementRef.Name, b.PlacementRef.Name) }
	if slices.IsSortedFunc(r.parts, byPlacement) {
		return r.Groups()
	}
	parts := slices.Clone(r.parts)
	slices.SortStableFunc(parts, byPlacement)
	return joined(parts)
}

func joined(all []part) *grouping.Groups {
	var parts []grouping.PlacementGroups
	for i := range all {
		part := &all[i]
		switch {
		case part.binds:
			parts = append(parts, grouping.PlacementGroups{Placement: part.Name, Groups: part.restricted()})
		case part.decides && part.Groups.Incomplete() != "":
			// It is unknown for which bound clusters it decides. All of them wait for it, although it binds none.
			none := part.Groups.Only(func(grouping.Key, string) bool { return false })
			parts = append(parts, grouping.PlacementGroups{Placement: part.Name, Groups: none})
		}
	}
	switch len(parts) {
	case 0:
		none, _ := grouping.FromNames(nil) // this cannot fail
		return none
	case 1:
		return parts[0].Groups
	default:
		groups, _ := grouping.Join(parts...) // this cannot fail: names are there and differ, and no part is joined
		return groups
	}
}

// restricted gives the groups of the clusters that the part selects.
func (p *part) restricted() *grouping.Groups {
	excluded := setOf(p.Excluded)
	if len(excluded) == 0 {
		return p.Groups
	}
	return p.Groups.Only(func(_ grouping.Key, cluster string) bool { return !excluded[cluster] })
}

// Incomplete says in a sentence which binding's groups are incomplete; it is empty if none are. As long as some are, a
// cluster that seems unbound may be bound, so nothing is deleted and nothing starts. Bindings that neither bind nor
// decide anything are ignored.
func (r *Resolution) Incomplete() string {
	if r == nil || !r.resolved {
		return "nothing was resolved"
	}
	return r.incomplete
}

// Undecided says that the groups of a binding that enforces are incomplete. Then clusters with the policy's own
// action may turn out to be enforced.
func (r *Resolution) Undecided() bool { return r != nil && r.undecided }

// readCompleteness records which parts are incomplete.
func (r *Resolution) readCompleteness(parts []part) {
	count := 0
	for i := range parts {
		part := &parts[i]
		incomplete := ""
		if part.binds || part.decides {
			incomplete = part.Groups.Incomplete()
		}
		if incomplete == "" {
			continue
		}
		r.undecided = r.undecided || part.decides
		if count++; count == 1 {
			r.incomplete = fmt.Sprintf("PlacementBinding %q: %s", part.Name, incomplete)
		}
	}
	if count > 1 {
		r.incomplete += fmt.Sprintf(" (and %d more)", count-1)
	}
}
