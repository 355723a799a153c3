package kit

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The evaluator gets what the dynamic client read of an object, with a namespace and without one.
func TestObserve(t *testing.T) {
	policies := schema.GroupVersion{Group: "policy.open-cluster-management.io", Version: "v1"}
	constraints := schema.GroupVersion{Group: "constraints.gatekeeper.sh", Version: "v1beta1"}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(policies.WithKind("ConfigurationPolicy"), meta.RESTScopeNamespace)
	mapper.Add(constraints.WithKind("NoRoot"), meta.RESTScopeRoot)
	object := func(version schema.GroupVersion, kind, namespace, name string, status map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
		u.SetAPIVersion(version.String())
		u.SetKind(kind)
		u.SetNamespace(namespace)
		u.SetName(name)
		return u
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		policies.WithResource("configurationpolicies"): "ConfigurationPolicyList", constraints.WithResource("noroots"): "NoRootList",
	},
		object(policies, "ConfigurationPolicy", "managed", "good", map[string]any{"compliant": "Compliant"}),
		object(policies, "ConfigurationPolicy", "managed", "bad", map[string]any{"compliant": "NonCompliant"}),
		object(constraints, "NoRoot", "", "clean", map[string]any{"totalViolations": int64(0)}),
	)
	client.PrependReactor("get", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.(clienttesting.GetAction).GetName() == "broken" {
			return true, nil, errors.New("connection refused")
		}
		return false, nil, nil
	})
	for _, test := range []struct {
		kind, name string
		reason     dependency.Reason // why the template waits; none if it does not
	}{
		{"ConfigurationPolicy", "good", ""},
		{"ConfigurationPolicy", "bad", dependency.ReasonOtherCompliance},
		{"ConfigurationPolicy", "missing", dependency.ReasonNotFound},
		{"ConfigurationPolicy", "broken", dependency.ReasonReadFailed},
		{"NoRoot", "clean", ""}, // without a namespace
		{"NoSuchKind", "x", dependency.ReasonNoAPI},
	} {
		version := policies
		if test.kind == "NoRoot" {
			version = constraints
		}
		policy := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "managed", Name: "waits"}}
		policy.Spec.Dependencies = []policyv1.PolicyDependency{{
			TypeMeta: metav1.TypeMeta{APIVersion: version.String(), Kind: test.kind}, Name: test.name, Compliance: policyv1.Compliant,
		}}
		policy.Spec.PolicyTemplates = []policyv1.PolicyTemplate{{ObjectDefinition: runtime.RawExtension{
			Raw: []byte(`{"apiVersion":"policy.open-cluster-management.io/v1","kind":"ConfigurationPolicy","metadata":{"name":"own"}}`),
		}}}
		evaluator := dependency.NewEvaluator("managed", func(kind schema.GroupKind) meta.RESTScopeName {
			mapping, err := mapper.RESTMapping(kind)
			if err != nil {
				return ""
			}
			return mapping.Scope.Name()
		})
		watches, err := evaluator.Set(policy)
		if err != nil || len(watches.Add) != 1 {
			t.Fatalf("%s %s: watches %v, %v", test.kind, test.name, watches.Add, err)
		}
		again := Observe(t.Context(), client, mapper, evaluator, watches.Add[0])
		evaluation, _ := evaluator.Policy("waits")
		template := evaluation.Templates[0]
		switch {
		case len(again) != 1:
			t.Errorf("%s %s: evaluates %v again", test.kind, test.name, again)
		case test.reason == "" && template.State != dependency.StateReady:
			t.Errorf("%s %s: %v", test.kind, test.name, template)
		case test.reason != "" && (len(template.Unmet) != 1 || template.Unmet[0].Reason != test.reason):
			t.Errorf("%s %s: unmet is %v, want %s", test.kind, test.name, template.Unmet, test.reason)
		}
	}
}
