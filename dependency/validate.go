// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports what is wrong with the templates and dependencies of a policy, on the hub or on a managed cluster,
// for a webhook to return. The paths are below path. The list is empty if every template can be evaluated. The same
// faults, but for those of actions, labels and annotations, make templates invalid in an [Evaluation]:
//
//   - A template must name the object that it creates, and its name must differ from those of the policy's other templates,
//     whatever their kinds. It must have one of the kinds; without any given, they are those of [Kinds].
//   - Where the policy has no remediationAction, each ConfigurationPolicy must have one, in a spelling of its API, and not an
//     empty one. An action must be a known one: with a misspelled action, a template that must only inform would be enforced.
//   - The labels and annotations of a template must be texts: others would be left out.
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
		errs = append(errs, compiler.validateFields(spec, i)...)
	}
	return errs
}

// validateFields says what is wrong with the fields of a template that are written as they are, or overwritten, and make no
// template invalid. What hub templates stand for is not known here.
func (c compiler) validateFields(spec *policyv1.PolicySpec, index int) (errs field.ErrorList) {
	raw, err := rawOf(spec.PolicyTemplates[index])
	var definition map[string]any
	if err != nil || json.Unmarshal(raw, &definition) != nil || definition == nil {
		return nil // reported already
	}
	path := c.template(index).Child("objectDefinition")
	metadata, _ := definition["metadata"].(map[string]any)
	texts := mapOf(a[string]("a string"))
	errs = append(errs, texts(metadata["labels"], path.Child("metadata", "labels"))...)
	errs = append(errs, texts(metadata["annotations"], path.Child("metadata", "annotations"))...)
	apiVersion, _ := definition["apiVersion"].(string)
	kind, _ := definition["kind"].(string)
	if object := (Object{APIVersion: apiVersion, Kind: kind}); object.isPolicyType() {
		errs = append(errs, validateAction(object, spec.RemediationAction, definition["spec"], path.Child("spec"))...)
	}
	return errs
}

// validateAction says what is wrong with the action in the spec of a template's object. The action of the policy overwrites it,
// but for InformOnly. Without one, the API of the object takes only its own spellings.
func validateAction(object Object, ofPolicy policyv1.RemediationAction, spec any, path *field.Path) field.ErrorList {
	if errs := a[map[string]any]("an object")(spec, path); len(errs) > 0 {
		return errs
	}
	fields, _ := spec.(map[string]any)
	path = path.Child("remediationAction")
	if errs := a[string]("a string")(fields["remediationAction"], path); len(errs) > 0 {
		return errs
	}
	action, given := fields["remediationAction"].(string)
	inAPI := slices.Contains([]string{"Inform", "inform", "Enforce", "enforce"}, action) || strings.EqualFold(action, informOnly)
	switch {
	case !given && ofPolicy == "" && object.Kind == "ConfigurationPolicy":
		return field.ErrorList{field.Required(path, "must be given, since the policy has none")}
	case !given || inAPI || strings.Contains(action, "{{") || ofPolicy != "" && isTemplateAction(action):
		return nil
	default:
		return field.ErrorList{field.NotSupported(path, action, []string{"inform", "enforce", "informOnly"})}
	}
}
