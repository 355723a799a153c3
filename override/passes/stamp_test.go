// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// patience is how long a message counts for nothing that may be about the content before.
const patience = 5 * time.Minute

// stored is a replicated policy on the hub.
type stored struct {
	policyv1.Policy
	status policyv1.PolicyStatus
}

// says has the cluster report, with an event of that name.
func (s *stored) says(compliance policyv1.ComplianceState, event string, at time.Time) {
	s.status.ComplianceState = compliance
	s.status.Details = []policyv1.PolicyDetails{{
		TemplateMeta: metav1.ObjectMeta{Name: "template"},
		History:      []policyv1.PolicyHistory{{EventName: event, LastTimestamp: metav1.NewTime(at.Truncate(time.Second))}},
	}}
}

// O17: a whole rollout with a controller that reads only the objects that it has stamped. A cluster reports the same on both
// passes, within one second and with another clock.
func TestStampedPoliciesTellAll(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive}), to("a", "b"))
	hub := map[string]*stored{}
	now := noon
	step := func(want string) {
		t.Helper()
		var replicas []passes.Replica
		for _, s := range hub {
			replicas = append(replicas, passes.ReplicaOf(&s.Policy, &s.status))
		}
		p, err := passes.Propagate(resolution, "version 2", status.Record{}, replicas, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != want {
			t.Fatalf("got  %s\nwant %s", p, want)
		}
		for _, cluster := range p.Clusters {
			if hub[cluster.Name] == nil {
				hub[cluster.Name] = &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name}}}
			}
			s := hub[cluster.Name]
			if cluster.Verb == passes.VerbCreate || cluster.Verb == passes.VerbUpdate {
				p.Stamp(s, cluster, now)
				s.Spec.RemediationAction = cluster.Action
			}
			s.status.RolloutStatus = string(cluster.RolloutStatus)
		}
		now = now.Add(100 * time.Millisecond)
	}
	step("a: inform, ToApply (create); b: inform, ToApply (create)")
	hub["a"].says(policyv1.Compliant, "1", now.Add(time.Hour))
	hub["b"].says(policyv1.NonCompliant, "2", now)
	step("a: enforce, Progressing (update); b: inform, ToApply")
	step("a: enforce, Progressing; b: inform, ToApply") // the report of a is on the first pass
	hub["a"].says(policyv1.Compliant, "3", now.Add(time.Hour))
	step("a: enforce, Succeeded (updateStatus); b: enforce, Progressing (update)")
	step("a: enforce, Succeeded; b: enforce, Progressing")
	hub["b"].says(policyv1.Compliant, "4", now.Add(-time.Hour))
	step("a: enforce, Succeeded; b: enforce, Progressing") // it may be of the first pass
	now = now.Add(patience)
	step("a: enforce, Succeeded; b: enforce, Succeeded (updateStatus)")
}

// O17: a version that changes nothing on a cluster gets no new report. The cluster is Progressing until its deadline.
func TestAVersionOfWhichNothingNewIsSaid(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.All, deadline: 10 * time.Minute}), to("a"))
	s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}}
	s.says(policyv1.Compliant, "1", noon)
	for _, step := range []struct {
		after   time.Duration
		version string
		says    string // the event of a new report
		want    string
	}{
		{0, "1", "", "a: enforce, Progressing (update)"},
		{time.Second, "1", "2", "a: enforce, Succeeded (updateStatus)"},
		{time.Minute, "2", "", "a: enforce, Progressing (update)"},
		{10 * time.Minute, "2", "", "a: enforce, Progressing"},
		{11 * time.Minute, "2", "", "a: enforce, TimeOut (updateStatus)"},
		{12 * time.Minute, "2", "3", "a: enforce, Succeeded (updateStatus)"},
	} {
		now := noon.Add(step.after)
		if step.says != "" {
			s.says(policyv1.Compliant, step.says, now)
		}
		p, err := passes.Propagate(resolution, step.version, status.Record{}, []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != step.want {
			t.Errorf("after %v: got %s, want %s", step.after, p, step.want)
		}
		cluster := p.Clusters[0]
		p.Stamp(s, cluster, now)
		s.Spec.RemediationAction, s.status.RolloutStatus = cluster.Action, string(cluster.RolloutStatus)
	}
}

// O17: what is read of a policy.
func TestReplicaOf(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	written := func(version string, replicas ...passes.Replica) *stored {
		p, err := passes.Propagate(resolution, version, status.Record{}, replicas, noon, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Annotations: map[string]string{"team": "x"}}}}
		p.Stamp(s, p.Clusters[0], noon)
		s.Spec.RemediationAction = p.Clusters[0].Action
		return s
	}
	for _, test := range []struct {
		why    string
		change func(*stored)
		want   string
	}{
		{"as it was written", func(*stored) {}, `a "v 1" enforce 12:00:00`},
		{"its cluster has reported", func(s *stored) { s.says(policyv1.Compliant, "1", noon) }, `a "v 1" enforce 12:00:00 Compliant 12:00:00`},
		{"without messages", func(s *stored) { s.status.ComplianceState = policyv1.Pending }, `a "v 1" enforce 12:00:00 Pending`},
		{"messages without a compliance say nothing", func(s *stored) { s.says("", "1", noon) }, `a "v 1" enforce 12:00:00`},
		{"the later of two messages", func(s *stored) {
			s.says(policyv1.Compliant, "1", noon)
			details := s.status.Details[0]
			details.History = []policyv1.PolicyHistory{{LastTimestamp: metav1.NewTime(noon.Add(time.Minute))}}
			s.status.Details = append(s.status.Details, details, policyv1.PolicyDetails{})
		}, `a "v 1" enforce 12:00:00 Compliant 12:01:00`},
		{"the action in another case", func(s *stored) { s.Spec.RemediationAction = "Enforce" }, `a "v 1" Enforce 12:00:00`},
		{"another action, set by hand", func(s *stored) { s.Spec.RemediationAction = policyv1.Inform }, `a "v 1" enforce edited 12:00:00`},
		{"a version that is empty", func(s *stored) { status.StampOf(s).NoteOn(s, " enforce", 0, noon) }, `a "" enforce 12:00:00`},
		{"never stamped", func(s *stored) { s.Annotations = nil }, `a "" enforce`},
		{"stamped by something else", func(s *stored) { status.StampOf(s).NoteOn(s, "other", 0, noon) }, `a "" enforce`},
	} {
		s := written("v 1")
		test.change(s)
		r := passes.ReplicaOf(&s.Policy, &s.status)
		got := fmt.Sprintf("%s %q %s", r.Cluster, r.Version, r.Action)
		if r.Edited {
			got += " edited"
		}
		if !r.Applied.IsZero() {
			got += r.Applied.Format(" 15:04:05")
		}
		if r.Compliance != "" {
			got += " " + string(r.Compliance)
		}
		if !r.ComplianceTime.IsZero() {
			got += r.ComplianceTime.UTC().Format(" 15:04:05")
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.why, got, test.want)
		}
	}
}

// O17: whoever writes a policy again, for a label, keeps when it got its version and what was reported before.
func TestStampAgain(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}}
	for i := range 2 {
		p, err := passes.Propagate(resolution, "v", status.Record{}, []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, noon, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := s.Annotations
		p.Stamp(s, p.Clusters[0], noon.Add(time.Duration(i)*time.Hour))
		s.Spec.RemediationAction = p.Clusters[0].Action
		s.says(policyv1.Compliant, "1", noon)
		if i == 1 && fmt.Sprint(before) != fmt.Sprint(s.Annotations) {
			t.Errorf("was %v, is %v", before, s.Annotations)
		}
	}
	if r := passes.ReplicaOf(&s.Policy, &s.status); r.Compliance != policyv1.Compliant || !r.Applied.Equal(noon) {
		t.Errorf("%+v", r)
	}
}

// O17: hub templates that resolve to another text on a cluster take it back to inform, and it is enforced in its turn.
func TestResolvedTemplatesAreRolledOut(t *testing.T) {
	r := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1}), to("a", "b", "c"))
	noted := map[string]string{"a": "hash 1", "b": "hash 1", "c": "hash 1"}    // by the writes before
	resolved := map[string]string{"a": "hash 2", "b": "hash 1", "c": "hash 2"} // of what the templates resolve to now
	replicas := func(actions ...policyv1.RemediationAction) (all []passes.Replica) {
		for i, cluster := range []string{"a", "b", "c"} {
			replica := passes.Replica{Cluster: cluster, Version: "v2", Action: actions[i], RolloutStatus: status.Succeeded, Applied: noon}
			if actions[i] == policyv1.Enforce {
				replica.Compliance, replica.ComplianceTime = policyv1.Compliant, noon
			}
			if noted[cluster] != resolved[cluster] {
				replica.Version = ""
			}
			all = append(all, replica)
		}
		return all
	}
	p := propagate(t, r, replicas(policyv1.Enforce, policyv1.Enforce, policyv1.Enforce), rollout.Options{})
	if got, want := p.String(), "a: inform, ToApply (update); b: enforce, Succeeded; c: inform, ToApply (update)"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	noted = resolved
	p = propagate(t, r, replicas(policyv1.Inform, policyv1.Enforce, policyv1.Inform), rollout.Options{})
	if got, want := fmt.Sprint(p.Start, " of ", p), "[a] of a: enforce, Progressing (update); b: enforce, Succeeded; c: inform, ToApply (updateStatus)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// O17: under one pass, too, a report on the text before is no answer to the new one, whether the object is created for the write or is
// the stored one.
func TestResolvedTemplatesAreAnswered(t *testing.T) {
	r := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.All}), to("a"))
	for _, anew := range []bool{true, false} {
		s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}}
		step := func(outdated bool, want string) {
			t.Helper()
			replica := passes.ReplicaOf(&s.Policy, &s.status)
			if outdated { // the templates resolve to another text now
				replica.Version = ""
			}
			p := propagate(t, r, []passes.Replica{replica}, rollout.Options{})
			if got := p.String(); got != want {
				t.Fatalf("anew %v: got %s, want %s", anew, got, want)
			}
			if cluster := p.Clusters[0]; cluster.Verb == passes.VerbUpdate {
				if anew {
					s.Annotations = nil
				}
				p.Stamp(s, cluster, noon)
				s.Spec.RemediationAction, s.status.RolloutStatus = cluster.Action, string(cluster.RolloutStatus)
			}
		}
		step(false, "a: enforce, Progressing (update)")
		s.says(policyv1.Compliant, "1", noon)
		step(false, "a: enforce, Succeeded (updateStatus)")
		step(true, "a: enforce, Progressing (update)")
		step(false, "a: enforce, Progressing")
		s.says(policyv1.Compliant, "2", noon)
		step(false, "a: enforce, Succeeded (updateStatus)")
	}
}
