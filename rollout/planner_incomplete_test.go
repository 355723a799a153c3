// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"testing"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R47, R52: a result over incomplete groups leads to the one before it, whether Plan or a Planner made it, for a plan or a planner behind it.
// Here a moves out of a mandatory group while the groups are incomplete. It counts there still, so b waits.
func TestAResultOverIncompleteGroupsLeadsToTheOneBefore(t *testing.T) {
	canary, prod := grouping.Key{Name: "canary"}, grouping.Key{Index: 1, Name: "prod"}
	read := func(clusters map[grouping.Key][]string) *grouping.Groups {
		groups, err := grouping.FromNames(clusters)
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	whole := read(map[grouping.Key][]string{canary: {"a"}, prod: {"b"}})
	moved := read(map[grouping.Key][]string{canary: {}, prod: {"a", "b"}})
	strategy := perGroup(config("", "10m", 0), "canary")
	reports := []status.Report{{Cluster: "a", Status: status.Progressing, Applied: now}}

	planned := func(groups *grouping.Groups, previous *rollout.Result) *rollout.Result {
		return must(rollout.Plan(strategy, groups, reports, now, rollout.Options{Previous: previous}))
	}
	planner := func(groups *grouping.Groups, previous *rollout.Result) *rollout.Planner {
		p, err := rollout.NewPlanner(strategy, groups, rollout.Options{Previous: previous})
		if err != nil {
			t.Fatal(err)
		}
		p.Report(reports...)
		return p
	}
	half := map[string]*rollout.Result{
		"Plan":  planned(whole.Lacking("x"), planned(whole, nil)),
		"twice": planned(whole.Lacking("x"), planned(whole.Lacking("x"), planned(whole, nil))),
		"a Planner": func() *rollout.Result {
			p := planner(whole, nil)
			p.Result(now)
			p.SetGroups(whole.Lacking("x"))
			return p.Result(now)
		}(),
		"a Planner twice": func() *rollout.Result {
			p := planner(whole, nil)
			p.Result(now)
			p.SetGroups(whole.Lacking("x"))
			p.Result(now)
			return p.Result(now)
		}(),
		"a Planner that began then": planner(whole.Lacking("x"), planned(whole, nil)).Result(now),
	}
	for of, previous := range half {
		if r := planned(moved, previous); len(r.Start) > 0 {
			t.Errorf("a plan behind the result of %s: %v", of, r)
		}
		if r := planner(moved, previous).Result(now); len(r.Start) > 0 {
			t.Errorf("a planner behind the result of %s: %v", of, r)
		}
	}
}
