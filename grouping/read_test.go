// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

type decisions = []*clusterv1beta1.PlacementDecision

func TestRead(t *testing.T) {
	unnamed := decision("d-1", "0", "", "a")
	delete(unnamed.Labels, clusterv1beta1.DecisionGroupNameLabel)

	unlabelled := decision("d-2", "", "", "b")
	delete(unlabelled.Labels, clusterv1beta1.DecisionGroupIndexLabel)
	named := decision("d-2", "", "canary", "b")
	delete(named.Labels, clusterv1beta1.DecisionGroupIndexLabel)

	for _, test := range []struct {
		name   string // with the rule
		stored decisions
		want   string
	}{
		{"G10 nothing stored", nil, ``},
		{"G10 groups in the order of their indexes", decisions{
			decision("d-3", "2", "", "c"), decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "b"),
		}, `0 "canary":a | 1:b | 2:c`},
		{"G10 indexes are numbers: 2 before 10", decisions{
			decision("d-1", "10", "", "b"), decision("d-2", "2", "", "a"),
		}, `2:a | 10:b`},
		{"G10 indexes with gaps", decisions{
			decision("d-1", "0", "", "a"), decision("d-3", "3", "", "c"), decision("d-2", "2", "", "b"),
		}, `0:a | 2:b | 3:c`},
		{"G10 a name at several indexes", decisions{
			decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "b"), decision("d-3", "2", "canary", "c"),
		}, `0 "canary":a | 1:b | 2 "canary":c`},
		{"G10 an index with several names, while labels change", decisions{
			decision("d-1", "0", "canary", "a"), decision("d-2", "0", "", "b"),
		}, `0:b | 0 "canary":a`},
		{"G10 the largest index", decisions{decision("d-1", "2147483647", "", "a")}, `2147483647:a`},
		{"G10 leading zeros mean nothing", decisions{decision("d-1", "007", "", "a"), decision("d-2", "7", "", "b")}, `7:a b`},
		{"G10 no name label is no name", decisions{unnamed}, `0:a`},
		{"G10 a group of several objects, decision-2 before decision-10", decisions{
			decision("d-10", "0", "", "c d"), decision("d-2", "0", "", "a b"), decision("d-1", "0", "", "x"),
		}, `0:x a b c d`},
		{"G10 the stored order stays, as by score", decisions{decision("d-1", "0", "", "c a b")}, `0:c a b`},
		{"G10 a group without clusters", decisions{decision("d-1", "0", "canary", ""), decision("d-2", "1", "", "a")}, `0 "canary": | 1:a`},

		{"G10 without an index label, of group 0", decisions{decision("d-1", "1", "", "a"), unlabelled, decision("d-3", "0", "", "c")}, `0:b c | 1:a`},
		{"G10 without an index label, with a name", decisions{named, decision("d-1", "0", "canary", "a")}, `0 "canary":a b`},
		{"G10 objects without a name", decisions{decision("", "0", "", "a")}, `0:a`},
		{"G10 several objects without a name are not one", decisions{
			decision("", "0", "", "b"), decision("", "1", "", "c"), decision("", "0", "", "a"),
		}, `0:a b | 1:c`},

		{"G11 in two objects, the lower index", decisions{
			decision("d-1", "1", "", "a b"), decision("d-2", "0", "", "b c"),
		}, `0:b c | 1:a`},
		{"G11 in two objects of a group, once", decisions{
			decision("d-1", "0", "", "a b"), decision("d-2", "0", "", "b c"),
		}, `0:a b c`},
		{"G11 twice in one object, once", decisions{decision("d-1", "0", "", "b a b")}, `0:b a`},
		{"G11 a group that loses all its clusters still exists", decisions{
			decision("d-1", "0", "", "a"), decision("d-2", "1", "", "a"),
		}, `0:a | 1:`},
		{"G11 an empty clusterName is skipped", decisions{func() *clusterv1beta1.PlacementDecision {
			d := decision("d-1", "0", "", "a b")
			d.Status.Decisions[0].ClusterName = ""
			return d
		}()}, `0:b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(3) {
				if diff := cmp.Diff(test.want, show(mustRead(t, shuffled(seed, test.stored)...))); diff != "" {
					t.Errorf("groups (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// G10: the many objects of a group are in the order of their numbers, even between another group's objects.
func TestReadManyObjects(t *testing.T) {
	var stored decisions
	want := map[string]string{"1": "1:", "3": "3:"}
	for i := range 100 {
		index := []string{"1", "3"}[i*i%3%2]
		stored = append(stored, decision(fmt.Sprintf("d-%d", i+1), index, "", fmt.Sprintf("c%d", 199-i)))
		want[index] += fmt.Sprintf("c%d ", 199-i)
	}
	for seed := range uint64(5) {
		if diff := cmp.Diff(strings.TrimSpace(want["1"])+" | "+strings.TrimSpace(want["3"]), show(mustRead(t, shuffled(seed, stored)...))); diff != "" {
			t.Fatalf("groups (-want +got):\n%s", diff)
		}
	}
}

// G10, G13: an object with an invalid index label, as after an edit by hand, is of group 0 of its name, and the groups are
// incomplete, with the Placement and without.
func TestReadOddIndexes(t *testing.T) {
	for _, test := range []struct{ why, index string }{
		{"an empty label", ""},
		{"negative", "-1"},
		{"a sign", "+1"},
		{"past int32", "2147483648"},
		{"past uint64", "18446744073709551616"},
		{"hexadecimal", "0x1"},
		{"an underscore", "1_0"},
		{"a name", "canary"},
	} {
		stored := decisions{decision("d-1", "1", "", "b"), decision("d-2", test.index, "eu", "a")}
		whole := withStatus(t, newPlacement(intstr.IntOrString{}), stored)
		for placement, of := range map[*clusterv1beta1.Placement]string{nil: "", whole: "placement p: "} {
			g, err := grouping.Read(placement, stored)
			if err != nil {
				t.Fatalf("%s: %v", test.why, err)
			}
			want := fmt.Sprintf("%sPlacementDecision d-2 has the value %q in its label cluster.open-cluster-management.io/decision-group-index, but that must be a number", of, test.index)
			if got := show(g); got != `0 "eu":a | 1:b` || g.Incomplete() != want {
				t.Errorf("%s: %s, incomplete: %s, want %s", test.why, got, g.Incomplete(), want)
			}
		}
	}
}

// G10, G7: every fault, with the object and what was found, in the order of the objects.
func TestReadErrors(t *testing.T) {
	elsewhere := decision("d-1", "0", "", "a")
	elsewhere.Namespace = "other"
	another := decision("d-1", "0", "", "a")
	another.Labels[clusterv1beta1.PlacementLabel] = "q"

	for _, test := range []struct {
		why    string
		stored decisions
		want   []string
	}{
		{"nil", decisions{nil}, []string{`placementDecisions[0]: Required value: must not be nil`}},
		{"another namespace", decisions{decision("d-1", "0", "", "a"), elsewhere},
			[]string{`placementDecisions[other/d-1].metadata.namespace: Invalid value: "other": must be "ns", the namespace of the other decisions, as of ns/d-1`}},
		{"another placement", decisions{decision("d-2", "0", "", "a"), another},
			[]string{`placementDecisions[ns/d-2].metadata.labels[cluster.open-cluster-management.io/placement]: Invalid value: "p": must be "q", the placement of the other decisions, as of ns/d-1`}},
		{"an object twice", decisions{decision("d-1", "0", "", "a"), decision("d-1", "1", "", "b")},
			[]string{`placementDecisions[ns/d-1].metadata.name: Duplicate value: "d-1"`}},
		{"all faults at once", decisions{decision("d-2", "0", "", "a"), decision("d-2", "1", "", "b"), another},
			[]string{
				`placementDecisions[ns/d-2].metadata.labels[cluster.open-cluster-management.io/placement]: Invalid value: "p": must be "q", the placement of the other decisions, as of ns/d-1`,
				`placementDecisions[ns/d-2].metadata.name: Duplicate value: "d-2"`,
			}},
	} {
		t.Run(test.why, func(t *testing.T) {
			for seed := range uint64(3) {
				groups, err := grouping.Read(nil, shuffled(seed, test.stored))
				wantError(t, err, test.want...)
				if groups != nil {
					t.Errorf("groups beside the error: %v", groups)
				}
				if _, err := grouping.Status(shuffled(seed, test.stored)); err == nil {
					t.Error("G9: no error from Status")
				} else {
					wantError(t, err, test.want...)
				}
			}
		})
	}
}

// G12: what was read does not change with what it was read from.
func TestReadSharesNothing(t *testing.T) {
	stored := decision("d-1", "0", "canary", "b a")
	want := stored.DeepCopy()
	groups := mustRead(t, stored)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("the object changed:\n%s", diff)
	}
	stored.Labels[clusterv1beta1.DecisionGroupNameLabel] = "other"
	stored.Status.Decisions[0].ClusterName = "z"
	if got := show(groups); got != `0 "canary":b a` {
		t.Errorf("groups changed with their source: %s", got)
	}
}
