package dependency_test

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/dependency"
)

// A policy as the template sync of a managed cluster gets it: the second template waits for the first, and
// both for another policy.
func monitoring() dependency.Policy {
	return dependency.Policy{
		ObjectMeta: metav1.ObjectMeta{Name: "default.monitoring", Namespace: "cluster1"},
		Spec: dependency.PolicySpec{
			Dependencies: []dependency.Dependency{{
				APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy",
				Name: "default.namespaces", Compliance: dependency.Compliant,
			}},
			PolicyTemplates: []dependency.PolicyTemplate{{
				ObjectDefinition: runtime.RawExtension{Raw: []byte(`{
					"apiVersion": "policy.open-cluster-management.io/v1beta1",
					"kind": "OperatorPolicy", "metadata": {"name": "prometheus"}}`)},
			}, {
				ObjectDefinition: runtime.RawExtension{Raw: []byte(`{
					"apiVersion": "policy.open-cluster-management.io/v1",
					"kind": "ConfigurationPolicy", "metadata": {"name": "alerts"}}`)},
				ExtraDependencies: []dependency.Dependency{{
					APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "OperatorPolicy",
					Name: "prometheus", Compliance: dependency.Compliant,
				}},
			}},
		},
	}
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
	results, err := dependency.Evaluate("cluster1", []dependency.Policy{monitoring()}, dependency.Observations{
		namespaces: {Compliance: dependency.Compliant},
		prometheus: {Problem: dependency.NotFound},
	})
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
	//   [1] ConfigurationPolicy alerts: Pending: Dependencies were not satisfied: 1 is still pending (OperatorPolicy prometheus)
	// Create OperatorPolicy prometheus
	// Wait ConfigurationPolicy alerts: Dependencies were not satisfied: 1 is still pending (OperatorPolicy prometheus)
}

// The loop of a controller on the managed cluster: policies come, objects change, and only the templates that
// name what changed are evaluated again.
func ExampleEvaluator() {
	evaluator := dependency.NewEvaluator("cluster1")
	changes, err := evaluator.Set(monitoring())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("watch", changes.Watch)

	// The watches report the objects as they are at first, then each change.
	compliant := dependency.Observation{Compliance: dependency.Compliant}
	for _, object := range changes.Watch {
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
	policy := func(namespace, name string) dependency.Dependency {
		return dependency.Dependency{
			APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy",
			Namespace: namespace, Name: name, Compliance: dependency.Compliant,
		}
	}
	set := dependency.Dependency{
		APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "PolicySet",
		Name: "base", Compliance: dependency.Compliant,
	}
	sets := dependency.PolicySets{
		types.NamespacedName{Namespace: "default", Name: "base"}: {
			Spec: dependency.PolicySetSpec{Policies: []string{"dns", "ntp"}},
		},
	}
	hub := []dependency.Dependency{policy("", "namespaces"), policy("security", "certs"), set}
	for _, d := range dependency.Replicate(hub, "default", sets) {
		fmt.Printf("%s %q in namespace %q\n", d.Kind, d.Name, d.Namespace)
	}
	// Output:
	// Policy "default.namespaces" in namespace ""
	// Policy "security.certs" in namespace ""
	// Policy "default.dns" in namespace ""
	// Policy "default.ntp" in namespace ""
}

// What can't be read deletes nothing; what is no longer as it should be does.
func ExamplePolicyResult_Actions() {
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
		{Compliance: dependency.NonCompliant},
	} {
		observations := dependency.Observations{prometheus: observation}
		policy := monitoring()
		policy.Spec.Dependencies = nil
		results, err := dependency.Evaluate("cluster1", []dependency.Policy{policy}, observations)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(results[0].Actions([]dependency.Object{prometheus, alerts})[1])
	}
	// Output:
	// Keep ConfigurationPolicy alerts: kept, since it could not be read what it waits for: Dependencies were not satisfied: 1 is still pending (OperatorPolicy prometheus); OperatorPolicy prometheus can't be read: timeout
	// Delete ConfigurationPolicy alerts: Dependencies were not satisfied: 1 is still pending (OperatorPolicy prometheus)
}

func ExampleEvaluator_Cycles() {
	evaluator := dependency.NewEvaluator("managed")
	// Policy x has the template a, which waits for Policy y; its template b waits for a.
	if _, err := evaluator.Set(world("x: a(y)", "y: b(#a) c")...); err != nil {
		fmt.Println(err)
		return
	}
	for _, cycle := range evaluator.Cycles() {
		fmt.Println(cycle)
	}
	result, _ := evaluator.Policy("x")
	fmt.Println(result.Templates[0].Message())
	// Output:
	// ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a
	// Dependencies were not satisfied: 1 is still pending (Policy y); Policy y was not read so far; it waits for itself: ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a
}

// A generator orders policies by what they wait for. Policy app waits for Policy base, whose template users
// waits for its template crd; app's template extra waits for an object that no policy has.
func ExampleEvaluator_Order() {
	var evaluator dependency.Evaluator
	policies := world("app(base): server extra(#cache)", "base: crd users(#crd)", "loop: a(loop)")
	for i := range policies {
		policies[i] = policies[i].Replicated("", nil)
	}
	if _, err := evaluator.Set(policies...); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(evaluator.Order())
	// Output:
	// 1: managed.base[0]
	// 2: managed.base[1]
	// 3: managed.app[0] managed.app[1]
	// managed.loop[0] waits for Policy managed.loop
}

func ExampleAggregate() {
	fmt.Println(dependency.Aggregate(dependency.Compliant, dependency.Pending, dependency.Compliant))
	fmt.Println(dependency.Aggregate(dependency.Compliant, dependency.Pending, dependency.NonCompliant))
	fmt.Printf("%q\n", dependency.Aggregate(dependency.Compliant, ""))
	fmt.Printf("%q\n", dependency.Aggregate())
	// Output:
	// Pending
	// NonCompliant
	// ""
	// ""
}

func ExampleObservationOf() {
	constraint := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "constraints.gatekeeper.sh/v1beta1",
		"kind":       "K8sRequiredLabels",
		"metadata":   map[string]any{"name": "owner"},
		"status":     map[string]any{"totalViolations": int64(2)},
	}}
	fmt.Println(dependency.ObjectOf(constraint), dependency.ObservationOf(constraint, nil))
	fmt.Println(dependency.ObservationOf(nil, nil))
	fmt.Println(dependency.ObservationOf(nil, errors.New("timeout")))
	// Output:
	// K8sRequiredLabels owner NonCompliant
	// NotFound
	// ReadFailed: timeout
}
