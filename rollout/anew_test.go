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
