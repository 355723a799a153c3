// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

var oneByOne = naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}

// flying is a world of clusters in one group of which the first is enforced and has not answered.
func flying(t *testing.T, limits naiveLimits, clusters string) *world {
	w := newWorld(t, policyv1.Enforce, limits)
	w.bind("b", "prod: "+clusters)
	w.write(w.call(rollout.Options{}))
	w.write(w.call(rollout.Options{}))
	if w.started(strings.Fields(clusters)[0]) {
		return w
	}
	t.Fatalf("nothing has started: %s", w.dump())
	return nil
}

func recorded(r status.Record) string {
	var all []string
	for _, left := range r.Deselected {
		all = append(all, fmt.Sprint(left.Cluster, " ", left.Status))
	}
	return strings.Join(all, ", ")
}

// enforced are the clusters with a replica that enforces.
func (w *world) enforced() (names []string) {
	for name, r := range w.replicas {
		if r.Action == policyv1.Enforce {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// O16: a version that cuts off each agent that it reaches, a hub that taints these clusters after five minutes, and a scheduler that
// drops them. Only the first cluster ever has the version, and the root has failed.
func TestVersionThatCutsAgentsOffStopsAtTheLimit(t *testing.T) {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	for _, restarts := range []bool{false, true} {
		w := newWorld(t, policyv1.Enforce, oneByOne)
		w.bind("b", "prod: "+strings.Join(names, " "))
		since := map[string]time.Time{}
		for range 300 {
			w.write(w.call(rollout.Options{}))
			if restarts {
				w.restart()
			}
			bound := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				if w.started(name) && since[name].IsZero() {
					since[name] = w.now
				}
				return !since[name].IsZero() && w.now.Sub(since[name]) >= 5*time.Minute
			})
			w.place("b", "prod: "+strings.Join(bound, " "))
			w.now = w.now.Add(time.Minute)
		}
		if len(since) != 1 || len(w.enforced()) > 0 || w.root.RolloutStatus != string(status.Failed) || w.last.Breach == nil {
			t.Errorf("restarts %v: %d clusters got the version, enforced are %v, the root is %s", restarts, len(since), w.enforced(), w.root.RolloutStatus)
		}
	}
}

// O16: no policy stays enforced for the sake of evidence, and none is deleted before the record is stored. A controller that dies in
// between forgets nothing, and records nothing twice.
func TestReplicaIsDeletedOnceTheRecordIsStored(t *testing.T) {
	w := flying(t, oneByOne, "a b")
	w.place("b", "prod: b")
	w.now = w.now.Add(time.Minute)
	for range 2 {
		if p := w.call(rollout.Options{}); recorded(p.Record) != "a Progressing" || len(p.Removed) > 0 { // dies before it stores the record
			t.Fatalf("recorded %q, deletes %v", recorded(p.Record), p.Removed)
		}
	}
	p := w.call(rollout.Options{})
	w.store(p) // dies before it deletes
	w.restart()
	again := w.call(rollout.Options{})
	if got := again.Removed; !slices.Equal(got, []string{"a"}) || recorded(again.Record) != "a Progressing" {
		t.Fatalf("deletes %v, recorded %q", got, recorded(again.Record))
	}
	entry := again.Record.Deselected[0]
	if entry.Group.Name != "prod" || !entry.Applied.Equal(w.now.Add(-time.Minute)) {
		t.Errorf("the entry is %+v", entry)
	}
	w.write(again)
	if p := w.call(rollout.Options{}); len(p.Start)+len(p.Removed)+len(p.Writes()) > 0 || recorded(p.Record) != "a Progressing" {
		t.Errorf("asks for %s, recorded %q", p, recorded(p.Record))
	}
}

// O16: an entry in flight times out. Without a deadline it keeps its slot until an operator decides, and the sentences say so.
func TestFlightByTheRecordTimesOutOrWaitsForAPerson(t *testing.T) {
	endless := oneByOne
	endless.deadline = 0
	for _, c := range []struct {
		limits   naiveLimits
		recorded string
		root     status.RolloutStatus
		says     []string
	}{
		{oneByOne, "a TimeOut", status.Failed, []string{"a (deselected)", "add a to the ignored clusters (no longer counted as in flight, failed or done)"}},
		{endless, "a Progressing", status.Progressing, []string{"a (deselected)", "add a to the ignored clusters (no longer counted as in flight, failed or done)"}},
	} {
		w := flying(t, c.limits, "a b")
		w.place("b", "prod: b")
		w.settle()
		w.now = w.now.Add(time.Hour)
		w.settle()
		if got := recorded(w.record); got != c.recorded || w.root.RolloutStatus != string(c.root) || w.root.ComplianceState == policyv1.Compliant {
			t.Errorf("recorded %q, the root is %s", got, w.root.RolloutStatus)
		}
		for _, want := range c.says {
			if says := w.last.Explain("b").String(); !strings.Contains(says, want) {
				t.Errorf("b waits: %s\nwithout %q", says, want)
			}
		}
		w.ignored["a"] = true
		w.settle()
		if !w.started("b") || recorded(w.record) != "" {
			t.Errorf("a is ignored: recorded %q, %s", recorded(w.record), w.dump())
		}
	}
}

// O16: while a deselected cluster is not done, the root is neither Succeeded nor Compliant, and names it.
func TestRootIsNotDoneWhileWhoLeftIsNot(t *testing.T) {
	w := flying(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 2, maxFailures: 1}, "a b")
	w.evaluate("b")
	w.place("b", "prod: b")
	for range 4 {
		w.settle()
		if w.root.RolloutStatus != string(status.Progressing) || w.root.ComplianceState != "" || len(w.root.Status) != 2 || w.root.Status[0].ClusterName != "a" {
			t.Fatalf("the root is %+v", w.root)
		}
		w.now = w.now.Add(time.Hour)
	}
}

// O19: a cluster that is back while its entry is in flight gets its action at once, without a first pass and without a slot of its own.
func TestBackInFlightItGoesOn(t *testing.T) {
	w := flying(t, oneByOne, "a b")
	w.place("b", "prod: b")
	w.settle()
	w.now = w.now.Add(time.Minute)
	w.place("b", "prod: a b")
	p := w.call(rollout.Options{})
	if !slices.Equal(p.Start, []string{"a"}) || p.String() != "a: enforce, Progressing (create); b: inform, ToApply" {
		t.Fatalf("asks for %s", p)
	}
	w.write(p)
	w.settle()
	if recorded(w.record) != "" {
		t.Errorf("recorded %q", recorded(w.record))
	}
	w.evaluateAll()
	w.settle()
	if !w.started("b") {
		t.Errorf("a has complied, and b waits: %s", w.dump())
	}
}

// O19: a cluster that is back with a recorded failure is a failure at inform, until it reports that it complies. Then it waits for its turn.
func TestBackWithAFailureItIsHeldUntilItComplies(t *testing.T) {
	w := flying(t, oneByOne, "a b")
	w.place("b", "prod: b")
	w.now = w.now.Add(time.Hour)
	w.settle()
	w.place("b", "prod: a b")
	for range 2 {
		w.settle()
		if got := w.wave(); got != "a inform TimeOut, b inform ToApply: Failed" || w.last.Breach == nil {
			t.Fatalf("a is back: %s", got)
		}
		w.evaluate("a") // it does not comply
		w.now = w.now.Add(time.Hour)
	}
	w.content["a"] = w.version // an operator has fixed it
	w.evaluate("a")
	w.bind("c", "prod: ")
	w.lost["c"] = true
	if p := w.call(rollout.Options{}); recorded(p.Record) != "a TimeOut" {
		t.Errorf("O14: recorded %q while the groups are incomplete", recorded(p.Record))
	}
	w.bindings = w.bindings[:1]
	clear(w.lost)
	w.settle()
	if got := w.wave(); got != "a enforce Progressing, b inform ToApply: Progressing" || recorded(w.record) != "" {
		t.Errorf("a complies: %s, recorded %q", got, recorded(w.record))
	}
}

// O19: a returning cluster with a failure that keeps its slot is not enforced again. Its slot is free after the deadline.
func TestBackWithAFailureItHoldsItsSlotAndIsNotEnforced(t *testing.T) {
	limits := oneByOne
	limits.maxFailures, limits.failAtOnce = 1, true
	w := flying(t, limits, "a b")
	w.broken["a"] = true
	w.evaluateAll()
	w.place("b", "prod: b")
	w.settle()
	w.place("b", "prod: a b")
	for _, step := range []struct {
		after          time.Duration
		wave, recorded string
	}{
		{0, "a inform Failed, b inform ToApply: Progressing", "a Failed"},
		{9 * time.Minute, "a inform Failed, b inform ToApply: Progressing", "a Failed"},
		{time.Minute, "a inform TimeOut, b enforce Progressing: Progressing", "a TimeOut"},
	} {
		w.now = w.now.Add(step.after)
		w.settle()
		if got := w.wave(); got != step.wave || recorded(w.record) != step.recorded {
			t.Errorf("%s, recorded %q, want %s and %q", got, recorded(w.record), step.wave, step.recorded)
		}
	}
}

// O19: a cluster that was deselected while it soaked, and returns, has no replica any more. It waits for its
// turn, after those that have the version with inform.
func TestBackAfterASuccessItWaitsForItsTurn(t *testing.T) {
	limits := oneByOne
	limits.soak = 5 * time.Minute
	w := flying(t, limits, "b c")
	w.evaluate("b")
	w.place("b", "prod: c")
	w.settle()
	if recorded(w.record) != "b Succeeded" || w.started("c") {
		t.Fatalf("recorded %q, %s", recorded(w.record), w.dump())
	}
	w.place("b", "prod: b c")
	if p := w.call(rollout.Options{}); p.String() != "b: inform, ToApply (create); c: enforce, Progressing (update)" {
		t.Errorf("asks for %s", p)
	}
}

// O8, O19: a cluster that returned or moved with an entry in the record is not blocked where the policy only informs now, also while groups
// are incomplete. The root has not failed, and while groups are incomplete the record stays as it is.
func TestNoEntryHoldsAClusterThatInforms(t *testing.T) {
	for _, test := range []struct {
		name                string
		broken, moves, lost bool
		after               time.Duration
		recorded            string
	}{
		{"back in flight", false, false, false, 0, "a Progressing"},
		{"back with a failure", true, false, false, 0, "a Failed"},
		{"back after the deadline", true, false, false, time.Hour, "a TimeOut"},
		{"moved with a failure", true, true, false, 0, "a Failed"},
		{"incomplete", true, true, true, 0, "a Failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := naiveLimits{typ: clusterv1alpha1.ProgressivePerGroup, deadline: 10 * time.Minute, maxFailures: 1, failAtOnce: true}
			w := newWorld(t, policyv1.Enforce, limits)
			w.bind("b", "canary: a|prod: b")
			w.write(w.call(rollout.Options{}))
			w.write(w.call(rollout.Options{}))
			if w.broken["a"] = test.broken; test.broken {
				w.evaluate("a")
			}
			w.now = w.now.Add(test.after)
			if w.place("b", "canary:|prod: a b"); !test.moves {
				w.place("b", "canary:|prod: b")
			}
			w.settle()
			if recorded(w.record) != test.recorded {
				t.Fatalf("recorded %q: %s", recorded(w.record), w.dump())
			}
			w.place("b", "canary:|prod: a b")
			w.policy.Spec.RemediationAction = policyv1.Inform
			want := "" // under one pass nothing is limited
			if test.lost {
				w.bind("c", "prod: ")
				w.lost["c"], want = true, test.recorded
			}
			p := w.call(rollout.Options{})
			if a, _ := p.Find("a"); a.RolloutStatus != status.Progressing || !slices.Contains(p.Start, "a") {
				t.Errorf("asks for %s, starts %v", p, p.Start)
			}
			if w.rootAfter.RolloutStatus != string(status.Progressing) || recorded(p.Record) != want {
				t.Errorf("recorded %q, the root is %s", recorded(p.Record), w.rootAfter.RolloutStatus)
			}
		})
	}
}

// O16: a cluster that was deselected while enforced counts in its group also while the policy informs, so its group is known once the policy enforces again.
func TestGroupOfWhoLeftIsKnownAfterOnePass(t *testing.T) {
	w := flying(t, oneByOne, "a b")
	w.place("b", "prod: b")
	for _, action := range []policyv1.RemediationAction{policyv1.Enforce, policyv1.Inform, policyv1.Enforce} {
		w.policy.Spec.RemediationAction = action
		w.call(rollout.Options{}) // and nothing is stored
	}
	if left := w.last.Record.Deselected; len(left) != 1 || left[0].Group.Name != "prod" {
		t.Errorf("recorded %+v", left)
	}
}

// O14, O16: while the groups are incomplete, nothing is recorded and nothing is deleted. A record of another version is dropped all the same.
func TestNothingIsRecordedWhileGroupsAreIncomplete(t *testing.T) {
	w := flying(t, oneByOne, "a b")
	w.lost["b"] = true
	if p := w.call(rollout.Options{}); recorded(p.Record) != "" || len(p.Removed) > 0 {
		t.Errorf("recorded %q, deletes %v", recorded(p.Record), p.Removed)
	}
	clear(w.lost)
	w.place("b", "prod: b")
	w.settle()
	w.version++
	w.lost["b"] = true
	if p := w.call(rollout.Options{}); recorded(w.record) == "" || recorded(p.Record) != "" {
		t.Errorf("with another version %q became %q", recorded(w.record), recorded(p.Record))
	}
}

// O16: the record belongs to a version. The record of a disabled policy stays as it is, all its replicas are deleted, and where it
// is enabled again what was recorded counts.
func TestRecordOfADisabledPolicyStays(t *testing.T) {
	w := flying(t, oneByOne, "a b")
	w.place("b", "prod: b")
	w.now = w.now.Add(time.Hour)
	w.settle()
	w.policy.Spec.Disabled = true
	w.settle()
	if recorded(w.record) != "a TimeOut" || len(w.replicas) > 0 {
		t.Errorf("recorded %q, replicas %s", recorded(w.record), w.dump())
	}
	w.policy.Spec.Disabled = false
	w.settle()
	if w.started("b") || w.last.Breach == nil {
		t.Error("b starts")
	}
	w.version++
	w.settle()
	if !w.started("b") || recorded(w.record) != "" {
		t.Errorf("another version does not start over: recorded %q", recorded(w.record))
	}
}

// O16: MaxStarts counts the starts of deselected clusters, also in one pass.
func TestMaxStartsCountsWhoLeft(t *testing.T) {
	for _, limits := range []naiveLimits{{typ: clusterv1alpha1.All}, {typ: clusterv1alpha1.Progressive, maxConcurrency: 5, maxFailures: 5}} {
		w := newWorld(t, policyv1.Enforce, limits)
		w.unchecked = true
		w.bind("b", "prod: a b c")
		pass := func() *passes.Propagation {
			p := w.call(rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}, Previous: w.memory.Remembered()})
			w.write(p)
			return p
		}
		started := map[string]bool{}
		for range 55 {
			for _, name := range pass().Start {
				started[name] = true
				w.place("b", "prod: "+strings.Trim(strings.ReplaceAll(" b c", " "+name, ""), " "))
				w.evaluate(name)
			}
			w.now = w.now.Add(time.Minute)
		}
		if len(started) != 1 {
			t.Errorf("%s: started %v within an hour", limits.typ, started)
		}
	}
}
