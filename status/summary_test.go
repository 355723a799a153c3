// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// S6: the aggregate, one reason a row.
func TestAggregate(t *testing.T) {
	for _, test := range []struct {
		why string
		in  status.Summary
		// want is the aggregate.
		want status.RolloutStatus
	}{
		{"S6 no selected cluster", status.Summary{}, status.Succeeded},
		{"S6 incomplete groups: what is selected is not known yet", status.Summary{Incomplete: "partially observed"}, status.Progressing},
		{"S6 incomplete groups come before a breach, which may not be one of the whole", status.Summary{Counts: status.Counts{Failed: 1}, Incomplete: "partially observed", Breach: "stopped"}, status.Progressing},
		{"S6 a pause is no end", status.Summary{Counts: status.Counts{ToApply: 1}, Paused: "the rollout is paused"}, status.Progressing},
		{"S6 a pause behind the end changes nothing", status.Summary{Counts: status.Counts{Succeeded: 1}, Paused: "the rollout is paused"}, status.Succeeded},
		{"S6 all done", status.Summary{Counts: status.Counts{Succeeded: 3}}, status.Succeeded},
		{"S6 Skip counts as neither", status.Summary{Counts: status.Counts{Skip: 3}}, status.Succeeded},
		{"S6 Skip hides no failure", status.Summary{Counts: status.Counts{Skip: 3, TimeOut: 1}}, status.Failed},
		{"S6 one waits", status.Summary{Counts: status.Counts{Succeeded: 3, ToApply: 1}}, status.Progressing},
		{"S6 one is in flight", status.Summary{Counts: status.Counts{Succeeded: 3, Progressing: 1}}, status.Progressing},
		{"S6 one soaks", status.Summary{Counts: status.Counts{Succeeded: 3, Soaking: 1}}, status.Progressing},
		{"S6 a tolerated failure may still recover", status.Summary{Counts: status.Counts{Succeeded: 3, Failed: 1}}, status.Progressing},
		{"S6 a tolerated timeout is a failure in the end", status.Summary{Counts: status.Counts{Succeeded: 3, TimeOut: 1}}, status.Failed},
		{"S6 what still runs comes before a timeout", status.Summary{Counts: status.Counts{Progressing: 1, TimeOut: 1}}, status.Progressing},
		{"S6 a breach comes before what still runs", status.Summary{Counts: status.Counts{ToApply: 1, Progressing: 1, Failed: 1}, Breach: "stopped"}, status.Failed},
		{"S6 a removed cluster counts for nothing", status.Summary{Removed: 3}, status.Succeeded},
	} {
		if got := test.in.Aggregate(); got != test.want {
			t.Errorf("%s: %v aggregates to %s, want %s", test.why, test.in, got, test.want)
		}
	}
}

func anyCounts(t *rapid.T) status.Counts {
	n := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	c := status.Counts{
		ToApply: n("toApply", 5), Progressing: n("progressing", 5), Succeeded: n("succeeded", 5),
		Failed: n("failed", 5), TimeOut: n("timeOut", 5), Skip: n("skip", 5),
	}
	c.Soaking, c.Blocked = n("soaking", c.Succeeded), n("held", c.ToApply)
	c.Partial = rapid.Bool().Draw(t, "partial")
	return c
}

// S5: every cluster is waiting, in flight, done or timed out; 100% means all, and none where more clusters may come.
func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCounts(t)
		if sum := c.ToApply + c.InFlight() + c.Done() + c.TimeOut; sum != c.Total() {
			t.Fatalf("%+v: parts sum to %d, total is %d", c, sum, c.Total())
		}
		if p := c.Percent(); p < 0 || p > 100 || (p == 100) != (c.Done() == c.Total() && c.Total() > 0 && !c.Partial) {
			t.Fatalf("%+v: %d%%", c, p)
		}
		other := anyCounts(t)
		if sum := c.Add(other); sum.Total() != c.Total()+other.Total() || sum.Done() != c.Done()+other.Done() ||
			sum.InFlight() != c.InFlight()+other.InFlight() || sum.Failures() != c.Failures()+other.Failures() ||
			sum.Blocked != c.Blocked+other.Blocked || sum.Partial != (c.Partial || other.Partial) || c.Add(status.Counts{}) != c {
			t.Fatalf("%+v + %+v = %+v", c, other, sum)
		}
	})
}

// As many ignored clusters as such that are do not make none.
func TestClustersThatAreNotCountedAreSelected(t *testing.T) {
	c := status.Counts{Succeeded: 2, Ignored: 2}
	if got, want := c.String(), "2 of 2 clusters done, 2 more ignored"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s := status.Summary{Counts: c, Incomplete: "one is missing"}
	if got, want := s.String(), "2 of 2 clusters done, 2 more ignored; one is missing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func ExampleSummary() {
	s := status.Summary{
		Counts: status.Counts{ToApply: 302, Blocked: 302, Progressing: 5, Succeeded: 12, TimeOut: 1},
		Groups: []status.GroupCounts{
			{Group: grouping.Key{Index: 0, Name: "canary"}, Counts: status.Counts{Succeeded: 10}},
			{Group: grouping.Key{Index: 1}, Counts: status.Counts{ToApply: 302, Blocked: 302, Progressing: 5, Succeeded: 2, TimeOut: 1}},
		},
		Waiting: []string{"no free slot: 5 in flight, 5 at a time"},
	}
	fmt.Println(s)
	fmt.Printf("%s, %d%%\n", s.Aggregate(), s.Percent())
	for _, g := range s.Groups {
		fmt.Println(g)
	}
	// Output:
	// 12 of 320 clusters done, 5 in flight, 1 failed; no free slot: 5 in flight, 5 at a time
	// Progressing, 3%
	// group 0 "canary": 10 of 10 clusters done
	// group 1: 2 of 310 clusters done, 5 in flight, 1 failed, 302 not started
}
