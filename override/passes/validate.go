package passes

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate finds what is wrong with a root policy for its rollout: an unknown remediationAction, and what
// rollout.Validate finds in its strategy. The paths lead through its JSON, below path, so that a webhook can return the
// list as it is. Of policies that are not disabled, override.Resolve refuses exactly what Validate does. A disabled
// policy may have faults: a webhook that refuses it for them keeps its users from switching a faulty policy off.
//
// What stands in the templates and dependencies of a policy is for dependency.Validate to check.
func Validate(policy *policyv1.Policy, path *field.Path) field.ErrorList {
	if policy == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	spec := path.Child("spec")
	errs := rollout.Validate(policy.Spec.RolloutStrategy, spec.Child("rolloutStrategy"))
	if _, known := policy.Spec.RemediationAction.Known(); !known {
		errs = append(errs, field.NotSupported(spec.Child("remediationAction"),
			policy.Spec.RemediationAction, []policyv1.RemediationAction{policyv1.Inform, policyv1.Enforce}))
	}
	return errs
}
