// SPDX-License-Identifier: Apache-2.0

package addonv1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"open-cluster-management.io/api/addon/v1alpha1"
	"open-cluster-management.io/api/addon/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/addonv1alpha1"
)

// S2: the older version of the objects has the same configurations.
func TestDesiredConfigsAreThoseOfTheNewerVersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := func(name string) v1beta1.ConfigGroupResource {
			return v1beta1.ConfigGroupResource{Group: "g", Resource: rapid.SampledFrom([]string{"a", "b"}).Draw(t, name)}
		}
		var owner v1beta1.ClusterManagementAddOn
		for range rapid.IntRange(0, 2).Draw(t, "defaults") {
			owner.Status.DefaultConfigReferences = append(owner.Status.DefaultConfigReferences, v1beta1.DefaultConfigReference{ConfigGroupResource: kind("default"), DesiredConfig: drawHash(t, "hash")})
		}
		entry := v1beta1.InstallProgression{PlacementRef: v1beta1.PlacementRef{Namespace: "ns", Name: "p"}}
		for range rapid.IntRange(0, 2).Draw(t, "placed") {
			entry.ConfigReferences = append(entry.ConfigReferences, v1beta1.InstallConfigReference{ConfigGroupResource: kind("placed"), DesiredConfig: drawHash(t, "hash")})
		}
		owner.Status.InstallProgressions = []v1beta1.InstallProgression{entry}
		var has []v1beta1.ConfigReference
		for range rapid.IntRange(0, 2).Draw(t, "has") {
			if h := drawHash(t, "hash"); h != nil {
				has = append(has, v1beta1.ConfigReference{ConfigGroupResource: kind("has"), DesiredConfig: h})
			}
		}
		addOn := addOn("", has)
		for range rapid.IntRange(0, 2).Draw(t, "own") {
			addOn.Spec.Configs = append(addOn.Spec.Configs, v1beta1.AddOnConfig{ConfigGroupResource: kind("own"), ConfigReferent: hash("").ConfigReferent})
		}
		placement := v1beta1.PlacementRef{Namespace: "ns", Name: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "placement")}
		want, wanted := status.DesiredConfigs(&owner, placement, addOn)
		oldOwner, oldAddOn := older[v1alpha1.ClusterManagementAddOn](t, owner), older[v1alpha1.ManagedClusterAddOn](t, addOn)
		got, found := addonv1alpha1.DesiredConfigs(&oldOwner, v1alpha1.PlacementRef(placement), &oldAddOn)
		if diff := cmp.Diff(older[[]v1alpha1.ConfigReference](t, want), got); diff != "" || found != wanted {
			t.Fatalf("found %v, want %v (-want +got):\n%s", found, wanted, diff)
		}
	})
}
