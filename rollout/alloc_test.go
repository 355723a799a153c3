// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A plan takes at most 16 allocations beside its result, and as many for 30,000 clusters as for 100.
func TestPlanTakesFewAllocationsAtAnySize(t *testing.T) {
	// The result itself with the states of the clusters and their times, its schedule's deadline, stages and their groups,
	// the four lists of clusters, and the place for what is computed when first needed.
	const ofResult = 3 + 3 + 4 + 1
	sizes := []int{100, 1_000, 30_000}
	least := make(map[int]float64) // by the strategy's place
	for _, n := range sizes {
		f, reports := halfway(t, n)
		groups := f.read()
		// One that timed out and one that is not selected, so that no list is empty.
		reports[0].Status, reports[0].LastTransitionTime = status.Progressing, now.Add(-time.Hour)
		reports = append(reports, status.Report{Cluster: "removed", Status: status.Succeeded})
		for i, strategy := range strategies(n) {
			allocs := fewestAllocs(t, func() {
				if _, err := rollout.Plan(strategy, groups, reports, now.Add(time.Minute), rollout.Options{}); err != nil {
					t.Fatal(err)
				}
			})
			if allocs > 16+ofResult {
				t.Errorf("%s of %d clusters: %v allocations, want at most %d", strategy.Type, n, allocs, 16+ofResult)
			}
			if n == sizes[0] {
				least[i] = allocs
			} else if allocs != least[i] {
				t.Errorf("%s: %v allocations for %d clusters, %v for %d", strategy.Type, allocs, n, least[i], sizes[0])
			}
		}
	}
}

// Nor does it take much memory: what options, records and explanations need is only there where they are used.
func TestPlanTakesLittleMemoryForAFewClusters(t *testing.T) {
	const clusters, runs = 100, 50
	f, reports := halfway(t, clusters)
	groups := f.read()
	for i, most := range []uint64{16_000, 8_000, 9_000} { // about twice of what it takes: a list for each cluster shows, a field more does not
		strategy := strategies(clusters)[i]
		least := uint64(1 << 63)
		for range 4 { // others may allocate meanwhile
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				if _, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			least = min(least, (after.TotalAlloc-before.TotalAlloc)/runs)
		}
		if least > most {
			t.Errorf("%s: %d bytes, want at most %d", strategy.Type, least, most)
		}
	}
}

// Nor does the number of removed clusters have a part in it.
func TestPlanTakesFewAllocationsForAnyNumberOfRemovedClusters(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	allocs := func(removed int) float64 {
		reports := make([]status.Report, removed)
		for i := range reports {
			reports[i] = status.Report{Cluster: fmt.Sprintf("removed-%06d", i), Status: status.Succeeded}
		}
		return fewestAllocs(t, func() {
			if _, err := rollout.Plan(strategies(100)[1], groups, reports, now, rollout.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, many := allocs(1), allocs(10_000); one != many {
		t.Errorf("%v allocations for one removed cluster, %v for 10,000", one, many)
	}
}

// Nor does a removed cluster take more than its name and what Plan notes of it.
func TestPlanTakesLittleMemoryForRemovedClusters(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	const removed = 10_000
	reports := make([]status.Report, removed)
	for i := range reports {
		reports[i] = status.Report{Cluster: fmt.Sprintf("removed-%06d", i), Status: status.Succeeded}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := rollout.Plan(strategies(100)[1], groups, reports, now, rollout.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / removed; bytes > 100 {
		t.Errorf("%d bytes for each removed cluster, want at most 100", bytes)
	}
}

// fewestAllocs is what f allocates. Others may allocate meanwhile, so that the smallest of several counts is it. A collection of garbage
// empties the pools of package fmt, so that there is none. The race detector empties them at random: nothing is counted under it.
func fewestAllocs(t *testing.T, f func()) float64 {
	t.Helper()
	if underRaceDetector {
		t.Skip("under the race detector pools lose what they hold at random")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	fewest := testing.AllocsPerRun(1, f)
	for range 3 {
		fewest = min(fewest, testing.AllocsPerRun(1, f))
	}
	return fewest
}

// A summary is asked for at every reconcile. It takes no allocation a cluster.
func TestSummaryTakesFewAllocationsAtAnySize(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromString("50%")},
	}
	var least float64
	for _, n := range []int{100, 10_000} {
		names := make([]string, n)
		var reports []status.Report
		for i := range names {
			names[i] = fmt.Sprintf("c%05d", i)
			if i%2 == 0 {
				reports = append(reports, status.Report{Cluster: names[i], Status: status.Progressing, LastTransitionTime: now})
			}
		}
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
		if err != nil {
			t.Fatal(err)
		}
		plan := func() *rollout.Result {
			r, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		allocs := fewestAllocs(t, func() {
			if s := plan().Summary(); s.Blocked != n/2 {
				t.Fatalf("%d blocked", s.Blocked)
			}
		}) - fewestAllocs(t, func() { plan() })
		if least == 0 {
			least = allocs
		} else if allocs > least+8 { // numbers have more digits
			t.Errorf("%v allocations for %d clusters, %v for 100", allocs, n, least)
		}
	}
}

// Blockers looks once at what comes before a stage, not once for each of its groups: R34.
func TestBlockersTakesFewAllocationsForAnyNumberOfGroups(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "first"}}},
		},
	}
	reports := []status.Report{{Cluster: "first", Status: status.Succeeded}} // at an unknown time
	allocs := func(n int) float64 {
		f := newFleet(t).group("first", "first")
		for i := range n {
			f.group("", fmt.Sprintf("c%05d", i))
		}
		r, err := rollout.Plan(strategy, f.read(), reports, now, rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		return fewestAllocs(t, func() {
			if b := r.Blockers(); len(b) != 1 || b[0].Waiting != n {
				t.Fatal(b)
			}
		})
	}
	if few, many := allocs(2), allocs(1_000); few != many {
		t.Errorf("%v allocations for two groups, %v for 1,000", few, many)
	}
}

// R5, R39: what is noted of few clusters of a large fleet, the times of their flights and their attempts, is noted of the right
// ones, wherever and in whatever order their reports come.
func TestAgesAndAttemptsAreOfTheirClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3_000).Draw(t, "clusters")
		every := rapid.SampledFrom([]int{1, 2, 7, 50, 900}).Draw(t, "every")
		draw := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("cluster-%06d", i)
		}
		groups := newFleet(t).group("", names...).read()
		var reports []status.Report
		wanted := make(map[string]status.Report)
		for _, i := range draw.Perm(n) {
			r := status.Report{Cluster: names[i], Status: status.Succeeded, LastTransitionTime: now.Add(-time.Hour)}
			if draw.IntN(every) == 0 {
				r.Status, r.Attempt = status.Progressing, draw.IntN(3)
				r.LastTransitionTime = now.Add(-time.Duration(draw.IntN(540)+1) * time.Second)
				wanted[r.Cluster] = r
			}
			reports = append(reports, r)
		}
		result, err := rollout.Plan(strategies(n)[2], groups, reports, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		recheck := time.Duration(0)
		for _, c := range result.InFlight {
			r, ok := wanted[c.Name]
			if !ok || c.Attempt != r.Attempt {
				t.Fatalf("%v is in flight, wanted attempt %d", c, r.Attempt)
			}
			delete(wanted, c.Name)
			if left := 10*time.Minute - now.Sub(r.LastTransitionTime); recheck == 0 || left < recheck {
				recheck = left
			}
		}
		if len(wanted) > 0 || result.RecheckAfter != recheck {
			t.Fatalf("not in flight: %v; to be checked after %v, wanted %v", wanted, result.RecheckAfter, recheck)
		}
	})
}
