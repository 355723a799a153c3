// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	stream "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Decode is Decode of the zero [Reader].
func Decode(file string, r io.Reader) ([]Object, error) {
	return Reader{}.Decode(file, r)
}

// Decode returns the objects of one stream, in their order; file is the name in their positions. Every object has an
// apiVersion and a kind, and its metadata, if any, is an object whose name and namespace are strings. Whole numbers are
// int64, as in unstructured objects. A duplicate key of a mapping is an error, and so is text that belongs to no object.
// All errors of the content are *Error.
func (r Reader) Decode(file string, stream io.Reader) ([]Object, error) {
	data, err := io.ReadAll(stream)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if data, err = toText(data); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r.decode(file, data)
}

// decodeWhole reads a document in one piece, with precise errors.
func (r Reader) decodeWhole(d document, at Position) ([]Object, error) {
	content, err := parse(d)
	if line := tabbed(d); err != nil && line > 0 {
		at.Line, err = line, errors.New("tab: YAML must be indented by spaces")
	}
	if err != nil {
		return nil, &Error{At: at, Err: err}
	}
	if content == nil {
		return nil, nil
	}
	objects, err := flatten(nil, content, at)
	if err != nil {
		return nil, err
	}
	for i := range objects {
		objects[i] = r.lighten(objects[i])
	}
	return objects, nil
}

// parse returns nil for a document that holds only comments or null.
func parse(d document) (map[string]any, error) {
	data, err := toJSON(d.text)
	switch {
	case errors.Is(err, errAfter):
		return nil, err
	case err != nil:
		// Parse again with empty lines in front, so that the parser counts the lines of the file.
		before := d.line - 1 - leadingLines(d.text)
		_, err = yaml.YAMLToJSONStrict(append(bytes.Repeat([]byte("\n"), max(before, 0)), d.text...))
		return nil, fmt.Errorf("not YAML: %s", strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:")))
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	switch value := value.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return value, nil
	default:
		return nil, fmt.Errorf("must be an object with apiVersion and kind, not %s", describe(value))
	}
}

// errAfter is the error of text that belongs to no object.
var errAfter = errors.New("text after the object: must be another object in JSON, or come after a line of ---")

// toJSON converts a YAML document. The parser stops after the first value; text after it is an error.
func toJSON(text []byte) ([]byte, error) {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil || isBlock(text) {
		return data, err
	}
	parser := stream.NewDecoder(bytes.NewReader(text))
	if err := parser.Decode(new(passed)); errors.Is(err, io.EOF) || err == nil && errors.Is(parser.Decode(new(passed)), io.EOF) {
		return data, nil
	}
	return nil, errAfter
}

// isBlock says whether a document is a block of lines none of which is indented less than the first, which is certainly at
// most one value. Other documents may be one, too.
func isBlock(text []byte) bool {
	for _, end := range []string{"\u0085", "\u2028", "\u2029"} { // further line ends of YAML
		if bytes.Contains(text, []byte(end)) {
			return false
		}
	}
	first := -1
	for line := range bytes.Lines(text) {
		content := bytes.TrimLeft(line, " ")
		indent := len(line) - len(content)
		switch content = bytes.TrimSpace(content); {
		case len(content) == 0 || content[0] == '#':
		case first < 0 && !isLetter(content[0]):
			return false
		case first < 0:
			first = indent
		case indent < first:
			return false
		}
	}
	return true
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// passed is a value that is ignored.
type passed struct{}

// UnmarshalYAML ignores the value.
func (*passed) UnmarshalYAML(func(any) error) error { return nil }

// tabbed is the first line of a document that is indented by a tab; 0 if none is. In JSON tabs are allowed.
func tabbed(d document) int {
	if content := bytes.TrimSpace(d.text); len(content) == 0 || content[0] == '{' || content[0] == '[' {
		return 0
	}
	line := d.line - leadingLines(d.text)
	for text := range bytes.Lines(d.text) {
		if blank := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; bytes.IndexByte(blank, '\t') >= 0 && len(bytes.TrimSpace(text)) > 0 {
			return line
		}
		line++
	}
	return 0
}

// flatten appends the object, or the objects of the list, that content is.
func flatten(objects []Object, content map[string]any, at Position) ([]Object, error) {
	if err := check(content); err != nil {
		return nil, &Error{At: at, Object: name(content), Err: err}
	}
	if !isList(content) {
		return append(objects, Object{Unstructured: unstructured.Unstructured{Object: content}, At: at}), nil
	}
	items, err := itemsOf(content)
	if err != nil {
		return nil, &Error{At: at, Object: name(content), Err: err}
	}
	for i, item := range items {
		inner := at
		inner.Item = index(at.Item, i)
		object, ok := item.(map[string]any)
		if !ok {
			return nil, &Error{At: inner, Err: fmt.Errorf("must be an object with apiVersion and kind, not %s", describe(item))}
		}
		inherit(object, content)
		if objects, err = flatten(objects, object, inner); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// inherit gives an item without a kind that of its list: an API server leaves it out in a list of one kind, such as a PodList.
func inherit(item, list map[string]any) {
	kind, _ := list["kind"].(string)
	if item["kind"] != nil || item["apiVersion"] != nil || kind == "List" {
		return
	}
	item["kind"], item["apiVersion"] = strings.TrimSuffix(kind, "List"), list["apiVersion"]
}

// index is the path of an item of the list at a path.
func index(list string, i int) string {
	return strings.TrimPrefix(list+".items["+strconv.Itoa(i)+"]", ".")
}

// isList tells a list from an object whose kind happens to end in List: the latter has a name.
func isList(content map[string]any) bool {
	kind, _ := content["kind"].(string)
	if kind == "List" {
		return true
	}
	_, hasItems := content["items"].([]any)
	metadata, _ := content["metadata"].(map[string]any)
	_, hasName := metadata["name"]
	return strings.HasSuffix(kind, "List") && hasItems && !hasName
}

func itemsOf(list map[string]any) ([]any, error) {
	items, found := list["items"]
	if !found {
		return nil, field.Required(field.NewPath("items"), "must be given: a list has items")
	}
	switch items := items.(type) {
	case nil:
		return nil, nil
	case []any:
		return items, nil
	default:
		return nil, field.TypeInvalid(field.NewPath("items"), describe(items), "must be an array")
	}
}
