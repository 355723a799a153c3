package override

import (
	"slices"

	"github.com/cohort-ocm/cohort/status"
)

// Placements gives what the root policy's status says of its bindings, those that bind clusters and those that only
// override: an entry for each binding and each set by which it reaches the policy, by the names of the bindings. The
// exclusions are those selected clusters that the sets keep the policy off; decisions are left out.
func (r *Resolution) Placements() []status.PolicyPlacement {
	if r == nil {
		return nil
	}
	placements := make([]status.PolicyPlacement, 0, len(r.bindings))
	for i := range r.bindings {
		b := &r.bindings[i]
		if b.Direct || len(b.PolicySets) == 0 {
			placements = append(placements, b.placement("", nil))
		}
		excluded := b.excluded()
		for _, set := range b.PolicySets {
			placements = append(placements, b.placement(set, excluded))
		}
	}
	return placements
}

func (b *Binding) placement(set string, excluded []string) status.PolicyPlacement {
	p := status.PolicyPlacement{PlacementBinding: b.Name, PolicySet: set, Exclusions: excluded}
	switch b.PlacementRef.Kind {
	case "Placement":
		p.Placement = b.PlacementRef.Name
	case "PlacementRule":
		p.PlacementRule = b.PlacementRef.Name
	}
	return p
}

// excluded are the clusters that the placement selects and the sets exclude, in order.
func (b *Binding) excluded() []string {
	var names []string
	for _, name := range b.Excluded {
		if _, selected := b.Groups.Position(name); selected {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
