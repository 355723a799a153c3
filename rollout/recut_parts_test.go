// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// R50, R65, R66: a workload goes to two placements, each with a strategy. Their groups are changed at each step, while clusters join, leave and
// come from one to the other. All in all no more clusters are exposed than package exposure says of some groups of the one and of the other.
func TestExposureHoldsInTwoPlacementsThatAreCutAnew(t *testing.T) {
	for round := range exhaustive.Of(2, 40) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			exhaustive.Check(t, round, func(t *rapid.T) {
				var strategies []clusterv1alpha1.RolloutStrategy
				for range 2 {
					c := config(rapid.SampledFrom([]string{"", "", "1", "34%"}).Draw(t, "failures"), "10m", 0)
					strategies = append(strategies, rapid.SampledFrom([]clusterv1alpha1.RolloutStrategy{
						perGroup(c), perGroup(c, "canary"), progressive("1", c), progressive("2", c, "0"), progressive("2", c, "canary"),
					}).Draw(t, "strategy"))
				}
				options := rollout.Options{}
				if rapid.Bool().Draw(t, "limited") {
					options.MaxConcurrencyPerGroup = intstr.FromInt32(2)
				}
				playParts(t, strategies, options)
			})
		})
	}
}

// cutPart is a placement of a history, and what a controller knows of it.
type cutPart struct {
	last   *rollout.Result
	record status.Record
	most   int
}

// playParts plays a history. The first placement selects the clusters of a site, and the second all others that are selected.
func playParts(t *rapid.T, strategies []clusterv1alpha1.RolloutStrategy, options rollout.Options) {
	fleet := make([]spot, rapid.IntRange(2, 9).Draw(t, "clusters"))
	site := make([]bool, len(fleet))
	parts := make([]cutPart, len(strategies))
	var story []string
	at := now
	for range 30 {
		for i := range fleet {
			change := rapid.IntRange(0, 9).Draw(t, "change")
			fleet[i].change(t, change)
			if change == 9 {
				site[i] = !site[i]
			}
		}
		groups := drawParts(t, fleet, site)
		for again := rapid.IntRange(0, 5).Draw(t, "restarts") == 0; ; again = false {
			reports, exposed := stoodReports(fleet, at)
			most := 0
			var results []*rollout.Result
			for i := range parts {
				e, err := exposure.Of(strategies[i], groups[i], exposure.Span{}, at, options)
				if err != nil {
					t.Fatal(err)
				}
				parts[i].most = max(parts[i].most, e.Exposed)
				most += parts[i].most
				opts := options
				opts.Previous, opts.StoredRecord = parts[i].last, &rollout.StoredRecord{Version: "v2", Record: parts[i].record, AtOnce: true}
				r, err := rollout.Plan(strategies[i], groups[i], reports, at, opts)
				if err != nil {
					t.Fatal(err)
				}
				story = append(story, fmt.Sprintf("placement %d, %d exposed: %v: %v", i, exposed, groups[i], r))
				results = append(results, r)
			}
			for i, r := range results {
				parts[i].last, parts[i].record = r, r.Record
				for _, c := range r.Start {
					fleet[c.Name[0]-'a'].stand = standsInFlight
				}
				for j := range fleet {
					if is := &fleet[j]; slices.Contains(r.Removed, clusterName(j)) && is.stand == standsGood {
						is.stand = standsNowhere
					}
				}
				if exposed += len(r.Start); len(r.Start) > 0 && exposed > most {
					t.Fatalf("%d exposed, at most %d may be\n%v", exposed, most, story)
				}
			}
			if !again {
				break
			}
			parts[0].last, parts[1].last = nil, nil // another process finds the records and the same groups
		}
		at = at.Add(time.Minute)
	}
}

// change lets something happen to a cluster.
func (s *spot) change(t *rapid.T, change int) {
	switch {
	case change == 0:
		s.selected = !s.selected
	case s.stand == standsInFlight && change < 4:
		s.stand = rapid.SampledFrom([]stand{standsFailed, standsGood, standsInFlight}).Draw(t, "answer")
	case s.stand == standsFailed && change == 1:
		s.stand = standsInFlight
	}
}

// stoodReports are the reports of a fleet, and how many clusters are exposed. Failures have timed out.
func stoodReports(fleet []spot, at time.Time) (reports []status.Report, exposed int) {
	says := map[stand]status.RolloutStatus{standsInFlight: status.Progressing, standsFailed: status.TimeOut, standsGood: status.Succeeded}
	for i, is := range fleet {
		if is.stand == standsNowhere {
			continue
		}
		if is.counts() {
			exposed++
		}
		reports = append(reports, status.Report{Cluster: clusterName(i), Status: says[is.stand], LastTransitionTime: at, Applied: at})
	}
	return reports, exposed
}

// drawParts cuts the clusters of both placements.
func drawParts(t *rapid.T, fleet []spot, site []bool) []*grouping.Groups {
	first := slices.Clone(fleet)
	for i := range first {
		first[i].selected = first[i].selected && site[i]
	}
	groups, err := grouping.Apart(grouping.PlacementGroups{Placement: "site", Groups: drawCut(t, first)}, grouping.PlacementGroups{Placement: "all", Groups: drawCut(t, fleet)})
	if err != nil {
		t.Fatal(err)
	}
	return groups
}
