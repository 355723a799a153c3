// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R57: a hub without a share of concurrency starts nothing under any type, also no cluster of a mandatory group and none that does not
// count. With a share it starts one.
func TestWithoutAShareNothingStarts(t *testing.T) {
	for _, tt := range []struct {
		name     string
		strategy clusterv1alpha1.RolloutStrategy
		reports  string
		opts     rollout.Options
	}{
		{"All", all(""), "", rollout.Options{}},
		{"Progressive", progressive("2", config("100%", "", 0)), "", rollout.Options{}},
		{"Progressive without a maxConcurrency", progressive("", config("100%", "", 0)), "", rollout.Options{}},
		{"Progressive, a mandatory group", progressive("2", config("", "", 0), "0"), "", rollout.Options{}},
		{"ProgressivePerGroup", perGroup(config("100%", "", 0)), "", rollout.Options{}},
		{"ProgressivePerGroup, groups side by side", perGroup(config("", "", 0)), "", rollout.Options{GroupOrder: rollout.GroupOrder{}}},
		{"ProgressivePerGroup, a mandatory group", perGroup(config("", "", 0), "0"), "", rollout.Options{}},
		{"an ignored cluster", all(""), "", rollout.Options{Ignored: []string{"a", "b", "c"}}},
		{"one that is tried again", all(""), "a=Failed b=TimeOut", rollout.Options{Attempt: 1}},
		{"beside one in flight", all(""), "a=Progressing", rollout.Options{}},
	} {
		for want, shares := range map[bool]rollout.Shares{false: {Concurrency: 0, Failures: 3}, true: {Concurrency: 2, Failures: 3}} {
			opts := merged(tt.opts, rollout.Options{Shares: &shares})
			if r := plan(t, planned{strategy: tt.strategy, groups: []string{"a b", "c"}, reports: tt.reports, opts: opts}); (len(r.Start) > 0) != want {
				t.Errorf("%s, %+v: %v", tt.name, shares, r)
			}
		}
	}
}

// R57, case by case.
func TestShares(t *testing.T) {
	free := rollout.Options{FailedFreesSlot: true}
	for _, tt := range []struct {
		why           string
		start, fail   int
		reports, want string
		opts          rollout.Options
	}{
		{"one of two is taken", 2, 0, "a=Progressing/0s", "starting b; in flight a; 1 more cluster blocked: this hub's share of concurrency is used up (2 of 2 in flight or starting): a is progressing and times out at 2026-11-21T13:00:00Z; b is starting; recheck after 1h0m0s", rollout.Options{}},
		{"one was asked back", 1, 0, "a=Progressing/0s b=Progressing/0s", "in flight a, b; 1 cluster blocked: this hub's share of concurrency is exceeded (2 in flight, the share is 1 now): a, b are progressing and time out at 2026-11-21T13:00:00Z; recheck after 1h0m0s", rollout.Options{}},
		{"a failure in flight holds both", 1, 1, "a=Failed/0s", "in flight a; 2 clusters blocked: this hub's share of concurrency is used up (1 of 1 in flight): a failed, and counts as in flight until 2026-11-21T13:00:00Z; recheck after 1h0m0s", rollout.Options{}},
		{"whatever its slot is given to", 1, 1, "a=Failed/0s", "in flight a; 2 clusters blocked: this hub's share of concurrency is used up (1 of 1 in flight): a failed, and counts as in flight until 2026-11-21T13:00:00Z; recheck after 1h0m0s", free},
		{"a failure in the baseline needs a right", 3, 0, "a=TimeOut", "2 clusters blocked: the rollout is stopped on this hub: a failed, and this hub's share of failures is 0", rollout.Options{FailedBefore: []string{"a"}}},
		{"one that does not count needs none", 1, 0, "a=TimeOut", "starting b; 1 more cluster blocked: this hub's share of concurrency is used up (1 of 1 in flight or starting): b is starting", rollout.Options{Ignored: []string{"a"}}},
		{"and starts beside the others", 1, 0, "a=Progressing/0s", "starting c; in flight a; 1 cluster blocked: this hub's share of concurrency is used up (1 of 1 in flight): a is progressing and times out at 2026-11-21T13:00:00Z; recheck after 1h0m0s", rollout.Options{Ignored: []string{"c"}}},
		{"but not where there is no right", 3, 0, "a=TimeOut", "2 clusters blocked: the rollout is stopped on this hub: a failed, and this hub's share of failures is 0", rollout.Options{Ignored: []string{"c"}}},
		{"a deselected cluster counts", 1, 1, "z=Failed/0s", "removing the workload from z; 3 clusters blocked: this hub's share of concurrency is used up (1 of 1 in flight): z (deselected) failed, and counts as in flight until 2026-11-21T13:00:00Z; recheck after 1h0m0s", rollout.Options{}},
	} {
		opts := merged(tt.opts, rollout.Options{Shares: &rollout.Shares{Concurrency: tt.start, Failures: tt.fail}})
		r := plan(t, planned{strategy: all("1h"), groups: []string{"a b c"}, reports: tt.reports, opts: opts})
		if got := r.String(); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.why, got, tt.want)
		}
		if r.Breach != nil || r.Summary().Aggregate() == status.Failed {
			t.Errorf("%s: is a breach: %v", tt.why, r)
		}
	}
}

// R57: whatever else is in the world, no more clusters start than there are shares, and none where there is none.
func TestSharesHold(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		for _, p := range p.withShares(t) {
			c := p.result.Counts
			started, inFlight, failures := c.ToApply-c.Blocked, c.InFlight(), c.Failures()
			switch r := p.shares; {
			case started+inFlight > max(r.Concurrency, inFlight):
				return fmt.Sprintf("%d started and %d in flight with %+v", started, inFlight, *r)
			case len(p.result.Start) > 0 && (r.Concurrency == 0 || failures > r.Failures):
				return fmt.Sprintf("%d failed, and %d start with %+v", failures, len(p.result.Start), *r)
			}
		}
		return ""
	})
}

// R57: more shares, of either kind, start what fewer do, and perhaps more. Enough shares are none at all.
func TestMoreSharesNeverStartFewer(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		with := p.withShares(t)
		for _, fewer := range with {
			for _, more := range with {
				if more.shares.Concurrency < fewer.shares.Concurrency || more.shares.Failures < fewer.shares.Failures {
					continue
				}
				for _, c := range fewer.result.Start {
					if !slices.Contains(more.result.Start, c) {
						return fmt.Sprintf("%s starts with %+v and not with %+v", c.Name, *fewer.shares, *more.shares)
					}
				}
			}
		}
		enough, without := p.world, p.world
		enough.shares, without.shares, enough.storedRecord, without.storedRecord = &rollout.Shares{Concurrency: math.MaxInt, Failures: math.MaxInt}, nil, nil, nil
		var a, b answer
		a.observe(try(t, enough, p.groups).result)
		b.observe(try(t, without, p.groups).result)
		if !a.equal(&b) {
			return "enough shares are a limit: " + diff(&a, &b)
		}
		return ""
	})
}

// withShares are the same plan with each of some shares.
func (p trial) withShares(t fataler) (all []trial) {
	for start := range 4 {
		for fail := range 3 {
			w := p.world
			w.shares = &rollout.Shares{Concurrency: start, Failures: fail}
			all = append(all, try(t, w, p.groups))
		}
	}
	return all
}
