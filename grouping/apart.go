// SPDX-License-Identifier: Apache-2.0

package grouping

import "slices"

// Apart gives each placement the clusters that no placement before it selects. It is for a workload that follows
// several placements with a strategy for each. Where one strategy goes for all of them, use [Join].
//
// The parts know each other ([Groups.Parts]), so every plan of a part can be given the reports of all clusters. None
// removes a cluster that another part selects, and the last removes those that no part selects. The last part is incomplete
// while any part is, so that no cluster is removed then. A cluster that has the version and moves to another placement counts in both until
// it is done. If it moves while the controller is down, it counts only where it is now.
//
// The results are in the order of the parts. A group that loses clusters stays, even if it loses all. Indexes, names and the
// order of the clusters stay as they are. Where a placement is incomplete, it is unknown which clusters it leaves to the next
// ones, so their groups are incomplete, too. Otherwise a later placement might start a cluster that the incomplete one
// selects and holds back. And a cluster that only changes its placement might lose its workload.
//
// The errors are the same as from Join. It takes time in proportion to clusters × placements.
func Apart(parts ...PlacementGroups) ([]*Groups, error) {
	if err := validateJoin(parts); err != nil {
		return nil, err
	}
	apart := make([]*Groups, len(parts))
	var found findings // of the parts up to this one
	for i, part := range parts {
		if missing := part.Groups.withoutPlacement(); missing != "" {
			found.add("%s", ofPlacement(part.Placement, missing))
		}
		apart[i] = part.Groups.Only(func(_ Key, cluster string) bool {
			return !slices.ContainsFunc(parts[:i], func(before PlacementGroups) bool {
				_, taken := before.Groups.Position(cluster)
				return taken
			})
		})
		if missing := found.String(); missing != "" {
			apart[i] = apart[i].without(missing)
		}
	}
	for i := range apart {
		apart[i] = apart[i].among(part{slices.Clone(parts), i})
	}
	return apart, nil
}

// part is what a part of groups that were taken apart knows of all of them. It is zero where there are no other parts.
type part struct {
	all []PlacementGroups
	at  int // the place of this part among all
}

// among gives the same groups as one of several parts.
func (g *Groups) among(of part) *Groups {
	var copied Groups
	if g != nil {
		copied = *g // nothing in it is ever changed
	}
	copied.part = of
	return &copied
}

// Parts gives what [Apart] took apart, where these groups are one of its results, and which of them these are. It gives nil
// otherwise. A cluster is of the first part that selects it, and of the last where none does. The slice is not to be changed.
func (g *Groups) Parts() (all []PlacementGroups, at int) {
	if g == nil {
		return nil, 0
	}
	return g.part.all, g.part.at
}

// without gives the same groups with something missing.
func (g *Groups) without(missing string) *Groups {
	var copied Groups
	if g != nil {
		copied = *g // nothing in it is ever changed
	}
	copied.completeness = completeness{checked: true, missing: missing}
	return &copied
}
