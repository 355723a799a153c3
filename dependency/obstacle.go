// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"slices"
)

// obstacle says why a ready template of the policy must not touch its observed object, or cannot create it. It is empty where
// nothing is in the way. The policy that owns the object keeps it. If no policy owns it, the first policy by
// name with a ready template for it does. One that waits takes no place: it may wait for ever, or for the other policy.
func (t TemplateEvaluation) obstacle(policy string, own Observation) string {
	switch {
	case own.exists() && own.Policy == policy:
		return ""
	case own.exists() && own.Policy == "":
		return fmt.Sprintf("%s exists already and belongs to no policy: delete it, or rename the template", t.Object)
	case own.exists():
		return fmt.Sprintf("%s %s owns %s already: rename one of the templates", policyKind, own.Policy, t.Object)
	case own.reason(own.Compliance).keeps(): // it was not read
		return ""
	case t.Behind != "":
		return fmt.Sprintf("%s %s also has a template for %s, and comes first by name: rename one of the templates", policyKind, t.Behind, t.Object)
	case own.Problem == ReasonNoAPI:
		return fmt.Sprintf("it cannot be created: the cluster has no API for %s %s", t.Object.APIVersion, t.Object.Kind)
	default:
		return ""
	}
}

// rivals names the other policies that create the object.
func (t TemplateEvaluation) rivals() string {
	names := slices.Clone(t.AlsoIn)
	for i := range names {
		names[i] = policyKind + " " + names[i]
	}
	return joinFitting(names, ", ", 300)
}
