// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/status"
)

func TestLearnLeavesTheExtremesOut(t *testing.T) {
	applied := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var reports []status.Report
	for i := range 20 {
		reports = append(reports, status.Report{Cluster: fmt.Sprint(i), Status: status.Succeeded, Applied: applied, LastTransitionTime: applied.Add(time.Duration(i+1) * time.Minute)})
	}
	reports = append(reports,
		status.Report{Cluster: "said so before", Status: status.Succeeded, Applied: applied, LastTransitionTime: applied.Add(-time.Hour)},
		status.Report{Cluster: "noted when it answered", Status: status.Succeeded, Applied: applied, LastTransitionTime: applied.Add(-time.Hour), Answered: applied.Add(10 * time.Minute)},
		status.Report{Cluster: "no time", Status: status.Succeeded, LastTransitionTime: applied},
		status.Report{Cluster: "failed", Status: status.Failed}, status.Report{Cluster: "late", Status: status.TimeOut}, status.Report{Cluster: "at it", Status: status.Progressing})
	want := scenario.Learned{Takes: chance.Range{Least: 3 * time.Minute, Most: 18 * time.Minute}, Done: 21, Failed: 2, Settled: 25}
	if diff := cmp.Diff(want, scenario.Learn(reports, nil, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With validation, the time until the success and the time until the verdict are two, and a no is not a failure of the cluster itself.
func TestLearnTellsASuccessFromItsVerdict(t *testing.T) {
	applied := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var unjudged []status.Report
	var verdicts []status.Verdict
	add := func(is status.RolloutStatus, takes int, result status.ValidationResult, said int) {
		r := status.Report{Cluster: fmt.Sprint(len(unjudged)), Status: is, Applied: applied, LastTransitionTime: applied.Add(time.Duration(takes) * time.Minute)}
		if unjudged = append(unjudged, r); result != "" {
			verdicts = append(verdicts, status.Verdict{Cluster: r.Cluster, Version: "v", Result: result, Time: r.LastTransitionTime.Add(time.Duration(said) * time.Minute)})
		}
	}
	for i := range 20 {
		add(status.Succeeded, i+1, status.ValidationSucceeded, 100-i)
	}
	add(status.Succeeded, 10, status.ValidationFailed, 90)
	add(status.Succeeded, 10, status.ValidationInProgress, 1)
	add(status.Succeeded, 10, "", 0)
	add(status.Succeeded, 10, status.ValidationSucceeded, -5) // it said so before, and succeeded again
	add(status.Failed, 3, status.ValidationSucceeded, 5)
	add(status.Progressing, 3, "", 0)
	want := scenario.Learned{Takes: chance.Range{Least: 3 * time.Minute, Most: 18 * time.Minute}, Done: 24, Failed: 1, Settled: 25,
		Validates: chance.Range{Least: 82 * time.Minute, Most: 98 * time.Minute}, NotGood: 1, Judged: 22}
	got := scenario.Learn(status.Judge(unjudged, "v", verdicts), unjudged, 0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.NotGoodRate() != chance.Rate(1)/22 || got.FailRate() != chance.Rate(1)/25 {
		t.Errorf("rates %v and %v", got.NotGoodRate(), got.FailRate())
	}
}
