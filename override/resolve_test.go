// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O6: a placementRef is a Placement or a PlacementRule of the right API group, with a name.
func TestResolvePlacementRefs(t *testing.T) {
	const placements, rules = "cluster.open-cluster-management.io", "apps.open-cluster-management.io"
	for ref, binds := range map[policyv1.PlacementRef]bool{
		{APIGroup: placements, Kind: "Placement", Name: "x"}:     true,
		{APIGroup: rules, Kind: "PlacementRule", Name: "x"}:      true,
		{APIGroup: rules, Kind: "Placement", Name: "x"}:          false,
		{APIGroup: placements, Kind: "PlacementRule", Name: "x"}: false,
		{APIGroup: placements, Kind: "placement", Name: "x"}:     false,
		{APIGroup: placements, Kind: "Placement"}:                false,
		{APIGroup: rules, Kind: "PlacementRule"}:                 false,
		{Kind: "Placement", Name: "x"}:                           false,
		{}:                                                       false,
	} {
		b := binding("b", enforces, "A")
		b.PlacementRef = ref
		r := resolve(t, policy("inform", ""), b)
		if bound, ignored := r.Groups().NumClusters() == 1, len(r.Ignored()) == 1; bound != binds || ignored == binds {
			t.Errorf("%s: bound %t, reported as ignored %t, want it to bind %t", ref, bound, ignored, binds)
		}
	}
}

// O4: a cluster is found by its name.
func TestResolutionFind(t *testing.T) {
	r := resolve(t, policy("inform", ""), binding("one", plain, "ACE"), binding("two", enforces, "C"))
	want := override.Cluster{Name: "C", Action: policyv1.Enforce, BoundBy: []string{"one", "two"}, DecidedBy: []string{"two"}}
	got, bound := r.Find("C")
	if diff := cmp.Diff(want, got); diff != "" || !bound {
		t.Errorf("C bound %t (-want +got):\n%s", bound, diff)
	}
	for _, name := range []string{"", "B", "F"} {
		if got, bound := r.Find(name); bound {
			t.Errorf("%q is bound: %s", name, got)
		}
	}
}

// A loop over the clusters may end early.
func TestClustersMayEndEarly(t *testing.T) {
	for c := range resolve(t, policy("inform", ""), binding("one", plain, "AB")).Clusters() {
		if c.Name != "A" {
			t.Errorf("goes on with %s", c.Name)
		}
		break
	}
}

// O12: a Resolution knows the policy's action and strategy, which later changes of the policy do not reach.
func TestResolutionKeepsActionAndStrategy(t *testing.T) {
	p := policy("Enforce", "Progressive")
	p.Spec.RolloutStrategy.Progressive.MaxConcurrency = intstr.FromInt32(3)
	b := []override.Binding{binding("b", plain, "AB")}
	b[0].Excluded = []string{"B"}
	r := resolve(t, p, b...)
	p.Spec.RolloutStrategy.Progressive.MaxConcurrency = intstr.FromInt32(9)
	p.Spec.RemediationAction, b[0].Name, b[0].Excluded[0] = policyv1.Inform, "renamed", "A"
	if got := r.Strategy(); got.Type != clusterv1alpha1.Progressive || got.Progressive.MaxConcurrency.IntValue() != 3 || r.Action() != policyv1.Enforce {
		t.Errorf("action %s, strategy %+v", r.Action(), got)
	}
	if got := show(r.Groups()); got != "group 0: A" {
		t.Errorf("the groups became %s", got)
	}
	if got := r.Placements()[0].PlacementBinding; got != "b" {
		t.Errorf("the binding became %s", got)
	}
	if got := resolve(t, policy("", "")).Strategy().Type; got != clusterv1alpha1.All {
		t.Errorf("no strategy is %q, want All", got)
	}
}

// O13, R7, R28: what was never resolved is not taken for a policy that is bound nowhere: its replicas would all be
// deleted.
func TestZeroResolutionIsIncomplete(t *testing.T) {
	for why, r := range map[string]*override.Resolution{"nil": nil, "zero": {}} {
		if r.Incomplete() != "nothing was resolved" || r.Groups().Incomplete() == "" || r.Disabled() || r.Undecided() {
			t.Errorf("%s: %q, groups %q", why, r.Incomplete(), r.Groups().Incomplete())
		}
		if _, found := r.Find("a"); found || r.Groups().NumClusters() != 0 || len(bound(r)) != 0 || r.Ignored() != nil || r.Action() != "" ||
			r.Strategy().Type != clusterv1alpha1.All || r.String() != "the PlacementDecisions are only partially observed (nothing was resolved)" {
			t.Errorf("%s: %s", why, r)
		}
	}
}

// O6: a disabled policy is bound nowhere, which is known without any groups, however wrong all else is.
func TestDisabledPolicyIsBoundNowhere(t *testing.T) {
	broken := policy("off", "Canary")
	broken.Spec.Disabled = true
	r := resolve(t, broken, override.Binding{})
	if !r.Disabled() || r.Groups().NumClusters() > 0 || r.Incomplete() != "" || r.Groups().Incomplete() != "" || r.String() != "" {
		t.Errorf("%s; disabled %t, incomplete %q", r, r.Disabled(), r.Incomplete())
	}
}

// Errors name the place of bad input, in a fixed order, and nothing is resolved.
func TestResolveErrors(t *testing.T) {
	joined, err := grouping.Join(grouping.PlacementGroups{Placement: "x", Groups: oneGroup("A")}, grouping.PlacementGroups{Placement: "y", Groups: oneGroup("B")})
	if err != nil {
		t.Fatal(err)
	}
	odd := policy("", "Progressive")
	odd.Spec.RolloutStrategy.Progressive.MaxConcurrency = intstr.FromString("0%")
	for _, test := range []struct {
		name     string
		policy   *policyv1.Policy
		bindings []override.Binding
		want     string
	}{
		{"no policy", nil, nil, "policy: Required value: must not be nil"},
		{
			"O3 an action that is none", policy("inform-only", ""), nil,
			`spec.remediationAction: Unsupported value: "inform-only": supported values: "inform", "enforce"`,
		}, {
			"O5 a strategy that is none", policy("", "Canary"), nil,
			`spec.rolloutStrategy.type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"`,
		}, {
			"O1 two bindings of one name", policy("", ""),
			[]override.Binding{binding("b", plain, "A"), binding("a", plain, "A"), binding("b", enforces, "B")},
			`bindings[b]: Duplicate value: "b"`,
		}, {
			"O1 no name", policy("", ""), []override.Binding{{PlacementRef: placement("dev")}},
			"bindings[].name: Required value: must be the name of the binding to Placement.cluster.open-cluster-management.io/dev",
		}, {
			"O1 two without a name are no duplicates", policy("", ""), []override.Binding{{PlacementRef: placement("a")}, {PlacementRef: placement("b")}},
			"bindings[].name: Required value: must be the name of the binding to Placement.cluster.open-cluster-management.io/a\n" +
				"bindings[].name: Required value: must be the name of the binding to Placement.cluster.open-cluster-management.io/b",
		}, {
			"R26 groups of several placements", policy("off", ""), []override.Binding{{Name: "b", PlacementRef: placement("dev"), Groups: joined}},
			`bindings[b].groups: Invalid value: "group 0 of placement x: 1, group 0 of placement y: 1": must be groups of one placement, not joined ones` + "\n" +
				`spec.remediationAction: Unsupported value: "off": supported values: "inform", "enforce"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := override.Resolve(test.policy, test.bindings)
			checkError(t, err, test.want)
			if r != nil {
				t.Errorf("a resolution in addition to the error: %s", r)
			}
		})
	}
	_, err = override.Resolve(odd, nil)
	checkError(t, err, `spec.rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%": must be above 0%: no cluster would ever start`)
}
