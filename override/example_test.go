package override_test

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
)

// From the objects that users write to the action on each cluster. The policy informs on three
// clusters; a sub filter enforces it on those of the canaries that the policy is bound to.
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
	var objects []*override.PlacementBinding
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for range 2 {
		object := &override.PlacementBinding{}
		if err := decoder.Decode(object); err != nil {
			fmt.Println(err)
			return
		}
		objects = append(objects, object)
	}
	policy := &override.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "hardening", Namespace: "policies"},
		Spec:       override.PolicySpec{RemediationAction: override.Inform},
	}
	// What a controller reads from the PlacementDecisions of each placement.
	selected := map[string][]string{
		"production": {"paris", "london", "tokyo"},
		"canaries":   {"tokyo", "testbed"},
	}

	bindings, err := override.Bindings(policy, objects, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range bindings {
		bindings[i].Clusters = selected[bindings[i].PlacementRef.Name]
	}
	result, err := override.Resolve(policy, bindings)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cluster := range result.Clusters {
		fmt.Println(cluster)
	}
	// Output:
	// london: inform by the policy, bound by everywhere
	// paris: inform by the policy, bound by everywhere
	// tokyo: enforce by canary, bound by everywhere
}

// A set brings its policies to the clusters its bindings select, but for those it excludes.
func ExampleBindings_policySet() {
	policy := &override.Policy{ObjectMeta: metav1.ObjectMeta{Name: "hardening"}}
	set := &override.PolicySet{
		ObjectMeta: metav1.ObjectMeta{Name: "baseline"},
		Spec: override.PolicySetSpec{
			Policies:   []string{"audit", "hardening"},
			Exclusions: []override.Exclusion{{PolicyName: "hardening", ClusterNames: []string{"lab"}}},
		},
	}
	object := &override.PlacementBinding{
		ObjectMeta:   metav1.ObjectMeta{Name: "everywhere"},
		PlacementRef: override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"},
		Subjects:     []override.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "PolicySet", Name: "baseline"}},
	}
	bindings, err := override.Bindings(policy, []*override.PlacementBinding{object}, []*override.PolicySet{set})
	fmt.Println(len(bindings), bindings[0].Name, "without", bindings[0].Excluded, err)
	// Output:
	// 1 everywhere without [lab] <nil>
}

// A field that does not say what it may is an error that names the binding and the field.
func ExampleBindings_error() {
	policy := &override.Policy{ObjectMeta: metav1.ObjectMeta{Name: "hardening"}}
	object := &override.PlacementBinding{
		ObjectMeta:       metav1.ObjectMeta{Name: "everywhere"},
		Subjects:         []override.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "Policy", Name: "hardening"}},
		BindingOverrides: override.BindingOverrides{RemediationAction: override.Inform},
	}
	_, err := override.Bindings(policy, []*override.PlacementBinding{object}, nil)
	fmt.Println(err)
	// Output:
	// placementBindings[everywhere].bindingOverrides.remediationAction: Unsupported value: "inform": supported values: "enforce"
}

// Whoever has other objects than OCM's fills in the bindings directly.
func ExampleResolve() {
	placement := override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	policy := &override.Policy{Spec: override.PolicySpec{RemediationAction: override.Inform}}
	result, err := override.Resolve(policy, []override.Binding{
		{Name: "initial", PlacementRef: placement, Clusters: []string{"A", "B", "C"}},
		{Name: "sub", PlacementRef: placement, Enforce: true, SubFilter: true, Clusters: []string{"C", "D"}},
	})
	fmt.Println(result, err)
	// Output:
	// enforce: C; inform: A B <nil>
}

// With a progressive strategy the rollout decides who is enforced when; overrides have no say, and the
// result tells the user so.
func ExampleResolve_ignored() {
	placement := override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	policy := &override.Policy{Spec: override.PolicySpec{
		RemediationAction: override.Inform,
		RolloutStrategy:   clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive},
	}}
	result, err := override.Resolve(policy, []override.Binding{
		{Name: "initial", PlacementRef: placement, Clusters: []string{"A", "B"}},
		{Name: "early", PlacementRef: placement, Enforce: true, Clusters: []string{"B"}},
	})
	fmt.Println(result, err)
	for _, ignored := range result.Ignored {
		fmt.Println(ignored.Message)
	}
	// Output:
	// inform: A B; ignored: early (OverrideIgnored) <nil>
	// binding "early" does not enforce the policy: its rollout strategy is Progressive, not All
}

// A controller that reconciles one cluster asks for that one.
func ExampleResult_Cluster() {
	placement := override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "production"}
	result, err := override.Resolve(&override.Policy{}, []override.Binding{
		{Name: "initial", PlacementRef: placement, Enforce: true, Clusters: []string{"A", "B"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"B", "Z"} {
		cluster, bound := result.Cluster(name)
		fmt.Println(name, bound, cluster.Action, cluster.DecidedBy)
	}
	// Output:
	// B true enforce [initial]
	// Z false  []
}
