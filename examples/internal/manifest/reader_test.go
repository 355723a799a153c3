// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

func knowing(drop ...string) manifest.Reader {
	return manifest.Reader{Kinds: map[string]manifest.Kind{"v1/Toy": {New: func() any { return new(toy) }, Drop: drop}}}
}

// manyToys is a list of toys and a few other objects; the odd one decides how the list is read.
func manyToys(odd string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range 200 {
		kind := "Toy"
		if i%50 == 7 {
			kind = "Other"
		}
		fmt.Fprintf(&b, "- apiVersion: v1\n  kind: %s\n  metadata:\n    labels:\n      a: b\n    name: toy%d\n    namespace: ns\n  spec:\n    count: %d\n    names:\n    - x\n", kind, i, i)
		if i == 150 {
			b.WriteString(odd)
		}
		b.WriteString("  status:\n    seen: 3\n    newer: 4\n")
	}
	b.WriteString("kind: List\n")
	return b.String()
}

// A reader that knows a kind returns the same for its objects as one that does not, on the slow path as well.
func TestReaderSaysTheSameOfKindsThatItKnows(t *testing.T) {
	for _, odd := range []string{"", "    nested: [{wait: 1m}]\n", "    nested: [{wiat: 1m}]\n", "    count: [1]\n", "    limit: &five 5\n", "    wait: \"\\x31m\"\n", "    unknown: é\n"} {
		in := manyToys(odd)
		want, wantErr := manifest.Decode("f", strings.NewReader(in))
		got, gotErr := knowing().Decode("f", strings.NewReader(in))
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("%q: error %v, want %v", odd, gotErr, wantErr)
		}
		if diff := cmp.Diff(listed(want), listed(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", odd, diff)
		}
		for i := range want {
			var wantToy, gotToy toy
			wantUnknown, wantErr := want[i].Into(&wantToy)
			gotUnknown, gotErr := got[i].Into(&gotToy)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || !cmp.Equal(gotUnknown, wantUnknown) {
				t.Fatalf("%q: %v: unknown %v, error %v, want %v, %v", odd, want[i], gotUnknown, gotErr, wantUnknown, wantErr)
			}
			if diff := cmp.Diff(wantToy, gotToy); diff != "" {
				t.Fatalf("%q (-want +got):\n%s", odd, diff)
			}
		}
	}
}

func TestReaderKeepsLittleOfKindsThatItKnows(t *testing.T) {
	objects, err := knowing("metadata.labels", "status").Decode("f", strings.NewReader(manyToys("")))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "v1", "kind": "Toy", "metadata": map[string]any{"name": "toy0", "namespace": "ns"}}
	if diff := cmp.Diff(want, objects[0].Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var got toy
	if unknown, err := objects[0].Into(&got); err != nil || len(unknown) > 0 || len(got.Labels) > 0 || got.Status.Seen != 0 {
		t.Errorf("unknown %v, error %v, %+v; want what was dropped to be missing", unknown, err, got)
	}
	var other struct {
		toy `json:",inline"`
	}
	if _, err := objects[0].Into(&other); err != nil || other.Name != "toy0" {
		t.Errorf("into another type: %v, %+v", err, other)
	}
	if spec, ok := objects[7].Object["spec"].(map[string]any); !ok || spec["count"] != int64(7) {
		t.Errorf("of a kind that it doesn't know there is only %v", objects[7].Object)
	}
}

// The first fault in the order of the file is reported, whichever goroutine finds one first.
func TestReaderNamesTheFirstFault(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		kind := "kind: A"
		if i >= 300 {
			kind = "kind: 7"
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\n%s\n", kind)
	}
	for range 5 {
		_, err := knowing().Decode("f", strings.NewReader(b.String()))
		if want := "f:902: kind: Invalid value: 7: must be a string"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		var in strings.Builder
		for i := range n {
			fmt.Fprintf(&in, "---\napiVersion: v1\nkind: Toy\nmetadata:\n  name: toy%d\nspec:\n  count: 3\n", i)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(in.Len()))
			for b.Loop() {
				if _, err := knowing().Decode("f", strings.NewReader(in.String())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A directory means its files. Equal objects, which must-gather may collect twice, count once. Different objects of one
// name stay, so that they are refused.
func TestADirectoryIsItsFiles(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"a/one.yaml":   "apiVersion: v1\nkind: Toy\nmetadata: {name: one}\n",
		"b/again.yml":  "apiVersion: v1\nkind: Toy\nmetadata: {name: one}\n",
		"b/two.json":   `{"apiVersion":"v1","kind":"Other","metadata":{"name":"two"}}`,
		"c/other.json": `{"apiVersion":"v1","kind":"Other","metadata":{"name":"two"},"spec":{}}`,
		"c/none.yaml":  "\n",
		"c/readme.txt": "no object",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := manifest.Read(nil, dir)
	var got []string
	for _, o := range objects {
		got = append(got, strings.TrimPrefix(o.At.String(), dir+"/")+" "+o.String())
	}
	if diff := cmp.Diff([]string{"a/one.yaml:1 Toy one", "b/two.json:1 Other two", "c/other.json:1 Other two"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Tools write objects under other names than kubectl's users do, and compress them. No such file is dropped in silence.
func TestADirectoryHasFilesUnderOtherNames(t *testing.T) {
	toy := func(name string) string {
		return `{"apiVersion":"v1","kind":"Toy","metadata":{"name":"` + name + `"}}` + "\n"
	}
	dir := t.TempDir()
	for file, text := range map[string]string{
		"a.YAML": toy("a"), "b.Yml": toy("b"), "c.jsonl": toy("c1") + toy("c2"), "d.ndjson": toy("d"), "e.yaml.gz": zipped(t, toy("e")), "f.JSON.GZ": zipped(t, toy("f")),
		"g.tar.gz": "?", "h.zip": "?", "i.previous.log.gz": "?", "j.txt": "?",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var skipped, got []string
	objects, err := manifest.Reader{Skipped: &skipped}.Read(nil, dir)
	for _, o := range objects {
		got = append(got, o.GetName())
	}
	if diff := cmp.Diff([]string{"a", "b", "c1", "c2", "d", "e", "f"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "g.tar.gz"), filepath.Join(dir, "h.zip")}, skipped); diff != "" {
		t.Errorf("not read (-want +got):\n%s", diff)
	}
}

// The content says how a file is read, also where its name or standard input does not.
func TestContentThatIsNoText(t *testing.T) {
	const toy = "apiVersion: v1\nkind: Toy\nmetadata: {name: one}\n"
	tar := append(make([]byte, 257), "ustar\x00"...)
	copy(tar, "dump.yaml")
	for _, test := range []struct{ why, content, want string }{
		{"text in gzip", zipped(t, toy), ""},
		{"UTF-16 without a mark in gzip", zipped(t, strings.Join(strings.Split(toy, ""), "\x00")+"\x00"), ""},
		{"gzip that is cut off", zipped(t, toy)[:40], "stdin: compressed by gzip, and cut off or damaged: unexpected EOF"},
		{"the beginning of gzip", "\x1f\x8b", "stdin: compressed by gzip, and cut off or damaged: "},
		{"an archive in gzip", zipped(t, string(tar)), "stdin: not text but a tar archive: must be YAML or JSON"},
		{"an archive", "PK\x03\x04\x14\x00\x08\x00\t\x00", "stdin: not text but application/zip: must be YAML or JSON"},
		{"a picture", "\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR", "stdin: not text but image/png: "},
		{"a program", "\x7fELF\x02\x01\x01\x00\n\t\x00", "stdin: not text but binary content: "},
		{"a module, which is no UTF-16", "\x00asm\x01\x00\x00\x00", "stdin: not text but application/wasm: "},
		{"nothing in gzip", zipped(t, ""), "stdin is empty"},
	} {
		objects, err := manifest.Read(strings.NewReader(test.content), "-")
		if test.want == "" && (err != nil || len(objects) != 1) || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: %d objects, %v, want %q", test.why, len(objects), err, test.want)
		}
	}
}

// Objects from an API server may belong to a newer API than the types here; objects from a file may be mistyped.
func TestServedObjectsMayHaveUnknownFields(t *testing.T) {
	for _, reader := range []manifest.Reader{{}, knowing()} {
		object, err := reader.Served("toys", []byte(`{"apiVersion":"v1","kind":"Toy","metadata":{"name":"a"},"spec":{"newer":1,"count":2}}`))
		if err != nil {
			t.Fatal(err)
		}
		var typed toy
		if unknown, err := object.Into(&typed); err != nil || typed.Spec.Count != 2 || len(unknown) != 1 || unknown[0] != "spec.newer" {
			t.Errorf("%v %v, %+v; want the count, and that spec.newer is unknown", unknown, err, typed)
		}
		if _, err := reader.Served("toys", []byte(`{"kind":"Toy"}`)); err == nil || !strings.HasPrefix(err.Error(), "toys: ") {
			t.Errorf("%v, want an error that begins with the resource", err)
		}
	}
}
