// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports what is wrong with the templates and dependencies of a policy, on the hub or on a managed cluster,
// for a webhook to return. The paths are below path. The list is empty if every template can be evaluated. The same
// faults, but for those of actions, make templates invalid in an [Evaluation]:
//
//   - A template must name the object that it creates, and its name must differ from those of the policy's other templates,
//     whatever their kinds. It must have one of the kinds; without any given, they are those of [Kinds].
//   - Where the policy has no remediationAction, each ConfigurationPolicy must have one. An action must be a known one:
//     with a misspelled action, a template that must only inform would be enforced.
//   - A dependency must have an apiVersion, a kind, a name, and a compliance to wait for.
//   - A template must not wait for two compliances of one object.
//   - A template must not wait for a compliance that an object never has: Gatekeeper's ConstraintTemplates and
//     constraints are never Pending.
//
// Validate sees one policy, and looks for no cycles, not even where the policy depends on itself. A template that waits for
// itself is valid and stays pending: [Evaluate] says for what, and [Evaluator.Order] lists all cycles. A webhook that
// wants to refuse such a policy evaluates it together with the others of its namespace.
//
// override/passes.Validate checks the policy's action and its rollout strategy.
func Validate(policy *policyv1.Policy, path *field.Path, kinds ...schema.GroupKind) field.ErrorList {
	if policy == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	spec := &policy.Spec
	if !isReplicated(policy) {
		spec = replicable(policy)
	}
	compiler := compiler{kinds: kinds, path: path}
	templates, errs := compiler.compile(spec)
	common := len(errs)
	for i, template := range templates {
		errs = append(errs, template.errs[common:]...)
		if err := compiler.validateAction(spec, i); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// validateAction says what is wrong with the action of a template. What hub templates stand for is not known here.
func (c compiler) validateAction(spec *policyv1.PolicySpec, index int) *field.Error {
	raw, _ := rawOf(spec.PolicyTemplates[index])
	var template struct {
		definition
		Spec struct {
			Action *string `json:"remediationAction"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &template) != nil || template.APIVersion == "" {
		return nil // reported already, or by the API server
	}
	object := Object{APIVersion: template.APIVersion, Kind: template.Kind}
	path := c.template(index).Child("objectDefinition", "spec", "remediationAction")
	switch action := template.Spec.Action; {
	case !object.isPolicyType():
		return nil
	case action == nil && spec.RemediationAction == "" && object.Kind == "ConfigurationPolicy":
		return field.Required(path, "must be given, since the policy has none")
	case action == nil || strings.Contains(*action, "{{") || isTemplateAction(*action):
		return nil
	default:
		return field.NotSupported(path, *action, []string{"inform", "enforce", "informOnly"})
	}
}
