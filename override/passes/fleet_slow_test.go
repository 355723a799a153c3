// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// slowVersion is a fleet that complies with a version, and gets a version whose template notices after twenty minutes that it is bad.
func slowVersion(t *testing.T, kind string, soak time.Duration) *fleet {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: time.Hour, soak: soak}, policyv1.Enforce, 4)
	quick, late := config("quick", 1, time.Second), part{name: "late", kind: kind, content: 1, delay: time.Second, fits: true}
	f.edit(quick, late)
	if !f.settled(4 * time.Hour) {
		t.Fatal("the first version is not done")
	}
	quick.content, late.content, late.bad, late.delay = 2, 2, true, slow
	f.edit(quick, late)
	return f
}

// O17: a template that reports on each content is waited for, however long that takes.
func TestASlowTemplateThatReportsIsWaitedFor(t *testing.T) {
	for _, kind := range []string{"ConfigurationPolicy", "OperatorPolicy"} {
		f := slowVersion(t, kind, 0)
		f.bound()
		if f.run(12 * time.Hour); f.status.RolloutStatus != "Failed" || len(f.exposed()) != 1 {
			t.Errorf("%s: %s, and %v have the bad version", kind, f.status.RolloutStatus, f.exposed())
		}
	}
}

// O17: a constraint reports only what is new, so an earlier message counts after five minutes. If it takes longer to notice a bad
// version, more clusters are enforced than exposure.Of says. A minSuccessTime keeps that from happening: it begins when the message counts.
func TestAMinSuccessTimeHelpsAgainstSlowConstraints(t *testing.T) {
	for soak, want := range map[time.Duration]int{0: 4, 16 * time.Minute: 1} {
		f := slowVersion(t, constraint, soak)
		if f.run(12 * time.Hour); f.status.RolloutStatus != "Failed" || len(f.exposed()) != want {
			t.Errorf("minSuccessTime %v: %s, and %v have the bad version, want %d", soak, f.status.RolloutStatus, f.exposed(), want)
		}
	}
}

// O17: with a minSuccessTime of sixteen minutes and the five minutes before, a template has twenty-one minutes. The soak of a message that
// counts late begins when it counts, and not at its time.
func TestASoakBeginsWhenAnEarlierMessageCounts(t *testing.T) {
	rare := part{name: "r", kind: constraint, content: 1}
	edited := rare
	edited.content = 2
	s := rewritten(t, templatesOf([]part{rare}), templatesOf([]part{edited}), detail("r", "Compliant", noon.Add(-time.Minute)))
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	replica := passes.ReplicaOf(&s.Policy, &s.status)
	report, _ := replica.Report(resolution, "v2", noon.Add(time.Hour))
	if want := noon.Add(5 * time.Minute); report.Status != "Succeeded" || !report.LastTransitionTime.Equal(want) {
		t.Errorf("%s since %v, want since %v", report.Status, report.LastTransitionTime, want)
	}
}

// O17: kinds that take enforce and only inform stop no rollout, and no cluster waits for them twice: enforce changes nothing for them.
func TestKindsThatOnlyInformStopNothing(t *testing.T) {
	for _, kind := range []string{"CertificatePolicy", "IamPolicy"} {
		f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}, policyv1.Enforce, 3)
		f.root.Annotations = map[string]string{"cohort.open-cluster-management.io/fail-at-once": "true"}
		f.bound()
		expired := part{name: "expired", kind: kind, content: 1, own: policyv1.Inform, delay: time.Second}
		f.edit(config("a", 1, time.Second), expired)
		if f.run(time.Minute); f.status.RolloutStatus != "Succeeded" || f.status.ComplianceState != policyv1.NonCompliant {
			t.Errorf("%s: %s %s: %s", kind, f.status.RolloutStatus, f.status.ComplianceState, f.last.Explain("c00"))
		}
		f.edit(config("a", 2, time.Second), expired)
		if f.run(time.Minute); f.status.RolloutStatus != "Succeeded" {
			t.Errorf("%s: another version is %s: %s", kind, f.status.RolloutStatus, f.last.Explain("c00"))
		}
	}
}

// O17: a constraint that denies mends nothing, so violations stop a rollout. They may keep the next workload from being made.
func TestAViolationStopsARollout(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}, policyv1.Enforce, 3)
	f.edit(config("a", 1, time.Second), part{name: "limits", kind: constraint, content: 1, own: policyv1.Enforce, delay: time.Minute})
	if f.run(time.Hour); f.status.RolloutStatus != "Failed" || f.hub["c00"].Spec.RemediationAction != policyv1.Enforce || f.hub["c01"].Spec.RemediationAction != policyv1.Inform {
		t.Errorf("%s: %s", f.status.RolloutStatus, f.last)
	}
}

// O17: b waits for a, and ignores that it is Pending. Once a complies b is enforced, so what b says while it waits is no answer yet. The
// policy informs first, so that b was evaluated before it has to wait for a again.
func TestATemplateThatIgnoresPendingHasTimeToAnswer(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: time.Hour}, policyv1.Inform, 4)
	a, b := config("a", 1, time.Minute), config("b", 1, 4*time.Minute)
	a.fits, b.waitsFor, b.ignores, b.bad = true, "a", true, true
	f.edit(a, b)
	f.run(time.Hour)
	f.root.Spec.RemediationAction = policyv1.Enforce
	f.bound()
	f.soon()
	if f.run(12 * time.Hour); f.status.RolloutStatus != "Failed" || len(f.exposed()) != 1 {
		t.Errorf("%s, and %v have the bad version", f.status.RolloutStatus, f.exposed())
	}
}

// S3: a policy that fails at once fails with the first template that enforces and does not comply. It does not wait for the others.
func TestFailAtOnceWaitsForNoOtherTemplate(t *testing.T) {
	for _, test := range []struct {
		action     policyv1.RemediationAction
		failAtOnce string
		want       string
	}{
		{policyv1.Enforce, "true", "Failed"},
		{policyv1.Enforce, "false", "Progressing"},
		{policyv1.Inform, "true", "Progressing"},
	} {
		action, want := test.action, test.want
		f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 2 * time.Hour}, action, 2)
		f.root.Annotations = map[string]string{"cohort.open-cluster-management.io/fail-at-once": test.failAtOnce}
		only, bad := config("only", 1, time.Second), config("bad", 1, time.Second)
		only.own, bad.bad = "InformOnly", true
		f.edit(only, config("slow", 1, time.Hour), bad)
		if f.run(time.Minute); f.status.RolloutStatus != want {
			t.Errorf("%s: %s, want %s", action, f.status.RolloutStatus, want)
		}
		s := f.hub["c00"]
		replica := passes.ReplicaOf(&s.Policy, &s.status)
		report, _ := replica.Report(resolve(t, f.root, to(f.targets...)), "v1", f.now)
		if told := strings.HasPrefix(report.Message, "bad: NonCompliant"); told != (want == "Failed") {
			t.Errorf("%s: %q", action, report.Message)
		}
		f.edit(only, config("slow", 2, time.Hour), config("bad", 2, time.Second))
		if f.run(time.Minute); f.status.RolloutStatus != "Progressing" {
			t.Errorf("%s: %s, and all that answered comply", action, f.status.RolloutStatus)
		}
	}
}

// O17: a template that ignores that it is Pending is not waited for where another one has failed the cluster already.
func TestATemplateThatIgnoresPendingKeepsNoClusterFromFailing(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: time.Hour}, policyv1.Enforce, 4)
	f.root.Annotations = map[string]string{"cohort.open-cluster-management.io/fail-at-once": "true"}
	f.bound()
	a := config("a", 1, time.Second)
	a.bad = true
	f.edit(a, part{name: "b", kind: "CertificatePolicy", content: 1, own: policyv1.Inform, delay: time.Second, waitsFor: "a", ignores: true})
	if f.run(2 * time.Minute); f.status.RolloutStatus != "Failed" {
		t.Errorf("%s: %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
}
