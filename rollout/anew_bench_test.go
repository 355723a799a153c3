package rollout_test

import (
	"fmt"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// cutAnew are groups of five of n clusters, with the result before, from which the first cluster of every given number left in flight.
func cutAnew(t testing.TB, n, every int) (groups *grouping.Groups, reports []status.Report, options rollout.Options) {
	before, after := map[grouping.Key][]string{}, map[grouping.Key][]string{}
	for i := range n {
		key, name := grouping.Key{Index: int32(i / 5)}, fmt.Sprintf("c%06d", i)
		before[key] = append(before[key], name)
		if i%every != 0 {
			after[key] = append(after[key], name)
			continue
		}
		reports = append(reports, status.Report{Cluster: name, Status: status.Progressing, Applied: now, LastTransitionTime: now})
	}
	full, err := grouping.FromNames(before)
	if err != nil {
		t.Fatal(err)
	}
	if groups, err = grouping.FromNames(after); err != nil {
		t.Fatal(err)
	}
	if options.Previous, err = rollout.Plan(perGroup(config("1", "1h", 0)), full, reports, now, options); err != nil {
		t.Fatal(err)
	}
	options.FailedBefore = []string{"c000001"}
	return groups, reports, options
}

// R66: the bound takes time in proportion to the fleet, however many groups there are, clusters left, and failed before. To look through
// all of these for each group took twenty times as long as all else. Under All there is no bound.
func TestTheBoundOfGroupsThatAreCutAnewTakesLinearTime(t *testing.T) {
	groups, reports, options := cutAnew(t, 20_000, 10)
	fastest := func(strategy clusterv1alpha1.RolloutStrategy) time.Duration {
		best := time.Hour
		for range 5 {
			begun := time.Now()
			if _, err := rollout.Plan(strategy, groups, reports, now, options); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begun))
		}
		return best
	}
	with, without := fastest(perGroup(config("1", "1h", 0))), fastest(all("1h"))
	if t.Logf("%v, and %v without a bound", with, without); with > 6*without {
		t.Errorf("a plan takes %v where %d left, and %v without the bound", with, len(reports), without)
	}
}

func BenchmarkPlanOfGroupsThatAreCutAnew(b *testing.B) {
	groups, reports, options := cutAnew(b, 100_000, 1_000)
	for b.Loop() {
		if _, err := rollout.Plan(perGroup(config("1", "1h", 0)), groups, reports, now, options); err != nil {
			b.Fatal(err)
		}
	}
}
