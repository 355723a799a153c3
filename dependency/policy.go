// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// PolicyOf reads a Policy. It does what runtime.DefaultUnstructuredConverter does, but its error has a *field.Error
// for each field of a wrong type. A missing spec is an error, too: a policy without templates would have all its objects
// deleted. Faults of templates and dependencies are no errors here: see [Validate]. The object is not
// changed, and the policy shares nothing with it.
func PolicyOf(content *unstructured.Unstructured) (*policyv1.Policy, error) {
	if content == nil {
		return nil, field.Required(field.NewPath("policy"), "must not be nil")
	}
	if object := nameOf(content); object.group() != policyGroup || object.Kind != policyKind {
		found := fmt.Sprintf("%s of %s", object.Kind, object.APIVersion)
		return nil, field.Invalid(field.NewPath("kind"), found, "must be "+policyKind+" of "+policyGroup)
	}
	if content.Object["spec"] == nil {
		return nil, field.Required(field.NewPath("spec"), "must be given: without it the policy's templates are unknown")
	}
	if errs := policyShape()(content.Object["spec"], field.NewPath("spec")); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	policy, err := convert(content.Object)
	if err != nil {
		return nil, unconverted(content, err)
	}
	return policy, nil
}

func convert(object map[string]any) (*policyv1.Policy, error) {
	policy := new(policyv1.Policy)
	return policy, runtime.DefaultUnstructuredConverter.FromUnstructured(object, policy)
}

// unconverted says which part of a policy could not be converted, among the parts that policyShape leaves to the
// converter.
func unconverted(object *unstructured.Unstructured, err error) *field.Error {
	path, part := field.NewPath("metadata"), object.Object["metadata"]
	if _, metadataErr := convert(map[string]any{"metadata": part}); metadataErr == nil {
		path, part = field.NewPath("spec", "rolloutStrategy"), object.Object["spec"].(map[string]any)["rolloutStrategy"]
	}
	return field.Invalid(path, describe(part), "must be of the form that the API gives it: "+err.Error())
}

// shape reports where a decoded JSON value has a wrong type. Every shape accepts null.
type shape func(value any, path *field.Path) field.ErrorList

// policyShape gives the shape of a policy's spec, for the fields of policyv1.PolicySpec.
func policyShape() shape {
	dependencies := arrayOf(objectOf(map[string]shape{
		"apiVersion": a[string]("a string"),
		"kind":       a[string]("a string"),
		"name":       a[string]("a string"),
		"namespace":  a[string]("a string"),
		"compliance": a[string]("a string"),
	}))
	return objectOf(map[string]shape{
		"disabled":           a[bool]("a boolean"),
		"copyPolicyMetadata": a[bool]("a boolean"),
		"remediationAction":  a[string]("a string"),
		"dependencies":       dependencies,
		"hubTemplateOptions": objectOf(map[string]shape{"serviceAccountName": a[string]("a string")}),
		"policy-templates": arrayOf(objectOf(map[string]shape{
			"extraDependencies": dependencies,
			"ignorePending":     a[bool]("a boolean"),
		})),
	})
}

// a gives the shape of a T; name is its name in messages.
func a[T any](name string) shape {
	return func(value any, path *field.Path) field.ErrorList {
		if _, ok := value.(T); !ok && value != nil {
			return field.ErrorList{field.TypeInvalid(path, describe(value), "must be "+name)}
		}
		return nil
	}
}

func arrayOf(element shape) shape {
	return func(value any, path *field.Path) field.ErrorList {
		errs := a[[]any]("an array")(value, path)
		elements, _ := value.([]any)
		for i := range elements {
			errs = append(errs, element(elements[i], path.Index(i))...)
		}
		return errs
	}
}

// mapOf gives the shape of an object with any names.
func mapOf(element shape) shape {
	return func(value any, path *field.Path) field.ErrorList {
		errs := a[map[string]any]("an object")(value, path)
		found, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			errs = append(errs, element(found[name], path.Key(name))...)
		}
		return errs
	}
}

func objectOf(fields map[string]shape) shape {
	return func(value any, path *field.Path) field.ErrorList {
		errs := a[map[string]any]("an object")(value, path)
		found, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			errs = append(errs, fields[name](found[name], path.Child(name))...)
		}
		return errs
	}
}
