// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// Available counts by the annotation of the set, and only with the value true.
func TestAvailableCountsByTheAnnotation(t *testing.T) {
	for value, counts := range map[string]bool{"true": true, "false": false, "yes": false, "": false} {
		set := &replicaSet{}
		set.Annotations = map[string]string{availableAnnotation: value}
		if wanted, err := rolloutOf(set); err != nil || wanted.AvailableSucceeds != counts {
			t.Errorf("with the value %q Available counts: %v, %v", value, wanted.AvailableSucceeds, err)
		}
	}
}

// Each placementRef is a Placement of the rollout, in order. Errors of its strategy have its path.
func TestPlacementRefsArePlacements(t *testing.T) {
	set := &replicaSet{}
	set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "canary"}, {Name: "all"}}
	wanted, err := rolloutOf(set)
	if err != nil || len(wanted.Placements) != 2 || wanted.Placements[1].Name != "all" || wanted.Placements[1].Path.String() != "spec.placementRefs[1].rolloutStrategy" {
		t.Errorf("it wants %v, %v", wanted, err)
	}
}
