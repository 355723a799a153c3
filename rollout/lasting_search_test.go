// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// lookedAt is a fleet after a look that found a breach: where it stands, and what that look leaves behind.
type lookedAt struct {
	at     spots
	result *rollout.Result
	path   string
}

// staysStopped cuts a fleet with a breach anew, in all ways and some times, while clusters join and leave and no cluster recovers. Whether the
// controller remembers the result before or starts over with its record, nothing starts.
func (s *recut) staysStopped(t fataler, from lookedAt, steps int) (looks int) {
	if steps == 0 {
		return 0
	}
	options := s.options
	options.StoredRecord = &rollout.StoredRecord{Version: "v2"}
	for _, at := range s.selections(from.at) {
		var selected []string
		for i, is := range at[:s.n] {
			if is.selected {
				selected = append(selected, clusterName(i))
			}
		}
		for _, cut := range s.cuts(selected) {
			groups, err := grouping.FromNames(cut)
			if err != nil {
				t.Fatal(err)
			}
			for _, previous := range []*rollout.Result{from.result, nil} {
				options.Previous = previous
				if options.StoredRecord.Record = from.result.Record; previous != nil {
					options.StoredRecord.Record.Breached = nil // or this alone would do
				}
				reports := slices.DeleteFunc(s.reports(at), func(r status.Report) bool { // what is stored may be gone
					return previous == nil && slices.ContainsFunc(from.result.Record.Deselected, func(e status.DeselectedCluster) bool { return e.Cluster == r.Cluster })
				})
				r, err := rollout.Plan(s.strategy, groups, reports, now, options)
				if err != nil {
					t.Fatal(err)
				}
				path := fmt.Sprintf("%s\n%v, restarts %t: %v", from.path, cut, previous == nil, r)
				if looks++; r.Breach == nil || len(r.Start) > 0 {
					t.Fatal(s.name + ": a breach ends\n" + path)
				}
				looks += s.staysStopped(t, lookedAt{at, r, path}, steps-1)
			}
		}
	}
	return looks
}

// selections are a state, and those in which one cluster has left or joined.
func (s *recut) selections(at spots) []spots {
	all := []spots{at}
	for i := range s.n {
		to := at
		to[i].selected = !to[i].selected
		all = append(all, to)
	}
	return all
}

// R10: however the groups are changed, and whoever joins and leaves, nothing starts once a look found a breach, until a cluster recovers.
func TestNothingStartsPastABreachHoweverGroupsAreCutAnew(t *testing.T) {
	cuts := []struct {
		name string
		cuts func(selected []string) []map[grouping.Key][]string
	}{
		{"by 1", cutsBySize(func(int) int { return 1 })},
		{"by 2", cutsBySize(func(int) int { return 2 })},
		{"by half", cutsBySize(func(n int) int { return (n + 1) / 2 })},
		{"by label and 2", cutsByLabel(2)},
	}
	var looks atomic.Int64
	t.Run("searches", func(t *testing.T) {
		for _, failures := range []string{"", "1", "34%", "50%"} {
			for _, deadline := range []string{"", "10m"} {
				c := config(failures, deadline, 0)
				for _, s := range []recut{
					{name: "PerGroup", strategy: perGroup(c)},
					{name: "PerGroup with a canary", strategy: perGroup(c, "canary")},
					{name: "PerGroup with a baseline", strategy: perGroup(c), options: rollout.Options{FailedBefore: []string{"a"}}},
					{name: "PerGroup side by side", strategy: perGroup(c), options: rollout.Options{GroupOrder: rollout.GroupOrder{}}},
					{name: "Progressive", strategy: progressive("2", c)},
					{name: "Progressive with a canary", strategy: progressive("", c, "canary"), options: rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1)}},
				} {
					for _, by := range cuts {
						if s.options.GroupOrder != nil && !strings.HasPrefix(by.name, "by label") {
							continue
						}
						s.name, s.cuts, s.deadline = fmt.Sprintf("%s, failures %q, deadline %q, %s", s.name, failures, deadline, by.name), by.cuts, deadline != ""
						t.Run(s.name, func(t *testing.T) {
							t.Parallel()
							looks.Add(int64(s.stopsForGood(t, 2, exhaustive.Of(1, 2)) + s.stopsForGood(t, 3, exhaustive.Of(0, 1))))
						})
					}
				}
			}
		}
	})
	t.Logf("%d looks at a breach", looks.Load())
}

// stopsForGood looks at all fleets of n clusters in which a plan finds a breach, and cuts each of them anew, some times.
func (s recut) stopsForGood(t fataler, n, cuts int) (looks int) {
	s.n = n
	for combination := range []int{1, 3, 9, 27}[n] {
		at, digits := spots{}, combination
		for i := range n {
			at[i], digits = spot{stand: []stand{standsFailed, standsInFlight, standsNowhere}[digits%3], selected: true}, digits/3
		}
		if !slices.ContainsFunc(at[:s.n], func(is spot) bool { return is.stand == standsFailed }) {
			continue
		}
		for _, cut := range s.cuts([]string{"a", "b", "c"}[:s.n]) {
			groups, err := grouping.FromNames(cut)
			if err != nil {
				t.Fatal(err)
			}
			options := s.options
			options.StoredRecord = &rollout.StoredRecord{Version: "v2", Record: status.Record{}}
			r, err := rollout.Plan(s.strategy, groups, s.reports(at), now, options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Breach != nil {
				looks += s.staysStopped(t, lookedAt{at, r, fmt.Sprintf("%v: %v", cut, r)}, cuts)
			}
		}
	}
	return looks
}
