// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// start is any time but the zero one.
func start() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// groupsOf makes a group of each word, with a cluster for each of its letters.
func groupsOf(words ...string) *grouping.Groups {
	var decisions []*clusterv1beta1.PlacementDecision
	for i, word := range words {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("p-decision-%d", i),
			Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: fmt.Sprint(i)},
		}}
		for _, letter := range word {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: string(letter)})
		}
		decisions = append(decisions, d)
	}
	groups, err := grouping.Read(nil, decisions)
	if err != nil {
		panic(err)
	}
	return groups
}

func progressive(concurrency, failures int, deadline string) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		MaxConcurrency: intstr.FromInt(concurrency),
		RolloutConfig:  clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt(failures), ProgressDeadline: deadline},
	}}
}

func planner(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts rollout.Options) simulation.Planner {
	return func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		return rollout.Plan(strategy, groups, reports, now, opts)
	}
}

// livesOf has the life that is given for a cluster; the others succeed after 10 minutes.
func livesOf(lives map[string]simulation.Life) func(string) simulation.Life {
	return func(cluster string) simulation.Life {
		if life, ok := lives[cluster]; ok {
			return life
		}
		return simulation.Life{{After: 10 * time.Minute, Status: status.Succeeded}}
	}
}

// shown is a trace with a line for each wave and one for the outcome.
func shown(trace *simulation.Trace) string {
	var b strings.Builder
	for _, w := range trace.Waves {
		b.WriteString(w.After.String())
		for _, part := range []struct {
			what     string
			clusters []string
		}{{"start", w.Started}, {"validating", w.Validating}, {"succeeded", w.Succeeded}, {"failed", w.Failed}, {"timed out", w.TimedOut}, {"deselected", w.Deselected}, {"deleted", w.Deleted}} {
			if len(part.clusters) > 0 {
				fmt.Fprintf(&b, ", %s %s", part.what, strings.Join(part.clusters, " "))
			}
		}
		for _, hold := range w.Blocks {
			fmt.Fprintf(&b, ", %d blocked: %s", hold.Clusters, hold.Reason.Type)
		}
		b.WriteString("\n")
	}
	return fmt.Sprintf("%s%s since %v\n", b.String(), trace.Outcome, trace.Waves[trace.Stopped].After)
}
