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
	if diff := cmp.Diff(want, scenario.Learn(reports)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
