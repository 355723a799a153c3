// SPDX-License-Identifier: Apache-2.0

package policyv1_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

func TestPlacementRefSaysKindGroupAndName(t *testing.T) {
	ref := policyv1.PlacementRef{Kind: "Placement", APIGroup: "cluster.open-cluster-management.io", Name: "prod"}
	if got, want := ref.String(), "Placement.cluster.open-cluster-management.io/prod"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
