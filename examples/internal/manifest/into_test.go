// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// toy has a field of each sort that API types have.
type toy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Enabled bool               `json:"enabled,omitempty"`
		Count   int32              `json:"count,omitempty"`
		Limit   intstr.IntOrString `json:"limit,omitempty"`
		Wait    metav1.Duration    `json:"wait,omitempty"`
		Names   []string           `json:"names,omitempty"`
		Nested  []struct {
			Wait metav1.Duration `json:"wait,omitempty"`
		} `json:"nested,omitempty"`
	} `json:"spec"`
	Status struct {
		Seen int `json:"seen,omitempty"`
	} `json:"status,omitempty"`
}

func decodeToy(t *testing.T, rest string) manifest.Object {
	t.Helper()
	objects, err := manifest.Decode("f", strings.NewReader("apiVersion: v1\nkind: Toy\nmetadata: {name: a}\n"+rest))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

func TestIntoFillsTheType(t *testing.T) {
	var got toy
	unknown, err := decodeToy(t, `spec: {enabled: true, count: 3, limit: 5%, wait: 1m, names: [x], nested: [{wait: 2s}]}`).Into(&got)
	if err != nil || len(unknown) > 0 {
		t.Fatalf("unknown %v, error %v; want none", unknown, err)
	}
	if got.Name != "a" || !got.Spec.Enabled || got.Spec.Count != 3 || got.Spec.Limit.StrVal != "5%" || got.Spec.Wait.Minutes() != 1 ||
		got.Spec.Names[0] != "x" || got.Spec.Nested[0].Wait.Seconds() != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestIntoNamesTheFieldAtFault(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`spec: {cuont: 3}`, "f:1: Toy a: spec.cuont: unknown field; did you mean count?"},
		{`spec: {Count: 3}`, "f:1: Toy a: spec.Count: unknown field; did you mean count?"},
		{`spec: {nested: [{}, {wiat: 1s}], cuont: 3}`, "f:1: Toy a: spec.cuont: unknown field; did you mean count?; spec.nested[1].wiat: unknown field; did you mean wait?"},
		{`spce: {}`, "f:1: Toy a: spce: unknown field; did you mean spec?"},
		{`spec: []`, `f:1: Toy a: spec: Invalid value: "an array": must be an object`},
		{`spec: {enabled: "yes"}`, `f:1: Toy a: spec.enabled: Invalid value: "yes": must be a boolean`},
		{`spec: {count: many}`, `f:1: Toy a: spec.count: Invalid value: "many": must be a whole number of 32 bits`},
		{`spec: {count: 3000000000}`, `f:1: Toy a: spec.count: Invalid value: 3000000000: must be a whole number of 32 bits`},
		{`spec: {names: a}`, `f:1: Toy a: spec.names: Invalid value: "a": must be an array`},
		{`spec: {names: [a, 1]}`, `f:1: Toy a: spec.names[1]: Invalid value: 1: must be a string`},
		{`spec: {limit: {a: b}}`, `f:1: Toy a: spec.limit: Invalid value: "an object": must be a whole number, or a percentage such as 10%`},
		{`spec: {wait: 5}`, `f:1: Toy a: spec.wait: Invalid value: 5: must be a time such as 30s or 30m`},
		{`spec: {count: 1, nested: [{wait: 1s}, {wait: soon}]}`, `f:1: Toy a: spec.nested[1].wait: Invalid value: "soon": must be a time such as 30s or 30m`},
		{`status: {seen: often}`, `f:1: Toy a: status.seen: Invalid value: "often": must be a whole number`},
	} {
		_, err := decodeToy(t, test.in).Into(new(toy))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s\ngot:  %v\nwant: %s", test.in, err, test.want)
		}
	}
}

func TestIntoListsUnknownFieldsOfTheStatus(t *testing.T) {
	var got toy
	unknown, err := decodeToy(t, `status: {seen: 1, since: now, by: {whom: x}}`).Into(&got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"status.by", "status.since"}, unknown); diff != "" || got.Status.Seen != 1 {
		t.Errorf("seen %d, want 1; unknown (-want +got):\n%s", got.Status.Seen, diff)
	}
}
