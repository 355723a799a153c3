package grouping

import "slices"

// Apart gives each placement the clusters that no placement before it selects. It is for a workload that follows
// several placements with a strategy for each. Where one strategy goes for all of them, use [Join].
//
// Divide what you know of the clusters in the same way. The plan of a part takes any other cluster that is reported to it for
// one that is no longer selected, and removes it. So give each plan only the reports of the clusters that its part selects.
// Give the last plan also the reports of the clusters that no part selects. The last part is incomplete while any part is,
// so nobody is removed then. The page of package rollout has more under "Several placements".
//
// The results are in the order of the parts. A group that loses clusters stays, even if it loses all. Indexes, names and the
// order of the clusters stay as they are. Where a placement is incomplete, nobody knows which clusters it leaves to the next
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
	return apart, nil
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
