// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// clusters is what a controller reads of a PlacementRule, which has no decision groups. Of a Placement it would have
// them from grouping.Read.
func clusters(names ...string) *grouping.Groups {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
	if err != nil {
		panic(err)
	}
	return groups
}

// From the objects that users write to the action on each cluster. The policy informs on three clusters; a sub filter
// enforces it on the canaries that the policy is bound to.
func Example() {
	const text = `
kind: PlacementBinding
metadata: {name: everywhere, namespace: policies}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: production}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: hardening}]
---
kind: PlacementBinding
metadata: {name: canary, namespace: policies}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: canaries}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: hardening}]
bindingOverrides: {remediationAction: enforce}
subFilter: restricted
`
	var objects []*policyv1.PlacementBinding
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for range 2 {
		object := &policyv1.PlacementBinding{}
		if err := decoder.Decode(object); err != nil {
			fmt.Println(err)
			return
		}
		objects = append(objects, object)
	}
	policy := &policyv1.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "hardening", Namespace: "policies"},
		Spec:       policyv1.PolicySpec{RemediationAction: policyv1.Inform},
	}
	// What a controller reads from the PlacementDecisions of each placement.
	placements := map[string]*grouping.Groups{
		"production": clusters("paris", "london", "tokyo"),
		"canaries":   clusters("tokyo", "testbed"),
	}

	bindings, err := override.Bindings(policy, objects, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range bindings {
		bindings[i].Groups = placements[bindings[i].PlacementRef.Name]
	}
	resolution, err := override.Resolve(policy, bindings)
	if err != nil {
		fmt.Println(err)
		return
	}
	for cluster := range resolution.Clusters() {
		fmt.Println(cluster)
	}
	// Output:
	// london: inform by the policy, bound by everywhere
	// paris: inform by the policy, bound by everywhere
	// tokyo: enforce by canary, bound by everywhere
}

// A set brings its policies to the clusters its bindings select, but for those it excludes.
func ExampleBindings_policySet() {
	policy := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "hardening"}}
	set := &policyv1.PolicySet{
		ObjectMeta: metav1.ObjectMeta{Name: "baseline"},
		Spec: policyv1.PolicySetSpec{
			Policies:   []string{"audit", "hardening"},
			Exclusions: []policyv1.Exclusion{{PolicyName: "hardening", ClusterNames: []string{"lab"}}},
		},
	}
	object := &policyv1.PlacementBinding{
		ObjectMeta:   metav1.ObjectMeta{Name: "everywhere"},
		PlacementRef: policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"},
		Subjects:     []policyv1.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "PolicySet", Name: "baseline"}},
	}
	bindings, err := override.Bindings(policy, []*policyv1.PlacementBinding{object}, []*policyv1.PolicySet{set})
	fmt.Println(len(bindings), bindings[0].Name, "without", bindings[0].Excluded, err)
	// Output:
	// 1 everywhere without [lab] <nil>
}

// A field that does not say what it may is an error that names the binding and the field.
func ExampleBindings_error() {
	policy := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "hardening"}}
	object := &policyv1.PlacementBinding{
		ObjectMeta:       metav1.ObjectMeta{Name: "everywhere"},
		Subjects:         []policyv1.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "Policy", Name: "hardening"}},
		BindingOverrides: policyv1.BindingOverrides{RemediationAction: policyv1.Inform},
	}
	_, err := override.Bindings(policy, []*policyv1.PlacementBinding{object}, nil)
	fmt.Println(err)
	// Output:
	// bindings[everywhere].bindingOverrides.remediationAction: Unsupported value: "inform": supported values: "enforce"
}

// Whoever has other objects than OCM's fills in the bindings directly.
func ExampleResolve() {
	placement := policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	policy := &policyv1.Policy{Spec: policyv1.PolicySpec{RemediationAction: policyv1.Inform}}
	resolution, err := override.Resolve(policy, []override.Binding{
		{Name: "initial", PlacementRef: placement, Groups: clusters("A", "B", "C")},
		{Name: "sub", PlacementRef: placement, Enforce: true, SubFilter: true, Groups: clusters("C", "D")},
	})
	fmt.Println(resolution, err)
	// Output:
	// clusters with enforce: C; clusters with inform: A B <nil>
}

// With a progressive strategy the rollout decides when a cluster is enforced; overrides are ignored, and the
// resolution tells the user so.
func ExampleResolve_ignored() {
	placement := policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	policy := &policyv1.Policy{Spec: policyv1.PolicySpec{
		RemediationAction: policyv1.Inform,
		RolloutStrategy:   clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive},
	}}
	resolution, err := override.Resolve(policy, []override.Binding{
		{Name: "initial", PlacementRef: placement, Groups: clusters("A", "B")},
		{Name: "early", PlacementRef: placement, Enforce: true, Groups: clusters("B")},
	})
	fmt.Println(resolution, err)
	for _, ignored := range resolution.Ignored() {
		fmt.Println(ignored.Message)
	}
	// Output:
	// clusters with inform: A B; ignored bindings: early (OverrideIgnored) <nil>
	// PlacementBinding "early" does not enforce the policy: its bindingOverrides need the rollout strategy All, and the policy has Progressive
}

// A controller that reconciles one cluster asks for that one.
func ExampleResolution_Find() {
	placement := policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	resolution, err := override.Resolve(&policyv1.Policy{}, []override.Binding{
		{Name: "initial", PlacementRef: placement, Enforce: true, Groups: clusters("A", "B")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"B", "Z"} {
		cluster, bound := resolution.Find(name)
		fmt.Println(name, bound, cluster.Action, cluster.DecidedBy)
	}
	// Output:
	// B true enforce [initial]
	// Z false  []
}
