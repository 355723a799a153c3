// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// TestConditionsStayTheSameWhileNothingHappens (R29, S6): a reconcile with the same reports, in any order, and before
// RecheckAfter has passed, changes no condition. So a controller writes its status only when it has news, and no reconcile
// is the cause of the next.
func TestConditionsStayTheSameWhileNothingHappens(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		var conditions []metav1.Condition
		status.SetConditions(&conditions, p.result.Summary(), 1, p.now)
		last := 1000 * time.Hour
		if p.result.RecheckAfter > 0 {
			last = p.result.RecheckAfter - 1
		}
		p.reports = slices.Clone(p.reports)
		slices.Reverse(p.reports)
		for _, later := range []time.Duration{0, last / 2, last} {
			at := p.now.Add(later)
			s := p.at(t, at).result.Summary()
			before := slices.Clone(conditions)
			if status.SetConditions(&conditions, s, 1, at) {
				return fmt.Sprintf("%v later\n%v\nbecame\n%v", later, before, conditions)
			}
		}
		return ""
	})
}

// TestSentencesHaveABound (R29): with the longest names that a hub allows and every trouble at once, a sentence is at most
// the 1,024 bytes of a condition's message.
func TestSentencesHaveABound(t *testing.T) {
	long := func(c byte, i int) string { return fmt.Sprintf("%s%02d", strings.Repeat(string(c), 61), i) }
	name := grouping.Key{Name: strings.Repeat("g", 63)}
	names := map[grouping.Key][]string{name: nil, {Index: 1, Name: strings.Repeat("h", 63)}: {"z"}}
	var reports []status.Report
	for i := range 5 {
		for kind, report := range kindsOfReports {
			cluster := long(byte('a'+kind), i)
			names[name] = append(names[name], cluster)
			if r := report(cluster); r != nil {
				if apart := -time.Duration(i) * time.Second; !r.LastTransitionTime.IsZero() { // so that each ends at its own time
					r.LastTransitionTime = r.LastTransitionTime.Add(apart)
				} else if !r.Applied.IsZero() {
					r.Applied = r.Applied.Add(apart)
				}
				reports = append(reports, *r)
			}
		}
	}
	one, err := grouping.FromNames(names)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := grouping.Join(grouping.PlacementGroups{Placement: strings.Repeat("p", 63), Groups: one})
	if err != nil {
		t.Fatal(err)
	}
	longest := 0
	for _, strategy := range explainedStrategies() {
		for _, opts := range []rollout.Options{{}, {Gates: []rollout.ClosedGate{{Group: name, Gate: rollout.Gate{Name: strings.Repeat("w", 63)}}}}, {FailedFreesSlot: true}} {
			for _, failures := range []bool{true, false} {
				observed := slices.Clone(reports)
				if !failures {
					observed = slices.DeleteFunc(observed, func(r status.Report) bool {
						return r.Status == status.TimeOut || r.Status == status.Failed || !r.LastTransitionTime.IsZero() && !r.LastTransitionTime.After(atTen.Add(-time.Hour))
					})
				}
				r, err := rollout.Plan(strategy, groups, observed, atTen, opts)
				if err != nil {
					t.Fatal(err)
				}
				sentences := []string{r.Summary().String()}
				for c, reason := range r.Blocked() {
					sentences = append(sentences, reason.String())
					for _, l := range r.Explain(c.Name) {
						sentences = append(sentences, l.String())
					}
				}
				for _, b := range r.Blockers() {
					sentences = append(sentences, b.String())
				}
				for _, s := range sentences {
					if longest = max(longest, len(s)); len(s) > 1024 {
						t.Fatalf("%d bytes: %s", len(s), s)
					}
				}
			}
		}
	}
	t.Logf("the longest has %d bytes", longest)
}

// R29: sentences about clusters are shown while they have 550 bytes together, and the first always.
func TestSentencesAreWholeUpToTheirBound(t *testing.T) {
	said := func(reports ...status.Report) string {
		f := []string{"waits"}
		for _, r := range reports {
			f = append(f, r.Cluster)
		}
		r, err := rollout.Plan(progressive("1", config("9", "10m", 0)), newFleet(t).group("", f...).read(), reports, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, reason, _ := r.Find("waits")
		_, clusters, _ := strings.Cut(reason.String(), ": ")
		return clusters
	}
	for length := 400; length <= 600; length++ { // a byte at a time, so that one of the sums is the bound
		failed := status.Report{Cluster: strings.Repeat("a", length), Status: status.Failed, LastTransitionTime: now}
		progressing := status.Report{Cluster: "b", Status: status.Progressing, LastTransitionTime: now}
		first, second := said(failed), said(progressing)
		want := first + "; and 1 more"
		if len(first)+len(second) <= 550 {
			want = first + "; " + second
		}
		if got := said(failed, progressing); got != want {
			t.Fatalf("a name of %d bytes: got %s\nwant %s", length, got, want)
		}
	}
}

// R29: a sentence about groups names the blockers, then the groups alone, and then only counts them, as its bytes allow.
func TestSentencesOfGroupsAreWholeUpToTheirBound(t *testing.T) {
	said := func(after []string, fleet func(*fleet) *fleet, reports ...status.Report) string {
		f := newFleet(t)
		r, err := rollout.Plan(perGroup(config("0", "10m", 0)), fleet(f).group("z", "waits").read(), reports, now,
			rollout.Options{GroupOrder: rollout.GroupOrder{"x": {"a", "b"}, "y": {"a", "b"}, "z": after}})
		if err != nil {
			t.Fatal(err)
		}
		_, progress, _ := strings.Cut(r.Explain("waits")[0].Reason.String(), `"a": `)
		return progress
	}
	const short, and, more = "0 of 1 done", `; also waiting for group 1 "b": `, "; also waiting for 1 more group"
	seen := map[string]bool{}
	for length := 300; length <= 600; length++ { // a byte at a time, so that each of the sums is the bound
		a, b := strings.Repeat("a", length), strings.Repeat("b", 40)
		reports := []status.Report{
			{Cluster: a, Status: status.Progressing, LastTransitionTime: now},
			{Cluster: b, Status: status.Progressing, LastTransitionTime: now},
		}
		first := said([]string{"a"}, func(f *fleet) *fleet { return f.group("a", a) }, reports[0])
		second := strings.Replace(first, a, b, 1)
		want := first
		switch {
		case len(first)+len(and)+len(second) <= 550:
			want += and + second
		case len(first)+len(and)+len(short) <= 550:
			want += and + short
		default:
			want += more
		}
		two := func(f *fleet) *fleet { return f.group("a", a).group("b", b) }
		if got := said([]string{"a", "b"}, two, reports...); got != want {
			t.Fatalf("a name of %d bytes: got %s\nwant %s", length, got, want)
		}
		seen[want[len(first):]] = true

		four := func(f *fleet) *fleet { return two(f).group("y", "later").group("x", "later too") }
		then, after := "; also waiting for ", ", which come after these groups"
		switch y, x := `group 2 "y"`, `group 3 "x"`; {
		case len(want)+len(y)+len(x) <= 550:
			want += then + y + ", " + x + after
		case len(want)+len(y) <= 550:
			want += then + y + " and 1 more" + after
		default:
			want += then + "2 more groups" + after
		}
		if got := said([]string{"x", "y"}, four, reports...); got != want {
			t.Fatalf("a name of %d bytes: got %s\nwant %s", length, got, want)
		}
		seen[want[len(first):]] = true
	}
	if len(seen) < 6 {
		t.Errorf("endings: %v", slices.Collect(maps.Keys(seen)))
	}
}
