// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Two rollouts share clusters, and a cluster may be busy with one of them at a time. One caller plans both. It first asks with a pause
// what each has in flight. Then it plans them in turn, and holds for each what another has in flight or starts. A hold ends when the
// other rollout is done with the cluster, so the caller looks at both again after the shorter RecheckAfter.
func ExampleClusterFreeze_severalOwners() {
	groups, _ := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c"}})
	names := []string{"web", "db"} // the one that waited longest comes first
	reports := map[string][]status.Report{"db": {{Cluster: "a", Status: status.Progressing, Applied: now.Add(-5 * time.Minute)}}}
	plan := func(name string, opts rollout.Options) *rollout.Result {
		r, _ := rollout.Plan(progressive("2", config("", "30m", 0)), groups, reports[name], now, opts)
		return r
	}

	busy := map[string]string{} // which rollout has the cluster
	take := func(name string, r *rollout.Result) {
		for _, c := range slices.Concat(r.InFlight, r.Start, r.Deselected) {
			if c.Status != status.TimeOut && busy[c.Name] == "" {
				busy[c.Name] = name
			}
		}
	}
	for _, name := range names {
		take(name, plan(name, rollout.Options{Paused: true}))
	}
	for _, name := range names {
		var freezes []rollout.ClusterFreeze
		for cluster, by := range busy {
			if by != name {
				freezes = append(freezes, rollout.ClusterFreeze{Cluster: cluster, Reason: "rollout " + by})
			}
		}
		r := plan(name, rollout.Options{Freezes: freezes})
		take(name, r)
		fmt.Printf("%s: %v\n", name, r)
	}
	// Output:
	// web: starting b, c; 1 cluster blocked: a is frozen with no end: "rollout db"
	// db: in flight a; 2 clusters blocked: b, c are frozen with no end: "rollout web"; recheck after 25m0s
}
