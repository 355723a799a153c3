// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
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
	same, rare := config("a", 1, time.Second), part{name: "limits", kind: "K8sLabels", content: 1, delay: time.Second, fits: true}
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

// O17: c00 was offline during the edit, and gets the second pass alone, after 12 minutes. Its first message shows that it got the write.
// Its messages from before the write count five minutes later: its other template answers after a minute, and until then no other
// cluster starts. A controller with a cache that leaves managed fields out has only the times of the messages.
func TestAClusterThatIsBackHasTimeToAnswer(t *testing.T) {
	for _, strips := range []bool{false, true} {
		f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 30 * time.Minute}, policyv1.Enforce, 5)
		f.strips = strips
		f.bound()
		f.edit(config("slow", 1, time.Minute))
		if !f.settled(time.Hour) {
			t.Fatal("the first version is not done")
		}
		f.agents["c00"].away = true
		f.edit(config("slow", 2, time.Minute), part{name: "limits", kind: "K8sLabels", content: 1, delay: time.Second, fits: true})
		if f.run(12 * time.Minute); len(f.exposed()) != 1 || f.exposed()[0] != "c00" {
			t.Fatalf("strips %t: %v are exposed before c00 is back", strips, f.exposed())
		}
		f.back("c00")
		f.run(30 * time.Second)
		if got := f.last.Explain("c00").String(); !strings.Contains(got, "no answer to this version from template slow; earlier messages count from ") {
			t.Errorf("strips %t: explained by %q", strips, got)
		}
		if !f.settled(time.Hour) {
			t.Errorf("strips %t: %s", strips, f.status.RolloutStatus)
		}
	}
}

// O17: c00 is offline during an edit. If a ConfigurationPolicy has to answer, c00 fails at its deadline. If not, c00 looks like a
// cluster with nothing new to say, and is done five minutes after the second pass.
func TestAnOfflineClusterIsDoneOnlyWhereNoTemplateMustAnswer(t *testing.T) {
	limits := part{name: "limits", kind: "K8sLabels", content: 1, delay: time.Second, fits: true}
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

// drawPart draws a template of that name.
func drawPart(t *rapid.T, name string) part {
	p := part{
		name: name, kind: rapid.SampledFrom([]string{"ConfigurationPolicy", "ConfigurationPolicy", "CertificatePolicy", "K8sLabels"}).Draw(t, "kind"),
		content: rapid.IntRange(1, 99).Draw(t, "content"),
		own:     rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Inform, policyv1.Enforce, "InformOnly"}).Draw(t, "own action"),
		delay:   time.Duration(rapid.SampledFrom([]int{0, 1, 5, 60, 200}).Draw(t, "delay")) * time.Second,
		fits:    rapid.Bool().Draw(t, "fits"),
	}
	return p
}

// drawEdit changes the templates: some are added, removed, renamed, put elsewhere, edited alone or noted on.
func drawEdit(t *rapid.T, parts []part) []part {
	parts = slices.Clone(parts)
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "which")
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			if len(parts) < 5 {
				parts = slices.Insert(parts, i, drawPart(t, fmt.Sprint("new", rapid.IntRange(0, 9999).Draw(t, "name"))))
			}
		case 1:
			if len(parts) > 1 {
				parts = slices.Delete(parts, i, i+1)
			}
		case 2:
			parts[i].name += "x"
		case 3:
			parts[0], parts[i] = parts[i], parts[0]
		case 4:
			parts[i].note += "n"
		default:
			parts[i].content += 100
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(parts, func(p part) bool {
		was := seen[p.name]
		seen[p.name] = true
		return was
	})
}

// O17, S3: rollouts of policies of one to five templates with unequal agents. Whatever changes, no more clusters are exposed than
// exposure.Of says, a good version never fails and is done in the end, and a version that is bad in any one template is not.
func TestPoliciesOfSeveralTemplates(t *testing.T) {
	for round := range exhaustive.Of(1, 4, 10) {
		exhaustive.Check(t, round, func(t *rapid.T) {
			limits := naiveLimits{
				typ:            rapid.SampledFrom([]clusterv1alpha1.RolloutType{clusterv1alpha1.Progressive, clusterv1alpha1.ProgressivePerGroup}).Draw(t, "type"),
				maxConcurrency: rapid.IntRange(1, 3).Draw(t, "concurrency"), maxFailures: rapid.IntRange(0, 1).Draw(t, "failures"), deadline: 30 * time.Minute,
			}
			f := newFleet(t, limits, rapid.SampledFrom([]policyv1.RemediationAction{policyv1.Enforce, policyv1.Enforce, ""}).Draw(t, "action"), rapid.IntRange(1, 5).Draw(t, "clusters"))
			f.strips = rapid.IntRange(0, 3).Draw(t, "strips managed fields") == 3
			for _, c := range f.targets {
				f.agents[c].lag = time.Duration(rapid.SampledFrom([]int{10, 200, 3000}).Draw(t, "lag")) * time.Millisecond
				if !f.strips { // without managed fields the clocks have to agree
					f.agents[c].clock = -time.Duration(rapid.SampledFrom([]int{0, 0, 0, 7, 3600}).Draw(t, "behind")) * time.Second
				}
			}
			f.bound()
			within := f.check
			good := true
			f.check = func() {
				if within(); good && f.status.RolloutStatus == "Failed" {
					f.t.Fatalf("a good version failed after %v", f.now.Sub(noon))
				}
			}
			var parts []part
			for i := range rapid.IntRange(1, 4).Draw(t, "templates") {
				parts = append(parts, drawPart(t, string(rune('a'+i))))
			}
			f.edit(parts...)
			for range rapid.IntRange(0, 3).Draw(t, "edits") {
				if rapid.Bool().Draw(t, "in the middle") {
					f.run(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
				} else if !f.settled(4 * time.Hour) {
					f.t.Fatalf("a good version is not done: %s %v", f.status.RolloutStatus, f.last.Explain(f.targets[0]))
				}
				parts = drawEdit(t, parts)
				var cutOff []string
				if rapid.IntRange(0, 3).Draw(t, "cut off") == 3 && f.hub[f.targets[0]] != nil {
					cutOff = rapid.SliceOfNDistinct(rapid.SampledFrom(f.targets), 1, 2, rapid.ID).Draw(t, "which")
				}
				for _, c := range cutOff {
					f.agents[c].away = true
				}
				f.edit(parts...)
				for _, c := range cutOff { // during the first pass, or both
					f.run(time.Duration(rapid.SampledFrom([]int{1, 4, 8, 12}).Draw(t, "minutes")) * time.Minute)
					f.back(c)
				}
			}
			if i := rapid.IntRange(-1, len(parts)-1).Draw(t, "bad"); i >= 0 && parts[i].enforces(f.root.Spec.RemediationAction) {
				if rapid.Bool().Draw(t, "before that it is done") && !f.settled(4*time.Hour) {
					f.t.Fatal("a good version is not done")
				}
				good = false
				parts[i].bad, parts[i].content = true, parts[i].content+100
				f.edit(parts...)
				if f.run(3 * time.Hour); f.status.RolloutStatus != "Failed" {
					f.t.Fatalf("a bad version is %s", f.status.RolloutStatus)
				}
				return
			}
			if !f.settled(4 * time.Hour) {
				f.t.Fatalf("a good version is not done: %s %s, %v", f.status.RolloutStatus, f.status.ComplianceState, f.last.Explain(f.targets[0]))
			}
		})
	}
}
