// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

var fleets = flag.Uint64("fleets", 30_000, "how many random fleets to compare on")

// Both sides on random fleets of up to 200 clusters.
func TestRandomFleets(t *testing.T) {
	counts := newTally()
	t.Run("seeds", func(t *testing.T) {
		for part := range uint64(4) {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for i := range *fleets / 4 {
					w := randomWorld(t, rand.New(rand.NewPCG(part, i)))
					if unexplained(w) {
						w = shrink(t, w)
					}
					counts.compare(w)
					w.dropInAgrees(t)
				}
			})
		}
	})
	counts.report(t)
}

// randomWorld is a world of up to 200 clusters, mostly one that both sides accept.
func randomWorld(tb testing.TB, r *rand.Rand) world {
	groups := randomGroups(r)
	var s selection
	switch r.IntN(50) {
	case 0:
		s.missing = 1 + r.IntN(3)
	case 1, 2:
		s.perGroup = 1 + r.IntN(50)
	}
	return world{selected(tb, s, groups...), randomStrategy(r), randomReports(r, groups)}
}

// randomGroups spreads clusters over up to eight groups; some have a name.
func randomGroups(r *rand.Rand) []group {
	groups := make([]group, 1+r.IntN(8))
	for i := range groups {
		groups[i].key = grouping.Key{Index: int32(i), Name: pick(r, "", "", "canary", "east")}
		if r.IntN(200) == 0 {
			groups[i].key.Index += int32(1 + r.IntN(3)) // a gap, and maybe an index twice
		}
	}
	n := r.IntN(pick(r, 5, 10, 30, 201))
	for i := range n {
		g := r.IntN(len(groups))
		if r.IntN(2) == 0 {
			g = i * len(groups) / n // names in the order of the groups, as OCM divides them
		}
		groups[g].clusters = append(groups[g].clusters, fmt.Sprintf("c%03d", i))
	}
	r.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	return groups
}

// randomReports reports some of the clusters, with one of the statuses more often than the others.
func randomReports(r *rand.Rand, groups []group) (reports []status.Report) {
	statuses := []status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip, "Unheard"}
	often, share, undated := pick(r, statuses...), r.Float64(), r.IntN(50) == 0
	report := func(cluster string) {
		s := status.Report{Cluster: cluster, Status: pick(r, statuses...)}
		if r.Float64() < share {
			s.Status = often
		}
		if !undated || r.IntN(4) > 0 {
			s.LastTransitionTime = now.Add(-time.Duration(r.IntN(20*60)) * time.Second)
		}
		if r.IntN(2000) == 0 {
			s.LastTransitionTime = now.Add(time.Minute)
		}
		if r.IntN(2000) == 0 {
			s.Applied = now.Add(-time.Duration(r.IntN(20*60)) * time.Second)
		}
		reports = append(reports, s)
	}
	reported := r.Float64()
	for _, g := range groups {
		for _, cluster := range g.clusters {
			if r.Float64() < reported {
				report(cluster)
			}
			if r.IntN(20_000) == 0 {
				report(cluster)
			}
		}
	}
	for i := range r.IntN(3) {
		report(fmt.Sprintf("removed%d", i))
	}
	r.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	return reports
}

func randomStrategy(r *rand.Rand) clusterv1alpha1.RolloutStrategy {
	if r.IntN(10) == 0 {
		return clusterv1alpha1.RolloutStrategy{
			Type: pick(r, clusterv1alpha1.All, clusterv1alpha1.All, clusterv1alpha1.All, ""),
			All:  &clusterv1alpha1.RolloutAll{RolloutConfig: configured(intstr.IntOrString{})},
		}
	}
	c := clusterv1alpha1.RolloutConfig{
		MinSuccessTime:   metav1.Duration{Duration: pick(r, 0, soak, soak)},
		ProgressDeadline: pick(r, "", "None", "10m", "10m", "600s", "15m30s"),
		MaxFailures:      randomLimit(r),
	}
	if r.IntN(100) == 0 {
		c.ProgressDeadline = pick(r, "0s", "0h0m", "1m500ms", "1.5h", ".1h", "-1h", "soon")
	}
	if r.IntN(300) == 0 {
		c.MinSuccessTime.Duration = -soak
	}
	var mandatory []clusterv1alpha1.MandatoryDecisionGroup
	for range r.IntN(pick(r, 1, 1, 3)) {
		mandatory = append(mandatory, pick(r,
			clusterv1alpha1.MandatoryDecisionGroup{GroupName: "canary"},
			clusterv1alpha1.MandatoryDecisionGroup{GroupName: "unknown"},
			clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 0},
			clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 3}))
	}
	if r.IntN(2) == 0 {
		return perGroup(c, mandatory...)
	}
	return progressive(c, randomLimit(r), mandatory...)
}

func randomLimit(r *rand.Rand) intstr.IntOrString {
	switch r.IntN(20) {
	case 0:
		if r.IntN(3) > 0 {
			return intstr.FromString("100%")
		}
		return pick(r, intstr.FromInt32(-1), intstr.FromString("0%"), intstr.FromString("NaN%"), intstr.FromString("150%"), intstr.FromString("all"))
	case 1, 2, 3:
		return intstr.IntOrString{}
	case 4, 5, 6, 7, 8, 9:
		return intstr.FromString(fmt.Sprintf("%d%%", 1+r.IntN(100)))
	default:
		return intstr.FromInt32(int32(1 + r.IntN(pick(r, 3, 20, 210))))
	}
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// unexplained says whether the answers differ and no class says why.
func unexplained(w world) bool {
	return !w.cohort().equal(w.reference()) && len(classesOf(w)) == 0
}

// shrink takes away reports and clusters while the world stays unexplained, to have little to print.
func shrink(tb testing.TB, w world) world {
	for again := true; again; {
		again = false
		for i := len(w.reports) - 1; i >= 0; i-- {
			if less := (world{w.fleet, w.strategy, slices.Delete(slices.Clone(w.reports), i, i+1)}); unexplained(less) {
				w, again = less, true
			}
		}
		for g := range w.stored {
			for i := len(w.stored[g].clusters) - 1; i >= 0; i-- {
				groups := slices.Clone(w.stored)
				groups[g].clusters = slices.Delete(slices.Clone(groups[g].clusters), i, i+1)
				if less := (world{selected(tb, w.selection, groups...), w.strategy, w.reports}); unexplained(less) {
					w, again = less, true
				}
			}
		}
	}
	return w
}

// dropInAgrees fails where the drop-in says something else than Cohort. It can't be told of a write (Applied), and it reads
// a deadline of 0 as sdk-go does.
func (w world) dropInAgrees(t *testing.T) {
	for _, r := range w.reports {
		if !r.Applied.IsZero() {
			return
		}
	}
	w.reports = slices.Clone(w.reports)
	for i, r := range w.reports { // the drop-in counts no deselected cluster, as sdk-go
		if _, selected := w.groups.Position(r.Cluster); !selected {
			w.reports[i] = status.Report{Cluster: r.Cluster, Status: status.ToApply}
		}
	}
	if ours := w.cohort(); ours.refused && invalidDeadline(configOf(w.strategy).ProgressDeadline) {
		return
	} else if dropIn := w.dropInSays(); !dropIn.equal(ours) {
		t.Errorf("%v\ncohort:  %v\ndrop-in: %v\n", w, ours, dropIn)
	}
}
