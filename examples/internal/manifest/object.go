// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Position is where an object was read.
type Position struct {
	// File is the name of the file as given, or "stdin".
	File string
	// Line is the first line of the document with content, counted from 1.
	Line int
	// Item is the path of the object in a list, like "items[2]", and empty outside lists.
	Item string
}

// String is like "fleet.yaml:14" or "fleet.yaml:14 items[2]". A line of 0 is left out.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, p.Line)
	}
	if p.Item != "" {
		s += " " + p.Item
	}
	return s
}

// Object is one object and where it was read.
type Object struct {
	unstructured.Unstructured
	At Position
	// Served says that an API server sent the object, rather than a file.
	Served bool

	typed *typed // for kinds that the Reader knows
}

// String names the object for users, like "Policy default/foo".
func (o Object) String() string {
	return name(o.Object)
}

// Fault wraps err in an [Error] with the object's position and name. It returns nil for a nil err.
func (o Object) Fault(err error) error {
	if err == nil {
		return nil
	}
	return &Error{At: o.At, Object: o.String(), Err: err}
}

// Error is a fault of one object, or of a document that is not an object.
type Error struct {
	At Position
	// Object is Object.String, as far as it could be read.
	Object string
	// Err says what is wrong. A *field.Error names the field as well.
	Err error
}

// Error is a single line, however many lines Err has: "fleet.yaml:14: Policy default/foo: spec.x: …".
func (e *Error) Error() string {
	parts := []string{e.At.String()}
	if e.Object != "" {
		parts = append(parts, e.Object)
	}
	return strings.Join(append(parts, oneLine(e.Err.Error())), ": ")
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// oneLine joins the lines of a message, without the indentation they may have.
func oneLine(message string) string {
	var lines []string
	for line := range strings.SplitSeq(message, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// name is like "Policy default/foo", without missing parts.
func name(content map[string]any) string {
	kind, _ := content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	full, _ := metadata["name"].(string)
	if namespace, _ := metadata["namespace"].(string); namespace != "" {
		full = namespace + "/" + full
	}
	return strings.TrimSpace(kind + " " + full)
}
