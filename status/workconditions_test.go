// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// ruled gives the work a rule for a condition.
func ruled(work *workv1.ManifestWork, condition string) *workv1.ManifestWork {
	work.Spec.ManifestConfigs = []workv1.ManifestConfigOption{{}, {ConditionRules: []workv1.ConditionRule{{Condition: condition, Type: workv1.CelConditionExpressionsType}}}}
	return work
}

// manifests gives the work's status the conditions of manifests, the first a Deployment web.
func manifests(work *workv1.ManifestWork, conditions ...[]metav1.Condition) *workv1.ManifestWork {
	for i, of := range conditions {
		meta := workv1.ManifestResourceMeta{Ordinal: int32(i), Kind: "Deployment", Name: []string{"web", "db"}[i]}
		work.Status.ResourceStatus.Manifests = append(work.Status.ResourceStatus.Manifests, workv1.ManifestCondition{ResourceMeta: meta, Conditions: of})
	}
	return work
}

// about is a condition with a message.
func about(c metav1.Condition, message string) metav1.Condition {
	c.Message = message
	return c
}

// because is a condition with a reason and a message.
func because(c metav1.Condition, reason, message string) metav1.Condition {
	c.Reason, c.Message = reason, message
	return c
}

// S1: over every combination of the four conditions (missing, or with each value for the present or the former generation), of
// rules, of manifests that have no Available yet, and of the option, a report is what the sentences of the rule say, read one after
// the other.
func TestFromManifestWorkEveryCombination(t *testing.T) {
	values := []*metav1.Condition{nil}
	for _, value := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, observed := range []int64{generation, generation - 1} {
			c := condition("", value, observed, 0)
			values = append(values, &c)
		}
	}
	seen := map[string]int{}
	for n := range len(values) * len(values) * len(values) * len(values) * 8 {
		digit := func(base int) (d int) { d, n = n%base, n/base; return d }
		w := naiveWork{rule: digit(2) == 1, lacks: digit(2) == 1, counts: digit(2) == 1}
		w.applied, w.progressing, w.degraded, w.available = values[digit(7)], values[digit(7)], values[digit(7)], values[digit(7)]
		var conditions []metav1.Condition
		for i, c := range []*metav1.Condition{w.applied, w.progressing, w.degraded, w.available} {
			if c != nil {
				is := []string{"Applied", "Progressing", "Degraded", "Available"}[i]
				conditions = append(conditions, about(condition(is, c.Status, c.ObservedGeneration, 0), is+" says so"))
			}
		}
		work := manifests(manifestWork(conditions...), nil)
		if !w.lacks {
			work.Status.ResourceStatus.Manifests[0].Conditions = []metav1.Condition{condition("Available", metav1.ConditionTrue, 0, 0)}
		}
		if w.rule {
			ruled(work, "Progressing")
		} else {
			ruled(work, "Degraded") // which says nothing of progress
		}
		r := reportOfWork(t, status.WorkState{Work: work, Applied: at(0), AvailableSucceeds: w.counts})
		got, want := fmt.Sprintf("%s %s: %s", r.Status, r.Reason, r.Message), w.report()
		if got != want {
			t.Fatalf("%+v:\n%q, want\n%q", w, got, want)
		}
		seen[want]++
	}
	if len(seen) != 11 {
		t.Errorf("the combinations lead to %v, expected eleven reports", seen)
	}
}

// naiveWork is a work as the rule S1 speaks of it.
type naiveWork struct {
	applied, progressing, degraded, available *metav1.Condition
	rule, lacks, counts                       bool
}

func (w naiveWork) report() string {
	is := func(c *metav1.Condition, value metav1.ConditionStatus) bool {
		return c != nil && c.ObservedGeneration == generation && c.Status == value
	}
	hasObserved := func(c *metav1.Condition) bool { return c != nil && c.ObservedGeneration == generation }
	if is(w.applied, "False") {
		return "ToApply Refused: Applied says so"
	}
	if !is(w.applied, "True") || w.progressing != nil && !hasObserved(w.progressing) || w.degraded != nil && !hasObserved(w.degraded) {
		return "ToApply : "
	}
	if w.progressing != nil {
		switch {
		case is(w.progressing, "True") && is(w.degraded, "True"):
			return "Failed : Degraded says so"
		case is(w.progressing, "False"):
			return "Succeeded : "
		}
		return "Progressing : Progressing says so"
	}
	if !hasObserved(w.available) || w.lacks {
		return "ToApply : "
	}
	says := "Available says so"
	if is(w.degraded, "True") {
		says = "Degraded says so"
	}
	available := is(w.available, "True")
	switch {
	case w.counts && !w.rule && available && is(w.degraded, "True"):
		return "Failed : " + says
	case w.counts && !w.rule && available:
		return "Succeeded : "
	case w.counts && !w.rule, w.rule && !available:
		return "Progressing : " + says
	case !available || is(w.degraded, "True"):
		return "Progressing Untracked: " + says
	case w.rule:
		return "Progressing Untracked: the conditionRules in its template gave no condition Progressing"
	}
	return "Progressing Untracked: its template has no conditionRules that set the condition Progressing, so it is unknown when the workload is done"
}

// S1: where Available decides, the time is the later one of Applied and Available, for a failure also of Degraded. None of them
// moves when it only observes a new generation, so a soak runs from the write or from the answer that was noted.
func TestAvailableSucceedsSince(t *testing.T) {
	of := func(applied, available int, more ...metav1.Condition) *workv1.ManifestWork {
		return manifestWork(append(more, condition("Applied", metav1.ConditionTrue, generation, applied), condition("Available", metav1.ConditionTrue, generation, available))...)
	}
	for _, test := range []struct {
		why  string
		work *workv1.ManifestWork
		want string
	}{
		{"available after it was applied", of(2, 5), "Succeeded since 5"},
		{"refused at first, while what was there before stayed available", of(6, 1), "Succeeded since 6"},
		{"both as with the version before", of(1, 2), "Succeeded since 2"},
		{"degraded later", of(2, 5, condition("Degraded", metav1.ConditionTrue, generation, 8)), "Failed since 8"},
		{"degraded before the write", of(2, 5, condition("Degraded", metav1.ConditionTrue, generation, 1)), "Failed since 5"},
	} {
		r := reportOfWork(t, status.WorkState{Work: test.work, Applied: at(4), AvailableSucceeds: true})
		if got := fmt.Sprintf("%s since %d", r.Status, r.LastTransitionTime.Minute()); got != test.want || !r.Applied.Equal(at(4)) {
			t.Errorf("%s: %s, applied %v, want %s", test.why, got, r.Applied, test.want)
		}
	}
	work := of(1, 2)
	status.StampOf(work).NoteOn(work, "v1", 0, at(10))
	if r := reportOfWork(t, status.WorkState{Work: work, Version: "v1", AvailableSucceeds: true, Now: at(50)}); !r.Answered.Equal(at(50)) {
		t.Errorf("answered at %v: the soak would run from the write", r.Answered)
	}
	status.StampOf(work).NoteOn(work, "v1", 0, at(50)) // which knows no option
	for _, counts := range []bool{true, false} {
		if r := reportOfWork(t, status.WorkState{Work: work, Version: "v1", AvailableSucceeds: counts, Now: at(90)}); !r.Answered.Equal(at(50)) {
			t.Errorf("AvailableSucceeds %v: answered at %v, but 50 was noted", counts, r.Answered)
		}
	}
}

// S1: Available means a work that is being deleted, too, whose agent was cut off; and where it is unknown when the work got its version,
// no condition has a time.
func TestAvailableSucceedsInRareStates(t *testing.T) {
	available := []metav1.Condition{condition("Applied", metav1.ConditionTrue, generation, 1), condition("Available", metav1.ConditionTrue, generation, 2)}
	work := manifestWork(available...)
	work.Generation, work.DeletionTimestamp = generation+1, &metav1.Time{Time: at(3)}
	if r := reportOfWork(t, status.WorkState{Work: work, Applied: at(0), AvailableSucceeds: true}); r.Status != status.Succeeded || !r.Deleting {
		t.Errorf("being deleted: %+v", r)
	}
	for _, counts := range []bool{true, false} {
		if r := reportOfWork(t, status.WorkState{Work: manifestWork(available...), AvailableSucceeds: counts}); !r.LastTransitionTime.IsZero() || !r.Applied.IsZero() {
			t.Errorf("written at an unknown time: %+v", r)
		}
	}
	refused := manifestWork(condition("Applied", metav1.ConditionFalse, generation, 1))
	if r := reportOfWork(t, status.WorkState{Work: refused}); r.Status != status.Progressing || r.Reason != status.ReportRefused {
		t.Errorf("refused at an unknown time: %+v, want in flight", r)
	}
}

// S1: a rule that cannot be evaluated makes Progressing False, and that is no success. OCM's agents begin so where an object has no
// status yet.
func TestARuleWithAnErrorIsNoSuccess(t *testing.T) {
	done := condition("Progressing", metav1.ConditionFalse, generation, 2)
	for _, test := range []struct {
		why       string
		manifests [][]metav1.Condition
		want      string
	}{
		{"each rule was evaluated", [][]metav1.Condition{{because(done, "ConditionRuleEvaluated", "Manifest is not Progressing")}}, "Succeeded "},
		{"a field is missing", [][]metav1.Condition{{because(done, "ConditionRuleExpressionError", "no such key: status")}}, "Progressing Deployment web: ConditionRuleExpressionError no such key: status"},
		{"only in the second manifest", [][]metav1.Condition{{because(done, "ConditionRuleEvaluated", "")}, {because(done, "ConditionRuleInvalid", "unrecognized type")}}, "Progressing Deployment db: ConditionRuleInvalid unrecognized type"},
		{"the agent itself has an error", [][]metav1.Condition{{because(done, "ConditionRuleInternalError", "budget")}}, "Progressing Deployment web: ConditionRuleInternalError budget"},
		{"the error was of the version before", [][]metav1.Condition{{because(condition("Progressing", metav1.ConditionFalse, generation-1, 2), "ConditionRuleInvalid", "x")}}, "Succeeded "},
		{"the error is in a rule for something else", [][]metav1.Condition{{because(condition("Complete", metav1.ConditionFalse, generation, 2), "ConditionRuleInvalid", "x")}}, "Succeeded "},
	} {
		r := reportOfWork(t, status.WorkState{Work: manifests(manifestWork(condition("Applied", metav1.ConditionTrue, generation, 1), done), test.manifests...), Applied: at(0)})
		if got := fmt.Sprintf("%s %s", r.Status, r.Message); got != test.want || !r.LastTransitionTime.Equal(at(2)) {
			t.Errorf("%s: %q since %v, want %q", test.why, got, r.LastTransitionTime, test.want)
		}
	}
}

// S1: the message names the manifest that says why, since the one of a work often only counts: "Failed to apply manifest work",
// "Aggregated from 2 manifest conditions".
func TestFromManifestWorkMessage(t *testing.T) {
	applied := condition("Applied", metav1.ConditionTrue, generation, 1)
	refused := about(condition("Applied", metav1.ConditionFalse, generation, 1), "Failed to apply manifest work")
	progressing := about(condition("Progressing", metav1.ConditionTrue, generation, 1), "Aggregated from 2 manifest conditions")
	degraded := about(condition("Degraded", metav1.ConditionTrue, generation, 1), "Aggregated from 2 manifest conditions")
	no := func(is string, observed int64, message string) []metav1.Condition {
		return []metav1.Condition{about(condition(is, metav1.ConditionFalse, observed, 0), message)}
	}
	yes := func(is, message string) []metav1.Condition {
		return []metav1.Condition{about(condition(is, metav1.ConditionTrue, generation, 0), message)}
	}
	for _, test := range []struct {
		why  string
		work *workv1.ManifestWork
		want string
	}{
		{"the manifest that was refused", manifests(manifestWork(refused), yes("Applied", "Apply manifest complete"), no("Applied", generation, "deployments.apps is forbidden")), "Deployment db: deployments.apps is forbidden"},
		{"the first of two", manifests(manifestWork(refused), no("Applied", generation, "one"), no("Applied", generation, "two")), "Deployment web: one"},
		{"one that has nothing to say is passed over", manifests(manifestWork(refused), no("Applied", generation, ""), no("Applied", generation, "two")), "Deployment db: two"},
		{"what a manifest said of the version before is passed over", manifests(manifestWork(refused), no("Applied", generation-1, "one")), "Failed to apply manifest work"},
		{"no manifest is in the status", manifestWork(refused), "Failed to apply manifest work"},
		{"why it failed", manifests(manifestWork(applied, progressing, degraded), yes("Degraded", "exceeded its progress deadline")), "Deployment web: exceeded its progress deadline"},
		{"why it is not done", manifests(manifestWork(applied, progressing), yes("Progressing", "1 of 3 replicas")), "Deployment web: 1 of 3 replicas"},
		{"why it is not available", manifests(manifestWork(applied, about(condition("Available", metav1.ConditionFalse, generation, 1), "1 of 1 resources are not available")), no("Available", 0, "Resource is not available")), "Deployment web: Resource is not available"},
		{"lines, colours and directions", manifestWork(about(refused, " a\tb\r\n\x1b[31mc\x1b[0m\u202ed\x00\xff ")), "a b [31mc [0m d \ufffd"},
		{"a text without end", manifestWork(about(refused, strings.Repeat("é", 300))), strings.Repeat("é", 199) + "…"},
		{"just short enough", manifestWork(about(refused, strings.Repeat("é", 200))), strings.Repeat("é", 200)},
	} {
		if got := reportOfWork(t, status.WorkState{Work: test.work, Applied: at(0)}).Message; got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// S1: whatever an agent writes, a message is one line of at most 200 characters that can be printed.
func FuzzMessage(f *testing.F) {
	f.Add("Deployment web exceeded its progress deadline", "Deployment")
	f.Add("\x1b]0;title\x07\n<script>alert(1)</script>", "\u202e")
	f.Add(strings.Repeat(" a", 500), "")
	f.Fuzz(func(t *testing.T, message, kind string) {
		work := manifests(manifestWork(about(condition("Applied", metav1.ConditionFalse, generation, 1), message)), []metav1.Condition{about(condition("Applied", metav1.ConditionFalse, generation, 1), message)})
		work.Status.ResourceStatus.Manifests[0].ResourceMeta.Kind = kind
		for range 2 {
			got := reportOfWork(t, status.WorkState{Work: work, Applied: at(0)}).Message
			switch {
			case utf8.RuneCountInString(got) > 200 || !utf8.ValidString(got):
				t.Errorf("%d characters: %q", utf8.RuneCountInString(got), got)
			case strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }):
				t.Errorf("cannot be printed: %q", got)
			case got != strings.TrimSpace(got) || strings.Contains(got, "  "):
				t.Errorf("more than one space in a row, or around it: %q", got)
			}
			work.Status.ResourceStatus.Manifests = nil
		}
	})
}

// A template without conditionRules: nothing says when its works are done. A caller may let Available count.
func ExampleWorkState_available() {
	at := metav1.NewTime(time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC))
	work := &workv1.ManifestWork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Generation: 1, CreationTimestamp: at},
		Status: workv1.ManifestWorkStatus{Conditions: []metav1.Condition{
			{Type: workv1.WorkApplied, Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: at},
			{Type: workv1.WorkAvailable, Status: metav1.ConditionTrue, ObservedGeneration: 1, LastTransitionTime: at},
		}},
	}
	report, _ := status.FromManifestWork(status.WorkState{Work: work})
	fmt.Println(report.Status, report.Reason, report.Message)
	report, _ = status.FromManifestWork(status.WorkState{Work: work, AvailableSucceeds: true})
	fmt.Println(report.Status)
	// Output:
	// Progressing Untracked its template has no conditionRules that set the condition Progressing, so it is unknown when the workload is done
	// Succeeded
}
