// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/override/passes"
)

// O23: the version is of the spec alone, without the fields that the rollout sets. It therefore shows an edit by hand.
func TestVersionOf(t *testing.T) {
	policy := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "x"}}, "spec": spec}}
	}
	base := passes.VersionOf(policy(map[string]any{"disabled": false, "policy-templates": []any{"a"}}))
	for _, test := range []struct {
		why  string
		of   *unstructured.Unstructured
		same bool
	}{
		{"the action is the rollout's", policy(map[string]any{"disabled": false, "policy-templates": []any{"a"}, "remediationAction": "enforce"}), true},
		{"a strategy is no content", policy(map[string]any{"disabled": false, "policy-templates": []any{"a"}, "rolloutStrategy": map[string]any{"type": "All"}}), true},
		{"a template was edited", policy(map[string]any{"disabled": false, "policy-templates": []any{"b"}}), false},
		{"a field that the library does not know", policy(map[string]any{"disabled": false, "policy-templates": []any{"a"}, "new": true}), false},
		{"no spec", &unstructured.Unstructured{Object: map[string]any{}}, false},
	} {
		if got := passes.VersionOf(test.of); (got == base) != test.same || got == "" {
			t.Errorf("%s: %q beside %q", test.why, got, base)
		}
	}
	if base != "d39fa2907b3f7245" {
		t.Errorf("all policies of a hub would be rolled out again: %s", base)
	}
	given := policy(map[string]any{"remediationAction": "enforce"})
	if passes.VersionOf(given); given.Object["spec"].(map[string]any)["remediationAction"] != "enforce" {
		t.Error("the policy was changed")
	}
}
