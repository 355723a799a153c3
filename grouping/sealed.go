// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"maps"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/seal"
)

// Sealed returns PlacementDecisions with a seal, from which a reader without the Placement knows whether it has all of them and
// none from before or after: see [Read]. Pass all objects of a placement. The seal is an annotation of each object, and says on the
// first by name how many objects and clusters belong together, with a digest. Readers that don't know it ignore it.
//
// Package decisionupdate writes it with the objects. The objects given are not changed; the result shares all but annotations.
func Sealed(decisions []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	result := make([]*clusterv1beta1.PlacementDecision, len(decisions))
	for i, decision := range decisions {
		sealed := *decision
		sealed.Annotations = maps.Clone(decision.Annotations)
		if sealed.Annotations == nil {
			sealed.Annotations = make(map[string]string, 1)
		}
		sealed.Annotations[seal.Annotation] = ""
		result[i] = &sealed
	}
	if len(result) > 0 {
		slices.MinFunc(result, compareObjects).Annotations[seal.Annotation] = seal.Of(decisions)
	}
	return result
}
