// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
)

// R14: MaxConcurrency, R15: MaxFailures, R16: percentages, as the counts that took effect.
func TestLimitsThatTookEffect(t *testing.T) {
	hundred := make([]string, 10)
	for i := range hundred {
		for j := range 10 {
			hundred[i] += string(rune('a'+i)) + string(rune('a'+j)) + " "
		}
	}
	hundred[9] = "canary: " + hundred[9]
	type limits struct{ MaxConcurrency, MaxFailures int }
	for _, c := range []struct {
		name                        string
		maxConcurrency, maxFailures string
		mandatory                   []string
		size                        string
		want                        limits
	}{
		{name: "R14 unset means all, R15 unset means 0", want: limits{100, 0}},
		{name: "R14 and R15 above the total", maxConcurrency: "101", maxFailures: "2147483647", want: limits{100, 100}},
		{name: "R14 and R15 counts", maxConcurrency: "99", maxFailures: "1", want: limits{99, 1}},
		{name: "R16 in integers, where floats give 8", maxConcurrency: "7%", maxFailures: "7%", want: limits{7, 7}},
		{name: "R16 of the clusters outside the mandatory groups and of all, rounded up", maxConcurrency: "1%", maxFailures: "1%", mandatory: []string{"canary"}, want: limits{1, 1}},
		{name: "R16 and not of all", maxConcurrency: "50%", maxFailures: "50%", mandatory: []string{"canary"}, want: limits{45, 50}},
		{name: "R16 rounded up", maxConcurrency: "51%", mandatory: []string{"canary"}, want: limits{46, 0}},
		{name: "R16 0% failures", maxFailures: "0%", want: limits{100, 0}},
		{name: "R16 100%", maxConcurrency: "100%", maxFailures: "100%", want: limits{100, 100}},
		{name: "R14 the placement's size where it is asked for", size: "15", want: limits{15, 0}},
		{name: "R14 a percentage of all selected", mandatory: []string{"canary"}, size: "20%", want: limits{20, 0}},
		{name: "R14 above the total", mandatory: []string{"canary"}, size: "100%", want: limits{90, 0}},
		{name: "R14 not where the strategy has one", maxConcurrency: "3", size: "15", want: limits{3, 0}},
		{name: "R14 nor where the placement has none", size: "0", want: limits{100, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plan(t, planned{strategy: progressive(c.maxConcurrency, config(c.maxFailures, "", 0), c.mandatory...), groups: hundred, size: c.size}).Schedule
			pool := s.Stages[len(s.Stages)-1]
			if got := (limits{pool.MaxConcurrency, s.MaxFailures}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			from := ""
			if c.maxConcurrency != "" {
				from = "maxConcurrency"
			} else if c.size != "" && c.size != "0" && c.size != "100%" {
				from = "clustersPerDecisionGroup"
			}
			if s.ConcurrencySource != from {
				t.Errorf("R14 concurrency comes from %v, want %v", s.ConcurrencySource, from)
			}
		})
	}
	t.Run("R15 per group of each group's size", func(t *testing.T) {
		s := plan(t, planned{strategy: perGroup(config("34%", "", 0), "1"), groups: []string{"a b c", "d e f", "g h i j", "k", ""}}).Schedule
		var got []int
		for _, stage := range s.Stages {
			got = append(got, stage.MaxFailures)
		}
		if want := []int{0, 2, 2, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("R15 a count above the size tolerates every failure", func(t *testing.T) {
		result := plan(t, planned{strategy: perGroup(config("10", "", 0)), groups: []string{"a b", "c"}, reports: "a=TimeOut b=TimeOut"})
		if got, want := result.String(), "starting c"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
