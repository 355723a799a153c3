package override_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
)

// A policy is enforced on one of two clusters after the other. The controller writes what it is told,
// clusters report, and each call goes one step further.
func ExamplePropagate() {
	policy := &override.Policy{Spec: override.PolicySpec{
		RemediationAction: override.Enforce,
		RolloutStrategy: clusterv1alpha1.RolloutStrategy{
			Type:        clusterv1alpha1.Progressive,
			Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
		},
	}}
	placement := override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	bound, err := override.Resolve(policy, []override.Binding{
		{Name: "everywhere", PlacementRef: placement, Clusters: []string{"london", "paris"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	root := override.Root{Policy: policy, Version: "generation 1", Bound: bound}
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

	// What the controller reads of the replicated policies: first none, then what it wrote, then what
	// london reports.
	for _, replicas := range [][]override.Replica{
		nil,
		{
			{Cluster: "london", Version: "generation 1", Action: override.Inform, RolloutStatus: "ToApply"},
			{Cluster: "paris", Version: "generation 1", Action: override.Inform, RolloutStatus: "ToApply"},
		}, {
			{Cluster: "london", Version: "generation 1", Action: override.Enforce, RolloutStatus: "Progressing", WriteTime: noon},
			{Cluster: "paris", Version: "generation 1", Action: override.Inform, RolloutStatus: "ToApply"},
		}, {
			{Cluster: "london", Version: "generation 1", Action: override.Enforce, RolloutStatus: "Progressing", WriteTime: noon, Compliance: "Compliant", ComplianceTime: noon},
			{Cluster: "paris", Version: "generation 1", Action: override.Inform, RolloutStatus: "ToApply"},
		},
	} {
		p, err := override.Propagate(root, replicas, noon)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p)
		for cluster, reason := range p.Rollout.Held() {
			fmt.Println("-", cluster.Name, "is held:", reason)
		}
	}
	// Output:
	// london: inform, ToApply (Create); paris: inform, ToApply (Create)
	// - paris is held: no free slot: 0 in flight and 1 starting, 1 at a time
	// london: enforce, Progressing (Update); paris: inform, ToApply
	// - paris is held: no free slot: 0 in flight and 1 starting, 1 at a time
	// london: enforce, Progressing; paris: inform, ToApply
	// - paris is held: no free slot: 1 in flight, 1 at a time
	// london: enforce, Succeeded (UpdateStatus); paris: enforce, Progressing (Update)
}

// Two placements are rolled out one after the other, in the order of the bindings' names.
func ExampleResult_Groups() {
	bound, err := override.Resolve(&override.Policy{}, []override.Binding{
		{Name: "2-production", PlacementRef: override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}, Clusters: []string{"london", "lab", "paris"}},
		{Name: "1-test", PlacementRef: override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "test"}, Clusters: []string{"lab"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Of the first binding there are no groups, as it has a PlacementRule; those of the second came from
	// grouping.Read in a real controller. Clusters without a group form one of their own.
	groups, err := bound.Groups(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups)
	for i := range groups.Len() {
		for decision := range groups.Clusters(i) {
			fmt.Println(groups.Key(i), decision.ClusterName)
		}
	}
	// Output:
	// group 0 of placement 1-test: 1, group 0 of placement 2-production: 2
	// group 0 of placement 1-test lab
	// group 0 of placement 2-production london
	// group 0 of placement 2-production paris
}

// A controller that reconciles one cluster asks for that one.
func ExamplePropagation_Cluster() {
	policy := &override.Policy{Spec: override.PolicySpec{RemediationAction: override.Inform}}
	placement := override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	bound, err := override.Resolve(policy, []override.Binding{{Name: "b", PlacementRef: placement, Clusters: []string{"london", "paris"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := override.Propagate(override.Root{Policy: policy, Version: "1", Bound: bound}, nil, time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	paris, ok := p.Cluster("paris")
	fmt.Println(ok, paris.Action, paris.RolloutStatus, paris.Write)
	_, ok = p.Cluster("tokyo")
	fmt.Println(ok)
	// Output:
	// true inform Progressing Create
	// false
}
