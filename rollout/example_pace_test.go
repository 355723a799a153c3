package rollout_test

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Two regions go through staging before production, side by side.
func ExampleGroupOrder() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{
		{Index: 0, Name: "staging-eu"}: {"bonn"}, {Index: 1, Name: "staging-us"}: {"reno"},
		{Index: 2, Name: "prod-eu"}: {"lyon", "turin"}, {Index: 3, Name: "prod-us"}: {"boston"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tracks := rollout.GroupOrder(map[string][]string{"prod-eu": {"staging-eu"}, "prod-us": {"staging-us"}})
	reports := []status.Report{{Cluster: "bonn", Status: status.Succeeded}, {Cluster: "reno", Status: status.Progressing}}
	fmt.Println(must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), groups, reports, noon(), tracks)))
	// Output:
	// start lyon turin; in flight reno; 1 held: waiting for group 1 "staging-us": 0 of 1 done; reno progressing, and there is no progressDeadline
}
