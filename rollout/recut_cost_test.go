// SPDX-License-Identifier: Apache-2.0

//go:build unix

package rollout_test

import (
	"syscall"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
)

// R66: the bound takes time in proportion to the fleet, however many groups there are, clusters left, and failed before. Under All there is
// no bound. In a fleet of this size, to look through all that left once for each group takes twenty times as long as such a plan, and one pass
// about as long. The limit stands between the two: the time of this process is also that of its garbage collector.
func TestTheBoundOfGroupsThatAreCutAnewTakesLinearTime(t *testing.T) {
	if !exhaustive.On {
		t.Skip("a fleet so large that the time tells is planned with the tag exhaustive")
	}
	groups, reports, options := cutAnew(t, 200_000, 10)
	used := func() time.Duration { // by this process, whatever else runs on the machine
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano())
	}
	fastest := func(strategy clusterv1alpha1.RolloutStrategy) time.Duration {
		best := time.Hour
		for range 3 {
			begun := used()
			if _, err := rollout.Plan(strategy, groups, reports, now, options); err != nil {
				t.Fatal(err)
			}
			best = min(best, used()-begun)
		}
		return best
	}
	with, without := fastest(perGroup(config("1", "1h", 0))), fastest(all("1h"))
	if t.Logf("%v, and %v without a bound", with, without); with > 10*max(without, time.Millisecond) {
		t.Errorf("a plan takes %v where %d left, and %v without the bound", with, len(reports), without)
	}
}
