// SPDX-License-Identifier: Apache-2.0

package output_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// text plays a rollout by strategy over n clusters, each of the life, and gives the lines of its report.
func text(t *testing.T, strategy clusterv1alpha1.RolloutStrategy, n int, life simulation.Life) string {
	t.Helper()
	return textOf(t, strategy, n, life, 0)
}

// textOf does so with tables of a width.
func textOf(t *testing.T, strategy clusterv1alpha1.RolloutStrategy, n int, life simulation.Life, width int) string {
	t.Helper()
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: "0"},
	}}
	d.Status.Decisions = []clusterv1beta1.ClusterDecision{{}} // a slot that is not scheduled yet
	for i := range n {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%02d", i)})
	}
	s := &scenario.Scenario{Rollout: "RolloutStrategy", Strategy: strategy, Placement: scenario.Ref{Name: "p"}, Stored: true,
		Decisions: []*clusterv1beta1.PlacementDecision{d}}
	var err error
	if s.Groups, err = grouping.Read(nil, s.Decisions); err != nil {
		t.Fatal(err)
	}
	plan, _ := s.Planner(rollout.Options{})
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	trace, err := simulation.Run(plan, func(string) simulation.Life { return life }, start)
	if err != nil {
		t.Fatal(err)
	}
	report, err := output.New(s, trace, nil, start)
	if err != nil {
		t.Fatal(err)
	}
	report.Width = width
	var b strings.Builder
	if err := report.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextSaysHowItEnded(t *testing.T) {
	none := clusterv1alpha1.RolloutStrategy{}
	deadline := clusterv1alpha1.RolloutStrategy{All: &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "1h"}}}
	perGroup := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}}
	ignored := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
		MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}}}}
	never := clusterv1alpha1.RolloutStrategy{All: &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "1000000h"}}}
	after := func(d time.Duration, s status.RolloutStatus) simulation.Life {
		return simulation.Life{{After: d, Status: s}}
	}
	for _, test := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		clusters int
		life     simulation.Life
		want     []string
	}{
		{"seconds are shown where there are any", none, 1, after(90*time.Second, status.Succeeded), []string{"\n1m30s ", "after 1m30s: Complete: 1 of 1 clusters done\n"}},
		{"whole hours have no minutes", none, 1, after(2*time.Hour, status.Succeeded), []string{"\n2h ", "after 2h: "}},
		{"no time is 0s, and no cluster is done", none, 0, nil, []string{"p: 0 clusters selected", "p-decision-1 (0)\n", "after 0s: NothingSelected: no cluster is selected\n"}},
		{"ten minutes keep their zero", none, 1, after(10*time.Minute, status.Succeeded), []string{"after 10m: "}},
		{"a hundred hours keep their zeros", none, 1, after(100*time.Hour, status.Succeeded), []string{"after 100h: "}},
		{"a silent cluster is named", none, 2, nil, []string{"after 0s: Stuck: 0 of 2 clusters done, 2 in flight; c00, c01 are progressing, and never time out (no progressDeadline)\n", "  c00 in group 0: Progressing\n  c01 in group 0: Progressing\n"}},
		{"only ten are", deadline, 12, nil, []string{"All, progressDeadline 1h", "after 1h: CompleteWithFailures: 0 of 12 clusters done, 12 failed\n", "  c09 in group 0: TimeOut\n  and 2 more\n"}},
		{"a breach with no cluster left to stop", perGroup, 1, after(0, status.TimeOut), []string{"after 0s: Breached: the rollout is stopped: c00 failed in group 0, maxFailures is 0; the rollout continues once c00 is no longer failed or timed out; to do, one of: ", "\n  c00 in group 0: TimeOut\n", "\n0 of 1 clusters done, 1 failed (0%), aggregate status Failed\n"}},
		{"R12 a mandatory group that selects no cluster is warned of", ignored, 1, after(0, status.Succeeded), []string{"\nwarning: ", `"canary"`}},
		{"there is an end to watching", never, 1, nil, []string{"after 0s: Stuck: 0 of 1 clusters done, 1 in flight"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			got := text(t, test.strategy, test.clusters, test.life)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// A terminal has the beginning of a reason, and a pipe all of it. A reason that stays is said once.
func TestReasonsFitTheTerminal(t *testing.T) {
	one := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1),
		RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "1h"}}}
	life := simulation.Life{{After: 10 * time.Minute, Status: status.Failed}}
	pipe, terminal := textOf(t, one, 3, life, 0), textOf(t, one, 3, life, 90)
	whole := "0s     1        1          0     0       0          2 blocked: the concurrency limit is reached (1 of 1 in flight): c00 is progressing and times out at "
	if !strings.Contains(pipe, "\n"+whole) || !strings.Contains(pipe, " 2 blocked: the rollout is stopped: c00 failed, maxFailures is 0; the rollout continues once c00 is no longer failed or timed out\n1h10m  0        0          0     0       1          as above\n") {
		t.Errorf("no whole reasons in\n%s", pipe)
	}
	if want := "\n" + whole[:89] + "…\n"; !strings.Contains(terminal, want) {
		t.Errorf("no %q in\n%s", want, terminal)
	}
}
