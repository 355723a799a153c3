// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// fillBoth fills two values from one text, as a typed and as an unstructured object, and reports
// whether the text is fit for both.
func fillBoth(text []byte, typed, unstructured any) bool {
	var object map[string]any
	return json.Unmarshal(text, typed) == nil &&
		json.Unmarshal(text, &object) == nil &&
		runtime.DefaultUnstructuredConverter.FromUnstructured(object, unstructured) == nil
}

// checkFieldError fails unless err has a *field.Error with a path that names the object.
func checkFieldError(t *testing.T, err error, prefix string) {
	t.Helper()
	var invalid *field.Error
	if !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Field, prefix) {
		t.Fatalf("%v: want a field of %s", err, prefix)
	}
}

// Whatever a binding's JSON says, it is read without a panic and the same way from unstructured; it
// enforces only if it says enforce, and what it says otherwise is an error that names the field.
func FuzzPlacementBinding(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"metadata":{"name":"b"},"placementRef":{"apiGroup":"apps.open-cluster-management.io","kind":"PlacementRule","name":"r"}}`,
		`{"metadata":{"name":"b"},"bindingOverrides":{"remediationAction":"Enforce"},"subFilter":"restricted"}`,
		`{"metadata":{"name":"b"},"remediationActionOverride":{"remediationAction":"enforce","subFilter":true}}`,
		`{"metadata":{"name":"b"},"remediationActionOverride":{"remediationAction":null,"subFilter":false}}`,
		`{"metadata":{"name":"b"},"bindingOverrides":{"remediationAction":"inform"},"subFilter":"wide"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var typed, unstructured policyv1.PlacementBinding
		if !fillBoth(text, &typed, &unstructured) {
			return
		}
		read := func(b *policyv1.PlacementBinding) ([]override.Binding, error) {
			b.Namespace = "policies"
			b.Subjects = []policyv1.Subject{{APIGroup: "policy.open-cluster-management.io", Kind: "Policy", Name: "policy"}}
			return override.Bindings(policy("inform", ""), []*policyv1.PlacementBinding{b}, nil)
		}
		got, err := read(&typed)
		if again, errAgain := read(&unstructured); (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() ||
			err == nil && (again[0].Enforce != got[0].Enforce || again[0].SubFilter != got[0].SubFilter || again[0].PlacementRef != got[0].PlacementRef) {
			t.Fatalf("typed %v, %v; unstructured %v, %v", got, err, again, errAgain)
		}
		actions := []string{string(typed.BindingOverrides.RemediationAction), string(typed.RemediationActionOverride.RemediationAction)}
		valid := typed.Name != "" && (typed.SubFilter == "" || typed.SubFilter == "restricted") &&
			!slices.ContainsFunc(actions, func(a string) bool { return a != "" && strings.ToLower(a) != "enforce" })
		if !valid {
			checkFieldError(t, err, "bindings["+typed.Name+"]")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Enforce != (strings.ToLower(actions[0]+actions[1]) != "") {
			t.Fatalf("actions %q read as %+v", actions, got[0])
		}
		result, err := override.Resolve(policy("inform", ""), []override.Binding{
			{Name: typed.Name, PlacementRef: got[0].PlacementRef, Enforce: got[0].Enforce, SubFilter: got[0].SubFilter, Groups: oneGroup("A")},
		})
		if err != nil || result.Groups().NumClusters()+len(result.Ignored()) > 1 || got[0].SubFilter && result.Groups().NumClusters() > 0 {
			t.Fatalf("%+v leads to %v, %v", got[0], result, err)
		}
	})
}

// Whatever a policy's JSON says, it resolves without a panic and the same way from unstructured; an
// unknown action or strategy is an error that names the field, and disabled is bound nowhere.
func FuzzPolicy(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"metadata":{"name":"p"},"spec":{"remediationAction":"Inform","disabled":true}}`,
		`{"metadata":{"name":"p"},"spec":{"remediationAction":"enforce","rolloutStrategy":{"type":"Progressive"}}}`,
		`{"spec":{"remediationAction":"inform-only"}}`,
		`{"spec":{"rolloutStrategy":{"type":"Canary","progressive":{"maxConcurrency":"10%","minSuccessTime":"5m"}}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var typed, unstructured policyv1.Policy
		if !fillBoth(text, &typed, &unstructured) {
			return
		}
		bindings := []override.Binding{binding("one", plain, "AB"), binding("sub", overrides, "BC")}
		result, err := override.Resolve(&typed, bindings)
		again, errAgain := override.Resolve(&unstructured, bindings)
		if result.String() != again.String() || (err == nil) != (errAgain == nil) {
			t.Fatalf("typed %v, %v; unstructured %v, %v", result, err, again, errAgain)
		}
		action := strings.ToLower(string(typed.Spec.RemediationAction))
		switch {
		case typed.Spec.Disabled:
			if err != nil || result.Groups().NumClusters() > 0 {
				t.Fatalf("disabled, but %v, %v", result, err)
			}
		case !slices.Contains([]string{"", "inform", "enforce"}, action) || len(rollout.Validate(typed.Spec.RolloutStrategy, nil)) > 0:
			checkFieldError(t, err, "spec.r")
		default:
			check(t, &typed, bindings)
		}
	})
}

// Whatever a set's JSON says, it is read without a panic, and it excludes only clusters it names.
func FuzzPolicySet(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"metadata":{"name":"set"},"spec":{"policies":["policy"],"exclusions":[{"policyName":"policy","clusterNames":["B","A","A"]}]}}`,
		`{"metadata":{"name":"set"},"spec":{"policies":["policy","other"],"exclusions":[{"policyName":"other","clusterNames":["A"]},{"clusterNames":[""]}]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var typed, unstructured policyv1.PolicySet
		if !fillBoth(text, &typed, &unstructured) {
			return
		}
		read := func(set *policyv1.PolicySet) ([]override.Binding, error) {
			set.Namespace = "policies"
			return override.Bindings(policy("", ""), []*policyv1.PlacementBinding{placementBinding("b", "PolicySet", set.Name)}, []*policyv1.PolicySet{set})
		}
		got, err := read(&typed)
		if again, errAgain := read(&unstructured); len(again) != len(got) || (err == nil) != (errAgain == nil) {
			t.Fatalf("typed %v, %v; unstructured %v, %v", got, err, again, errAgain)
		}
		if err != nil {
			checkFieldError(t, err, "sets["+typed.Name+"].spec.exclusions[")
			return
		}
		if contains := slices.Contains(typed.Spec.Policies, "policy"); (len(got) == 1) != contains {
			t.Fatalf("the set contains the policy %t, but binds it %v", contains, got)
		}
		if len(got) == 0 {
			return
		}
		for _, cluster := range got[0].Excluded {
			if !slices.ContainsFunc(typed.Spec.Exclusions, func(e policyv1.Exclusion) bool {
				return e.PolicyName == "policy" && slices.Contains(e.ClusterNames, cluster)
			}) {
				t.Fatalf("excludes %q, which it does not name: %+v", cluster, typed.Spec.Exclusions)
			}
		}
	})
}
