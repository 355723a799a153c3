// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check returns what every reader of an object relies on and this one lacks.
func check(content map[string]any) error {
	var errs []error
	for _, key := range []string{"apiVersion", "kind"} {
		if err := stringAt(content, field.NewPath(key)); err != nil {
			errs = append(errs, err)
		} else if content[key] == nil || content[key] == "" {
			errs = append(errs, field.Required(field.NewPath(key), "must be given: every object has one"))
		}
	}
	metadata, ok := content["metadata"].(map[string]any)
	if !ok && content["metadata"] != nil {
		errs = append(errs, field.TypeInvalid(field.NewPath("metadata"), describe(content["metadata"]), "must be an object"))
	}
	for _, key := range []string{"name", "namespace"} {
		if err := stringAt(metadata, field.NewPath("metadata", key)); err != nil {
			errs = append(errs, err)
		}
	}
	if next, _ := metadata["continue"].(string); next != "" {
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "continue"), "only a part of a list is here: it must be got without a limit"))
	}
	return errors.Join(errs...)
}

// stringAt returns an error if the last element of the path is a key of content and no string.
func stringAt(content map[string]any, path *field.Path) error {
	keys := strings.Split(path.String(), ".")
	value := content[keys[len(keys)-1]]
	if _, ok := value.(string); ok || value == nil {
		return nil
	}
	return field.TypeInvalid(path, value, "must be a string")
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
