// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// hubErrorAnnotation is in a template's definition if its hub templates could not be resolved.
const hubErrorAnnotation = policyGroup + "/hub-templates-error"

// definition has the fields of a template's definition that this package reads.
type definition struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string `json:"name"`
		Namespace   string `json:"namespace"`
		Annotations struct {
			HubError string `json:"policy.open-cluster-management.io/hub-templates-error"`
		} `json:"annotations"`
	} `json:"metadata"`
}

// definedBy gives the object that a template creates, as its definition names it. There are errors if the definition is
// no JSON object, or if its apiVersion, kind or name is missing or no string, and then it gives no object. Another error
// is that the hub could not resolve its hub templates. Path gives the template's path; it is called only where something
// is wrong.
func definedBy(template policyv1.PolicyTemplate, path func() *field.Path) (Object, field.ErrorList) {
	raw, err := rawOf(template)
	if err != nil {
		found := fmt.Sprintf("%T", template.ObjectDefinition.Object)
		return Object{}, field.ErrorList{field.Invalid(path().Child("objectDefinition"), found, "must be JSON: "+err.Error())}
	}
	var definition definition
	err = json.Unmarshal(raw, &definition)
	object := Object{definition.APIVersion, definition.Kind, definition.Metadata.Namespace, definition.Metadata.Name}
	if err != nil || object.APIVersion == "" || object.Kind == "" || object.Name == "" {
		return readObject(raw, path().Child("objectDefinition"))
	}
	if !isAPIVersion(object.APIVersion) {
		return Object{}, field.ErrorList{field.Invalid(path().Child("objectDefinition", "apiVersion"), object.APIVersion, "must be version or group/version")}
	}
	if hubError := definition.Metadata.Annotations.HubError; hubError != "" {
		at := path().Child("objectDefinition", "metadata", "annotations").Key(hubErrorAnnotation)
		return object, field.ErrorList{field.Invalid(at, hubError, "must not be there: the hub could not resolve the hub templates")}
	}
	return object, nil
}

// rawOf gives the JSON of a template's definition.
func rawOf(template policyv1.PolicyTemplate) ([]byte, error) {
	if template.ObjectDefinition.Raw == nil && template.ObjectDefinition.Object != nil {
		return template.ObjectDefinition.MarshalJSON()
	}
	return template.ObjectDefinition.Raw, nil
}

// readObject gives the object that raw names, or why it names none.
func readObject(raw []byte, path *field.Path) (Object, field.ErrorList) {
	if len(raw) == 0 {
		return Object{}, field.ErrorList{field.Required(path, "must be the object that the template creates")}
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return Object{}, field.ErrorList{field.Invalid(path, string(raw), "must be JSON: "+err.Error())}
	}
	definition, ok := value.(map[string]any)
	switch {
	case value == nil:
		return Object{}, field.ErrorList{field.Required(path, "must be the object that the template creates")}
	case !ok:
		return Object{}, field.ErrorList{field.TypeInvalid(path, describe(value), "must be an object")}
	}
	var errs field.ErrorList
	text := func(value any, path *field.Path, required bool) string {
		text, ok := value.(string)
		switch {
		case !ok && value != nil:
			errs = append(errs, field.TypeInvalid(path, describe(value), "must be a string"))
		case required && text == "":
			errs = append(errs, field.Required(path, "must be given: a template names the object that it creates"))
		}
		return text
	}
	var object Object
	object.APIVersion = text(definition["apiVersion"], path.Child("apiVersion"), true)
	object.Kind = text(definition["kind"], path.Child("kind"), true)
	metadata, ok := definition["metadata"].(map[string]any)
	if path = path.Child("metadata"); !ok && definition["metadata"] != nil {
		return Object{}, append(errs, field.TypeInvalid(path, describe(definition["metadata"]), "must be an object"))
	}
	object.Name = text(metadata["name"], path.Child("name"), true)
	object.Namespace = text(metadata["namespace"], path.Child("namespace"), false)
	if len(errs) > 0 {
		return Object{}, errs
	}
	return object, nil
}

// describe names the JSON type of a decoded value.
func describe(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
