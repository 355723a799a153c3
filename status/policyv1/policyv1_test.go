// SPDX-License-Identifier: Apache-2.0

package policyv1_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P7: one table for policies over templates, roots over clusters and sets over policies.
func TestAggregate(t *testing.T) {
	type states = []policyv1.ComplianceState
	for _, test := range []struct {
		why   string
		parts states
		want  policyv1.ComplianceState
	}{
		{"nothing says nothing", nil, ""},
		{"all comply", states{"Compliant", "Compliant"}, policyv1.Compliant},
		{"one that has not said hides that the others comply", states{"Compliant", ""}, ""},
		{"a value of another API is unknown", states{"Compliant", "Odd"}, ""},
		{"pending is worse than unknown", states{"", "Pending", "Compliant"}, policyv1.Pending},
		{"non-compliance is worst, wherever it stands", states{"Pending", "", "Compliant", "NonCompliant"}, policyv1.NonCompliant},
	} {
		if got := policyv1.Aggregate(test.parts...); got != test.want {
			t.Errorf("%s: Aggregate(%q) = %q, want %q", test.why, test.parts, got, test.want)
		}
	}
}

func ExampleAggregate() {
	fmt.Println(policyv1.Aggregate(policyv1.Compliant, policyv1.Pending))
	// Output: Pending
}

// O1: enhancement 28, as revised, has a boolean where the shipped API has a word.
func TestASubFilterIsAWordOrABoolean(t *testing.T) {
	for _, test := range []struct {
		why  string
		read any
		want policyv1.SubFilter
		fail bool
	}{
		{"as shipped", "restricted", policyv1.Restricted, false},
		{"as in the revised enhancement", true, policyv1.Restricted, false},
		{"a boolean that says no", false, "", false},
		{"nothing", nil, "", false},
		{"another word is kept, for Validate to refuse", "odd", "odd", false},
		{"a number is neither", int64(1), "", true},
	} {
		object := map[string]any{"subFilter": test.read}
		var converted, decoded policyv1.PlacementBinding
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &converted)
		data, _ := json.Marshal(object)
		decodeErr := json.Unmarshal(data, &decoded)
		if (err != nil) != test.fail || (decodeErr != nil) != test.fail {
			t.Errorf("%s: %v and %v", test.why, err, decodeErr)
		}
		if converted.SubFilter != test.want || decoded.SubFilter != test.want {
			t.Errorf("%s: %q and %q, want %q", test.why, converted.SubFilter, decoded.SubFilter, test.want)
		}
	}
}

// P9: a strict reader refuses none of the fields that the policy API has today.
func TestTheFieldsOfTodayAreReadStrictly(t *testing.T) {
	for _, test := range []struct {
		text string
		into any
	}{
		{`{"spec": {"disabled": false, "copyPolicyMetadata": false, "hubTemplateOptions": {"serviceAccountName": "reader"}, "policy-templates": []}}`, &policyv1.Policy{}},
		{`{"spec": {"description": "base", "policies": ["a"], "exclusions": [{"policyName": "a", "reason": "incident", "clusterNames": ["c"]}]}}`, &policyv1.PolicySet{}},
		{`{"subFilter": true, "bindingOverrides": {"remediationAction": "enforce"}, "placementRef": {}, "subjects": []}`, &policyv1.PlacementBinding{}},
	} {
		decoder := json.NewDecoder(strings.NewReader(test.text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(test.into); err != nil {
			t.Errorf("%T: %v", test.into, err)
		}
	}
}

// P9: of what OCM writes in an object, a strict reader refuses the status and nothing else; that of a Policy has a type of its own.
func TestAStatusIsReadByItself(t *testing.T) {
	for _, into := range []any{&policyv1.Policy{}, &policyv1.PolicySet{}, &policyv1.PlacementBinding{}} {
		const text = `{"apiVersion": "v", "kind": "k", "metadata": {"name": "a", "managedFields": []}, "status": {"compliant": "Compliant"}}`
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err == nil || !strings.Contains(err.Error(), `unknown field "status"`) {
			t.Errorf("%T: %v, but the doc says that it has no status", into, err)
		}
	}
	decoder := json.NewDecoder(strings.NewReader(`{
		"compliant": "Compliant",
		"placement": [{"placementBinding": "b", "placementRule": "r", "placement": "p", "policySet": "s",
			"decisions": [{"clusterName": "c", "clusterNamespace": "c"}], "exclusions": [{"clusterName": "d"}]}],
		"status": [{"compliant": "Compliant", "clustername": "c", "clusternamespace": "c", "remainingBindings": [{"placementBinding": "b"}]}],
		"details": [{"templateMeta": {"name": "a", "creationTimestamp": null}, "compliant": "Compliant",
			"history": [{"lastTimestamp": "2026-11-21T12:00:00Z", "message": "m", "eventName": "e"}]}]
	}`))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&policyv1.PolicyStatus{}); err != nil {
		t.Error(err)
	}
}
