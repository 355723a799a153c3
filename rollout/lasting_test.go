package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// In these tests a fleet is its groups, "0: a b, 1: c", and how its clusters stand, "a TimeOut, b Failed".

func groupsOf(t *testing.T, text string) *grouping.Groups {
	t.Helper()
	cut := map[grouping.Key][]string{}
	for i, part := range strings.Split(text, ", ") {
		name, clusters, _ := strings.Cut(part, ":")
		key := grouping.Key{Index: int32(i)}
		if _, err := fmt.Sscan(name, &key.Index); err != nil { // a name stands for a group with the place as its index
			key.Name = name
		}
		cut[key] = strings.Fields(clusters)
	}
	groups, err := grouping.FromNames(cut)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func standings(text string) (reports []status.Report) {
	for _, part := range strings.Split(text, ", ") {
		if cluster, is, told := strings.Cut(part, " "); told {
			reports = append(reports, status.Report{Cluster: cluster, Status: status.RolloutStatus(is), LastTransitionTime: now.Add(-time.Minute), Applied: now.Add(-time.Minute)})
		}
	}
	return reports
}

// look is what a controller sees at a time, and what it is to do: nothing, or to start clusters.
type look struct {
	groups, reports, starts string
	change                  func(*clusterv1alpha1.RolloutStrategy, *rollout.Options)
}

// R10: a breach lasts however the groups are cut anew, until its clusters recover, are tried again or given up, or the budget is raised.
func TestABreachLastsHoweverTheGroupsAreCutAnew(t *testing.T) {
	one, failed := perGroup(config("1", "10m", 0)), "a Failed, b TimeOut"
	for _, tt := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		looks    []look
	}{
		{"one of its clusters is in flight and stays in the group that is gone, the other one moves", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "1: a b c d e", reports: failed},
		}},
		{"its clusters come to two groups that tolerate one each", one, []look{
			{groups: "0: z, 1: a b c, 2: d e", reports: "a TimeOut, b TimeOut, z Succeeded"}, {groups: "0: z a, 1: b c, 2: d e", reports: "a TimeOut, b TimeOut, z Succeeded"},
		}},
		{"one of them leaves", one, []look{
			{groups: "0: a b, 1: c d e", reports: "a TimeOut, b TimeOut"}, {groups: "1: b c d e", reports: "a TimeOut, b TimeOut"}, {groups: "1: b c d e", reports: "b TimeOut"},
		}},
		{"cut after cut", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed}, {groups: "0: b, 1: c d, 2: a e", reports: failed}, {groups: "0: c, 1: d e", reports: failed},
		}},
		{"its clusters come to a group that tolerates them, as a canary is gone", perGroup(config("2", "", 0), "canary"), []look{
			{groups: "canary: a, 1: b c d", reports: "a TimeOut"}, {groups: "1: a b c d", reports: "a TimeOut"},
		}},
		{"the same under Progressive", progressive("5", config("2", "", 0), "canary"), []look{
			{groups: "canary: a, 1: b c d", reports: "a TimeOut"}, {groups: "1: a b c d", reports: "a TimeOut"},
		}},
		{"clusters join, of which a share may fail", perGroup(config("50%", "", 0)), []look{
			{groups: "0: a b", reports: "a TimeOut, b TimeOut"}, {groups: "0: a b c d", reports: "a TimeOut, b TimeOut"},
		}},
		{"the same under Progressive", progressive("9", config("50%", "", 0)), []look{
			{groups: "0: a b", reports: "a TimeOut, b TimeOut"}, {groups: "0: a b, 1: c d", reports: "a TimeOut, b TimeOut"},
		}},
		{"another breach comes and goes", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed + ", d TimeOut"}, {groups: "0: a c, 1: b d e", reports: failed + ", d Succeeded"},
		}},
		{"a cluster recovers", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: z a, 1: b c, 2: d e", reports: failed}, {groups: "0: z a, 1: b c, 2: d e", reports: "a Succeeded, b TimeOut", starts: "z"},
		}},
		{"whoever recovers and fails in another group is none of it", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a b, 1: c d e", reports: "a Progressing, b TimeOut", starts: "nobody, and there is no breach"}, {groups: "1: a d, 2: b c e", reports: "a TimeOut, b TimeOut", starts: "d"},
		}},
		{"a failure in another group that tolerates it", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d, 2: e", reports: failed + ", e TimeOut"}, {groups: "0: a c, 1: b d, 2: e", reports: "b TimeOut, a Succeeded, e TimeOut", starts: "c"},
		}},
		{"maxFailures is raised", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) {
				*s = perGroup(config("2", "10m", 0))
			}},
		}},
		{"and not enough, as a share of those of then", perGroup(config("34%", "10m", 0)), []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) {
				*s = perGroup(config("50%", "10m", 0))
			}},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) {
				*s = perGroup(config("51%", "10m", 0))
			}},
		}},
		{"a cluster is given up", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(_ *clusterv1alpha1.RolloutStrategy, o *rollout.Options) { o.Uncounted = []string{"a"} }},
		}},
		{"it failed before the rollout", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c", change: func(_ *clusterv1alpha1.RolloutStrategy, o *rollout.Options) { o.FailedBefore = []string{"a"} }},
		}},
		{"what failed is tried again", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed}, {groups: "0: a c, 1: b d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "a c", change: func(_ *clusterv1alpha1.RolloutStrategy, o *rollout.Options) { o.Attempt = 1 }},
		}},
		{"all may start at once", one, []look{
			{groups: "0: a b, 1: c d e", reports: failed},
			{groups: "0: a c, 1: b d e", reports: failed, starts: "c d e", change: func(s *clusterv1alpha1.RolloutStrategy, _ *rollout.Options) { *s = all("") }},
		}},
	} {
		for _, remembers := range []string{"the result before", "a record", "a planner", "a planner of its own at each look"} {
			t.Run(tt.why+"/"+remembers, func(t *testing.T) {
				strategy, options, planner := tt.strategy, rollout.Options{Memory: &rollout.Memory{Version: "v2"}}, &rollout.Planner{}
				for i, l := range tt.looks {
					if l.change != nil {
						l.change(&strategy, &options)
					}
					groups, reports := groupsOf(t, l.groups), standings(l.reports)
					r, err := rollout.Plan(strategy, groups, reports, now, options)
					if strings.HasPrefix(remembers, "a planner") {
						if remembers != "a planner" {
							planner = &rollout.Planner{}
						}
						planner.SetGroups(groups)
						if err = planner.SetStrategy(strategy, options); err == nil {
							err = planner.Report(reports...)
						}
						for _, name := range strings.Fields("a b c d e z") {
							if !slices.ContainsFunc(reports, func(r status.Report) bool { return r.Cluster == name }) {
								planner.Forget(name)
							}
						}
						r = planner.Result(now)
					}
					if err != nil {
						t.Fatal(err)
					}
					var starts []string
					for _, c := range r.Start {
						starts = append(starts, c.Name)
					}
					got := strings.Join(starts, " ")
					if got == "" && r.Breach == nil {
						got = "nobody, and there is no breach"
					}
					if got != l.starts {
						t.Fatalf("look %d starts %q, want %q: %v", i, got, l.starts, r)
					}
					options.Memory = &rollout.Memory{Version: "v2", Record: readBack(t, r.Record)}
					if options.Previous = r; remembers == "a record" {
						options.Previous = nil
					}
				}
			})
		}
	}
}

// readBack gives a record as it is after it was stored in an object and read back.
func readBack(t *testing.T, r status.Record) status.Record {
	t.Helper()
	var owner metav1.ObjectMeta
	if _, err := (status.Records{"": r}).Note(&owner); err != nil {
		t.Fatal(err)
	}
	records, err := status.RecordsOf(&owner)
	if err != nil {
		t.Fatal(err)
	}
	return records[""]
}
