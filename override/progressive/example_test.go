// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A policy is edited while its first version is on all clusters. The cluster in dev gets the new version. The one in prod waits for a
// user, and keeps the version before.
func Example() {
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	groups, err := grouping.FromNames(map[grouping.Key][]string{{Index: 0, Name: "dev"}: {"cluster1"}, {Index: 1, Name: "prod"}: {"cluster2"}})
	if err != nil {
		panic(err)
	}
	root := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": map[string]any{"name": "sample-policy", "namespace": "policies", "uid": "0a1b", "generation": int64(2)},
		"spec": map[string]any{
			"remediationAction": "enforce",
			"rolloutStrategy":   map[string]any{"type": "ManualPerGroup", "manualPerGroup": map[string]any{"progressDeadline": "10m"}},
			"policy-templates":  []any{}, // the new version
		},
	}}
	policy, err := progressive.PolicyOf(root)
	if err != nil {
		panic(err)
	}
	resolution, err := override.Resolve(policy, []override.Binding{{
		Name: "sample-binding", Direct: true, Groups: groups,
		PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "sample-placement"},
	}})
	if err != nil {
		panic(err)
	}
	// A user has approved dev in the policy's Rollout.
	object := &progressive.Rollout{ObjectMeta: metav1.ObjectMeta{Name: "policy-sample-policy", Namespace: "policies"}}
	object.Spec.DecisionGroups = []progressive.DecisionGroup{{GroupName: "dev", RolloutApproved: true}, {GroupName: "prod"}}
	// Both clusters have an earlier version. A controller reads these with passes.ReplicaOf.
	replicas := []passes.Replica{
		{Cluster: "cluster1", Version: "earlier", Action: policyv1.Enforce, Compliance: policyv1.Compliant},
		{Cluster: "cluster2", Version: "earlier", Action: policyv1.Enforce, Compliance: policyv1.Compliant},
	}

	state := progressive.State{Policy: root, Resolution: resolution, Rollout: object, NewUID: "3ac24863", Replicas: replicas}
	p, err := progressive.Propagate(state, now, rollout.Options{})
	if err != nil {
		panic(err)
	}
	// First of all, the Rollout is stored: it knows then that this rollout has begun.
	object = object.DeepCopy()
	changed, err := p.Store(object)
	if err != nil {
		panic(err)
	}
	fmt.Println("store the Rollout:", changed, object.Status.RolloutUID, object.Status.RolloutStatus)

	// With the stored Rollout, the controller reconciles again.
	state.Rollout, state.NewUID = object, "b5f20c11"
	if p, err = progressive.Propagate(state, now, rollout.Options{Previous: p.Plan}); err != nil {
		panic(err)
	}
	for _, cluster := range p.Clusters {
		fmt.Println(cluster)
	}
	fmt.Println("cluster2:", p.Explain("cluster2"))
	// Output:
	// store the Rollout: true 3ac24863 Progressing
	// cluster1: Policy enforce, Progressing (update)
	// cluster2: kept enforce, ToApply (updateStatus)
	// cluster2: group 1 "prod" is not approved; to do: set rolloutApproved of prod in spec.decisionGroups of the Rollout
}
