// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// bound checks at each step that no more clusters are exposed than exposure.Of says.
func (f *fleet) bound() {
	f.t.Helper()
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: f.targets})
	if err != nil {
		f.t.Fatal(err)
	}
	said, err := exposure.Of(f.root.Spec.RolloutStrategy, groups, exposure.Span{}, f.now, rollout.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.check = func() {
		if exposed := f.exposed(); len(exposed) > said.Exposed {
			f.t.Fatalf("after %v %v are exposed, and exposure.Of says at most %d", f.now.Sub(noon), exposed, said.Exposed)
		}
	}
}

// settled lets time pass until the rollout is done, and says whether it is.
func (f *fleet) settled(most time.Duration) bool {
	for range int(most / time.Minute) {
		if f.run(time.Minute); f.status.RolloutStatus == string(status.Succeeded) {
			return true
		}
	}
	return false
}

func config(name string, content int, delay time.Duration) part {
	return part{name: name, kind: "ConfigurationPolicy", content: content, own: policyv1.Inform, delay: delay}
}

// O17: the first template of a version complies after 5 seconds, the second not after 60: it is enforced on one cluster, not twelve.
func TestABadSecondTemplateStopsTheRollout(t *testing.T) {
	limits := naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}
	f := newFleet(t, limits, policyv1.Enforce, 30)
	f.bound()
	f.edit(config("a", 1, 5*time.Second), config("b", 1, 20*time.Second))
	if !f.settled(time.Hour) {
		t.Fatalf("a good version: %s", f.status.RolloutStatus)
	}
	bad := config("b", 2, time.Minute)
	bad.bad = true
	f.edit(config("a", 2, 5*time.Second), bad)
	f.run(2 * time.Hour)
	if got := f.exposed(); len(got) != 1 || f.status.RolloutStatus != "Failed" || f.status.ComplianceState != policyv1.NonCompliant {
		t.Errorf("%v have the bad version, the root is %s %s", got, f.status.RolloutStatus, f.status.ComplianceState)
	}
}

// O17, S3: while a good version with unequal templates is rolled out the root has never failed.
func TestAGoodVersionNeverFails(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}, policyv1.Enforce, 3)
	f.check = func() {
		if f.status.RolloutStatus == "Failed" {
			t.Fatalf("failed after %v", f.now.Sub(noon))
		}
	}
	f.edit(config("a", 1, 5*time.Second), config("b", 1, 20*time.Second))
	if !f.settled(time.Hour) {
		t.Error(f.status.RolloutStatus)
	}
}

// O17: a version that adds a template is Progressing until that was evaluated, although OCM leaves compliant as it was.
func TestAnAddedTemplateIsWaitedFor(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.All}, policyv1.Enforce, 1)
	f.edit(config("a", 1, time.Second))
	f.run(time.Minute)
	f.edit(config("a", 1, time.Second), config("b", 1, time.Hour))
	f.run(30 * time.Minute)
	if s := f.hub["c00"].status; s.ComplianceState != policyv1.Compliant || s.Details[1].ComplianceState != "" {
		t.Fatalf("OCM would say %+v", s)
	}
	if got, want := f.last.Explain("c00").String(), "no answer to this version from template b"; f.status.RolloutStatus != "Progressing" || got != want {
		t.Errorf("%s, explained by %q, want %q", f.status.RolloutStatus, got, want)
	}
	if f.run(time.Hour); f.status.RolloutStatus != "Succeeded" {
		t.Error(f.status.RolloutStatus)
	}
}

// O17: an unchanged template, and one with a controller that reports only what is new, hang no rollout. Until the latter counts, the
// sentence names it.
func TestATemplateThatSaysNothingNewHangsNothing(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1}, policyv1.Enforce, 2)
	same, rare := config("a", 1, time.Second), part{name: "limits", kind: constraint, content: 1, delay: time.Second, fits: true}
	f.edit(same, rare, config("c", 1, time.Second))
	if !f.settled(time.Hour) {
		t.Fatal("the first version is not done")
	}
	f.edit(same, rare, config("c", 2, time.Second))
	if f.run(20 * time.Second); f.last.Explain("c00").String() == "" || f.status.RolloutStatus != "Progressing" {
		t.Errorf("%s: %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
	if got := f.last.Explain("c00").String(); !strings.Contains(got, "no answer to this version from template limits; earlier messages count from ") || strings.Contains(got, "template a") {
		t.Errorf("explained by %q", got)
	}
	if !f.settled(time.Hour) {
		t.Error("it hangs")
	}
}

// O17: an answer that was on its way when the write was made is about the content before.
func TestAnOldAnswerOnItsWayDoesNotPass(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 20 * time.Minute}, policyv1.Enforce, 3)
	f.bound()
	first := config("a", 1, time.Second)
	f.edit(first)
	if !f.settled(time.Hour) {
		t.Fatal("the first version is not done")
	}
	for _, a := range f.agents {
		a.lag = 2 * time.Second
		f.say(a, first, policyv1.NonCompliant) // and complies again at once
		f.say(a, first, policyv1.Compliant)
	}
	bad := config("a", 2, 3*time.Minute)
	bad.bad = true
	f.edit(bad)
	f.run(time.Hour)
	if got := f.exposed(); len(got) != 1 {
		t.Errorf("%v have the bad version", got)
	}
}

// O17: c00 was offline during the edit, and gets the second pass alone, after 25 minutes. Its first message shows that it got the write.
// Its other template reports on each content, so it is waited for, twenty minutes here, and no other cluster starts until then. A
// controller with a cache that leaves managed fields out has only the times of the messages.
func TestAClusterThatIsBackHasTimeToAnswer(t *testing.T) {
	for _, strips := range []bool{false, true} {
		f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: time.Hour}, policyv1.Enforce, 5)
		f.strips = strips
		f.bound()
		f.edit(config("slow", 1, time.Minute))
		if !f.settled(time.Hour) {
			t.Fatal("the first version is not done")
		}
		f.agents["c00"].away = true
		f.edit(config("slow", 2, 20*time.Minute), part{name: "limits", kind: constraint, content: 1, delay: time.Second, fits: true})
		if f.run(25 * time.Minute); len(f.exposed()) != 1 || f.exposed()[0] != "c00" {
			t.Fatalf("strips %t: %v are exposed before c00 is back", strips, f.exposed())
		}
		f.back("c00")
		f.run(30 * time.Second)
		if got, want := f.last.Explain("c00").String(), "no answer to this version from template slow"; got != want {
			t.Errorf("strips %t: explained by %q, want %q", strips, got, want)
		}
		if !f.settled(3 * time.Hour) {
			t.Errorf("strips %t: %s", strips, f.status.RolloutStatus)
		}
	}
}

// O17: c00 is offline during an edit. If a ConfigurationPolicy has to answer, c00 fails at its deadline. If not, c00 looks like a
// cluster with nothing new to say, and is done five minutes after the second pass.
func TestAnOfflineClusterIsDoneOnlyWhereNoTemplateMustAnswer(t *testing.T) {
	limits := part{name: "limits", kind: constraint, content: 1, delay: time.Second, fits: true}
	edited := limits
	edited.content = 2
	for _, test := range []struct {
		why         string
		first, then []part
		want        status.RolloutStatus
	}{
		{"a constraint is edited", []part{limits}, []part{edited}, status.Succeeded},
		{"and c00 has the ConfigurationPolicy beside it already", []part{limits, config("a", 1, 0)}, []part{edited, config("a", 1, 0)}, status.Succeeded},
		{"and the ConfigurationPolicy beside it", []part{limits, config("a", 1, 0)}, []part{edited, config("a", 2, 0)}, status.TimeOut},
		{"and a ConfigurationPolicy is added", []part{limits}, []part{edited, config("a", 1, 0)}, status.TimeOut},
	} {
		f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 30 * time.Minute}, policyv1.Enforce, 2)
		f.edit(test.first...)
		if !f.settled(time.Hour) {
			t.Fatal("the first version is not done")
		}
		f.agents["c00"].away = true
		f.edit(test.then...)
		if f.run(9 * time.Minute); f.hub["c00"].status.RolloutStatus != "Progressing" {
			t.Errorf("%s: %s before the five minutes of both passes are over", test.why, f.hub["c00"].status.RolloutStatus)
		}
		f.run(time.Hour)
		if got := f.hub["c00"].status.RolloutStatus; got != string(test.want) {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}

// O26: a template is removed. c00 was cut off for almost five minutes, and says nothing new in time but that the template is gone. That
// is the sign of its first pass, so c00 starts at once. Its other template owes an answer to each pass, whatever it said before.
func TestAClusterThatOnlyDropsATemplateHasTheFirstPass(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 30 * time.Minute}, policyv1.Enforce, 3)
	f.bound()
	f.edit(config("gone", 1, 0), config("slow", 1, time.Minute))
	if !f.settled(time.Hour) {
		t.Fatal("the first version is not done")
	}
	f.agents["c00"].away, f.agents["c01"].away = true, true
	f.edit(config("slow", 1, time.Minute))
	f.run(4*time.Minute + 30*time.Second)
	f.back("c00")
	if f.run(10 * time.Second); f.hub["c00"].Spec.RemediationAction != policyv1.Enforce {
		t.Errorf("c00 is not started: %s", f.last.Explain("c00"))
	}
	f.run(10 * time.Minute)
	f.back("c01")
	if !f.settled(time.Hour) {
		t.Error(f.status.RolloutStatus)
	}
}

// S3: a report about inform that is late is no breach.
func TestALateReportAboutInformIsNoBreach(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}, policyv1.Enforce, 2)
	f.agents["c00"].lag = 5 * time.Second // both passes are on their way at once
	f.check = func() {
		if f.last.Breach != nil {
			t.Fatalf("after %v: %v", f.now.Sub(noon), f.last.Breach)
		}
	}
	f.edit(config("a", 1, 100*time.Millisecond))
	if !f.settled(time.Hour) {
		t.Error(f.status.RolloutStatus)
	}
}
