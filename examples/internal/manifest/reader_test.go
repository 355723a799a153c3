package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// knowing is a reader that knows toys.
func knowing(drop ...string) manifest.Reader {
	return manifest.Reader{Kinds: map[string]manifest.Kind{"v1/Toy": {New: func() any { return new(toy) }, Drop: drop}}}
}

// manyToys is a list of toys and a few others; what is odd about one of them decides how it is read.
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

// A reader that knows a kind says of its objects what one says that doesn't, the long way round as well.
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

// The first fault in the order of the file counts, whoever finds one first.
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
