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

// R65, R66: in random histories of larger fleets, whose groups are changed by any size and label at each step, with a controller that
// starts over and finds only its record, no more clusters are exposed than package exposure says of some groups that there were. A
// Planner says the same.
func TestExposureHoldsInRandomHistoriesOfGroupsThatAreCutAnew(t *testing.T) {
	for round := range exhaustive.Of(2, 40) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			exhaustive.Check(t, round, func(t *rapid.T) {
				failures := rapid.SampledFrom([]string{"", "", "1", "2", "34%"}).Draw(t, "failures")
				c := config(failures, "10m", 0)
				strategy := rapid.SampledFrom([]clusterv1alpha1.RolloutStrategy{
					perGroup(c), perGroup(c, "canary"), progressive("2", c), progressive("3", c, "0"), progressive("2", c, "canary"), progressive("", c),
				}).Draw(t, "strategy")
				options := rollout.Options{}
				if rapid.Bool().Draw(t, "limited") {
					options.MaxConcurrencyPerGroup = intstr.FromInt32(2)
				}
				if rapid.IntRange(0, 3).Draw(t, "ordered") == 0 {
					options.GroupOrder = rollout.GroupOrder{"": {"canary"}, "eu": {"canary"}}
				}
				playAnew(t, strategy, options)
			})
		})
	}
}

// playAnew plays a history.
func playAnew(t *rapid.T, strategy clusterv1alpha1.RolloutStrategy, options rollout.Options) {
	n := rapid.IntRange(2, 9).Draw(t, "clusters")
	fleet := make([]spot, n)
	var (
		last    *rollout.Result
		record  status.Record
		planner *rollout.Planner
		most    int
		story   []string
	)
	at := now
	for range 30 {
		for i := range fleet {
			is := &fleet[i]
			switch change := rapid.IntRange(0, 9).Draw(t, "change"); {
			case change == 0:
				is.selected = !is.selected
			case is.stand == standsInFlight && change < 4:
				is.stand = rapid.SampledFrom([]stand{standsFailed, standsGood, standsInFlight}).Draw(t, "answer")
				if !is.selected && change == 3 {
					is.stand = standsNowhere
				}
			case is.stand == standsFailed && change == 1:
				is.stand = standsInFlight
			}
		}
		groups := drawCut(t, fleet)
		e, err := exposure.Of(strategy, groups, exposure.Span{}, at, options)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, e.Exposed)
		if restarts := rapid.IntRange(0, 5).Draw(t, "restarts") == 0; restarts {
			last, planner = nil, nil
		}
		opts := options
		opts.Previous, opts.StoredRecord = last, &rollout.StoredRecord{Version: "v2", Record: record, AtOnce: true}
		var reports []status.Report
		exposed := 0
		for i, is := range fleet {
			r := status.Report{Cluster: clusterName(i), LastTransitionTime: at, Applied: at}
			switch is.stand {
			case standsNowhere:
				continue
			case standsInFlight:
				r.Status = status.Progressing
			case standsFailed:
				r.Status = status.TimeOut
			case standsGood:
				r.Status = status.Succeeded
			}
			if is.counts() {
				exposed++
			}
			reports = append(reports, r)
		}
		r, err := rollout.Plan(strategy, groups, reports, at, opts)
		if err != nil {
			t.Fatal(err)
		}
		if planner == nil {
			if planner, err = rollout.NewPlanner(strategy, groups, opts); err != nil {
				t.Fatal(err)
			}
		} else {
			if err := planner.SetStrategy(strategy, opts); err != nil {
				t.Fatal(err)
			}
			planner.SetGroups(groups)
		}
		for i := range fleet {
			planner.Forget(clusterName(i))
		}
		if err := planner.Report(reports...); err != nil {
			t.Fatal(err)
		}
		story = append(story, fmt.Sprintf("%v: %v", groups, r))
		if got := planner.Result(at); got.String() != r.String() || got.Record.Exposed != r.Record.Exposed {
			t.Fatalf("a planner says %v, want %v\n%v", got, r, story)
		}
		if exposed += len(r.Start); len(r.Start) > 0 && exposed > most {
			t.Fatalf("%d exposed, at most %d may be\n%v", exposed, most, story)
		}
		for _, c := range r.Start {
			fleet[c.Name[0]-'a'].stand = standsInFlight
		}
		for i := range fleet { // whose object goes at once: it is as it was, and the record tells
			if is := &fleet[i]; slices.Contains(r.Removed, clusterName(i)) && is.stand == standsGood {
				is.stand = standsNowhere
			}
		}
		last, record = r, r.Record
		at = at.Add(time.Minute)
	}
}

// drawCut cuts the selected clusters by label and size.
func drawCut(t *rapid.T, fleet []spot) *grouping.Groups {
	size := rapid.IntRange(1, 3).Draw(t, "size")
	labels := map[string][]string{}
	for i, is := range fleet {
		if is.selected {
			name := rapid.SampledFrom([]string{"", "", "", "canary", "eu"}).Draw(t, "label")
			labels[name] = append(labels[name], clusterName(i))
		}
	}
	cut, index := map[grouping.Key][]string{}, int32(0)
	for _, name := range []string{"canary", "eu", ""} {
		for some := range slices.Chunk(labels[name], size) {
			cut[grouping.Key{Index: index, Name: name}] = some
			index++
		}
	}
	groups, err := grouping.FromNames(cut)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}
