package override

import (
	"slices"

	"github.com/cohort-ocm/cohort/status"
)

// Placements gives what the root policy's status says about its bindings, sorted by name. It has all bindings, including
// sub filters and ignored ones. A binding that reaches the policy directly and through sets has an entry for each way.
// Exclusions names the selected clusters that the sets exclude for the policy. Decisions is left out.
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

// excluded gives the clusters that the placement selects and the sets exclude, in order.
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
