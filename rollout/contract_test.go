package rollout_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// TestResultIsTheCallers: whatever a caller does to the fields of a result, its methods still say what Plan
// found.
func TestResultIsTheCallers(t *testing.T) {
	worlds := []planned{
		everything(),
		{strategy: perGroup(config("", "10m", 0), "ghost"), groups: []string{"a b", "c"}, reports: "a=TimeOut x=Failed"},
		{strategy: perGroup(config("", "", 0)), groups: []string{"canary: a b", "c"}, reports: "a=Progressing b=Failed/1m"},
		{strategy: progressive("1", config("9", "", 0), "0"), groups: []string{"a b", "c d"}, reports: "a=Skip b=Skip c=Failed"},
		{strategy: progressive("1", config("9", "", 0), "0"), groups: []string{"a b", "c d"}, reports: "a=Progressing"},
	}
	for i, s := range worlds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := plan(t, s)
			var before, after answer
			before.observe(plan(t, s))
			if r.Breach != nil {
				*r.Breach = rollout.Breach{Failures: 99}
			}
			clear(r.InFlight)
			clear(r.Start)
			clear(r.TimedOut)
			clear(r.Warnings)
			for i := range r.Schedule.Stages {
				clear(r.Schedule.Stages[i].Groups)
			}
			clear(r.Schedule.Stages)
			if r.Schedule.ProgressDeadline != nil {
				*r.Schedule.ProgressDeadline = 0
			}
			r.Breach, r.Removed, r.Start = nil, nil, nil

			after.observe(r)
			if !slices.Equal(before.Held, after.Held) || !slices.Equal(before.Settled, after.Settled) ||
				!slices.Equal(before.Holds, after.Holds) || !sameSummary(before.Summary, after.Summary) {
				t.Error(diff(&before, &after))
			}
		})
	}
}

// TestZeroResult: a result that no Plan made, or that was read from JSON, knows no cluster.
func TestZeroResult(t *testing.T) {
	var r rollout.Result
	if d, hold, ok := r.Find("a"); ok || d != "" || hold != (rollout.Hold{}) {
		t.Errorf("Find = %v, %v, %v", d, hold, ok)
	}
	for c := range r.Settled() {
		t.Error(c)
	}
	for c := range r.Held() {
		t.Error(c)
	}
	if w := r.HoldCounts(); w != nil {
		t.Error(w)
	}
	if s := r.Summary(); s.Total() != 0 || s.Breach != "" {
		t.Error(s)
	}
	if got := r.String(); got != "nothing to do" {
		t.Error(got)
	}
}

// TestIteratorsStop: a caller may break off.
func TestIteratorsStop(t *testing.T) {
	r := plan(t, planned{strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"}, reports: "a=Skip b=Skip c=Skip d=TimeOut"})
	n := 0
	for range r.Settled() {
		if n++; n == 2 {
			break
		}
	}
	for range plan(t, planned{strategy: perGroup(config("", "", 0)), groups: []string{"a", "c d"}}).Held() {
		n++
		break
	}
	if n != 3 {
		t.Errorf("%d steps, want 3", n)
	}
}

// TestPlansShareNothing: Groups, reports and options may be in use by many at once. Meant for -race.
func TestPlansShareNothing(t *testing.T) {
	groups := fleetOf(t, "a b c d", "e f g").read()
	reports := reportsOf(t, "a=Progressing/1m b=Succeeded/1m c=ToApply x=Succeeded/1m")
	options := rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 1}, Gate: rollout.Gate{}}}, MaxConcurrencyPerGroup: intstr.FromInt32(2), Order: func(a, b string) int { return 0 }, MaxRemoved: ptr(intstr.FromInt32(2))}
	shared, err := rollout.Plan(perGroup(config("1", "10m", 0)), groups, reports, now, options)
	if err != nil {
		t.Fatal(err)
	}
	want := shared.String()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r, err := rollout.Plan(perGroup(config("1", "10m", 0)), groups, reports, now, options)
			if err != nil || r.String() != want || shared.String() != want || shared.Summary().Total() != 7 {
				t.Errorf("%v, %v, want %s", r, err, want)
			}
			shared.Find("b")
		})
	}
	wg.Wait()
}
