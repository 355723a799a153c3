// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O21: OCM's webhook refuses a policy where neither it nor one of its ConfigurationPolicies has an action.
func TestValidateRefusesATemplateWithoutAnAction(t *testing.T) {
	const at = "root.spec.policy-templates[1].objectDefinition.spec.remediationAction: "
	missing := at + `Required value: must be given for the ConfigurationPolicy "x", since the policy's root.spec.remediationAction is empty`
	unsupported := func(found string) string {
		return at + "Unsupported value: " + found + `: supported values: "inform", "enforce", "informOnly"`
	}
	for _, test := range []struct {
		why, kind, spec string
		action          policyv1.RemediationAction
		want            string
	}{
		{"neither has one", "ConfigurationPolicy", `{}`, "", missing},
		{"nor a spec", "ConfigurationPolicy", `null`, "", missing},
		{"null is none", "ConfigurationPolicy", `{"remediationAction": null}`, "", missing},
		{"the policy has one", "ConfigurationPolicy", `{}`, "Inform", ""},
		{"the template has one", "ConfigurationPolicy", `{"remediationAction": "enforce"}`, "", ""},
		{"OCM takes a capital letter", "ConfigurationPolicy", `{"remediationAction": "Enforce"}`, "", ""},
		{"it only informs", "ConfigurationPolicy", `{"remediationAction": "InformOnly"}`, "", ""},
		{"a template of the hub stands for something", "ConfigurationPolicy", `{"remediationAction": "{{hub .X hub}}"}`, "", ""},
		{"an empty one is none", "ConfigurationPolicy", `{"remediationAction": ""}`, "", unsupported(`""`)},
		{"one that does not exist", "ConfigurationPolicy", `{"remediationAction": "enfroce"}`, "", unsupported(`"enfroce"`)},
		{"a number", "ConfigurationPolicy", `{"remediationAction": 1}`, "", unsupported("1")},
		{"the policy's takes its place", "ConfigurationPolicy", `{"remediationAction": ""}`, "enforce", ""},
		{"an OperatorPolicy has a default", "OperatorPolicy", `{}`, "", ""},
		{"a constraint has another field", constraint, `{}`, "", ""},
	} {
		p := policy(test.action, naiveLimits{typ: clusterv1alpha1.Progressive})
		p.Spec.PolicyTemplates = append(templatesOf([]part{config("fine", 1, 0)}), template(fmt.Sprintf(
			`{"apiVersion": %q, "kind": %q, "metadata": {"name": "x"}, "spec": %s}`, kinds[test.kind].apiVersion, test.kind, test.spec)))
		got := ""
		for _, err := range passes.Validate(p, field.NewPath("root")) {
			got += err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got\n%s, want\n%s", test.why, got, test.want)
		}
		if _, err := override.Resolve(p, nil); err != nil {
			t.Errorf("%s: a policy that is there is refused: %v", test.why, err)
		}
	}
}
