// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A policy as the template sync of a managed cluster gets it: the second template waits for the first, and
// both for another policy.
func monitoring() *policyv1.Policy {
	p := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "default.monitoring", Namespace: "cluster1"}}
	p.Spec.Dependencies = []policyv1.PolicyDependency{{
		TypeMeta: metav1.TypeMeta{APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy"},
		Name:     "default.namespaces", Compliance: policyv1.Compliant,
	}}
	p.Spec.PolicyTemplates = []policyv1.PolicyTemplate{{
		ObjectDefinition: runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "policy.open-cluster-management.io/v1beta1",
			"kind": "OperatorPolicy", "metadata": {"name": "prometheus"}}`)},
	}, {
		ObjectDefinition: runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "policy.open-cluster-management.io/v1",
			"kind": "ConfigurationPolicy", "metadata": {"name": "alerts"}}`)},
		ExtraDependencies: []policyv1.PolicyDependency{{
			TypeMeta: metav1.TypeMeta{APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "OperatorPolicy"},
			Name:     "prometheus", Compliance: policyv1.Compliant,
		}},
	}}
	return p
}

func ExampleEvaluate() {
	namespaces := dependency.Object{
		APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy",
		Namespace: "cluster1", Name: "default.namespaces",
	}
	prometheus := dependency.Object{
		APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "OperatorPolicy",
		Namespace: "cluster1", Name: "prometheus",
	}
	results, err := dependency.Evaluate("cluster1", []*policyv1.Policy{monitoring()}, map[dependency.Object]dependency.Observation{
		namespaces: {Compliance: policyv1.Compliant},
		prometheus: {Problem: dependency.ReasonNotFound},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0])
	for _, action := range results[0].Actions(nil) {
		fmt.Println(action)
	}
	// Output:
	// Policy default.monitoring
	//   [0] OperatorPolicy prometheus: Ready
	//   [1] ConfigurationPolicy alerts: Pending: Dependencies were not satisfied: OperatorPolicy prometheus is not found, must be Compliant
	// create OperatorPolicy prometheus
	// leave ConfigurationPolicy alerts as it is: Dependencies were not satisfied: OperatorPolicy prometheus is not found, must be Compliant
}

// The loop of a controller on the managed cluster: policies come, objects change, and only the templates that
// name what changed are evaluated again.
func ExampleEvaluator() {
	evaluator := dependency.NewEvaluator("cluster1", nil)
	watches, err := evaluator.Set(monitoring())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("watch", watches.Add)

	// The watches report the objects as they are at first, then each change.
	compliant := dependency.Observation{Compliance: policyv1.Compliant}
	for _, object := range watches.Add {
		fmt.Println(object, "is compliant: evaluate", evaluator.Observe(object, compliant))
	}
	result, _ := evaluator.Policy("default.monitoring")
	fmt.Println(result)
	// Output:
	// watch [OperatorPolicy prometheus Policy default.namespaces]
	// OperatorPolicy prometheus is compliant: evaluate [default.monitoring[1]]
	// Policy default.namespaces is compliant: evaluate [default.monitoring[0] default.monitoring[1]]
	// Policy default.monitoring
	//   [0] OperatorPolicy prometheus: Ready
	//   [1] ConfigurationPolicy alerts: Ready
}

func ExampleReplicate() {
	var hub unstructured.Unstructured
	err := hub.UnmarshalJSON([]byte(`{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": {"namespace": "default", "name": "monitoring"},
		"spec": {"dependencies": [
			{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "name": "namespaces", "compliance": "Compliant"},
			{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "namespace": "security", "name": "certs", "compliance": "Compliant"},
			{"apiVersion": "policy.open-cluster-management.io/v1beta1", "kind": "PolicySet", "name": "base", "compliance": "Compliant"}
		], "policy-templates": []}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	sets := map[types.NamespacedName]*policyv1.PolicySet{
		{Namespace: "default", Name: "base"}: {Spec: policyv1.PolicySetSpec{Policies: []string{"dns", "ntp"}}},
	}
	replicated, err := dependency.Replicate(&hub, "cluster1", sets)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s/%s\n", replicated.GetNamespace(), replicated.GetName())
	dependencies, _, _ := unstructured.NestedSlice(replicated.Object, "spec", "dependencies")
	for _, d := range dependencies {
		fmt.Println(d.(map[string]any)["name"])
	}
	// Output:
	// cluster1/default.monitoring
	// default.namespaces
	// security.certs
	// default.dns
	// default.ntp
}

// The core of a template sync: what to create, with the policy's action and owner, and what its status says.
func ExampleRender() {
	policy := monitoring()
	policy.UID, policy.Spec.RemediationAction = "c5a1", policyv1.Enforce
	policy.Spec.Dependencies = nil
	alerts := dependency.Object{
		APIVersion: "policy.open-cluster-management.io/v1", Kind: "ConfigurationPolicy", Namespace: "cluster1", Name: "alerts",
	}
	// The first object is missing, and another policy has the second.
	observations := map[dependency.Object]dependency.Observation{
		alerts: {Compliance: policyv1.Compliant, Policy: "default.other"},
	}
	waitsFor := dependency.Object{
		APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "OperatorPolicy", Namespace: "cluster1", Name: "prometheus",
	}
	results, err := dependency.Evaluate("cluster1", []*policyv1.Policy{policy}, map[dependency.Object]dependency.Observation{
		waitsFor: {Compliance: policyv1.Compliant},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, action := range results[0].Actions(observations) {
		object, err := dependency.Render(policy, action)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(action)
		if action.Verb == dependency.VerbCreate {
			fmt.Println("  owned by", object.GetOwnerReferences()[0].Name)
		}
	}
	status := results[0].Status(observations, policyv1.PolicyStatus{}, time.Now())
	fmt.Println(status.ComplianceState)
	for _, detail := range status.Details {
		fmt.Printf("%s %q\n", detail.TemplateMeta.Name, detail.ComplianceState)
	}
	// Output:
	// create OperatorPolicy prometheus
	//   owned by default.monitoring
	// leave ConfigurationPolicy alerts as it is: Policy default.other owns ConfigurationPolicy alerts already: rename one of the templates
	// NonCompliant
	// prometheus ""
	// alerts "NonCompliant"
}

// What cannot be read deletes nothing. What is no longer as it must be does.
func ExampleEvaluation_Actions() {
	prometheus := dependency.Object{
		APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "OperatorPolicy",
		Namespace: "cluster1", Name: "prometheus",
	}
	alerts := dependency.Object{
		APIVersion: "policy.open-cluster-management.io/v1", Kind: "ConfigurationPolicy",
		Namespace: "cluster1", Name: "alerts",
	}
	for _, observation := range []dependency.Observation{
		dependency.ObservationOf(nil, errors.New("timeout")),
		{Compliance: policyv1.NonCompliant},
	} {
		observations := map[dependency.Object]dependency.Observation{prometheus: observation}
		policy := monitoring()
		policy.Spec.Dependencies = nil
		results, err := dependency.Evaluate("cluster1", []*policyv1.Policy{policy}, observations, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		// Both objects are there, and this policy has them.
		own := dependency.Observation{Compliance: policyv1.Compliant, Policy: policy.Name}
		fmt.Println(results[0].Actions(map[dependency.Object]dependency.Observation{prometheus: own, alerts: own})[1])
	}
	// Output:
	// leave ConfigurationPolicy alerts as it is: it is unknown whether its dependencies are satisfied: OperatorPolicy prometheus cannot be read: timeout
	// delete ConfigurationPolicy alerts; reason: Dependencies were not satisfied: OperatorPolicy prometheus is NonCompliant, must be Compliant
}

// A generator orders the policies of the hub by what they wait for: it brings them into the form in which they name
// each other on a cluster, and gives them to an evaluator. Policy app waits for Policy base. The second template of base waits
// for its first. Policy loop waits for itself.
func ExampleEvaluator_Order() {
	const api = "policy.open-cluster-management.io/v1"
	waitsFor := func(kind, name string) []any {
		return []any{map[string]any{"apiVersion": api, "kind": kind, "name": name, "compliance": "Compliant"}}
	}
	template := func(name string, extraDependencies []any) any {
		definition := map[string]any{"apiVersion": api, "kind": "ConfigurationPolicy", "metadata": map[string]any{"name": name}}
		return map[string]any{"objectDefinition": definition, "extraDependencies": extraDependencies}
	}
	var evaluator dependency.Evaluator
	for name, spec := range map[string]map[string]any{
		"app":  {"dependencies": waitsFor("Policy", "base"), "policy-templates": []any{template("server", nil)}},
		"base": {"policy-templates": []any{template("crd", nil), template("users", waitsFor("ConfigurationPolicy", "crd"))}},
		"loop": {"dependencies": waitsFor("Policy", "loop"), "policy-templates": []any{template("a", nil)}},
	} {
		hub := &unstructured.Unstructured{Object: map[string]any{"apiVersion": api, "kind": "Policy", "spec": spec}}
		hub.SetNamespace("default")
		hub.SetName(name)
		replicated, err := dependency.Replicate(hub, "", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		policy, err := dependency.PolicyOf(replicated)
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, err := evaluator.Set(policy); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(evaluator.Order())
	// Output:
	// 1: default.base[0]
	// 2: default.base[1]
	// 3: default.app[0]
	// default.loop[0] waits for Policy default.loop
	// cycle: ConfigurationPolicy a → Policy default.loop → ConfigurationPolicy a
}

func ExampleObservationOf() {
	constraint := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "constraints.gatekeeper.sh/v1beta1",
		"kind":       "K8sRequiredLabels",
		"metadata":   map[string]any{"name": "owner"},
		"status":     map[string]any{"totalViolations": int64(2)},
	}}
	fmt.Println(dependency.ObservationOf(constraint, nil).Compliance)
	fmt.Println(dependency.ObservationOf(nil, nil).Problem)
	fmt.Println(dependency.ObservationOf(nil, errors.New("timeout")).Problem)
	// Output:
	// NonCompliant
	// NotFound
	// ReadFailed
}
