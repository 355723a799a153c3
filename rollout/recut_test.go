// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// bySize divides as OCM's scheduler does: by name and size, and not steadily.
func bySize(size int) func(selected []string) map[grouping.Key][]string {
	return func(selected []string) map[grouping.Key][]string {
		cut := map[grouping.Key][]string{{}: nil}
		index := int32(0)
		for some := range slices.Chunk(selected, size) {
			cut[grouping.Key{Index: index}] = some
			index++
		}
		return cut
	}
}

// R65: a version that cuts off whoever gets it reaches no more clusters than the groups expose, also where the scheduler fills the
// groups up again by size.
func TestAVersionThatCutsClustersOffStopsWhereGroupsAreFilledUpAgain(t *testing.T) {
	five := intstr.FromInt32(5)
	for _, test := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		options  rollout.Options
		size     int
		want     int
	}{
		{"groups of one without a deadline", perGroup(config("", "", 0)), rollout.Options{}, 1, 1},
		{"groups of five with a deadline long after the taint", perGroup(config("", "1h", 0)), rollout.Options{}, 5, 5},
		{"groups of five with a deadline after the taint", perGroup(config("", "10m", 0)), rollout.Options{}, 5, 5},
		{"a canary by its index", progressive("1", config("", "30m", 0), "0"), rollout.Options{}, 1, 1},
		{"two canaries by their index without a deadline", progressive("2", config("", "", 0), "0"), rollout.Options{}, 2, 2},
		{"groups of five with a limit of as many", perGroup(config("", "1h", 0)), rollout.Options{MaxConcurrencyPerGroup: five}, 5, 5},
	} {
		t.Run(test.why, func(t *testing.T) {
			both(t, func(t *testing.T, atOnce, restarts bool) {
				h := newCutting(20, test.strategy, cutsOff, test.options)
				h.atOnce, h.restarts, h.divide = atOnce, restarts, bySize(test.size)
				e, err := exposure.Of(h.strategy, h.groups(t), exposure.Span{}, now, test.options)
				if err != nil {
					t.Fatal(err)
				}
				if r := h.play(t, 4*time.Hour); len(h.got) != test.want || e.Exposed != test.want {
					t.Errorf("%d have it, where %d are exposed, want %d: %v", len(h.got), e.Exposed, test.want, r)
				}
			})
		})
	}
}

// R65: an honest version goes over a fleet in which one cluster in twenty dies by itself, and is tolerated. Where the scheduler divides
// anew by size, each group of which one died takes one wave more: that of the cluster which was moved forward. Where it divides steadily, or
// no cluster dies, no group does.
func TestWhatPlacesCostAnHonestFleet(t *testing.T) {
	const n, size = 100, 10
	wave := time.Minute
	for _, test := range []struct {
		why    string
		dies   bool
		divide func(h *cutting) func(selected []string) map[grouping.Key][]string
		want   time.Duration // until the last group starts
	}{
		{"no cluster dies", false, anew(size), 9 * wave},
		{"steadily", true, steadily(size), 4*wave + 5*10*wave}, // in five of the groups before the last, a cluster times out
		{"anew", true, anew(size), 4*wave + 5*10*wave + 5*wave},
	} {
		fate := func(cluster string, since time.Duration) (status.RolloutStatus, bool) {
			if test.dies && cluster[2] == '3' && cluster[1]%2 == 0 {
				return status.ToApply, true
			}
			if since < wave {
				return status.Progressing, false
			}
			return status.Succeeded, false
		}
		h := newCutting(n, perGroup(config("2", "10m", 0)), fate, rollout.Options{})
		h.divide = test.divide(h)
		begun := h.now
		for h.step(t); len(h.got) < n && h.now.Sub(begun) < 24*time.Hour; h.step(t) {
			h.now = h.now.Add(30 * time.Second)
		}
		if took := h.now.Sub(begun); len(h.got) != n || took != test.want {
			t.Errorf("%s: %d of %d have it after %v, want all after %v: %v", test.why, len(h.got), n, took, test.want, h.last)
		}
	}
}

// anew divides by size.
func anew(size int) func(*cutting) func([]string) map[grouping.Key][]string {
	return func(*cutting) func([]string) map[grouping.Key][]string { return bySize(size) }
}

// steadily keeps each cluster in the group in which it was at first.
func steadily(size int) func(h *cutting) func([]string) map[grouping.Key][]string {
	return func(h *cutting) func([]string) map[grouping.Key][]string {
		return func(selected []string) map[grouping.Key][]string {
			cut := map[grouping.Key][]string{}
			for i, cluster := range h.fleet {
				key := grouping.Key{Index: int32(i / size)}
				if cut[key] = append([]string{}, cut[key]...); slices.Contains(selected, cluster) {
					cut[key] = append(cut[key], cluster)
				}
			}
			return cut
		}
	}
}
