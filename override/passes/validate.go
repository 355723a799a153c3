// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/rootpolicy"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports what is wrong with a root policy for its rollout, for a webhook to return: an unknown remediationAction, a
// ConfigurationPolicy without one where the policy has none either, what rollout.Validate finds in its strategy, and a name that is
// too long for its replicas (at most 62 characters together with the namespace). The errors have the paths of its JSON, below path.
// override.Resolve refuses exactly the same policies, unless they are disabled, and unless only a template lacks its action: such a
// policy may be there already. Don't refuse a disabled policy for its faults: users could not disable a faulty policy.
//
// dependency.Validate checks the templates and dependencies of a policy, among them the actions of templates.
func Validate(policy *policyv1.Policy, path *field.Path) field.ErrorList {
	if policy == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	return append(rootpolicy.Validate(policy, path), validateActions(&policy.Spec, path.Child("spec"))...)
}

// validateActions refuses ConfigurationPolicies without an action in a policy without one, as OCM's webhook does: nothing would say
// whether they enforce.
func validateActions(spec *policyv1.PolicySpec, path *field.Path) (errs field.ErrorList) {
	if spec.RemediationAction != "" {
		return nil
	}
	for i := range spec.PolicyTemplates {
		var template struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Spec struct {
				Action any `json:"remediationAction"`
			} `json:"spec"`
		}
		if json.Unmarshal(spec.PolicyTemplates[i].ObjectDefinition.Raw, &template) != nil || template.Kind != "ConfigurationPolicy" {
			continue
		}
		at := path.Child("policy-templates").Index(i).Child("objectDefinition", "spec", "remediationAction")
		switch action, isText := template.Spec.Action.(string); {
		case template.Spec.Action == nil:
			errs = append(errs, field.Required(at, fmt.Sprintf(
				"must be given for the ConfigurationPolicy %q, since the policy's %s is empty", template.Metadata.Name, path.Child("remediationAction"))))
		case !isText || !isTemplateAction(action):
			errs = append(errs, field.NotSupported(at, template.Spec.Action, []string{"inform", "enforce", "informOnly"}))
		}
	}
	return errs
}

// isTemplateAction says whether a template may have the action, in any letter case. What a template of the hub stands for is not known.
func isTemplateAction(action string) bool {
	known, _ := policyv1.RemediationAction(action).Known()
	return known != "" || strings.EqualFold(action, "informOnly") || strings.Contains(action, "{{")
}
