// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// TestAPlannersCountsFollowEachChange: whatever one cluster was and becomes, beside others, a Planner says what Plan says.
// Some options make it keep counts beside the counts of states: the failures of a baseline, ignored clusters, the starts
// within a time, also of those that started at an unknown time, and the last success.
func TestAPlannersCountsFollowEachChange(t *testing.T) {
	undated := status.Report{Cluster: "c", Status: status.Progressing}
	kinds := slices.Concat(nineKinds, rareKinds[2:5])
	groups := newFleet(t).group("canary", "a", "b").group("", "c", "d", "e").read()
	for name, option := range map[string]rollout.Options{
		"FailedBefore": rollout.Options{FailedBefore: []string{"a"}}, "Ignored": rollout.Options{Ignored: []string{"a"}},
		"MaxStarts": rollout.Options{MaxStarts: &rollout.StartLimit{Count: 2, Per: metav1.Duration{Duration: 5 * time.Minute}}}, "WaitBetweenGroups": rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: 15 * time.Minute}},
	} {
		for _, strategy := range []clusterv1alpha1.RolloutStrategy{progressive("4", config("1", "10m", 5*time.Minute)), perGroup(config("", "10m", 5*time.Minute))} {
			for _, beside := range fewKinds[1:4] {
				for _, was := range kinds {
					for _, is := range kinds {
						p, err := rollout.NewPlanner(strategy, groups, option)
						if err != nil {
							t.Fatal(err)
						}
						reports := append(beside.about("b"), undated)
						for _, step := range []kind{was, is} {
							if step.reports == nil {
								p.Forget("a")
							}
							if err := p.Report(append(step.about("a"), reports...)...); err != nil {
								t.Fatal(err)
							}
							p.Next(now)
						}
						want, err := rollout.Plan(strategy, groups, append(is.about("a"), reports...), now, option)
						if err != nil {
							t.Fatal(err)
						}
						if diff := difference(want, p.Result(now)); diff != "" {
							t.Fatalf("%s, %s, a %s, then %s, beside b %s (-plan +planner):\n%s", name, strategy.Type, was.name, is.name, beside.name, diff)
						}
					}
				}
			}
		}
	}
}

// about gives the reports of a cluster.
func (k kind) about(cluster string) (reports []status.Report) {
	for _, o := range k.reports {
		reports = append(reports, o.report(cluster))
	}
	return reports
}
