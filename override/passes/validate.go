// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/rootpolicy"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports what is wrong with a root policy for its rollout, for a webhook to return: an unknown remediationAction, what
// rollout.Validate finds in its strategy, and a name that is too long for its replicas (at most 62 characters together with the
// namespace). The errors have the paths of its JSON, below path. override.Resolve refuses exactly the same policies, unless they
// are disabled. Don't refuse a disabled policy for its faults: users could not disable a faulty policy.
//
// dependency.Validate checks the templates and dependencies of a policy.
func Validate(policy *policyv1.Policy, path *field.Path) field.ErrorList {
	if policy == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	return rootpolicy.Validate(policy, path)
}
