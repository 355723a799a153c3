package dependency

import (
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Object returns what the template creates, as its definition names it; [Object.Lookup] gives it the
// namespace it has on a cluster. A definition that is no JSON object, or whose apiVersion, kind or name is
// missing or no string, is an error that holds a *field.Error for each, with paths from the template on.
func (t PolicyTemplate) Object() (Object, error) {
	object, errs := t.object(func() *field.Path { return nil })
	return object, fielderrs.Join(errs)
}

// object is Object with the template's path, which is asked for only where something is wrong.
func (t PolicyTemplate) object(path func() *field.Path) (Object, field.ErrorList) {
	// Most of a definition is its spec, which must be JSON but is not looked at.
	var definition struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	raw := t.ObjectDefinition.Raw
	if raw == nil && t.ObjectDefinition.Object != nil {
		var err error
		if raw, err = t.ObjectDefinition.MarshalJSON(); err != nil {
			return Object{}, field.ErrorList{field.InternalError(path().Child("objectDefinition"), err)}
		}
	}
	err := json.Unmarshal(raw, &definition)
	object := Object{definition.APIVersion, definition.Kind, definition.Metadata.Namespace, definition.Metadata.Name}
	if err == nil && object.APIVersion != "" && object.Kind != "" && object.Name != "" {
		return object, nil
	}
	return readObject(raw, path().Child("objectDefinition"))
}

// readObject returns what raw names, or why it names nothing.
func readObject(raw []byte, path *field.Path) (Object, field.ErrorList) {
	if len(raw) == 0 {
		return Object{}, field.ErrorList{field.Required(path, "a template has an object to create")}
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return Object{}, field.ErrorList{field.Invalid(path, string(raw), "not JSON: "+err.Error())}
	}
	definition, ok := value.(map[string]any)
	switch {
	case value == nil:
		return Object{}, field.ErrorList{field.Required(path, "a template has an object to create")}
	case !ok:
		return Object{}, field.ErrorList{field.TypeInvalid(path, describe(value), "want an object")}
	}
	var errs field.ErrorList
	text := func(value any, path *field.Path, required bool) string {
		s, ok := value.(string)
		switch {
		case !ok && value != nil:
			errs = append(errs, field.TypeInvalid(path, describe(value), "want a string"))
		case required && s == "":
			errs = append(errs, field.Required(path, "a template says which object it creates"))
		}
		return s
	}
	var object Object
	object.APIVersion = text(definition["apiVersion"], path.Child("apiVersion"), true)
	object.Kind = text(definition["kind"], path.Child("kind"), true)
	metadata, ok := definition["metadata"].(map[string]any)
	if path = path.Child("metadata"); !ok && definition["metadata"] != nil {
		return Object{}, append(errs, field.TypeInvalid(path, describe(definition["metadata"]), "want an object"))
	}
	object.Name = text(metadata["name"], path.Child("name"), true)
	object.Namespace = text(metadata["namespace"], path.Child("namespace"), false)
	if len(errs) > 0 {
		return Object{}, errs
	}
	return object, nil
}

// describe names the type of a decoded value in the words of JSON.
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
