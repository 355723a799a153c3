// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

func TestRunPlaysARolloutThrough(t *testing.T) {
	step := func(after time.Duration, s status.RolloutStatus) simulation.Step {
		return simulation.Step{After: after, Status: s}
	}
	perGroup := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}
	closed := func(group int32, opens time.Time) rollout.ClosedGate {
		return rollout.ClosedGate{Group: grouping.Key{Index: group}, Gate: rollout.Gate{Opens: opens}}
	}
	for _, test := range []struct {
		name, why string
		plan      simulation.Planner
		lives     map[string]simulation.Life
		want      string
	}{{
		name: "all at once", why: "the smallest rollout has a wave for the start and one for the end",
		plan: planner(clusterv1alpha1.RolloutStrategy{}, groupsOf("ab"), rollout.Options{}),
		want: "0s, start a b\n10m0s, succeeded a b\nComplete since 10m0s\n",
	}, {
		name: "no cluster", why: "a wave that does nothing is still the end",
		plan: planner(clusterv1alpha1.RolloutStrategy{}, groupsOf(""), rollout.Options{}),
		want: "0s\nNothingSelected since 0s\n",
	}, {
		name: "two at a time", why: "a slot is free as soon as one succeeds, not when both have",
		plan:  planner(progressive(2, 0, ""), groupsOf("abcd"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": {step(time.Minute, status.Succeeded)}},
		want: "0s, start a b, 2 blocked: ConcurrencyUsedUp\n" +
			"1m0s, start c, succeeded a, 1 blocked: ConcurrencyUsedUp\n" +
			"10m0s, start d, succeeded b\n11m0s, succeeded c\n20m0s, succeeded d\nComplete since 20m0s\n",
	}, {
		name: "clusters that answer at once", why: "each start permits the next in the same instant, which is one wave",
		plan:  planner(progressive(1, 0, ""), groupsOf("abc"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": {step(0, status.Succeeded)}, "b": {step(0, status.Succeeded)}},
		want:  "0s, start a b c, succeeded a b\n10m0s, succeeded c\nComplete since 10m0s\n",
	}, {
		name: "time out and recovery", why: "the deadline ends where no cluster reports anything, so only RecheckAfter tells when",
		plan:  planner(progressive(1, 0, "30m"), groupsOf("ab"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": {step(2*time.Hour, status.Succeeded)}},
		want: "0s, start a, 1 blocked: ConcurrencyUsedUp\n" +
			"30m0s, timed out a, 1 blocked: BudgetBreached\n" +
			"2h0m0s, start b, succeeded a\n2h10m0s, succeeded b\nComplete since 2h10m0s\n",
	}, {
		name: "failure", why: "what the budget does not allow ends it",
		plan:  planner(progressive(1, 0, ""), groupsOf("ab"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": {step(5*time.Minute, status.Failed)}},
		want: "0s, start a, 1 blocked: ConcurrencyUsedUp\n" +
			"5m0s, failed a, 1 blocked: BudgetBreached\nBreached since 5m0s\n",
	}, {
		name: "a breach in the middle", why: "it stopped when the budget was breached, whatever the others do after that",
		plan:  planner(progressive(3, 0, "1h"), groupsOf("abcd"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": {step(5*time.Minute, status.Failed)}},
		want: "0s, start a b c, 1 blocked: ConcurrencyUsedUp\n5m0s, failed a, 1 blocked: BudgetBreached\n" +
			"10m0s, succeeded b c, 1 blocked: BudgetBreached\n1h5m0s, timed out a, 1 blocked: BudgetBreached\nBreached since 5m0s\n",
	}, {
		name: "no answer and no deadline", why: "nothing will ever happen, which is no reason to wait for it",
		plan:  planner(perGroup, groupsOf("a", "b"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": nil},
		want:  "0s, start a, 1 blocked: EarlierGroupIncomplete\nStuck since 0s\n",
	}, {
		name: "a tolerated failure without a deadline", why: "it is in flight for ever, so the rollout never completes",
		plan:  planner(progressive(2, 1, ""), groupsOf("ab"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": {step(time.Minute, status.Failed)}},
		want:  "0s, start a b\n1m0s, failed a\n10m0s, succeeded b\nStuck since 10m0s\n",
	}, {
		name: "gates", why: "the one that opens is waited for, the other is not",
		plan: planner(perGroup, groupsOf("a", "b", "c"), rollout.Options{Gates: []rollout.ClosedGate{closed(1, start().Add(time.Hour)), closed(2, time.Time{})}}),
		want: "0s, start a, 2 blocked: EarlierGroupIncomplete\n" +
			"10m0s, succeeded a, 1 blocked: GateClosed, 1 blocked: EarlierGroupIncomplete\n" +
			"1h0m0s, start b, 1 blocked: EarlierGroupIncomplete\n1h10m0s, succeeded b, 1 blocked: GateClosed\nAtGate since 1h10m0s\n",
	}, {
		name: "behind a group at a gate", why: "a cluster that waits for those at the gate waits for the gate",
		plan: planner(perGroup, groupsOf("a", "b", "c"), rollout.Options{Gates: []rollout.ClosedGate{closed(1, time.Time{})}}),
		want: "0s, start a, 2 blocked: EarlierGroupIncomplete\n" +
			"10m0s, succeeded a, 1 blocked: GateClosed, 1 blocked: EarlierGroupIncomplete\nAtGate since 10m0s\n",
	}, {
		name: "beyond the horizon", why: "a deadline may be longer than the horizon",
		plan:  planner(progressive(1, 0, "1000000h"), groupsOf("a"), rollout.Options{}),
		lives: map[string]simulation.Life{"a": nil},
		want:  "0s, start a\nStuck since 0s\n",
	}} {
		t.Run(test.name, func(t *testing.T) {
			trace, err := simulation.Run(test.plan, livesOf(test.lives), start())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shown(trace)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.why, diff)
			}
		})
	}
}

func TestRunRefusesAPlannerThatGoesOnForEver(t *testing.T) {
	real := planner(clusterv1alpha1.RolloutStrategy{}, groupsOf("ab"), rollout.Options{})
	for _, test := range []struct {
		name string
		bend func(*rollout.Result)
		want string
	}{
		{"asks to come back though nothing changes", func(r *rollout.Result) { r.RecheckAfter = time.Second }, "no end after"},
		{"starts a cluster again", func(r *rollout.Result) { r.Start = []rollout.Cluster{{Name: "a"}} }, `cluster "a" started a second time`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := simulation.Run(func(reports []status.Report, now time.Time) (*rollout.Result, error) {
				r, err := real(reports, now)
				test.bend(r)
				return r, err
			}, livesOf(nil), start())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error: %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestRunReturnsThePlannersError(t *testing.T) {
	broken := errors.New("broken")
	_, err := simulation.Run(func([]status.Report, time.Time) (*rollout.Result, error) { return nil, broken }, livesOf(nil), start())
	if !errors.Is(err, broken) {
		t.Errorf("error: %v, want that of the planner", err)
	}
}

// A cluster that has the version succeeds so long after it got it, if it is not late for that already.
func TestResumeCountsFromWhenAClusterGotIt(t *testing.T) {
	takes := func(after time.Duration, s status.RolloutStatus) simulation.Life {
		return simulation.Life{{After: after, Status: s}}
	}
	ago := func(d time.Duration) time.Time { return start().Add(-d) }
	failsAndRecovers := append(takes(time.Minute, status.Failed), simulation.Step{After: 31 * time.Minute, Status: status.Succeeded})
	for _, test := range []struct {
		why      string
		observed status.Report
		life     simulation.Life
		want     string
	}{
		{"it got it 8 minutes ago", status.Report{Status: status.Progressing, Applied: ago(8 * time.Minute), LastTransitionTime: ago(time.Minute)}, takes(10*time.Minute, status.Succeeded),
			"0s\n2m0s, succeeded a\nComplete since 2m0s\n"},
		{"it has not answered yet", status.Report{Status: status.ToApply, Applied: ago(8 * time.Minute)}, takes(10*time.Minute, status.Succeeded),
			"0s\n2m0s, succeeded a\nComplete since 2m0s\n"},
		{"it should be done already", status.Report{Status: status.Progressing, Applied: ago(20 * time.Minute)}, takes(10*time.Minute, status.Succeeded),
			"0s\n2m0s, succeeded a\nComplete since 2m0s\n"},
		{"it is late by little, and gets a second", status.Report{Status: status.Progressing, Applied: start()}, takes(0, status.Succeeded),
			"0s\n1s, succeeded a\nComplete since 1s\n"},
		{"it is unknown since when", status.Report{Status: status.Progressing}, takes(10*time.Minute, status.Succeeded),
			"0s\n10m0s, succeeded a\nComplete since 10m0s\n"},
		{"it recovers half an hour after it failed", status.Report{Status: status.Failed, Applied: ago(time.Hour), LastTransitionTime: ago(20 * time.Minute)}, failsAndRecovers,
			"0s\n10m0s, succeeded a\nComplete since 10m0s\n"},
	} {
		test.observed.Cluster = "a"
		trace, err := simulation.Resume(planner(progressive(1, 1, ""), groupsOf("a"), rollout.Options{}), []status.Report{test.observed},
			livesOf(map[string]simulation.Life{"a": test.life}), start())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, shown(trace)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
	}
}
