package grouping

import "slices"

// Apart gives each of several placements the clusters that none before it selects, for a workload that follows them
// all with a strategy for each. Where one strategy goes for all of them, use [Join].
//
// The results are in the order of the parts. A group that loses clusters stays, even if it loses all; indexes, names and the
// order of the clusters stay what they are. As long as a placement is incomplete, nobody knows which clusters are left for
// those behind it, so they are incomplete, too. Otherwise one behind it might start a cluster that the incomplete placement
// selects and holds back, and a cluster that only changes its placement might lose its workload.
//
// The errors are the same as from Join. It takes time linear in the clusters times the placements.
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

// without is the same groups, of which something is missing.
func (g *Groups) without(missing string) *Groups {
	var copied Groups
	if g != nil {
		copied = *g // nothing in it is ever changed
	}
	copied.completeness = completeness{checked: true, missing: missing}
	return &copied
}
