// SPDX-License-Identifier: Apache-2.0

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
		binding := &r.bindings[i]
		if !selects(binding.PlacementRef) || binding.SubFilter && !r.touchedBy(binding) {
			continue
		}
		if binding.Direct || len(binding.PolicySets) == 0 {
			placements = append(placements, binding.placement(""))
		}
		for _, set := range binding.PolicySets {
			placements = append(placements, binding.placement(set))
		}
	}
	return placements
}

// touchedBy says whether the binding's placement selects a bound cluster, or may do so, as far as is known.
func (r *Resolution) touchedBy(binding *Binding) bool {
	if r.disabled {
		return false
	}
	for i := range binding.Groups.Len() {
		for decision := range binding.Groups.Clusters(i) {
			if _, bound := r.Find(decision.ClusterName); bound {
				return true
			}
		}
	}
	return binding.Groups.Incomplete() != "" || r.Incomplete() != ""
}

func (b *Binding) placement(set string) policyv1.PolicyPlacement {
	placement := policyv1.PolicyPlacement{PlacementBinding: b.Name, PolicySet: set}
	var excluded []string
	switch {
	case set == "":
	case b.Exclusions == nil:
		excluded = b.Excluded
	default:
		excluded = b.Exclusions[set]
	}
	for _, cluster := range slices.Compact(slices.Sorted(slices.Values(excluded))) {
		placement.Exclusions = append(placement.Exclusions, policyv1.PolicyDecision{ClusterName: cluster})
	}
	switch {
	case b.Groups == nil || b.Missing: // not looked up, or it does not exist
	case b.PlacementRef.Kind == "Placement":
		placement.Placement = b.PlacementRef.Name
	default:
		placement.PlacementRule = b.PlacementRef.Name
	}
	return placement
}
