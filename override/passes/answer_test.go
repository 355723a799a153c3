// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	annotationVersion  = "cohort.open-cluster-management.io/version"
	annotationReported = "cohort.open-cluster-management.io/reported"
)

// detail is a template in a status, with a message of that time.
func detail(name string, compliance policyv1.ComplianceState, at time.Time) policyv1.PolicyDetails {
	return policyv1.PolicyDetails{
		TemplateMeta: metav1.ObjectMeta{Name: name}, ComplianceState: compliance,
		History: []policyv1.PolicyHistory{{
			EventName: fmt.Sprintf("policies.policy.%x", at.UnixNano()), LastTimestamp: metav1.NewTime(at.Truncate(time.Second)), Message: string(compliance) + "; it is so",
		}},
	}
}

// saying is a template with that message.
func saying(name string, compliance policyv1.ComplianceState, message string, at time.Time) policyv1.PolicyDetails {
	d := detail(name, compliance, at)
	d.History[0].Message = string(compliance) + "; " + message
	return d
}

// rewritten is a replica that had one content and status, and was written with another content at noon.
func rewritten(t *testing.T, before, after []policyv1.PolicyTemplate, had ...policyv1.PolicyDetails) *stored {
	t.Helper()
	s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}}}
	s.Spec = policyv1.PolicySpec{RemediationAction: policyv1.Enforce, PolicyTemplates: before}
	s.status.Details = had
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	p := propagate(t, resolution, []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, rollout.Options{})
	p.Stamp(s, p.Clusters[0], noon)
	s.Spec.PolicyTemplates = after
	return s
}

// says is what a replica says at a time: "Compliant", and the templates that are awaited.
func (s *stored) tells(t *testing.T, now time.Time) string {
	t.Helper()
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	p, err := passes.Propagate(resolution, "v2", status.Record{}, []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(p.Clusters[0].RolloutStatus)
	if in := p.Explain("a").InFlight; in != nil {
		for _, names := range [][]string{in.Unanswered, in.Pending, in.Unfit} {
			text += " [" + strings.Join(names, " ") + "]"
		}
		if !in.CountsFrom.IsZero() {
			text += in.CountsFrom.Format(" 15:04")
		}
	}
	return text
}

func template(text string) policyv1.PolicyTemplate {
	return policyv1.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Raw: []byte(text)}}
}

// O17: which templates owe an answer to a write, and what is one.
func TestWhichTemplatesAnswer(t *testing.T) {
	before, after := noon.Add(-time.Minute), noon.Add(time.Second)
	const aConfig = `{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy", "metadata": {"name": "a"}, "spec": {"x": 1}}`
	b := config("b", 1, 0)
	a := config("a", 1, 0)
	noted, edited := a, a
	noted.note, edited.content = "n", 2
	rare, rareEdited := part{name: "r", kind: constraint, content: 1}, part{name: "r", kind: constraint, content: 2}
	only := part{name: "o", kind: "ConfigurationPolicy", content: 1, own: "InformOnly"}
	onlyEdited := only
	onlyEdited.content = 2
	waiting := a
	waiting.waitsFor = elsewhere
	waits := templatesOf([]part{waiting})
	operator, operatorEdited := part{name: "o", kind: "OperatorPolicy", content: 1}, part{name: "o", kind: "OperatorPolicy", content: 2}
	gatekeeper, gatekeeperEdited := part{name: "g", kind: "ConstraintTemplate", content: 1}, part{name: "g", kind: "ConstraintTemplate", content: 2}
	expires, expiresEdited := part{name: "e", kind: "CertificatePolicy", content: 1}, part{name: "e", kind: "CertificatePolicy", content: 2}
	expiresEnforced := expires
	expiresEnforced.own = policyv1.Enforce
	for _, test := range []struct {
		why       string
		from, to  []policyv1.PolicyTemplate
		had, says []policyv1.PolicyDetails
		want      string
		later     string // after five minutes
	}{
		{"nothing changed, so what was said counts", templatesOf([]part{a, b}), templatesOf([]part{a, b}),
			[]policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "Compliant", before)}, nil, "Succeeded", "Succeeded"},
		{"only their order changed", templatesOf([]part{a, b}), templatesOf([]part{b, a}),
			[]policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "Compliant", before)}, nil, "Succeeded", "Succeeded"},
		{"the JSON is spelled otherwise", []policyv1.PolicyTemplate{template(aConfig)}, []policyv1.PolicyTemplate{template(strings.ReplaceAll(aConfig, " ", ""))},
			[]policyv1.PolicyDetails{detail("a", "Compliant", before)}, nil, "Succeeded", "Succeeded"},
		{"one changed and has not reported on this version", templatesOf([]part{a, b}), templatesOf([]part{edited, b}),
			[]policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "Compliant", before)}, nil, "Progressing [a] [] []", "Progressing [a] [] []"},
		{"the second changed and has not reported on this version", templatesOf([]part{b, a}), templatesOf([]part{b, edited}),
			[]policyv1.PolicyDetails{detail("b", "Compliant", before), detail("a", "Compliant", before)}, nil, "Progressing [a] [] []", "Progressing [a] [] []"},
		{"both changed and one has reported", templatesOf([]part{config("b", 2, 0), a}), templatesOf([]part{b, edited}),
			[]policyv1.PolicyDetails{detail("b", "Compliant", before), detail("a", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("b", "Compliant", after), detail("a", "Compliant", before)}, "Progressing [a] [] []", "Progressing [a] [] []"},
		{"it has answered", templatesOf([]part{a, b}), templatesOf([]part{edited, b}),
			[]policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("a", "Compliant", after), detail("b", "Compliant", before)}, "Succeeded", "Succeeded"},
		{"its message was on its way", templatesOf([]part{a}), templatesOf([]part{edited}), []policyv1.PolicyDetails{detail("a", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(-time.Millisecond))}, "Progressing [a] [] [] 12:05", "Succeeded"},
		{"the one that does not comply is named", templatesOf([]part{a, b}), templatesOf([]part{edited, b}), []policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("a", "NonCompliant", after), detail("b", "Compliant", before)}, "Progressing [] [] [a]", "Progressing [] [] [a]"},
		{"a new one", templatesOf([]part{a}), templatesOf([]part{a, b}), []policyv1.PolicyDetails{detail("a", "Compliant", before)}, nil, "Progressing [b] [] []", "Progressing [b] [] []"},
		{"a removed template is still in the status", templatesOf([]part{a, b}), templatesOf([]part{a}),
			[]policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "NonCompliant", before)}, nil, "Progressing [b] [] []", "Progressing [b] [] []"},
		{"it is told of no more", templatesOf([]part{a, b}), templatesOf([]part{a}), []policyv1.PolicyDetails{detail("a", "Compliant", before), detail("b", "NonCompliant", before)},
			[]policyv1.PolicyDetails{detail("a", "Compliant", before)}, "Succeeded", "Succeeded"},
		{"an annotation may be of no consequence", templatesOf([]part{a}), templatesOf([]part{noted}), []policyv1.PolicyDetails{detail("a", "Compliant", before)}, nil, "Progressing [a] [] [] 12:05", "Succeeded"},
		{"so may dependencies", templatesOf([]part{a}), waits, []policyv1.PolicyDetails{detail("a", "Compliant", before)}, nil, "Progressing [a] [] [] 12:05", "Succeeded"},
		{"a constraint says only what is new", templatesOf([]part{rare}), templatesOf([]part{rareEdited}), []policyv1.PolicyDetails{detail("r", "Compliant", before)}, nil, "Progressing [r] [] [] 12:05", "Succeeded"},
		{"an OperatorPolicy reports on each content", templatesOf([]part{operator}), templatesOf([]part{operatorEdited}), []policyv1.PolicyDetails{detail("o", "Compliant", before)}, nil,
			"Progressing [o] [] []", "Progressing [o] [] []"},
		{"a ConstraintTemplate that Gatekeeper did not create", templatesOf([]part{gatekeeper}), templatesOf([]part{gatekeeperEdited}),
			[]policyv1.PolicyDetails{detail("g", "Compliant", before)}, []policyv1.PolicyDetails{detail("g", "NonCompliant", after)}, "Progressing [] [] [g]", "Progressing [] [] [g]"},
		{"a CertificatePolicy says only what is new, and only informs", templatesOf([]part{expires}), templatesOf([]part{expiresEdited}),
			[]policyv1.PolicyDetails{detail("e", "NonCompliant", before)}, nil, "Progressing [e] [] [] 12:05", "Succeeded"},
		{"its own action changes nothing", templatesOf([]part{expires}), templatesOf([]part{expiresEnforced}), []policyv1.PolicyDetails{detail("e", "NonCompliant", before)}, nil,
			"Succeeded", "Succeeded"},
		{"what a template says while it ignores Pending is no answer yet", templatesOf([]part{a}), templatesOf([]part{edited}), []policyv1.PolicyDetails{detail("a", "Compliant", before)},
			[]policyv1.PolicyDetails{saying("a", "Compliant", "Dependencies were not satisfied: 1 is still pending (Policy other) but ignorePending is true", noon)}, "Progressing [a] [] [] 12:05", "Succeeded"},
		{"the template sync does not say an error twice", templatesOf([]part{a}), templatesOf([]part{edited}), []policyv1.PolicyDetails{saying("a", "NonCompliant", "template-error; it is no policy", before)}, nil,
			"Progressing [a] [] [] 12:05", "Progressing [] [] [a]"},
		{"nor that a pending template is ignored", templatesOf([]part{a}), templatesOf([]part{edited}),
			[]policyv1.PolicyDetails{saying("a", "Compliant", "Dependencies were not satisfied: 1 is still pending (Policy other) but ignorePending is true", before)}, nil, "Progressing [a] [] [] 12:05", "Succeeded"},
		{"one that waits for dependencies is told from a slow one", templatesOf([]part{a}), templatesOf([]part{edited}), []policyv1.PolicyDetails{detail("a", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("a", "Pending", after)}, "Progressing [] [a] []", "Progressing [] [a] []"},
		{"InformOnly is done when it has answered", templatesOf([]part{only}), templatesOf([]part{onlyEdited}), []policyv1.PolicyDetails{detail("o", "NonCompliant", before)},
			[]policyv1.PolicyDetails{detail("o", "NonCompliant", after)}, "Succeeded", "Succeeded"},
		{"also while it waits for dependencies, which may never comply", templatesOf([]part{only, b}), templatesOf([]part{onlyEdited, b}),
			[]policyv1.PolicyDetails{detail("o", "NonCompliant", before), detail("b", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("o", "Pending", after), detail("b", "Compliant", before)}, "Succeeded", "Succeeded"},
		{"one without a kind has the name that OCM gives it", templatesOf([]part{a}), []policyv1.PolicyTemplate{template(`{"metadata": {"name": "a"}}`)},
			[]policyv1.PolicyDetails{detail("a", "Compliant", before)}, []policyv1.PolicyDetails{saying("template-0", "NonCompliant", "template-error; Object 'Kind' is missing", after)},
			"Progressing [] [] [template-0]", "Progressing [] [] [template-0]"},
		{"so has a list, which is no object", templatesOf([]part{b, a}), []policyv1.PolicyTemplate{templatesOf([]part{b})[0], template(`{"kind": "List", "metadata": {"name": "a"}, "items": []}`)},
			[]policyv1.PolicyDetails{detail("b", "Compliant", before), detail("a", "Compliant", before)},
			[]policyv1.PolicyDetails{detail("b", "Compliant", before), saying("template-1", "NonCompliant", "template-error; it is a list", after)},
			"Progressing [] [] [template-1]", "Progressing [] [] [template-1]"},
		{"what cannot be read has the name that the template sync gives it", []policyv1.PolicyTemplate{template(`{}`), template(`7`)}, []policyv1.PolicyTemplate{template(`{}`), template(`8`)},
			nil, nil, "Progressing [template-1] [] []", "Progressing [template-1] [] []"},
	} {
		t.Run(test.why, func(t *testing.T) {
			s := rewritten(t, test.from, test.to, test.had...)
			if test.says != nil {
				s.status.Details = test.says
			}
			if got := s.tells(t, noon.Add(time.Minute)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if got := s.tells(t, noon.Add(5*time.Minute)); got != test.later {
				t.Errorf("after five minutes %s, want %s", got, test.later)
			}
		})
	}
}

// O17: a template without a spec, in which no action can be set, may have something to say of another action, unless it only informs.
func TestAnActionThatNoTemplateShows(t *testing.T) {
	for _, test := range []struct {
		apiVersion, kind string
		want             policyv1.ComplianceState
	}{{"v1", "ConfigMap", ""}, {"policy.open-cluster-management.io/v1", "CertificatePolicy", policyv1.Compliant}} {
		bare := []policyv1.PolicyTemplate{template(fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": "x"}}`, test.apiVersion, test.kind))}
		s := rewritten(t, bare, bare, detail("x", "Compliant", noon.Add(-time.Minute)))
		s.Spec.RemediationAction = policyv1.Inform
		s.Annotations[annotationVersion] = "v2 inform"
		if r := passes.ReplicaOf(&s.Policy, &s.status); r.Compliance != test.want {
			t.Errorf("%s: %q, want %q", test.kind, r.Compliance, test.want)
		}
	}
}

// O17: what a template owed before a write that does not change it, it owes still.
func TestWhatATemplateOwedItOwesStill(t *testing.T) {
	a, b := config("a", 1, 0), config("b", 1, 0)
	edited := a
	edited.content = 2
	s := rewritten(t, templatesOf([]part{a, b}), templatesOf([]part{edited, b}), detail("a", "Compliant", noon.Add(-time.Minute)), detail("b", "Compliant", noon.Add(-time.Minute)))
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a"))
	for i, version := range []string{"v3", "v4"} { // b is edited twice, and answers
		p, err := passes.Propagate(resolution, version, status.Record{}, []passes.Replica{passes.ReplicaOf(&s.Policy, &s.status)}, noon.Add(time.Minute), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Stamp(s, p.Clusters[0], noon.Add(time.Minute))
		b.content++
		s.Spec.PolicyTemplates = templatesOf([]part{edited, b})
		s.status.Details[1] = detail("b", "Compliant", noon.Add(time.Duration(2+i)*time.Minute))
	}
	s.Annotations[annotationVersion] = "v2 enforce"
	if got := s.tells(t, noon.Add(time.Hour)); got != "Progressing [a] [] []" {
		t.Error(got)
	}
	s.status.Details[0] = detail("a", "Compliant", noon.Add(time.Second)) // after the write that a owes it to
	if got := s.tells(t, noon.Add(time.Hour)); got != "Succeeded" {
		t.Error(got)
	}
}

// O17: as long as the cluster keeps writing its status, its earlier messages may be outdated.
func TestWhoWasAwayIsGivenTimeToAnswer(t *testing.T) {
	a := config("a", 1, 0)
	edited := a
	edited.content = 2
	s := rewritten(t, templatesOf([]part{a}), templatesOf([]part{edited}), detail("a", "Compliant", noon.Add(-time.Hour)))
	s.status.Details[0] = detail("a", "Compliant", noon.Add(-time.Minute)) // it comes an hour later
	at := metav1.NewTime(noon.Add(time.Hour))
	s.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &at, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:details":{}}}`)}}}
	for after, want := range map[time.Duration]string{time.Hour + 4*time.Minute: "Progressing [a] [] [] 13:05", time.Hour + 5*time.Minute: "Succeeded"} {
		if got := s.tells(t, noon.Add(after)); got != want {
			t.Errorf("after %v %s, want %s", after, got, want)
		}
	}
}

// O17: the stamps of earlier versions of this library have the report as a whole.
func TestOlderStampsAreRead(t *testing.T) {
	parts := templatesOf([]part{config("a", 1, 0), config("b", 1, 0)})
	s := &stored{Policy: policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}, Spec: policyv1.PolicySpec{RemediationAction: policyv1.Enforce, PolicyTemplates: parts}}}
	status.Stamp{}.NoteOn(s, "v2 enforce", 0, noon)
	s.status = policyv1.PolicyStatus{ComplianceState: "Compliant", Details: []policyv1.PolicyDetails{detail("a", "Compliant", noon.Add(-time.Minute)), detail("b", "Compliant", noon.Add(-time.Minute))}}
	s.Annotations[annotationReported] = "78f2f54e0e5f8105" // of this very report
	if got := s.tells(t, noon.Add(time.Hour)); got != "Progressing [a b] [] []" {
		t.Errorf("the report in the stamp counts: %s", got)
	}
	s.status.Details[0] = detail("a", "Compliant", noon.Add(time.Second))
	if got := s.tells(t, noon.Add(time.Minute)); got != "Progressing [b] [] [] 12:05" {
		t.Errorf("b has not answered as far as is known: %s", got)
	}
	if got := s.tells(t, noon.Add(5*time.Minute+time.Second)); got != "Succeeded" {
		t.Errorf("nothing else was said after the message of a: %s", got)
	}
}

// O17: the stamp of a policy of thirty templates has room in an object, whatever their names.
func TestStampsAreShort(t *testing.T) {
	var parts []part
	var had []policyv1.PolicyDetails
	for i := range 30 {
		parts = append(parts, config(fmt.Sprintf("%s-%d.example.com", strings.Repeat("name", 12), i), 1, 0))
		had = append(had, detail(parts[i].name, "NonCompliant", noon.Add(-time.Minute)))
	}
	s := rewritten(t, templatesOf(parts), templatesOf(parts), had...)
	if n := len(s.Annotations[annotationReported]); n == 0 || n > 2000 {
		t.Errorf("%d characters", n)
	}
}

// O23: an action that was set by hand is set back, is named, and starts no cluster; the deadline begins again with the write.
func TestAnActionSetByHandIsSetBack(t *testing.T) {
	f := newFleet(t, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}, policyv1.Enforce, 3)
	slow := config("a", 1, 5*time.Minute)
	f.edit(slow)
	f.run(time.Second)
	f.hub["c02"].Spec.RemediationAction = policyv1.Enforce
	f.reconcile()
	if c, _ := f.last.Find("c02"); fmt.Sprint(f.last.Edited, " ", c) != "[c02] c02: inform, ToApply (update)" {
		t.Errorf("%v %s", f.last.Edited, c)
	}
	f.run(time.Second)
	f.hub["c00"].Spec.RemediationAction = policyv1.Inform // it is in flight
	f.reconcile()
	if c, _ := f.last.Find("c00"); fmt.Sprint(f.last.Edited, " ", c) != "[c00] c00: enforce, Progressing (update)" {
		t.Errorf("%v %s", f.last.Edited, c)
	}
	if at := status.StampOf(f.hub["c00"]).Applied; !at.Equal(f.now) {
		t.Errorf("applied at %v, and written again at %v", at, f.now)
	}
	if f.run(2 * time.Second); len(f.last.Edited) > 0 || !f.settled(time.Hour) {
		t.Errorf("%v, %s", f.last.Edited, f.status.RolloutStatus)
	}
}

// O23: other content, which the caller finds, is written again, too. Its cluster is in flight from then on, whatever it reported on that content,
// and takes a slot already in this call.
func TestContentEditedByHandIsWrittenAgain(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{}), to("a", "b"))
	p := propagate(t, resolution, []passes.Replica{
		{Cluster: "a", Version: "v2", Action: policyv1.Enforce, Edited: true, Compliance: policyv1.Compliant, RolloutStatus: status.Succeeded},
		{Cluster: "b", Version: "v1", Action: policyv1.Enforce, Edited: true},
	}, rollout.Options{})
	if got := fmt.Sprint(p.Edited, " ", p); got != "[a] a: enforce, Progressing (update); b: enforce, Progressing (update)" {
		t.Error(got)
	}
}

// O23: the deadline begins again with the write, so a cluster with a replica that was edited long after its start does not time out before.
func TestAClusterThatWasEditedDoesNotTimeOut(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}), to("a", "b"))
	edited := passes.Replica{Cluster: "a", Version: "v2", Action: policyv1.Enforce, Edited: true, Compliance: policyv1.Compliant, Applied: noon.Add(-time.Hour), RolloutStatus: status.Succeeded}
	waits := passes.Replica{Cluster: "b", Version: "v2", Action: policyv1.Inform, Compliance: policyv1.NonCompliant, Applied: noon.Add(-time.Hour), RolloutStatus: status.ToApply}
	p := propagate(t, resolution, []passes.Replica{edited, waits}, rollout.Options{})
	if got, want := p.String(), "a: enforce, Progressing (update); b: inform, ToApply"; got != want || p.Breach != nil {
		t.Errorf("%s, %v, want %s", got, p.Breach, want)
	}
	if report, _ := edited.Report(resolution, "v2", noon); !report.Applied.Equal(noon) {
		t.Errorf("reported as applied at %v", report.Applied)
	}
}

// O23: a cluster in flight counts in a group that is gone, so the record has it although it is bound. Somebody edits its replica. The record
// settles while the write is not made: a controller stores the record first, and would otherwise never come to the write.
func TestTheRecordOfAClusterThatWasEditedSettles(t *testing.T) {
	resolution := resolve(t, policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.ProgressivePerGroup, deadline: 10 * time.Minute}), to("a", "b"))
	started := noon.Add(-time.Minute)
	replicas := []passes.Replica{
		{Cluster: "a", Version: "v2", Action: policyv1.Enforce, Edited: true, Applied: started, RolloutStatus: status.Progressing},
		{Cluster: "b", Version: "v2", Action: policyv1.Inform, Compliance: policyv1.NonCompliant, Applied: started, RolloutStatus: status.ToApply},
	}
	record := status.Record{Version: "v2", Exposed: 1, Deselected: []status.DeselectedCluster{
		{Report: status.Report{Cluster: "a", Status: status.Progressing, Applied: started}, Group: grouping.Key{Index: 7, Name: "gone"}},
	}}
	for i := range 3 {
		p, err := passes.Propagate(resolution, "v2", record, replicas, noon.Add(time.Duration(i)*time.Second), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && !reflect.DeepEqual(p.Record, record) {
			t.Fatalf("call %d: %+v, and stored is %+v", i, p.Record, record)
		}
		if len(p.Record.Deselected) != 1 || len(p.Start) > 0 || fmt.Sprint(p.Edited) != "[a]" {
			t.Fatalf("call %d: %+v, starts %v, edited %v", i, p.Record, p.Start, p.Edited)
		}
		record = p.Record
	}
}
