package manifest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// asKubectl is what a hub has of a cluster, as kubectl prints it.
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
  - message: "Accepted by hub cluster admin"
    status: "True"
  version:
`

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func TestPlainYAMLTakesWhatKubectlPrints(t *testing.T) {
	got, ok := plainYAML([]byte(asKubectl), nil)
	if !ok {
		t.Fatal("it is left to the real parser")
	}
	want, err := yaml.YAMLToJSONStrict([]byte(asKubectl))
	if err != nil || !sameJSON(got, want) {
		t.Errorf("%v; got %s\nwant %s", err, got, want)
	}
}

func TestWhatIsDroppedIsGone(t *testing.T) {
	drop := newPaths([]string{"metadata.annotations", "metadata.finalizers", "status.conditions", "status.clusterClaims", "spec"})
	const want = `{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster","metadata":{` +
		`"creationTimestamp":"2025-01-01T00:00:00Z","generation":2,"labels":{"region":"eu"},"name":"cluster1",` +
		`"uid":"01234567-89ab-cdef-0123-456789abcdef"},"status":{"capacity":{"cpu":"12","memory":"32000Mi"},` +
		`"allocatable":{"memory":"30000Mi"},"version":null}}`
	if got, ok := plainYAML([]byte(asKubectl), drop); !ok || string(got) != want {
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

// What the fast way takes means the same as to the real parser; the rest it leaves alone.
func checkPlain(t interface {
	Fatalf(string, ...any)
}, in []byte,
) {
	got, ok := plainYAML(in, nil)
	if !ok {
		return
	}
	want, err := yaml.YAMLToJSONStrict(in)
	if err != nil {
		t.Fatalf("%q is not YAML (%v), but became %s", in, err, got)
	}
	if !sameJSON(got, want) {
		t.Fatalf("%q: got %s, want %s", in, got, want)
	}
}

func FuzzPlainYAMLMeansTheSame(f *testing.F) {
	f.Add(asKubectl)
	for _, in := range []string{
		"a: b\n  c\n", "a: |\n  b\n\n  c\nd: e\n", "a:\n- b\n- c: d\n  e: f\n", "a: 'b'\n 'c'\n", "a: b # c\n", "a: {b: [c, 1]}\n", "- a\n",
		"a: 0x1\nb: 010\nc: 1_0\nd: 12:30\ne: 2025-01-01\nf: yes\n", "yes: a\n", "a: b\na: c\n", "a:\n  b: 1\n c: 2\n", "a:\n  - b\n  -c\n", "a: \"b\" c\n",
		"a: |-\n  b\n# c\n  d\n", "a: |\n   b\n  c\n", "a: |\n  b", "a: -\nb: ~\n", "a:  \n  b:   c   \n", "a: [\nb]\n", "a: *b\n", "a: &b c\n", "a: !!str 1\n", "a: 99999999999999999999\n",
	} {
		f.Add(in)
	}
	f.Add(strings.Repeat("long", 300) + ": a\n")
	f.Fuzz(func(t *testing.T, in string) { checkPlain(t, []byte(in)) })
}

// Random combinations of lines of YAML meet more corners than random bytes do.
func TestPlainYAMLMeansTheSame(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string {
			indent := strings.Repeat(" ", rapid.IntRange(0, 5).Draw(t, "indent"))
			dash := rapid.SampledFrom([]string{"", "", "- ", "-  "}).Draw(t, "dash")
			key := rapid.SampledFrom([]string{"", "a:", "b:", "c: ", "d.e/f-g:", "on:", "# x", "\"q\":"}).Draw(t, "key")
			value := rapid.SampledFrom([]string{"", " x", " \"x\"", " 'x y'", " 1", " -1", " 1.50", " true", " No", " ~", " |", " |-", " >", " {a: b}", " []", " {}", " { a: b , c: \"d\", e: 1}", " [a, \"\", 07, b-]", " [a,]", " {a: b, a: c}", " {a: b", " {a: yes, b: x:y}", " [a b, -]", " {,}", " {a:b}", " [\"]",
				" [a, {b: c}]", " x: y", " x #y", " 12Ki", " 1e3", " 0o7", " 2001-01-01", " a,b", " a]", " x:", " /a", " .5", " \"x", " &x y", " \\", " a\\b\"c"}).Draw(t, "value")
			return indent + dash + key + value + "\n"
		})
		in := []byte(strings.Join(rapid.SliceOfN(line, 1, 7).Draw(t, "lines"), ""))
		if _, ok := plainYAML(in, nil); ok {
			taken++
		}
		checkPlain(t, in)
	})
	t.Logf("%d taken", taken)
}

func FuzzCompactJSONMeansTheSame(f *testing.F) {
	for _, in := range []string{`{"a": [1, -2.5e3, "b\u00e9\"", null, true], "c": {}}`, `{"a":1,}`, `[1 2]`, `{"a":1,"a":2}`, `"\x"`, `01`, `{"a":{"a":[[]]}}`} {
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

// The items that are cut out of a list, and the list without them, are together what the list says.
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
