// SPDX-License-Identifier: Apache-2.0

package dependencies

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// fields are those that an object has, each with its own. Below one that has nil everything is allowed.
type fields map[string]fields

// policyFields are the fields of a Policy of policy.open-cluster-management.io/v1.
func policyFields() fields {
	dependency := names("apiVersion", "kind", "name", "namespace", "compliance")
	template := names("objectDefinition", "ignorePending")
	template["extraDependencies"] = dependency
	spec := names("copyPolicyMetadata", "disabled", "remediationAction", "rolloutStrategy")
	spec["dependencies"] = dependency
	spec["hubTemplateOptions"] = names("serviceAccountName")
	spec["policy-templates"] = template
	policy := names("apiVersion", "kind", "status")
	policy["metadata"] = names("name", "generateName", "namespace", "labels", "annotations", "uid", "resourceVersion",
		"generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers",
		"managedFields", "ownerReferences", "selfLink")
	policy["spec"] = spec
	return policy
}

func names(names ...string) fields {
	f := fields{}
	for _, name := range names {
		f[name] = nil
	}
	return f
}

// refuse gives an error for each unknown field of value. In a list it looks at the fields of the elements.
func (f fields) refuse(value any, path *field.Path) (errs []error) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			errs = append(errs, f.refuse(element, path.Index(i))...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below, found := f[name]
			switch {
			case !found:
				errs = append(errs, fmt.Errorf("%v: unknown field%s", path.Child(name), spelling.Hint(name, slices.Collect(maps.Keys(f)))))
			case below != nil:
				errs = append(errs, below.refuse(value[name], path.Child(name))...)
			}
		}
	}
	return errs
}
