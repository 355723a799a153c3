// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O26: a cluster reports that it complies with the version before, while the bad version is under way to it. No other cluster starts for that.
func TestAReportFromBeforeTheArrivalIsNoAnswer(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 30 * time.Minute}, policyv1.Enforce, 3)
	f.bound()
	f.agents["c00"].lag = 3 * time.Second
	f.edit(config("a", 1, 5*time.Second))
	f.run(6 * time.Second) // c00 evaluates it 5 seconds after it got it
	bad := config("a", 2, 5*time.Second)
	bad.bad = true
	f.edit(bad)
	if f.run(time.Hour); len(f.exposed()) != 1 || f.status.RolloutStatus != "Failed" {
		t.Errorf("%v have the bad version, and the root is %s", f.exposed(), f.status.RolloutStatus)
	}
}

// O26: an offline cluster blocks no other, and starts after five minutes, or after a shorter deadline.
func TestACutOffClusterStartsLate(t *testing.T) {
	for _, test := range []struct {
		deadline time.Duration
		from     string
	}{
		{0, "2026-11-21T12:05:00Z"},
		{10 * time.Minute, "2026-11-21T12:05:00Z"},
		{time.Minute, "2026-11-21T12:01:00Z"},
	} {
		f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: test.deadline}, policyv1.Enforce, 3)
		f.agents["c00"].lag = 1000 * time.Hour
		f.edit(config("a", 1, time.Second))
		f.run(30 * time.Second)
		var got []string
		for c, reason := range f.last.Blocked() {
			got = append(got, fmt.Sprintf("%s: %s / %s", c.Name, reason, f.last.Explain(c.Name)))
		}
		sentence := "waiting until the cluster reports on this version with remediationAction inform, at most until " + test.from
		if want := fmt.Sprintf("[c00: %s / %[1]s]", sentence); fmt.Sprint(got) != want {
			t.Errorf("deadline %v: got\n%s, want\n%s", test.deadline, got, want)
		}
		from, _ := time.Parse(time.RFC3339, test.from)
		if f.run(from.Sub(f.now)); f.hub["c00"].Spec.RemediationAction != policyv1.Inform {
			t.Errorf("deadline %v: c00 is enforced before %s", test.deadline, test.from)
		}
		if f.run(time.Second); f.hub["c00"].Spec.RemediationAction != policyv1.Enforce {
			t.Errorf("deadline %v: c00 is not enforced after %s", test.deadline, test.from)
		}
	}
}

// O26: what is a sign that a cluster has the first pass, and where none is needed.
func TestSignsOfTheFirstPass(t *testing.T) {
	a1, a2, b := config("a", 1, 0), config("a", 2, 0), config("b", 1, 0)
	was := detail("a", "Compliant", noon.Add(-time.Minute))
	gone := detail("b", "Compliant", noon.Add(-time.Minute))
	for _, test := range []struct {
		why          string
		before, then []part
		had, has     []policyv1.PolicyDetails
		starts       bool
	}{
		{"a new replica, no status", nil, []part{a1}, nil, nil, false},
		{"a new replica, an entry without a message", nil, []part{a1}, nil, []policyv1.PolicyDetails{detail("a", "", noon)}, true},
		{"the message that was there", []part{a1}, []part{a2}, []policyv1.PolicyDetails{was}, []policyv1.PolicyDetails{was}, false},
		{"another message, though from before the write", []part{a1}, []part{a2}, []policyv1.PolicyDetails{was}, []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(-time.Second))}, true},
		{"nothing is owed", []part{a1}, []part{a1}, []policyv1.PolicyDetails{was}, []policyv1.PolicyDetails{was}, true},
		{"an added template has no entry", []part{a1}, []part{a1, b}, []policyv1.PolicyDetails{was}, []policyv1.PolicyDetails{was}, false},
		{"an added template has an entry", []part{a1}, []part{a1, b}, []policyv1.PolicyDetails{was}, []policyv1.PolicyDetails{was, detail("b", "", noon)}, true},
		{"an added template has the entry of one that was removed", []part{a1}, []part{a1, b}, []policyv1.PolicyDetails{was, gone}, []policyv1.PolicyDetails{was, gone}, false},
		{"a removed template has an entry", []part{a1, b}, []part{a1}, []policyv1.PolicyDetails{was, gone}, []policyv1.PolicyDetails{was, gone}, false},
		{"a removed template has none any more, and another one says nothing new", []part{a1, b}, []part{a2}, []policyv1.PolicyDetails{was, gone}, []policyv1.PolicyDetails{was}, true},
		{"it had none before", []part{a1, b}, []part{a2}, []policyv1.PolicyDetails{was}, []policyv1.PolicyDetails{was}, false},
		{"a removed template has none", []part{a1, b}, []part{a1}, []policyv1.PolicyDetails{was, gone}, []policyv1.PolicyDetails{was}, true},
	} {
		r := informed(t, test.before, test.then, test.had)
		r.status.Details = test.has
		replica := passes.ReplicaOf(&r.Policy, &r.status)
		p, err := passes.Propagate(resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive}), to("a")), "v2", status.Record{},
			[]passes.Replica{replica}, noon.Add(time.Second), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.Start) == 1; got != test.starts {
			t.Errorf("%s: starts %t, want %t: %s", test.why, got, test.starts, p)
		}
		if !test.starts && p.RecheckAfter != 5*time.Minute-time.Second {
			t.Errorf("%s: look again after %v", test.why, p.RecheckAfter)
		}
	}
}

// informed is a replica with inform of the templates before, with that status, which then gets others at noon as version v2.
func informed(t *testing.T, before, then []part, had []policyv1.PolicyDetails) *stored {
	t.Helper()
	s := &stored{Policy: policyv1.Policy{}}
	s.Namespace = "a"
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive}), to("a"))
	write := func(version string, parts []part, at time.Time) {
		var replicas []passes.Replica
		if s.Spec.PolicyTemplates != nil {
			replicas = append(replicas, passes.ReplicaOf(&s.Policy, &s.status))
		}
		p, err := passes.Propagate(resolution, version, status.Record{}, replicas, at, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Stamp(s, p.Clusters[0], at)
		s.Spec.PolicyTemplates, s.Spec.RemediationAction = templatesOf(parts), p.Clusters[0].Action
	}
	if before != nil {
		write("v1", before, noon.Add(-time.Hour))
		s.status.Details = had
	}
	write("v2", then, noon)
	return s
}

// O26, O17: a cluster was offline while both passes were written, so it gets the second alone. There is nothing new in a template that
// the version did not change, and there is no report on it. The cluster is done all the same, and no cluster fails.
func TestAClusterThatMissedTheFirstPassIsDone(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 2 * time.Hour}, policyv1.Enforce, 2)
	f.edit(config("a", 1, time.Second), config("b", 1, time.Second))
	if !f.settled(time.Hour) {
		t.Fatal("the first version is not done")
	}
	f.agents["c00"].away = true
	f.edit(config("a", 1, time.Second), config("b", 2, time.Second))
	if f.run(20 * time.Minute); f.hub["c00"].Spec.RemediationAction != policyv1.Enforce || f.hub["c00"].status.RolloutStatus != "Progressing" {
		t.Fatalf("c00 has %s and is %s", f.hub["c00"].Spec.RemediationAction, f.hub["c00"].status.RolloutStatus)
	}
	f.back("c00")
	if !f.settled(30 * time.Minute) {
		t.Errorf("%s: %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
}

// O26: a replica is read as of a time. Five minutes after the write of the first pass a cluster that says nothing has been through it.
func TestAReplicaReadLaterHasBeenThroughASilentFirstPass(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive}), to("a"))
	s := informed(t, nil, []part{config("a", 1, 0)}, nil)
	silent := passes.ReplicaOf(&s.Policy, &s.status)
	for after, through := range map[time.Duration]bool{time.Second: false, 5*time.Minute - time.Second: false, 5 * time.Minute: true} {
		read := silent.At(noon.Add(after))
		if _, got := read.Report(resolution, "v2", noon.Add(time.Second)); got != through {
			t.Errorf("read %v after the write, it reports: %t, want %t", after, got, through)
		}
	}
}
