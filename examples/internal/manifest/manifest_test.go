// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// listed has a line for each object: its position and name.
func listed(objects []manifest.Object) string {
	var b strings.Builder
	for _, o := range objects {
		b.WriteString(o.At.String() + " " + o.String() + "\n")
	}
	return b.String()
}

func TestDecodeReadsEveryObjectAndItsPlace(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{
			"one document needs no separator",
			"apiVersion: v1\nkind: A\nmetadata: {name: a}\n",
			"f:1 A a\n",
		}, {
			"separators, comments and empty documents are passed over, and lines still count",
			"---\n# nothing\n---\n\napiVersion: v1\nkind: A\nmetadata: {name: a, namespace: ns}\n---\n---\nnull\n--- \napiVersion: v1\nkind: B\n",
			"f:5 A ns/a\nf:12 B\n",
		}, {
			"an end of document separates, too",
			"apiVersion: v1\nkind: A\n...\napiVersion: v1\nkind: B\n",
			"f:1 A\nf:4 B\n",
		}, {
			"a separator may carry content, and lines may end as on Windows",
			"--- {apiVersion: v1, kind: A}\r\n---\r\napiVersion: v1\r\nkind: B\r\n",
			"f:1 A\nf:3 B\n",
		}, {
			"three dashes that begin no line do not separate",
			"apiVersion: v1\nkind: A\ndata: |\n  ---\n  x\n",
			"f:1 A\n",
		}, {
			"a list gives its items, a list of lists too",
			"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A}\n- apiVersion: v1\n  kind: BList\n  items: [{apiVersion: v1, kind: B, metadata: {name: b}}]\n",
			"f:1 items[0] A\nf:1 items[1].items[0] B b\n",
		}, {
			"items have the kind of their list where they have none, as an API server sends them, and in JSON",
			"apiVersion: g/v1\nkind: BList\nitems: [{metadata: {name: b}}]\n---\n" + `{"apiVersion":"g/v1","kind":"BList","items":[{"metadata":{"name":"c"}}]}`,
			"f:1 items[0] B b\nf:5 items[0] B c\n",
		}, {
			"JSON is YAML",
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A"}]}`,
			"f:1 items[0] A\n",
		}, {
			"objects of JSON follow one another, as jq prints them, on lines of their own or not",
			"{\"apiVersion\":\"v1\",\"kind\":\"A\",\"text\":\"}{\\\"\"}\n{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"B\"\n} {\"apiVersion\":\"v1\",\"kind\":\"C\"}\n\n",
			"f:1 A\nf:2 B\nf:5 C\n",
		}, {
			"comments stand between them, and a list may be one of them",
			"# one\n{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n# two\n{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"B\"}]}\n# three\n",
			"f:1 A\nf:3 items[0] B\n",
		}, {
			"YAML follows JSON behind a separator", "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n---\napiVersion: v1\nkind: B\n", "f:1 A\nf:3 B\n",
		}, {
			"a flow mapping of YAML is no JSON, whatever its quotes hold", "{apiVersion: v1, kind: A, text: '}{\"'} # a comment {\n", "f:1 A\n",
		}, {
			"Windows PowerShell writes UTF-16 with a mark", asUTF16(binary.LittleEndian, "\ufeffapiVersion: v1\r\nkind: A\r\n---\r\napiVersion: v1\r\nkind: B\r\ntext: \u00e9\U0001f600\r\n"), "f:1 A\nf:4 B\n",
		}, {
			"and the other way round, or without a mark", asUTF16(binary.BigEndian, "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}"), "f:1 A\nf:2 B\n",
		}, {
			"files that begin with a mark were joined", "\ufeff---\napiVersion: v1\nkind: A\n\ufeff---\napiVersion: v1\nkind: B\n", "f:2 A\nf:5 B\n",
		}, {
			"lines may end as on an old Macintosh", "apiVersion: v1\rkind: A\r---\rapiVersion: v1\rkind: B\r", "f:1 A\nf:4 B\n",
		}, {
			"a list without objects is no fault", "apiVersion: v1\nkind: List\nitems:\n", "",
		}, {
			"an object whose kind ends in List is one object if it has a name",
			"apiVersion: v1\nkind: AllowList\nmetadata: {name: a}\nitems: [1]\n",
			"f:1 AllowList a\n",
		}, {
			"an empty stream has no objects", "", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := manifest.Decode("f", strings.NewReader(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := listed(objects); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestDecodeSaysInOneLineWhatIsWrongAndWhere(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{
			"the parser's line is that of the file, not of the document",
			"apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: [\n",
			"f:4: not YAML: line 5: did not find expected node content",
		}, {
			"a key given twice would lose the first",
			"---\nkind: A\nkind: B\n",
			"line 3: key \"kind\" already set in map",
		}, {
			"text is no object", "hello\n", "f:1: must be an object with apiVersion and kind, not a string",
		}, {
			"an array is no list", "- 1\n", "f:1: must be an object with apiVersion and kind, not an array",
		}, {
			"text after an object would be lost", "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\napiVersion: v1\nkind: B\n",
			"f:1: text after the object: must be another object in JSON, or come after a line of ---",
		}, {
			"a list of YAML that ends early", "  apiVersion: v1\n  kind: List\n  items: []\napiVersion: v1\nkind: B\n",
			"f:1: text after the object",
		}, {
			"objects with commas between them", "{\"apiVersion\":\"v1\",\"kind\":\"A\"},\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n",
			"f:1: text after the object",
		}, {
			"the second of two objects is cut off", "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n{\"apiVersion\":\"v1\",\"kind\":\n", "f:2: not YAML: line 2: ",
		}, {
			"one page of a list", "apiVersion: v1\nkind: List\nmetadata: {continue: abc, remainingItemCount: 7}\nitems: []\n",
			"f:1: List: metadata.continue: Forbidden: only a part of a list is here: it must be got without a limit",
		}, {
			"both faults of an object in one line", "metadata: {name: a}\n",
			"f:1: a: apiVersion: Required value: must be given: every object has one; kind: Required value: must be given: every object has one",
		}, {
			"a kind of another type", "apiVersion: v1\nkind: 7\n",
			"f:1: kind: Invalid value: 7: must be a string",
		}, {
			"a name of another type is not an object without a name", "apiVersion: v1\nkind: A\nmetadata: {name: 7}\n",
			"f:1: A: metadata.name: Invalid value: 7: must be a string",
		}, {
			"metadata of another type", "apiVersion: v1\nkind: A\nmetadata: x\n",
			`f:1: A: metadata: Invalid value: "a string": must be an object`,
		}, {
			"a list that lost its items", "apiVersion: v1\nkind: List\n",
			"f:1: List: items: Required value: must be given: a list has items",
		}, {
			"a list whose items are none", "apiVersion: v1\nkind: List\nitems: 3\n",
			`f:1: List: items: Invalid value: "a number": must be an array`,
		}, {
			"an item that is no object", "apiVersion: v1\nkind: List\nitems: [3]\n",
			"f:1 items[0]: must be an object with apiVersion and kind, not a number",
		}, {
			"an item without a kind", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1}]\n",
			"f:1 items[0]: kind: Required value: must be given: every object has one",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := manifest.Decode("f", strings.NewReader(test.in))
			if err == nil {
				t.Fatalf("no error, but %v", objects)
			}
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want one line with %q", err, test.want)
			}
			if objects != nil {
				t.Errorf("objects beside an error: %v", objects)
			}
			var fault *manifest.Error
			if !errors.As(err, &fault) || fault.At.File != "f" || fault.At.Line == 0 {
				t.Errorf("no place in %#v", err)
			}
		})
	}
}

// asUTF16 is a text in UTF-16.
func asUTF16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// Whatever files are joined in whatever way, each object is returned, or there is an error.
func TestDecodeDropsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in strings.Builder
		var want []string
		inJSON := false // whether the text before is JSON
		for i := range rapid.IntRange(1, 6).Draw(t, "objects") {
			name := fmt.Sprint("toy", i)
			object := rapid.SampledFrom([]string{
				`{"apiVersion":"v1","kind":"Toy","metadata":{"name":"%s"},"text":"{ ]\\\" # ---"}`, "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Toy\",\n  \"metadata\": {\"name\": \"%s\"}\n}",
				`{"items":[{"apiVersion":"v1","kind":"Toy","metadata":{"name":"%s"}}],"kind":"List","apiVersion":"v1"}`,
				"apiVersion: v1\nkind: Toy\nmetadata:\n  name: %s\ntext: |\n  ---\n  {}\n", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Toy\n  metadata:\n    name: %s\nkind: List\n",
			}).Draw(t, "object")
			isJSON := object[0] == '{'
			between := rapid.SampledFrom([]string{"\n---\n", "\r\n---\r\n", "\n...\n# a comment\n", "\n---\n---\n", "\n", "", "\n\n", " ", "\n# {\n", ",\n", "\n\ufeff"}).Draw(t, "between")
			if !inJSON && between == " " {
				between = "\n" // otherwise the text would continue the last word of the YAML
			}
			if i > 0 {
				in.WriteString(between)
			}
			if strings.Contains(between, "\n---") || strings.Contains(between, "\n...") || i == 0 || inJSON && isJSON && !strings.Contains(between, ",") {
				want = append(want, name)
			} else {
				want = append(want, name, "or an error")
			}
			fmt.Fprintf(&in, object, name)
			inJSON = isJSON
		}
		text := in.String()
		switch rapid.IntRange(0, 3).Draw(t, "encoding") {
		case 1:
			text = "\ufeff" + text
		case 2:
			text = asUTF16(binary.LittleEndian, "\ufeff"+text)
		case 3:
			text = asUTF16(binary.BigEndian, text)
		}
		objects, err := manifest.Decode("f", strings.NewReader(text))
		if err != nil {
			if !slices.Contains(want, "or an error") {
				t.Fatalf("%v of %q", err, text)
			}
			return
		}
		var got []string
		for _, o := range objects {
			got = append(got, o.GetName())
		}
		want = slices.DeleteFunc(want, func(s string) bool { return s == "or an error" })
		if !slices.Equal(got, want) {
			t.Fatalf("%q of %q, want %q", got, text, want)
		}
	})
}

// A failed command leaves a file without text, which may still have a byte order mark, or half a character.
func TestReadRefusesAFileThatIsCutOff(t *testing.T) {
	for _, test := range []struct{ why, in, want string }{
		{"no text behind the mark", "\xff\xfe", "stdin is empty"},
		{"nothing at all", " \n", "stdin is empty"},
		{"half a character", asUTF16(binary.LittleEndian, "\ufeffkind: A") + "x", "stdin: UTF-16 of an odd number of bytes: the file is cut off"},
	} {
		if objects, err := manifest.Read(strings.NewReader(test.in), "-"); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, %v, want %s", test.why, objects, err, test.want)
		}
	}
}

func TestDecodeKeepsWholeNumbersWhole(t *testing.T) {
	objects, err := manifest.Decode("f", strings.NewReader("apiVersion: v1\nkind: A\nspec: {count: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec := objects[0].Object["spec"].(map[string]any)
	if n, ok := spec["count"].(int64); !ok || n != 3 {
		t.Errorf("n is %T %v, want int64 3: DeepCopy of unstructured objects panics on others", spec["count"], spec["count"])
	}
}

func TestReadTakesFilesAndStandardInputInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	first, last := filepath.Join(dir, "z.yaml"), filepath.Join(dir, "a.yaml")
	for _, file := range []string{first, last} {
		if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: A\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := manifest.Read(strings.NewReader("apiVersion: v1\nkind: B\n"), first, "-", last)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := listed(objects), first+":1 A\nstdin:1 B\n"+last+":1 A\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestReadRefusesWhatItCannotRead(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	for _, test := range []struct {
		files []string
		want  string
	}{
		{nil, "no file given: must have at least one -f FILE"},
		{[]string{missing}, missing},
		{[]string{t.TempDir()}, "must have files whose names end in .yaml, .yml, .json, .jsonl or .ndjson, perhaps with .gz behind that"},
		{[]string{"-", "-"}, "- given twice"},
		{[]string{missing, "-", missing}, missing + " given twice: each file must be given once"},
	} {
		_, err := manifest.Read(strings.NewReader(""), test.files...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Read(%q): %v, want an error with %q", test.files, err, test.want)
		}
	}
}

func TestFaultNamesFileObjectAndField(t *testing.T) {
	objects, err := manifest.Decode("fleet.yaml", strings.NewReader("\napiVersion: v1\nkind: A\nmetadata: {name: a, namespace: ns}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if objects[0].Fault(nil) != nil {
		t.Error("a fault without an error")
	}
	err = objects[0].Fault(errors.Join(field.Required(field.NewPath("spec", "x"), ""), errors.New("two")))
	if got, want := err.Error(), "fleet.yaml:2: A ns/a: spec.x: Required value; two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var fieldError *field.Error
	if !errors.As(err, &fieldError) || fieldError.Field != "spec.x" {
		t.Errorf("errors.As does not find the field in %#v", err)
	}
}

func TestFilesIsARepeatableFlag(t *testing.T) {
	var files manifest.Files
	for _, f := range []string{"a", "-"} {
		if err := files.Set(f); err != nil {
			t.Fatal(err)
		}
	}
	if files.String() != "a,-" {
		t.Errorf("got %q", files.String())
	}
	if files.Set("") == nil {
		t.Error("an empty name is accepted")
	}
}

// Any stream is objects with a kind and a position, or one error of one line.
func FuzzDecode(f *testing.F) {
	f.Add("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A}]\n---\nkind: [")
	f.Add("---\n--- {a: b}\n...\n")
	f.Fuzz(func(t *testing.T, in string) {
		objects, err := manifest.Decode("f", strings.NewReader(in))
		if err != nil {
			if objects != nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("objects %v beside the error %q", objects, err)
			}
			return
		}
		lines := strings.Count(in, "\n") + 1
		for _, o := range objects {
			if o.GetKind() == "" || o.GetAPIVersion() == "" || o.At.Line < 1 || o.At.Line > lines {
				t.Errorf("%v at %v of %d lines", o, o.At, lines)
			}
			o.DeepCopy()
		}
	})
}
