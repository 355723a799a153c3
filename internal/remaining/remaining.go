// SPDX-License-Identifier: Apache-2.0

// Package remaining says which bindings select a cluster that another binding excludes, for the status of a root policy.
package remaining

import (
	"slices"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Bindings gives, for bound clusters that a set excludes, the other bindings that select them all the same (O20). Placements are
// those of the resolution.
func Bindings(resolution *override.Resolution, placements []policyv1.PolicyPlacement) map[string][]policyv1.PolicyRemainingBinding {
	excluded := map[string][]string{} // by which bindings
	for _, placement := range placements {
		for _, cluster := range placement.Exclusions {
			excluded[cluster.ClusterName] = append(excluded[cluster.ClusterName], placement.PlacementBinding)
		}
	}
	if len(excluded) == 0 {
		return nil
	}
	remaining := map[string][]policyv1.PolicyRemainingBinding{}
	for bound := range resolution.Clusters() {
		by, isExcluded := excluded[bound.Name]
		if !isExcluded {
			continue
		}
		names := slices.Concat(bound.BoundBy, bound.DecidedBy, bound.IgnoredBy)
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if !slices.Contains(by, name) {
				remaining[bound.Name] = append(remaining[bound.Name], policyv1.PolicyRemainingBinding{PlacementBinding: name})
			}
		}
	}
	return remaining
}
