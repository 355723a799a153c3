// SPDX-License-Identifier: Apache-2.0

// Package rootpolicy checks the rollout fields of a policy of the hub, for the packages that resolve, roll out and
// validate it.
package rootpolicy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports an unknown remediationAction, what rollout.Validate finds in the strategy, and a name that replicas cannot
// have. The paths are those of the policy's JSON, below path.
func Validate(policy *policyv1.Policy, path *field.Path) field.ErrorList {
	spec := path.Child("spec")
	errs := rollout.Validate(policy.Spec.RolloutStrategy, spec.Child("rolloutStrategy"))
	if _, known := policy.Spec.RemediationAction.Known(); !known {
		errs = append(errs, field.NotSupported(spec.Child("remediationAction"),
			policy.Spec.RemediationAction, []policyv1.RemediationAction{policyv1.Inform, policyv1.Enforce}))
	}
	if replica := policy.Namespace + "." + policy.Name; len(replica) > validation.LabelValueMaxLength {
		errs = append(errs, field.Invalid(path.Child("metadata", "name"), policy.Name, fmt.Sprintf(
			"must have at most %d characters together with its namespace, since both are a label of each replicated policy, joined by a dot",
			validation.LabelValueMaxLength-1)))
	}
	if value, set := policy.Annotations[annotationFailAtOnce]; set && value != "true" && value != "false" {
		errs = append(errs, field.NotSupported(path.Child("metadata", "annotations").Key(annotationFailAtOnce), value, []string{"true", "false"}))
	}
	return errs
}

const annotationFailAtOnce = "cohort.open-cluster-management.io/fail-at-once"

// FailsAtOnce says whether a valid policy asks that an enforced cluster that does not comply fails at once.
func FailsAtOnce(policy *policyv1.Policy) bool {
	return policy.Annotations[annotationFailAtOnce] == "true"
}
