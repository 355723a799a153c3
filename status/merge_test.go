// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
)

// R1: from the report that holds a rollout back most to the one that does least, and of two statuses that weigh the
// same the one whose time is later.
func TestMergeTakesWhatHoldsBackMost(t *testing.T) {
	report := func(s status.RolloutStatus, transition, applied int) status.Report {
		r := status.Report{Cluster: "a", Status: s}
		if transition > 0 {
			r.LastTransitionTime = at(transition)
		}
		if applied > 0 {
			r.Applied = at(applied)
		}
		return r
	}
	answered := func(r status.Report, minute int) status.Report {
		r.Answered = at(minute)
		return r
	}
	again := func(r status.Report) status.Report {
		r.Attempt = 1
		return r
	}
	order := []status.Report{
		again(report("Validating", 1, 0)), // of those that are in flight or failed, the later attempt
		report("Failed", 9, 0),
		report("Failed", 1, 8), // its time is Applied
		report("Failed", 7, 0),
		report("Failed", 0, 0),
		report("TimeOut", 1, 0),
		report("ToApply", 0, 9), // not answered
		report("Progressing", 8, 0),
		report("", 7, 0),
		report("Odd", 6, 0),
		answered(report("Validating", 1, 1), 10), // its time is Answered
		report("Validating", 9, 0),
		report("ToApply", 9, 0),                 // waits
		answered(report("Succeeded", 1, 1), 10), // its time is Answered
		answered(report("Succeeded", 9, 0), 10), // an answer to an unknown write says nothing
		report("Succeeded", 9, 0),
		report("Skip", 9, 9),
	}
	for i, more := range order {
		for _, less := range order[i:] {
			for _, got := range []status.Report{status.Merge(more, less), status.Merge(less, more)} {
				if got != more {
					t.Errorf("%+v and %+v merge to %+v", more, less, got)
				}
			}
		}
	}
}

// R1: the order of the reports does not matter, nor whether some were merged before, and of none there is nothing.
func TestMergeIsOneOfTheReportsInWhateverOrder(t *testing.T) {
	if got := status.Merge(); got != (status.Report{}) {
		t.Errorf("none merge to %+v", got)
	}
	times := rapid.SampledFrom([]time.Time{{}, at(1), at(2), at(3)})
	one := rapid.Custom(func(t *rapid.T) status.Report {
		return status.Report{
			Cluster:            "a",
			Status:             rapid.SampledFrom([]status.RolloutStatus{"", "Odd", "ToApply", "Progressing", "Succeeded", "Failed", "TimeOut", "Skip"}).Draw(t, "status"),
			LastTransitionTime: times.Draw(t, "transition"),
			Applied:            times.Draw(t, "applied"),
			Answered:           times.Draw(t, "answered"),
			Attempt:            rapid.IntRange(0, 2).Draw(t, "attempt"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		reports := rapid.SliceOfN(one, 1, 5).Draw(t, "reports")
		got := status.Merge(reports...)
		if again := status.Merge(rapid.Permutation(reports).Draw(t, "order")...); again != got {
			t.Fatalf("in another order %+v, not %+v", again, got)
		}
		cut := rapid.IntRange(1, len(reports)).Draw(t, "cut")
		if again := status.Merge(append([]status.Report{status.Merge(reports[:cut]...)}, reports[cut:]...)...); again != got {
			t.Fatalf("in two steps %+v, not %+v", again, got)
		}
		for _, r := range reports {
			if r == got {
				return
			}
		}
		t.Fatalf("%+v is none of the reports", got)
	})
}

// Two works were made for one cluster, because the cache did not show the first when the second was made.
func ExampleMerge() {
	report := status.Merge(
		status.Report{Cluster: "cluster1", Status: status.Succeeded},
		status.Report{Cluster: "cluster1", Status: status.Failed},
	)
	fmt.Println(report.Cluster, report.Status)
	// Output: cluster1 Failed
}
