package dependency

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports what is wrong with the templates and dependencies of a policy, on the hub or on a managed cluster,
// for a webhook to return. The paths are below path. The list is empty if every template can be evaluated. The same
// faults make templates invalid in an [Evaluation]:
//
//   - A template must name the object that it creates, and must not create what another template of the policy creates.
//   - A dependency must have an apiVersion, a kind, a name, and a compliance to wait for.
//   - A template must not wait for two compliances of one object.
//   - A template must not wait for a compliance that an object never has: Gatekeeper's ConstraintTemplates and
//     constraints are never Pending.
//
// Validate sees one policy, and looks for no cycles, also where the policy depends on itself. A template that waits for
// itself is valid and stays pending: [Evaluate] says for what, and [Evaluator.Order] lists all cycles. A webhook that
// wants to refuse such a policy evaluates it together with the others of its namespace.
//
// override/passes.Validate checks the policy's action and its rollout strategy.
func Validate(policy *policyv1.Policy, path *field.Path) field.ErrorList {
	if policy == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	spec := &policy.Spec
	if !isReplicated(policy) {
		spec = replicable(policy)
	}
	templates, errs := compiler{path: path}.compile(spec)
	common := len(errs)
	for _, template := range templates {
		errs = append(errs, template.errs[common:]...)
	}
	return errs
}
