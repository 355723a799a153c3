// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	stream "go.yaml.in/yaml/v2"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// asKubectl is a cluster on a hub, as kubectl prints it.
const asKubectl = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster"}
    note: "yes"
    other: 'it: #1'
    empty: ""
  creationTimestamp: "2025-01-01T00:00:00Z"
  finalizers:
  - cluster.open-cluster-management.io/api-resource-cleanup
  generation: 2
  labels:
    region: eu
  # a comment
  name: cluster1
  uid: 01234567-89ab-cdef-0123-456789abcdef
spec:
  hubAcceptsClient: true
  leaseDurationSeconds: 60
  managedClusterClientConfigs:
  - caBundle: aGVsbG8=
    url: https://api.cluster1.example.com:6443
  taints: []
status:
  capacity: {cpu: "12", memory: 32000Mi}
  allocatable:
    memory: 30000Mi
  clusterClaims:
    - name: id.k8s.io
      value: 1e3
  conditions:
  - message: 'Accepted by hub cluster admin: a message that is folded, as kubectl
      does it'
    status: "True"
  version:
`

// sameJSON compares two values, numbers by their text: JSON has numbers that no float64 can represent.
func sameJSON(a, b []byte) bool {
	x, errX := decoded(a)
	y, errY := decoded(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func decoded(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

func TestAnItemIsReadByItself(t *testing.T) {
	item := []byte("- " + strings.ReplaceAll(strings.TrimSuffix(asKubectl, "\n"), "\n", "\n  ") + "\n")
	got, ok := piece{item, 0}.compact(func([]byte) paths { return nil })
	want, err := yaml.YAMLToJSONStrict([]byte(asKubectl))
	if err != nil || !ok || !sameJSON(got, want) {
		t.Errorf("%v; %v, got %s\nwant %s", err, ok, got, want)
	}
	for _, text := range []string{"- a: b\n c: d\n", "- {a: b}\n  c: d\n", "- a: 'b\n", "- a: *b\n"} {
		if got, ok := (piece{[]byte(text), 0}).compact(func([]byte) paths { return nil }); ok {
			t.Errorf("%q became %s", text, got)
		}
	}
}

func TestWhatIsDroppedIsGone(t *testing.T) {
	drop := newPaths([]string{"metadata.annotations", "metadata.finalizers", "status.conditions", "status.clusterClaims", "spec"})
	const want = `{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster","metadata":{` +
		`"creationTimestamp":"2025-01-01T00:00:00Z","generation":2,"labels":{"region":"eu"},"name":"cluster1",` +
		`"uid":"01234567-89ab-cdef-0123-456789abcdef"},"status":{"capacity":{"cpu":"12","memory":"32000Mi"},` +
		`"allocatable":{"memory":"30000Mi"},"version":null}}`
	if got, ok := (piece{[]byte(asKubectl), none}).compact(func([]byte) paths { return drop }); !ok || !sameJSON(got, []byte(want)) {
		t.Errorf("YAML: %v\n got %s\nwant %s", ok, got, want)
	}
	full, err := yaml.YAMLToJSON([]byte(asKubectl))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := compactJSON(full, drop); !ok || !sameJSON(got, []byte(want)) {
		t.Errorf("JSON: %v\n got %s\nwant %s", ok, got, want)
	}
}

// Of a block the parser drops nothing: there is no second value.
func TestABlockIsOneValue(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, in []byte) {
		var first any
		if !isBlock(in) || stream.Unmarshal(in, &first) != nil {
			return
		}
		if _, isMapping := first.(map[any]any); !isMapping && first != nil {
			return // the text is refused
		}
		parser := stream.NewDecoder(bytes.NewReader(in))
		if err := parser.Decode(new(passed)); err == nil {
			err = parser.Decode(new(passed))
			if !errors.Is(err, io.EOF) {
				t.Fatalf("%q: %v", in, err)
			}
		}
	}
	for _, in := range []string{"a: b\u2028---\u2028c: d\n", "a: b\u0085---\u0085c: d\n", "a: b\n# c\nd: e\n", "  a: b\nc: d\n", "{a: b}\nc: d\n"} {
		check(t, []byte(in))
	}
	if !isBlock([]byte(asKubectl)) {
		t.Error("what kubectl prints is taken for something else")
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string {
			indent := strings.Repeat(" ", rapid.IntRange(0, 5).Draw(t, "indent"))
			dash := rapid.SampledFrom([]string{"", "", "- ", "-  "}).Draw(t, "dash")
			key := rapid.SampledFrom([]string{"", "a:", "b:", "c: ", "d.e/f-g:", "on:", "# x", "\"q\":"}).Draw(t, "key")
			value := rapid.SampledFrom([]string{"", " x", " \"x\"", " 'x y'", " 1", " -1", " 1.50", " true", " No", " ~", " |", " |-", " >", " {a: b}", " []", " {}", " { a: b , c: \"d\", e: 1}", " [a, \"\", 07, b-]", " [a,]", " {a: b, a: c}", " {a: b", " {a: yes, b: x:y}", " [a b, -]", " {,}", " {a:b}", " [\"]",
				" [a, {b: c}]", " x: y", " x #y", " 12Ki", " 1e3", " 0o7", " 2001-01-01", " a,b", " a]", " x:", " /a", " .5", " \"x", " &x y", " \\", " a\\b\"c"}).Draw(t, "value")
			return indent + dash + key + value + "\n"
		})
		check(t, []byte(strings.Join(rapid.SliceOfN(line, 1, 7).Draw(t, "lines"), "")))
	})
}

func FuzzCompactJSONMeansTheSame(f *testing.F) {
	for _, in := range []string{`{"a": [1, -2.5e3, "b\u00e9\"", null, true], "c": {}}`, `{"a":1,}`, `[1 2]`, `{"a":1,"a":2}`, `"\x"`, `01`, `{"a":{"a":[[]]}}`, `[1e999]`} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, ok := compactJSON([]byte(in), nil)
		if !ok {
			return
		}
		if !json.Valid([]byte(in)) || !sameJSON(got, []byte(in)) {
			t.Fatalf("%q became %s", in, got)
		}
		if rest, ok := compactJSON([]byte(in), newPaths([]string{"a"})); !ok || !json.Valid(rest) {
			t.Fatalf("%q without a became %s", in, rest)
		}
	})
}

func TestCompactJSONRefusesWhatIsNone(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `{"a":1,"a":2}`, `"\x"`, "\"\n\"", `01`, `1.`, `-`, `1e`, `nul`, `{} {}`, `{"a"}`, "\"\xff\"", `{1:2}`} {
		if got, ok := compactJSON([]byte(in), nil); ok {
			t.Errorf("%q became %s", in, got)
		}
	}
}

// The items that are cut out of a list, and the list without them, together have the content of the list.
func TestCutTakesListsApart(t *testing.T) {
	for _, test := range []struct{ why, in, rest string }{
		{"as kubectl prints it", "apiVersion: v1\nitems:\n- a: 1\n  b:\n  - 2\n- c\nkind: List\n", "apiVersion: v1\nitems: []\nkind: List\n"},
		{"with the items indented", "items:\n  - a: 1\n  - b: 2\nkind: List\n", "items: []\nkind: List\n"},
		{"to the end of the file", "kind: List\nitems:\n- a: 1\n- b", "kind: List\nitems: []\n"},
		{"as JSON", `{"kind": "List", "items": [{"a": "]}\\\""}, 2 , [3]], "b": {}}`, `{"kind": "List", "items": [], "b": {}}`},
	} {
		items, rest, ok := cut([]byte(test.in))
		if !ok || string(rest) != test.rest {
			t.Errorf("%s: %v, the rest is %q, want %q", test.why, ok, rest, test.rest)
			continue
		}
		var list struct{ Items []any }
		if err := yaml.Unmarshal([]byte(test.in), &list); err != nil {
			t.Fatal(err)
		}
		if len(items) != len(list.Items) {
			t.Errorf("%s: %d items, want %d", test.why, len(items), len(list.Items))
		}
		for i, item := range items {
			text := bytes.Clone(item.text)
			if item.dash != none {
				text[item.dash] = ' '
			}
			var got any
			if err := yaml.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, list.Items[i]) {
				t.Errorf("%s: item %d is %v (%v), want %v", test.why, i, got, err, list.Items[i])
			}
		}
	}
}
