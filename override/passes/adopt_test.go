// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// ofOCM is a replica as OCM's propagator (buildReplicatedPolicy) writes it: the root's labels and annotations with its own, no finalizers and
// owners, the action of the root or of an override, and dependencies in the form for clusters. An update sets labels, annotations and spec
// in one write.
func ofOCM(cluster string, action policyv1.RemediationAction, parts []part, written time.Time, generation int64) *stored {
	s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{
		Name: "policies.policy", Namespace: cluster, Generation: generation, CreationTimestamp: metav1.NewTime(noon.Add(-24 * time.Hour)),
		Labels: map[string]string{
			"policy.open-cluster-management.io/cluster-name": cluster, "policy.open-cluster-management.io/cluster-namespace": cluster,
			"policy.open-cluster-management.io/root-policy": "policies.policy",
		},
		Annotations: map[string]string{"argocd.argoproj.io/compare-options": "IgnoreExtraneous"},
	}}}
	at := metav1.NewTime(written)
	s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "governance-policy-propagator", Operation: "Update", Time: &at, FieldsV1: &metav1.FieldsV1{
		Raw: []byte(`{"f:metadata":{"f:annotations":{},"f:labels":{}},"f:spec":{".":{},"f:policy-templates":{},"f:remediationAction":{}}}`)}}}
	s.Spec = policyv1.PolicySpec{RemediationAction: action, PolicyTemplates: templatesOf(parts)}
	return s
}

// O24: on the day of the switch from OCM's propagator nothing is written for the stamps, and nothing loses its compliance, also in the
// middle of an edit.
func TestTheDayOfTheSwitch(t *testing.T) {
	old, edited := []part{config("a", 1, 0), config("b", 1, 0)}, []part{config("a", 2, 0), config("b", 1, 0)}
	hour := noon.Add(-time.Hour)
	for _, test := range []struct {
		why    string
		action policyv1.RemediationAction
		parts  []part
		since  time.Time // of the spec
		said   time.Time // by a
		want   string
		root   policyv1.ComplianceState
		later  string
	}{
		{"settled", "enforce", edited, hour, hour.Add(time.Second), "enforce, Succeeded (updateStatus)", "Compliant", "enforce, Succeeded (updateStatus)"},
		{"settled, and labelled since, which moves the time of the manager", "enforce", edited, noon.Add(-6 * time.Minute), hour, "enforce, Succeeded (updateStatus)", "Compliant", "enforce, Succeeded (updateStatus)"},
		{"settled, and labelled a minute ago: its answer is shown, and counts five minutes after the label", "enforce", edited, noon.Add(-time.Minute), hour, "enforce, Progressing (updateStatus)", "Compliant", "enforce, Succeeded (updateStatus)"},
		{"the action is spelled otherwise", "Enforce", edited, hour, hour, "enforce, Succeeded (updateStatus)", "Compliant", "enforce, Succeeded (updateStatus)"},
		{"OCM has just written it, and it has not answered: what it said before is shown", "enforce", edited, noon.Add(-time.Second), hour, "enforce, Progressing (updateStatus)", "Compliant", "enforce, Succeeded (updateStatus)"},
		{"OCM has not come to it", "enforce", old, hour, hour.Add(time.Second), "enforce, Progressing (update)", "", "enforce, Progressing (update)"},
		{"it has another action", "inform", edited, hour, hour.Add(time.Second), "enforce, Progressing (update)", "", "enforce, Progressing (update)"},
	} {
		t.Run(test.why, func(t *testing.T) {
			s := ofOCM("a", test.action, test.parts, test.since, 3)
			s.status = policyv1.PolicyStatus{ComplianceState: "Compliant", Details: []policyv1.PolicyDetails{detail("a", "Compliant", test.said), detail("b", "Compliant", hour.Add(-time.Hour))}}
			before := fmt.Sprint(s.Annotations)
			for now, want := range map[time.Time]string{noon: test.want, noon.Add(5 * time.Minute): test.later} {
				adopted := passes.Adopt(&s.Policy, &ofOCM("a", "", edited, noon, 1).Policy, "v2")
				p, err := passes.Propagate(resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a")), "v2", status.Record{}, []passes.Replica{passes.ReplicaOf(adopted, &s.status)}, now, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var root policyv1.PolicyStatus
				p.SetStatus(&root)
				if got := strings.TrimPrefix(p.String(), "a: "); got != want || root.ComplianceState != test.root {
					t.Errorf("%s, root %s, want %s, root %s", got, root.ComplianceState, want, test.root)
				}
			}
			if fmt.Sprint(s.Annotations) != before {
				t.Error("the policy was changed")
			}
		})
	}
}

// O24: without managed fields nothing tells when OCM's propagator wrote the spec: perhaps a second ago. The replica gets its stamp, what it
// said before is shown, and counts five minutes later.
func TestTheDayOfTheSwitchWithoutManagedFields(t *testing.T) {
	parts := []part{config("a", 1, 0)}
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: time.Hour}), to("a", "b"))
	settled := map[string]*stored{}
	for cluster, action := range map[string]policyv1.RemediationAction{"a": policyv1.Enforce, "b": policyv1.Inform} {
		settled[cluster] = ofOCM(cluster, action, parts, noon.Add(-time.Second), 3)
		settled[cluster].ManagedFields = nil
		settled[cluster].status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(-time.Hour))}
	}
	step := func(after time.Duration, want string) {
		t.Helper()
		now := noon.Add(after)
		var replicas []passes.Replica
		for _, s := range settled {
			replicas = append(replicas, passes.ReplicaOf(passes.Adopt(&s.Policy, &ofOCM(s.Namespace, "", parts, noon, 1).Policy, "v2"), &s.status))
		}
		p, err := passes.Propagate(resolution, "v2", status.Record{}, replicas, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var root policyv1.PolicyStatus
		p.SetStatus(&root)
		if got := p.String(); got != want || root.Status[0].ComplianceState != policyv1.Compliant || len(p.Edited) > 0 {
			t.Errorf("after %v: %s, want %s; %+v, edited %v", after, got, want, root, p.Edited)
		}
		for _, cluster := range p.Writes() {
			s := settled[cluster.Name]
			if cluster.Verb == passes.VerbUpdate {
				p.Stamp(s, cluster, now)
			}
			s.Spec.RemediationAction, s.status.RolloutStatus = cluster.Action, string(cluster.RolloutStatus)
		}
	}
	step(0, "a: enforce, Progressing (update); b: inform, ToApply (update)")
	step(time.Minute, "a: enforce, Progressing; b: inform, ToApply")
	step(5*time.Minute, "a: enforce, Succeeded (updateStatus); b: enforce, Progressing (update)")
	settled["b"].status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(6*time.Minute))}
	step(7*time.Minute, "a: enforce, Succeeded; b: enforce, Succeeded (updateStatus)")
}

// O24: what the cluster says after that stamp is its answer.
func TestAnAnswerAfterTheStampOfTheSwitch(t *testing.T) {
	s := ofOCM("a", "enforce", []part{config("a", 1, 0)}, noon.Add(-time.Second), 3)
	s.ManagedFields = nil
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	adopted := passes.Adopt(&s.Policy, &s.Policy, "v2")
	s.status.Details = []policyv1.PolicyDetails{detail("a", "NonCompliant", noon.Add(-time.Hour))}
	p := propagate(t, resolution, []passes.Replica{passes.ReplicaOf(adopted, &s.status)}, rollout.Options{})
	p.Stamp(s, p.Clusters[0], noon)
	if got := s.tells(t, noon.Add(time.Minute)); got != "Progressing [a] [] [] 12:05" {
		t.Error(got)
	}
	s.status.Details = []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(time.Second))}
	if got := s.tells(t, noon.Add(time.Minute)); got != "Succeeded" {
		t.Error(got)
	}
}

// O24: a stamp that has lost its time, and what was said before it, is written anew, once.
func TestAStampWithoutItsTimeIsWrittenAnew(t *testing.T) {
	s := ofOCM("a", "enforce", []part{config("a", 1, 0)}, noon, 3)
	s.Annotations[annotationVersion] = "v2 enforce"
	for _, want := range []string{"a: enforce, Progressing (update)", "a: enforce, Progressing"} {
		p := propagate(t, resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a")), []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, rollout.Options{})
		if got := p.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		p.Stamp(s, p.Clusters[0], noon)
		s.status.RolloutStatus = "Progressing"
	}
	if at := status.StampOf(s).Applied; !at.Equal(noon) {
		t.Errorf("applied at %v", at)
	}
}

// O17, O24: what counts late is shown only where nothing is known of the messages before the write.
func TestWhatCountsLateIsShownOnlyAfterASwitch(t *testing.T) {
	a := config("a", 1, 0)
	noted := a
	noted.note = "n"
	s := rewritten(t, templatesOf([]part{a}), templatesOf([]part{noted}), detail("a", "Compliant", noon.Add(-time.Hour)))
	p := propagate(t, resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a")), []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, rollout.Options{})
	if got := p.Clusters[0].Compliance; got != "" || p.Explain("a").InFlight.CountsFrom.IsZero() {
		t.Errorf("%q, %s", got, p.Explain("a"))
	}
}

// O24, O23: a person set the action of c to enforce after OCM's propagator had stopped. That starts no cluster, and is set back.
func TestAnActionEditedBeforeTheSwitchStartsNoCluster(t *testing.T) {
	hour := noon.Add(-time.Hour)
	parts := []part{config("a", 1, 0)}
	limits := naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}
	for _, test := range []struct {
		why  string
		edit func(s *stored)
		want string
	}{
		{"by kubectl, a minute ago", func(s *stored) { s.writtenBy("kubectl-edit", "f:remediationAction", noon.Add(-time.Minute)) },
			"[c]: a: enforce, Progressing (update); b: inform, ToApply (updateStatus); c: inform, ToApply (update)"},
		{"by OCM's propagator", func(s *stored) {},
			"[]: a: inform, ToApply (updateStatus); b: inform, ToApply (updateStatus); c: enforce, Failed (updateStatus)"},
		{"by kubectl, and the propagator wrote since", func(s *stored) { s.writtenBy("kubectl-edit", "f:remediationAction", hour.Add(-time.Minute)) },
			"[]: a: inform, ToApply (updateStatus); b: inform, ToApply (updateStatus); c: enforce, Failed (updateStatus)"},
		{"another field by kubectl", func(s *stored) { s.writtenBy("kubectl-edit", "f:disabled", noon.Add(-time.Minute)) },
			"[]: a: inform, ToApply (updateStatus); b: inform, ToApply (updateStatus); c: enforce, Progressing (updateStatus)"},
		{"all of it was restored", func(s *stored) { s.ManagedFields = nil; s.writtenBy("velero", "f:remediationAction", hour) },
			"[]: a: inform, ToApply (updateStatus); b: inform, ToApply (updateStatus); c: enforce, Failed (updateStatus)"},
	} {
		var replicas []passes.Replica
		for _, cluster := range []string{"a", "b", "c"} {
			action := policyv1.Inform
			if cluster == "c" {
				action = policyv1.Enforce
			}
			s := ofOCM(cluster, action, parts, hour, 3)
			s.status.Details = []policyv1.PolicyDetails{detail("a", "NonCompliant", hour.Add(time.Second))}
			if cluster == "c" {
				test.edit(s)
			}
			replicas = append(replicas, passes.ReplicaOf(passes.Adopt(&s.Policy, &ofOCM(cluster, "", parts, noon, 1).Policy, "v2"), &s.status))
		}
		p, err := passes.Propagate(resolve(t, policy(policyv1.Enforce, limits), to("a", "b", "c")), "v2", status.Record{}, replicas, noon, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Edited, ": ", p); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}

// writtenBy has another manager write a field of the spec.
func (s *stored) writtenBy(manager, field string, at time.Time) {
	written := metav1.NewTime(at)
	s.ManagedFields = append(s.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &written,
		FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"` + field + `":{}}}`)}})
}

// O24, dependency P2: OCM's propagator gives a missing set the policy's namespace, as Replicate does.
func TestAReplicaThatDependsOnAMissingSetIsAdopted(t *testing.T) {
	set := func(namespace string) policyv1.PolicyDependency {
		return policyv1.PolicyDependency{TypeMeta: metav1.TypeMeta{APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "PolicySet"},
			Namespace: namespace, Name: "gone", Compliance: policyv1.Compliant}
	}
	root := policyv1.Policy{TypeMeta: metav1.TypeMeta{APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "policies", Name: "policy"}}
	root.Spec.Dependencies = []policyv1.PolicyDependency{set("")}
	root.Spec.PolicyTemplates = templatesOf([]part{config("a", 1, 0)})
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&root)
	if err != nil {
		t.Fatal(err)
	}
	replica, err := dependency.Replicate(&unstructured.Unstructured{Object: content}, "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	var wanted policyv1.Policy
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(replica.Object, &wanted); err != nil {
		t.Fatal(err)
	}
	before := ofOCM("c", "enforce", []part{config("a", 1, 0)}, noon, 1)
	before.Spec.Dependencies = []policyv1.PolicyDependency{set("policies")}
	if r := passes.ReplicaOf(passes.Adopt(&before.Policy, &wanted, "v1"), &policyv1.PolicyStatus{}); r.Version != "v1" {
		t.Errorf("it has version %q, want v1", r.Version)
	}
}

// O24: what is adopted, and since when it counts as applied.
func TestAdopt(t *testing.T) {
	parts := []part{config("a", 1, 0)}
	wanted := &ofOCM("a", "", parts, noon, 1).Policy
	stamped := ofOCM("a", "enforce", parts, noon, 2)
	status.Stamp{}.NoteOn(stamped, "v1 enforce", 0, noon)
	untold := ofOCM("a", "enforce", parts, noon, 2)
	untold.ManagedFields = nil
	for _, test := range []struct {
		why     string
		replica *policyv1.Policy
		wanted  *policyv1.Policy
		want    string
	}{
		{"its first spec is as old as it is", &ofOCM("a", "enforce", parts, noon, 1).Policy, wanted, "v2 2026-11-20 12:00"},
		{"a later spec is as old as managed fields say", &ofOCM("a", "inform", parts, noon, 2).Policy, wanted, "v2 2026-11-21 12:00"},
		{"or it is unknown", &untold.Policy, wanted, "v2 -"},
		{"a stamp is believed", &stamped.Policy, wanted, "v1 2026-11-21 12:00"},
		{"another content", &ofOCM("a", "enforce", []part{config("a", 2, 0)}, noon, 1).Policy, wanted, " -"},
		{"an action that is none", &ofOCM("a", "Fix", parts, noon, 1).Policy, wanted, " -"},
		{"nothing is wanted", &ofOCM("a", "enforce", parts, noon, 1).Policy, nil, " -"},
	} {
		r := passes.ReplicaOf(passes.Adopt(test.replica, test.wanted, "v2"), &policyv1.PolicyStatus{})
		got := r.Version + " -"
		if !r.Applied.IsZero() {
			got = r.Version + r.Applied.Format(" 2006-01-02 15:04")
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
	if passes.Adopt(nil, wanted, "v2") != nil {
		t.Error("no policy became one")
	}
}
