// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// Rule H16: over all hubs nothing of a group starts before the groups before it are complete on every hub, however old the reports are, and no
// more are exposed than exposure.Of says of the undivided groups.
func TestBarrierHoldsTheOrderOverHubs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := []grouping.Key{{Name: "canary"}, {Index: 1}, {Index: 2}}
		strategy := rapid.SampledFrom([]clusterv1alpha1.RolloutStrategy{
			{Type: clusterv1alpha1.ProgressivePerGroup},
			{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{
				MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}, {GroupIndex: 1}},
			}}},
		}).Draw(t, "strategy")
		names, undivided := map[string]map[grouping.Key][]string{}, map[grouping.Key][]string{}
		groups, groupOf := map[string]*grouping.Groups{}, map[string]int{}
		reported := map[string]map[grouping.Key]bool{}
		for _, hub := range []string{"a", "b", "c"}[:rapid.IntRange(2, 3).Draw(t, "hubs")] {
			names[hub], reported[hub] = map[grouping.Key][]string{}, nil
			for i, key := range keys {
				for n := range rapid.IntRange(0, 2).Draw(t, "clusters") {
					cluster := fmt.Sprintf("%s%d%d", hub, i, n)
					names[hub][key], undivided[key], groupOf[cluster] = append(names[hub][key], cluster), append(undivided[key], cluster), i
				}
			}
			groups[hub] = groupsOf(t, names[hub])
		}
		hubs := slices.Sorted(maps.Keys(names))
		most, err := exposure.Of(strategy, groupsOf(t, undivided), exposure.Span{}, epoch, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		clusters := map[string]map[string]status.Report{}
		for _, hub := range hubs {
			clusters[hub] = map[string]status.Report{}
		}
		for range 40 {
			hub := rapid.SampledFrom(hubs).Draw(t, "hub")
			result, err := rollout.Plan(strategy, groups[hub], slices.Collect(maps.Values(clusters[hub])), epoch, rollout.Options{Gates: barrier(keys, reported)})
			if err != nil {
				t.Fatal(err)
			}
			switch rapid.IntRange(0, 2).Draw(t, "event") {
			case 0: // it reports
				reported[hub] = completed(result)
			case 1: // it starts clusters
				for _, c := range result.Start {
					for other, group := range groupOf {
						if is := clusters[other[:1]][other].Status; group < groupOf[c.Name] && is != status.Succeeded && is != status.Skip {
							t.Fatalf("%s of group %d starts while %s of group %d is %q", c.Name, groupOf[c.Name], other, group, is)
						}
					}
					clusters[hub][c.Name] = status.Report{Cluster: c.Name, Status: status.Progressing}
				}
			default: // its clusters answer
				for _, c := range result.InFlight {
					as := rapid.SampledFrom([]status.RolloutStatus{status.Progressing, status.Succeeded, status.Succeeded, status.Failed}).Draw(t, "status")
					clusters[hub][c.Name] = status.Report{Cluster: c.Name, Status: as}
				}
			}
			exposed := 0
			for _, hub := range hubs {
				for _, r := range clusters[hub] {
					if r.Status != status.Succeeded {
						exposed++
					}
				}
			}
			if exposed > most.Exposed {
				t.Fatalf("%d exposed, and at most %d may be", exposed, most.Exposed)
			}
		}
	})
}

// Rule H16: a hub that does not report holds what is behind the barrier on all hubs, and nothing before it.
func TestBarrierUnderPartition(t *testing.T) {
	keys := []grouping.Key{{}, {Index: 1}, {Index: 2}}
	done := func(n int) map[grouping.Key]bool {
		return map[grouping.Key]bool{keys[0]: n > 0, keys[1]: n > 1, keys[2]: n > 2}
	}
	for _, tt := range []struct {
		name     string
		reported map[string]map[grouping.Key]bool
		closed   int
	}{
		{"no hub has reported", map[string]map[grouping.Key]bool{"a": nil, "b": nil}, 2},
		{"one has not", map[string]map[grouping.Key]bool{"a": done(3), "b": nil}, 2},
		{"one is behind", map[string]map[grouping.Key]bool{"a": done(3), "b": done(1)}, 1},
		{"one does not have the groups", map[string]map[grouping.Key]bool{"a": done(1), "b": {}}, 1},
		{"all are done", map[string]map[grouping.Key]bool{"a": done(3), "b": done(3)}, 0},
	} {
		if got := barrier(keys, tt.reported); len(got) != tt.closed {
			t.Errorf("%s: %v, want %d closed", tt.name, got, tt.closed)
		}
	}
}

func groupsOf(t interface{ Fatal(...any) }, names map[grouping.Key][]string) *grouping.Groups {
	groups, err := grouping.FromNames(names)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}
