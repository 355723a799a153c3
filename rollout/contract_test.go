// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
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
			wipe(r)
			after.observe(r)
			if !slices.Equal(before.Blocked, after.Blocked) || !slices.Equal(before.Settled, after.Settled) ||
				!slices.Equal(before.BlockCounts, after.BlockCounts) || !sameSummary(before.Summary, after.Summary) {
				t.Error(diff(&before, &after))
			}
		})
	}
}

// wipe has the caller use all fields of a result for something else.
func wipe(r *rollout.Result) {
	if r.Breach != nil {
		*r.Breach = rollout.Breach{Failures: 99}
	}
	for _, clusters := range [][]rollout.Cluster{r.InFlight, r.Start, r.TimedOut, r.Deselected} {
		clear(clusters)
	}
	clear(r.Removed)
	clear(r.PendingRemoval)
	clear(r.Warnings)
	clear(r.Record.Deselected)
	for i := range r.Schedule.Stages {
		clear(r.Schedule.Stages[i].Groups)
	}
	clear(r.Schedule.Stages)
	r.Next, r.InFlight, r.Schedule = rollout.Next{}, nil, rollout.Schedule{}
}

// asks gives what the methods of a result answer, but for String.
func asks(r *rollout.Result, w *world) string {
	var text strings.Builder
	for c, reason := range r.Blocked() {
		fmt.Fprintln(&text, c, reason, r.Explain(c.Name))
	}
	for c := range r.Settled() {
		fmt.Fprintln(&text, c)
	}
	for _, m := range w.members {
		d, reason, is := r.Find(m.name)
		fmt.Fprintln(&text, m.name, d, reason, is)
	}
	keys := append(slices.Clone(w.groups), grouping.Key{Name: "canary"})
	for _, key := range keys {
		clusters, otherwise := r.WouldStart(key)
		fmt.Fprintln(&text, key, clusters, otherwise)
	}
	fmt.Fprintln(&text, r.Positions(nil), r.Positions(map[string]rollout.Position{"a": {Index: 2, InGroup: 1}}))
	fmt.Fprintln(&text, r.Blockers(), r.BlockCounts(), r.Summary(), r.Changes(&rollout.Result{}))
	return text.String()
}

// R20: the fields of a result are the caller's. Whatever becomes of them, no method but String says anything else.
func TestMethodsDoNotReadWhatTheCallerMayChange(t *testing.T) {
	extras := [][]func(*world){gateChoices, severalFrozen, {asIs, alsoLeft(&grouping.Key{Index: 1}), pauseChoices[1], ignoredOfThreeChoices[0], sharesChoices[1], rampChoices[1], orderedChoices[2]}}
	keepsTheRules(t, querySpaces(extras...), func(t fataler, w world, groups *grouping.Groups, pick picker) string {
		if pick(3) == 0 {
			w = rolledBack(w, pick)
		}
		before, wiped := try(t, w, groups).result, try(t, w, groups).result
		wipe(wiped)
		if want, got := asks(before, &w), asks(wiped, &w); got != want {
			return fmt.Sprintf("after the caller changed the fields it says\n%s\nand said\n%s", got, want)
		}
		changes, then := before.Changes(&rollout.Result{}), (&rollout.Result{}).Changes(wiped)
		if want := (&rollout.Result{}).Changes(before); fmt.Sprint(then) != fmt.Sprint(want) || fmt.Sprint(changes) != fmt.Sprint(wiped.Changes(&rollout.Result{})) {
			return fmt.Sprintf("as the one before it makes changes of %v, and made %v", then, want)
		}
		return ""
	})
}

// R20, R49: the same of a record without room, which its entries say how to make.
func TestWhatMakesRoomInARecordIsNotReadFromIt(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	var reports []status.Report
	for i := range 300 {
		reports = append(reports, status.Report{Cluster: fmt.Sprint("x", i), Status: status.Failed, Applied: now, Attempt: 2})
	}
	opts := rollout.Options{Attempt: 2, StoredRecord: &rollout.StoredRecord{Version: "v"}}
	r, err := rollout.Plan(progressive("1", config("100%", "", 0)), groups, reports, now, opts)
	if err != nil {
		t.Fatal(err)
	}
	before := r.Explain("a").String()
	wipe(r)
	if after := r.Explain("a").String(); after != before || !strings.Contains(before, "attempt number to 3") {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}

// TestZeroResult: a result that no Plan made, or that was read from JSON, knows no cluster.
func TestZeroResult(t *testing.T) {
	var r rollout.Result
	if d, reason, ok := r.Find("a"); ok || d != "" || reason != (rollout.BlockReason{}) {
		t.Errorf("Find = %v, %v, %v", d, reason, ok)
	}
	for c := range r.Settled() {
		t.Error(c)
	}
	for c := range r.Blocked() {
		t.Error(c)
	}
	if w := r.BlockCounts(); w != nil {
		t.Error(w)
	}
	if s := r.Summary(); s.Total() != 0 || s.Breach != "" {
		t.Error(s)
	}
	if got := r.String(); got != "nothing to start or to remove" {
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
	for range plan(t, planned{strategy: perGroup(config("", "", 0)), groups: []string{"a", "c d"}}).Blocked() {
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
