// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"testing"

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

func BenchmarkPlanOfGroupsThatAreCutAnew(b *testing.B) {
	groups, reports, options := cutAnew(b, 100_000, 1_000)
	for b.Loop() {
		if _, err := rollout.Plan(perGroup(config("1", "1h", 0)), groups, reports, now, options); err != nil {
			b.Fatal(err)
		}
	}
}
