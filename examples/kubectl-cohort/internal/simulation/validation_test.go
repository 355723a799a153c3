// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// validated succeeds after some minutes, and so much later its verdict comes.
func validated(succeeds, said int, is status.RolloutStatus) simulation.Life {
	success := time.Duration(succeeds) * time.Minute
	return simulation.Life{{After: success, Status: status.Validating}, {After: success + time.Duration(said)*time.Minute, Status: is}}
}

// The deadline begins anew with the success, and the soak with the yes. A no is a failure, and a cluster without a verdict times out.
func TestClustersAreValidated(t *testing.T) {
	for _, test := range []struct {
		why   string
		lives map[string]simulation.Life
		soak  time.Duration
		want  string
	}{
		{"8 and 8 minutes are in time, with a deadline of 10", map[string]simulation.Life{"a": validated(8, 8, status.Succeeded), "b": validated(1, 0, status.Succeeded)}, 0,
			"0s, start a, 1 blocked: ConcurrencyUsedUp\n8m0s, validating a, 1 blocked: ConcurrencyUsedUp\n16m0s, start b, succeeded a\n17m0s, succeeded b\nComplete since 17m0s\n"},
		{"the soak begins with the yes", map[string]simulation.Life{"a": validated(2, 3, status.Succeeded), "b": validated(1, 1, status.Succeeded)}, 4 * time.Minute,
			"0s, start a, 1 blocked: ConcurrencyUsedUp\n2m0s, validating a, 1 blocked: ConcurrencyUsedUp\n5m0s, succeeded a, 1 blocked: ConcurrencyUsedUp\n9m0s, start b\n" +
				"10m0s, validating b\n11m0s, succeeded b\n15m0s\nComplete since 15m0s\n"},
		{"a no stops all", map[string]simulation.Life{"a": validated(2, 3, status.Failed)}, 0,
			"0s, start a, 1 blocked: ConcurrencyUsedUp\n2m0s, validating a, 1 blocked: ConcurrencyUsedUp\n5m0s, failed a, 1 blocked: BudgetBreached\n15m0s, timed out a, 1 blocked: BudgetBreached\nBreached since 5m0s\n"},
		{"there is never a verdict", map[string]simulation.Life{"a": {{After: 2 * time.Minute, Status: status.Validating}}}, 0,
			"0s, start a, 1 blocked: ConcurrencyUsedUp\n2m0s, validating a, 1 blocked: ConcurrencyUsedUp\n12m0s, timed out a, 1 blocked: BudgetBreached\nBreached since 12m0s\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			strategy := progressive(1, 0, "10m")
			strategy.Progressive.MinSuccessTime.Duration = test.soak
			trace, err := simulation.Run(planner(strategy, groupsOf("ab"), rollout.Options{}), livesOf(test.lives), start())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shown(trace)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster that is being validated goes on from its success, and one that was not found good from the no.
func TestValidationGoesOnFromWhereItStands(t *testing.T) {
	ago := func(minutes int) time.Time { return start().Add(-time.Duration(minutes) * time.Minute) }
	recovers := append(validated(8, 3, status.Failed), simulation.Step{After: 21 * time.Minute, Status: status.Succeeded})
	mended := append(simulation.Life{{After: 2 * time.Minute, Status: status.Failed}}, validated(12, 5, status.Succeeded)...)
	for _, test := range []struct {
		why      string
		observed status.Report
		life     simulation.Life
		want     string
	}{
		{"for 4 of 6 minutes", status.Report{Status: status.Validating, Applied: ago(12), LastTransitionTime: ago(4)}, validated(3, 6, status.Succeeded), "0s\n2m0s, succeeded a\nComplete since 2m0s\n"},
		{"it answered late with a condition of before", status.Report{Status: status.Validating, Applied: ago(12), LastTransitionTime: ago(60), Answered: ago(4)}, validated(3, 6, status.Succeeded),
			"0s\n2m0s, succeeded a\nComplete since 2m0s\n"},
		{"for longer than it should take: a tenth more", status.Report{Status: status.Validating, Applied: ago(90), LastTransitionTime: ago(40)}, validated(3, 6, status.Succeeded), "0s\n4m0s, succeeded a\nComplete since 4m0s\n"},
		{"found bad 5 minutes ago, it is good 10 minutes after that", status.Report{Status: status.Failed, Applied: ago(30), LastTransitionTime: ago(5), Message: "no route"}, recovers,
			"0s\n5m0s, succeeded a\nComplete since 5m0s\n"},
		{"failed by itself, it succeeds 10 minutes after that, and is validated", status.Report{Status: status.Failed, Applied: ago(30), LastTransitionTime: ago(5)}, mended,
			"0s\n5m0s, validating a\n10m0s, succeeded a\nComplete since 10m0s\n"},
		{"its life is to fail by itself", status.Report{Status: status.Validating, Applied: ago(4), LastTransitionTime: ago(2)}, simulation.Life{{After: 10 * time.Minute, Status: status.Failed}},
			"0s\n6m0s, failed a\nBreached since 6m0s\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			test.observed.Cluster = "a"
			played := simulation.Rollout{Strategy: progressive(1, 0, ""), Groups: groupsOf("a")}
			trace, err := played.Play([]status.Report{test.observed}, livesOf(map[string]simulation.Life{"a": test.life}), start())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shown(trace)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster that was being validated when an attempt begins goes on with it, and waits for its turn in the new one once its deadline has passed.
func TestAClusterThatIsNotValidatedIsTriedAgainInTheNextAttempt(t *testing.T) {
	for _, success := range []int{2, 12} { // before the second attempt and after
		lives := map[string]simulation.Life{"a": {{After: 5 * time.Minute, Status: status.Failed}}, "b": validated(success, 99, status.Succeeded)}
		played := simulation.Rollout{Strategy: progressive(2, 0, "20m"), Groups: groupsOf("ab"), Retries: simulation.Retries{
			Times: 1, After: 5 * time.Minute, Lives: func(string, int) simulation.Life {
				return simulation.Life{{After: 3 * time.Minute, Status: status.Failed}}
			}}}
		trace, err := played.Play(nil, livesOf(lives), start())
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"10m0s: again a, attempt 1", fmt.Sprintf("%dm0s: again b, attempt 0", success+20)}
		var got []string
		for _, w := range trace.Waves {
			if len(w.Again) > 0 {
				got = append(got, fmt.Sprintf("%v: again %s, attempt %d", w.After, strings.Join(w.Again, " "), w.Attempt))
			}
		}
		if !slices.Equal(got, want) || trace.Outcome != simulation.Breached {
			t.Errorf("success after %d: %q, %v; want %q", success, got, trace.Outcome, want)
		}
	}
}

// What a validator waits for is not said of a cluster any more once it has answered.
func TestTheMessageOfAValidationEndsWithIt(t *testing.T) {
	observed := []status.Report{{Cluster: "a", Status: status.Validating, Applied: start(), LastTransitionTime: start(), Message: "the mesh is not ready"}}
	messages := make(map[status.RolloutStatus]string)
	plan := func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		messages[reports[0].Status] = reports[0].Message
		return rollout.Plan(progressive(1, 0, ""), groupsOf("a"), reports, now, rollout.Options{})
	}
	if _, err := simulation.Resume(plan, observed, livesOf(map[string]simulation.Life{"a": validated(0, 2, status.Succeeded)}), start()); err != nil {
		t.Fatal(err)
	}
	if want := map[status.RolloutStatus]string{status.Validating: "the mesh is not ready", status.Succeeded: ""}; !maps.Equal(messages, want) {
		t.Errorf("%q, want %q", messages, want)
	}
}

// history plays what a controller does minute by minute, which validates by status.Judge: works succeed and validators answer as they will.
// It gives the time from which on nothing changes, and how it stands then.
func (w world) history(t *rapid.T, minutes int) (end time.Duration, last status.Counts) {
	applied := make(map[string]time.Time)
	for minute := range minutes {
		now := start().Add(time.Duration(minute) * time.Minute)
		for planned := false; !planned; {
			var reports []status.Report
			var verdicts []status.Verdict
			for cluster, since := range applied {
				life := w.lives[cluster]
				r := status.Report{Cluster: cluster, Status: status.Progressing, LastTransitionTime: since, Applied: since}
				if len(life) > 0 {
					if at := since.Add(life[0].After); !at.After(now) {
						r.Status, r.LastTransitionTime = status.Succeeded, at
					}
				}
				if len(life) > 1 {
					if at := since.Add(life[1].After); !at.After(now) {
						said := map[status.RolloutStatus]status.ValidationResult{status.Succeeded: status.ValidationSucceeded, status.Failed: status.ValidationFailed}[life[1].Status]
						verdicts = append(verdicts, status.Verdict{Cluster: cluster, Version: "v", Result: said, Time: at})
					}
				}
				reports = append(reports, r)
			}
			result, err := rollout.Plan(w.strategy, w.groups, status.Judge(reports, "v", verdicts), now, w.options)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range result.Start {
				applied[c.Name] = now
			}
			if planned = len(result.Start) == 0; planned && result.Next.Counts != last {
				end, last = now.Sub(start()), result.Next.Counts
			}
		}
	}
	return end, last
}

// What is forecast is what happens, where clusters and validators take as long as they were expected to.
func TestAValidatedRolloutIsForecastAsItGoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for cluster := range w.lives {
			life := validated(rapid.IntRange(0, 6).Draw(t, "succeeds"), rapid.IntRange(0, 15).Draw(t, "said"),
				rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Succeeded, status.Succeeded, status.Failed}).Draw(t, "verdict"))
			w.lives[cluster] = life[:rapid.SampledFrom([]int{2, 2, 2, 2, 1}).Draw(t, "steps")]
		}
		trace, err := simulation.Rollout{Strategy: w.strategy, Groups: w.groups, Options: w.options}.Play(nil, func(c string) simulation.Life { return w.lives[c] }, start())
		if err != nil {
			t.Fatal(err)
		}
		end, last := w.history(t, 12*30+60)
		forecast := trace.Waves[len(trace.Waves)-1]
		for i := len(trace.Waves) - 1; i > 0 && trace.Waves[i-1].Counts == forecast.Counts && len(trace.Waves[i].Started) == 0; i-- {
			forecast = trace.Waves[i-1]
		}
		if forecast.After != end || forecast.Counts != last {
			t.Fatalf("forecast: %v after %v; it was %v after %v", forecast.Counts, forecast.After, last, end)
		}
	})
}
