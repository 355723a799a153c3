// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// chain has the writes of one replica, one version after the other, with what the cluster says after each.
type chain struct {
	t        *testing.T
	s        *stored
	versions int
}

// write writes the next version with inform, an hour after the one before.
func (c *chain) write(parts ...part) {
	c.t.Helper()
	resolution := resolve(c.t, policy(policyv1.Inform, naiveLimits{}), to("a"))
	var replicas []passes.Replica
	if c.versions > 0 {
		replicas = append(replicas, passes.ReplicaOf(&c.s.Policy, &c.s.status))
	}
	p, err := passes.Propagate(resolution, fmt.Sprint("v", c.versions), status.Record{}, replicas, c.now(), rollout.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	p.Stamp(c.s, p.Clusters[0], c.now())
	c.s.Spec.PolicyTemplates, c.s.Spec.RemediationAction = templatesOf(parts), policyv1.Inform
	c.versions++
}

func (c *chain) now() time.Time { return noon.Add(time.Duration(c.versions) * time.Hour) }

// say has the cluster report now, after the last write.
func (c *chain) say(names ...string) {
	c.s.status.Details = slices.DeleteFunc(c.s.status.Details, func(d policyv1.PolicyDetails) bool { return slices.Contains(names, d.TemplateMeta.Name) })
	for _, name := range names {
		c.s.status.Details = append(c.s.status.Details, detail(name, "Compliant", c.now().Add(-time.Minute)))
	}
}

// answered says whether the cluster has answered the last version, and whether it will have half an hour later.
func (c *chain) answered() string {
	replica := passes.ReplicaOf(&c.s.Policy, &c.s.status)
	return fmt.Sprintf("%q, later %q", replica.Compliance, replica.At(c.now().Add(30*time.Minute)).Compliance)
}

// O17: a cluster that misses a version, or answers it slowly, may have the next one already. Its message is waited for where it is known
// that it does not.
func TestWhatAClusterMissed(t *testing.T) {
	a1, a2, a3, b1, b2, b3 := config("a", 1, 0), config("a", 2, 0), config("a", 3, 0), config("b", 1, 0), config("b", 2, 0), config("b", 3, 0)
	noted, notedBefore := a2, a1
	noted.note, notedBefore.note = "n", "n"
	spelled, spelledAnew := a1, a2
	spelled.spelled, spelledAnew.spelled = true, true
	const waits, done = `"", later ""`, `"Compliant", later "Compliant"`
	for _, test := range []struct {
		why   string
		first []part
		run   func(c *chain)
		want  string
	}{
		{"it missed one, and the next is new, too", []part{a1}, func(c *chain) { c.write(a2); c.write(a3) }, waits},
		{"it missed one, and has the one before again", []part{a1}, func(c *chain) { c.write(a2); c.write(a1) }, done},
		{"it missed one, and has the one before again but for an annotation, about which it need not report", []part{a1}, func(c *chain) {
			c.write(a2)
			c.write(notedBefore)
		}, `"", later "Compliant"`},
		{"it missed one, and has the one before again with the annotation that it had", []part{notedBefore}, func(c *chain) {
			c.write(a2)
			c.write(notedBefore)
		}, done},
		{"it missed two", []part{a1}, func(c *chain) { c.write(a2); c.write(a3); c.write(a2) }, waits},
		{"it missed one, and only an annotation is new then: it must still report", []part{a1}, func(c *chain) { c.write(a2); c.write(noted) }, waits},
		{"it got one with an annotation, missed the next, and has the one with the annotation again", []part{a1, b1}, func(c *chain) {
			c.write(notedBefore, b2)
			c.say("b")
			c.write(a2, b2)
			c.write(notedBefore, b2)
			c.say("b")
		}, `"", later "Compliant"`},
		{"it got one in other words, missed the next, and has the one before again", []part{a1, b1}, func(c *chain) {
			c.write(spelled, b2)
			c.say("b")
			c.write(a2, b2)
			c.write(a1, b2)
			c.say("b")
		}, `"", later "Compliant"`},
		{"it missed one, and only its words are new then: it must still report", []part{a1}, func(c *chain) { c.write(a2); c.write(spelledAnew) }, waits},
		{"it answered one by a slow clock before an annotation is new", []part{a1}, func(c *chain) {
			c.write(a2)
			c.s.status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(time.Minute))}
			status.Stamp{}.NoteOn(c.s, "v1 inform", 0, noon.Add(118*time.Minute)) // so it does not count before the next write
			c.write(noted)
		}, `"", later "Compliant"`},
		{"it missed one, and it is not known whether it has the one before", []part{a1, b1}, func(c *chain) {
			c.s.status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(57*time.Minute)), detail("b", "Compliant", noon.Add(57*time.Minute))}
			status.Stamp{}.NoteOn(c.s, "v0 inform", 0, noon.Add(58*time.Minute))
			delete(c.s.Annotations, annotationReported)
			c.write(a2, b2)
			c.write(a1, b1)
			c.say("b")
		}, `"", later "Compliant"`},
		{"it is not known either, it has got another one since, and missed the next", []part{a1, b1}, func(c *chain) {
			c.s.status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(57*time.Minute)), detail("b", "Compliant", noon.Add(57*time.Minute))}
			status.Stamp{}.NoteOn(c.s, "v0 inform", 0, noon.Add(58*time.Minute))
			delete(c.s.Annotations, annotationReported)
			c.write(a2, b2)
			c.write(a1, b1)
			c.say("b")
			c.write(a3, b1)
			c.write(a1, b1)
			c.say("b")
		}, `"", later "Compliant"`},
		{"it had got one, answered it in part, and missed another", []part{a1, b1}, func(c *chain) {
			c.write(a2, b2)
			c.say("b")
			c.write(a1, b3)
			c.write(a3, b1)
			c.say("b")
		}, waits},
	} {
		c := &chain{t: t, s: &stored{Policy: policyv1.Policy{}}}
		c.s.Namespace = "a"
		c.write(test.first...)
		c.say(names(test.first)...)
		test.run(c)
		if got := c.answered(); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}

// handEdits are edits of a policy with the ConfigurationPolicies a and b, with that content. No templates stand for an edit of the action.
func handEdits(content int) map[string][]part {
	a, b := config("a", content, time.Second), config("b", content, time.Second)
	return map[string][]part{"the action": nil, "both templates": {a, b}, "one less": {b}}
}

// handEdited is a fleet of two clusters that is done with two versions, of which the last changes a alone.
func handEdited(t *testing.T, action policyv1.RemediationAction) *fleet {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 20 * time.Minute}, action, 2)
	for _, content := range []int{0, 1} {
		f.edit(config("a", content, time.Second), config("b", 1, time.Second))
		f.run(time.Hour)
	}
	if f.status.RolloutStatus != "Succeeded" {
		t.Fatal("it is not done: ", f.status.RolloutStatus)
	}
	return f
}

// O23: a person edits a replica, and the controller sets it back before the cluster gets it. Nothing is new to the cluster, so its answer
// from before the edit counts five minutes later. It does so again after the next such edit.
func TestAnEditThatNeverArrivedIsNoWaitForAnAnswer(t *testing.T) {
	for _, action := range []policyv1.RemediationAction{policyv1.Enforce, policyv1.Inform} {
		for how, parts := range handEdits(77) {
			f := handEdited(t, action)
			for i := range 2 {
				f.byHand("c00", handEdits(88 + i)[how], false)
				if f.run(4 * time.Minute); f.status.RolloutStatus != "Progressing" {
					t.Errorf("%s, %s: %s after four minutes", action, how, f.status.RolloutStatus)
				}
				f.byHand("c00", parts, false)
				if f.run(6 * time.Minute); f.status.RolloutStatus != "Succeeded" || f.status.ComplianceState == "" {
					t.Errorf("%s, %s: %s %q, %s", action, how, f.status.RolloutStatus, f.status.ComplianceState, f.last.Explain("c00"))
				}
			}
		}
	}
}

// O23: where the cluster reported on the edited content, or may have done so, it has to answer the content that is set back. Here it is
// cut off after that, so it times out.
func TestAnEditThatMayHaveArrivedHasToBeAnswered(t *testing.T) {
	for why, told := range map[string]func(f *fleet){
		"it reported a minute after the edit":   func(f *fleet) {},
		"its managed fields are not known":      func(f *fleet) { f.hub["c00"].ManagedFields = nil },
		"it reported in the second of the edit": func(f *fleet) { f.sameSecond("c00") },
	} {
		for how, parts := range handEdits(77) {
			f := handEdited(t, policyv1.Enforce)
			s := f.hub["c00"]
			f.due = true // the controller is down
			f.byHand("c00", parts, true)
			f.run(time.Minute)
			told(f)
			f.agents["c00"].away = true
			f.reconcile()
			f.due = false
			f.soon()
			if f.run(time.Hour); s.status.RolloutStatus != "TimeOut" {
				t.Errorf("%s, %s: %s", why, how, s.status.RolloutStatus)
			}
			f.back("c00")
			if f.run(time.Minute); f.status.RolloutStatus != "Succeeded" {
				t.Errorf("%s, %s: %s %s once it is back", why, how, f.status.RolloutStatus, f.last.Explain("c00"))
			}
		}
	}
}

// O23: a person edits a replica, and before the controller sees it another version is wanted that changes b alone. The cluster never gets the
// edit, so a has nothing new to say, and its earlier message counts.
func TestAnEditThatAnotherVersionOverwritesIsNoWaitForAnAnswer(t *testing.T) {
	for how, parts := range handEdits(77) {
		f := handEdited(t, policyv1.Inform)
		f.byHand("c00", parts, false)
		f.edit(config("a", 1, time.Second), config("b", 2, time.Second))
		if f.run(4 * time.Minute); f.status.RolloutStatus != "Progressing" {
			t.Errorf("%s: %s after four minutes", how, f.status.RolloutStatus)
		}
		if f.run(2 * time.Minute); f.status.RolloutStatus != "Succeeded" {
			t.Errorf("%s: %s, %s", how, f.status.RolloutStatus, f.last.Explain("c00"))
		}
	}
}

// O23: a template that neither the edit nor that version changed is not waited for, also if its answer counted late before.
func TestATemplateThatIsLeftAloneOwesNothing(t *testing.T) {
	f := handEdited(t, policyv1.Inform)
	a, b := config("a", 1, time.Second), config("b", 1, time.Second)
	a.note = "n"
	f.edit(a, b)
	f.run(time.Hour)
	b.content = 77
	f.byHand("c00", []part{a, b}, false)
	b.content = 2
	f.edit(a, b)
	if f.run(30 * time.Second); f.status.RolloutStatus != "Succeeded" {
		t.Errorf("%s, %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
}

// O23, O17: where the cluster is cut off, it gives no sign of that version, and does not pass for done.
func TestAnEditThatAnotherVersionOverwritesIsNoAnswer(t *testing.T) {
	for how, parts := range handEdits(77) {
		f := handEdited(t, policyv1.Inform)
		f.agents["c00"].away = true
		f.byHand("c00", parts, false)
		f.edit(config("a", 2, time.Second), config("b", 1, time.Second))
		if f.run(time.Hour); f.status.RolloutStatus != "Progressing" {
			t.Errorf("%s: %s while c00 is cut off", how, f.status.RolloutStatus)
		}
		f.back("c00")
		if f.run(10 * time.Minute); f.status.RolloutStatus != "Succeeded" {
			t.Errorf("%s: %s, %s", how, f.status.RolloutStatus, f.last.Explain("c00"))
		}
	}
}

// overwritten has a replica with the template a, and perhaps others, of which a person edits a. The cluster does not get that: another
// version follows at once, with that content of a alone. The cluster may be cut off.
func overwritten(t *testing.T, action policyv1.RemediationAction, content int, away bool, others ...part) *fleet {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 20 * time.Minute}, action, 2)
	a := config("a", 1, time.Second)
	a.own = "InformOnly"
	f.edit(append([]part{a}, others...)...)
	if !f.settled(time.Hour) {
		t.Fatal(f.status.RolloutStatus)
	}
	f.agents["c00"].away = away
	a.content = 77
	f.byHand("c00", append([]part{a}, others...), false)
	a.content = content
	f.edit(a)
	return f
}

// O23, O17: the sign of that version is that c is gone. It is a sign of the first pass, and needs no other in the second.
func TestASignOfTheFirstPassIsASignOfTheContent(t *testing.T) {
	f := overwritten(t, policyv1.Enforce, 1, false, config("c", 1, time.Second))
	if !f.settled(time.Hour) {
		t.Errorf("%s, %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
}

// O23, O17: without a sign the second pass is no sign of the content, either.
func TestTheSecondPassIsNoSignOfTheContent(t *testing.T) {
	f := overwritten(t, policyv1.Enforce, 2, true)
	if f.run(3 * time.Hour); f.hub["c00"].status.RolloutStatus != "TimeOut" {
		t.Errorf("%s, %s", f.hub["c00"].status.RolloutStatus, f.last.Explain("c00"))
	}
}

// O23, O17: after that sign a person edits the replica once more, and the cluster does not get that, either.
func TestASignIsKeptOverAnEditThatNeverArrived(t *testing.T) {
	f := overwritten(t, policyv1.Inform, 1, false, config("c", 1, time.Second))
	f.run(time.Minute)
	f.byHand("c00", nil, false)
	if f.run(6 * time.Minute); f.status.RolloutStatus != "Succeeded" {
		t.Errorf("%s, %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
}

// O17, O23: a new annotation of a needs no answer, so what a answered before stays its answer. A person edits a, the cluster never gets that,
// and another version follows at once.
func TestAnEditAfterAnAnnotationIsNoWaitForAnAnswer(t *testing.T) {
	f := handEdited(t, policyv1.Enforce)
	a, b := config("a", 1, time.Second), config("b", 1, time.Second)
	a.own, a.note = "InformOnly", "n"
	for _, parts := range [][]part{{config("a", 1, time.Second), b}, {a, b}} {
		parts[0].own = "InformOnly"
		f.edit(parts...)
		if !f.settled(time.Hour) {
			t.Fatal(f.status.RolloutStatus)
		}
	}
	f.byHand("c00", handEdits(77)["both templates"], false)
	f.run(time.Second)
	f.edit(a, config("b", 2, time.Second))
	if !f.settled(time.Hour) {
		t.Errorf("%s, %s", f.status.RolloutStatus, f.last.Explain("c00"))
	}
}

// sameSecond has the managed fields of a replica tell one time for the spec and the status.
func (f *fleet) sameSecond(cluster string) {
	entries := f.hub[cluster].ManagedFields
	entries[0].Time = entries[len(entries)-1].Time
}

// O23: c00 owed an answer to the version when its replica was edited, and did not get the edit. It still owes that answer.
func TestAnAnswerThatWasOwedBeforeAnEditIsStillOwed(t *testing.T) {
	for how, parts := range handEdits(77) {
		f := handEdited(t, policyv1.Enforce)
		f.edit(config("a", 2, 15*time.Minute), config("b", 2, time.Second))
		if f.run(time.Minute); len(f.last.Start) > 0 || f.hub["c00"].status.RolloutStatus != "Progressing" {
			t.Fatal(f.last)
		}
		if parts != nil {
			parts = append(parts[:0:0], config("a", 77, 0))
		}
		f.byHand("c00", parts, false)
		if f.run(10 * time.Minute); f.hub["c00"].status.RolloutStatus != "Progressing" {
			t.Errorf("%s: %s: %s", how, f.hub["c00"].status.RolloutStatus, f.last.Explain("c00"))
		}
		if !f.settled(2 * time.Hour) {
			t.Errorf("%s: %s: %s", how, f.status.RolloutStatus, f.last.Explain("c00"))
		}
	}
}
