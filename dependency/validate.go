package dependency

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate says what is wrong with the templates and dependencies of a policy, on the hub or on a managed cluster,
// with paths below path. It is empty if every template can be evaluated. These are the faults that make templates
// invalid in an [Evaluation]:
//
//   - A template must name the object that it creates, and must not create what another one of the policy does.
//   - A dependency must have an apiVersion, a kind, a name, and a compliance to wait for.
//   - What a template depends on must not have two compliances at once.
//   - What never has the compliance must not be waited for: a ConstraintTemplate is Compliant or does not exist, and
//     a constraint is never Pending.
//
// The policy's action and its rollout strategy are for override/passes.Validate to check.
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
