package override

import (
	"slices"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Placements gives the entries for status.placement of the root policy, sorted by the names of the bindings. A binding that
// reaches the policy directly and through sets has an entry for each way. Exclusions names all clusters that the entry's set
// excludes for the policy. Decisions is not set. Bindings to neither a Placement nor a PlacementRule have no
// entry, nor have sub filters that are known to select no bound cluster. An entry has the name of its placement only if the
// binding has Groups.
//
// A disabled policy keeps its entries, without those of sub filters: the status of its PolicySets is made of them.
func (r *Resolution) Placements() []policyv1.PolicyPlacement {
	if r == nil {
		return nil
	}
	placements := make([]policyv1.PolicyPlacement, 0, len(r.bindings))
	for i := range r.bindings {
		b := &r.bindings[i]
		if !selects(b.PlacementRef) || b.SubFilter && !r.touchedBy(b) {
			continue
		}
		if b.Direct || len(b.PolicySets) == 0 {
			placements = append(placements, b.placement(""))
		}
		for _, set := range b.PolicySets {
			placements = append(placements, b.placement(set))
		}
	}
	return placements
}

// touchedBy says whether the binding's placement selects a bound cluster, or may do so, as far as is known.
func (r *Resolution) touchedBy(b *Binding) bool {
	if r.disabled {
		return false
	}
	for i := range b.Groups.Len() {
		for decision := range b.Groups.Clusters(i) {
			if _, bound := r.Find(decision.ClusterName); bound {
				return true
			}
		}
	}
	return b.Groups.Incomplete() != "" || r.Incomplete() != ""
}

func (b *Binding) placement(set string) policyv1.PolicyPlacement {
	p := policyv1.PolicyPlacement{PlacementBinding: b.Name, PolicySet: set}
	var excluded []string
	switch {
	case set == "":
	case b.Exclusions == nil:
		excluded = b.Excluded
	default:
		excluded = b.Exclusions[set]
	}
	for _, cluster := range slices.Compact(slices.Sorted(slices.Values(excluded))) {
		p.Exclusions = append(p.Exclusions, policyv1.PolicyDecision{ClusterName: cluster})
	}
	switch {
	case b.Groups == nil || b.Missing: // not looked up, or it does not exist
	case b.PlacementRef.Kind == "Placement":
		p.Placement = b.PlacementRef.Name
	default:
		p.PlacementRule = b.PlacementRef.Name
	}
	return p
}
