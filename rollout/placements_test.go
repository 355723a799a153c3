package rollout_test

import (
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// R26: the groups of several placements are rolled out one after the other, as they were joined; a cluster that two
// select belongs to the first; All and Progressive pool them.
func TestSeveralPlacements(t *testing.T) {
	groups, err := grouping.Join(
		grouping.PlacementGroups{Placement: "web", Groups: fleetOf(t, "canary: c", "a b").read()},
		grouping.PlacementGroups{Placement: "edge", Groups: fleetOf(t, "canary: b x", "d").read()},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		strategy clusterv1alpha1.RolloutStrategy
		reports  string
		want     string
	}{
		{"R26 All starts those of all placements", all(""), "", "start a b c d x"},
		{"R26 Progressive counts and orders over all placements", progressive("2", config("", "", 0)), "x=Progressing",
			"start a; in flight x; 3 held: no free slot: 1 in flight and 1 starting, 2 at a time"},
		{"R26 ProgressivePerGroup begins with the first placement", perGroup(config("", "", 0)), "c=Succeeded",
			`start a b; 2 held: waiting for group 1 of placement web`},
		{"R26 and goes on with the next, without the cluster that the first has", perGroup(config("", "", 0)), "a=Succeeded b=Succeeded c=Succeeded",
			`start x; 1 held: waiting for group 0 "canary" of placement edge`},
		{"R26 a mandatory group is one of each placement", perGroup(config("", "", 0), "canary"), "c=Succeeded",
			`start x; 3 held: waiting for mandatory group 0 "canary" of placement edge`},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := rollout.Plan(test.strategy, groups, reportsOf(t, test.reports), now)
			if err != nil {
				t.Fatal(err)
			}
			if got := result.String(); got != test.want {
				t.Errorf("\ngot  %s\nwant %s", got, test.want)
			}
		})
	}
}
