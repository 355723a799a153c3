// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// G17: what a reader without the Placement knows from sealed objects alone.
func TestSeal(t *testing.T) {
	whole := func() []*clusterv1beta1.PlacementDecision {
		var objects []*clusterv1beta1.PlacementDecision
		for _, o := range []struct{ name, group, clusters string }{{"p-decision-1", "0", "a b"}, {"p-decision-2", "1", "c"}} {
			d := &clusterv1beta1.PlacementDecision{}
			d.Namespace, d.Name = "ns", o.name
			d.Labels = map[string]string{clusterv1beta1.PlacementLabel: "p", clusterv1beta1.DecisionGroupIndexLabel: o.group}
			for _, c := range fleet(o.clusters) {
				d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c.Name})
			}
			objects = append(objects, d)
		}
		return grouping.Sealed(objects)
	}
	for _, test := range []struct {
		why, want string
		change    func(objects []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision
	}{
		{"as sealed", "", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision { return o }},
		{"an object is missing", "PlacementDecisions: 1 found, the seal says 2", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision { return o[:1] }},
		{"the one with the seal is missing", "the PlacementDecision with the seal of all is not found", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision { return o[1:] }},
		{"a cluster is missing", "clusters in the PlacementDecisions: 2 found, the seal says 3", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
			o[1].Status.Decisions = nil
			return o
		}},
		{"an exchange, which counts cannot show", "the PlacementDecisions are not those of their seal", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
			o[1].Status.Decisions[0].ClusterName = "a"
			return o
		}},
		{"another group", "the PlacementDecisions are not those of their seal", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
			o[1].Labels[clusterv1beta1.DecisionGroupIndexLabel] = "2"
			return o
		}},
		{"edited by hand", `the PlacementDecisions have the seal "x", which is none`, func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
			o[0].Annotations["cohort.open-cluster-management.io/decision-seal"] = "x"
			return o
		}},
		{"an old seal beside the right one", "", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
			o[1].Annotations["cohort.open-cluster-management.io/decision-seal"] = "9/9/0123456789abcdef"
			return o
		}},
		{"no seal at all", "", func(o []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
			o[0].Annotations, o[1].Annotations = nil, nil
			o[1].Status.Decisions = nil
			return o
		}},
	} {
		groups, err := grouping.Read(nil, test.change(whole()))
		if err != nil {
			t.Fatal(err)
		}
		if got := groups.Incomplete(); got != test.want {
			t.Errorf("G17: %s: got %q, want %q", test.why, got, test.want)
		}
	}
	if got := grouping.Sealed(nil); len(got) > 0 {
		t.Errorf("G17: nothing sealed is %v", got)
	}
}

// G18: groups are incomplete once a reader knows that they are. What is found first stays.
func TestLacking(t *testing.T) {
	whole, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	lacking := whole.Lacking("the last slice is missing")
	for _, test := range []struct {
		why    string
		groups *grouping.Groups
		want   string
	}{
		{"what a reader knows", lacking, "the last slice is missing"},
		{"what is found first stays", lacking.Lacking("so is another"), "the last slice is missing"},
		{"the groups that were there do not change", whole, ""},
		{"nothing is missing", whole.Lacking(""), ""},
		{"a reader that finds no Placement says so", (*grouping.Groups)(nil).Lacking("there is no Placement apps/web"), "there is no Placement apps/web"},
		{"and so of groups that were never read", new(grouping.Groups).Lacking("there is no Placement apps/web"), "there is no Placement apps/web"},
		{"nothing is known of nil", (*grouping.Groups)(nil).Lacking(""), "no PlacementDecision is found"},
	} {
		if got := test.groups.Incomplete(); got != test.want {
			t.Errorf("G18: %s: got %q, want %q", test.why, got, test.want)
		}
	}
	if lacking.Equal(whole) || lacking.NumClusters() != 1 || lacking.Key(0) != (grouping.Key{}) {
		t.Errorf("G18: %v", lacking)
	}
}
