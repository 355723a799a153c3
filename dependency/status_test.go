// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.UTC)

// details has a line for each template: what it counts as, and its messages, the newest first.
func details(st policyv1.PolicyStatus) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", st.ComplianceState)
	for _, d := range st.Details {
		fmt.Fprintf(&b, "\n%s %q", d.TemplateMeta.Name, d.ComplianceState)
		for _, h := range d.History {
			fmt.Fprintf(&b, " | %s %s", h.LastTimestamp.UTC().Format("15:04:05"), h.Message)
		}
	}
	return b.String()
}

// said observes an object of policy x that said this at a time after noon.
func said(c policyv1.ComplianceState, message string, after time.Duration) dependency.Observation {
	return dependency.Observation{Compliance: c, Policy: "x", Event: policyv1.PolicyHistory{LastTimestamp: metav1.NewTime(noon.Add(after)), Message: message}}
}

// P12: a policy's status through the life of its templates.
func TestStatusOverTime(t *testing.T) {
	var st policyv1.PolicyStatus
	now := noon
	step := func(why, policy string, own known, want string) {
		t.Helper()
		now = now.Add(10 * time.Second)
		before := details(st)
		next := evaluate(world(policy), observed("y!"))[0].Status(own, st, now)
		if got := details(next); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", why, got, want)
		}
		if details(st) != before {
			t.Errorf("%s: the previous status was changed", why)
		}
		st = next
	}
	missing := dependency.Observation{Problem: dependency.ReasonNotFound}
	a, b := object("#a"), object("@b")

	step("nothing was created yet", "x: a @b(y)", known{a: missing, b: missing}, `"Pending"
a ""
b "Pending" | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant`)
	step("one has answered, the other says nothing new", "x: a @b(y)", known{a: said("NonCompliant", "NonCompliant; no pod", 15*time.Second), b: missing}, `"NonCompliant"
a "NonCompliant" | 12:00:15 NonCompliant; no pod
b "Pending" | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant`)
	step("a read fails", "x: a @b(y)", known{a: {Problem: dependency.ReasonReadFailed, Detail: "timeout"}, b: missing}, `"NonCompliant"
a "NonCompliant" | 12:00:15 NonCompliant; no pod
b "Pending" | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant`)
	step("the same message again is an answer of its own", "x: a @b", known{a: said("NonCompliant", "NonCompliant; no pod", 35*time.Second), b: said("Compliant", "Compliant; all is there", 36*time.Second)}, `"NonCompliant"
a "NonCompliant" | 12:00:35 NonCompliant; no pod | 12:00:15 NonCompliant; no pod
b "Compliant" | 12:00:36 Compliant; all is there | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant`)
	step("templates change their places, one is renamed, and one is added", "x: @b +g c", known{b: said("Compliant", "Compliant; all is there", 36*time.Second), object("+g"): {Compliance: "NonCompliant", Policy: "x", Detail: "status.created is false"}, object("#c"): missing}, `"NonCompliant"
b "Compliant" | 12:00:36 Compliant; all is there | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant
g "NonCompliant" | 12:00:50 NonCompliant; ConstraintTemplate g is NonCompliant: status.created is false
c ""`)
	step("another policy has it", "x: @b c", known{b: said("Compliant", "Compliant; all is there", 36*time.Second), object("#c"): {Compliance: "Compliant", Policy: "q"}}, `"NonCompliant"
b "Compliant" | 12:00:36 Compliant; all is there | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant
c "NonCompliant" | 12:01:00 NonCompliant; template-error; Policy q owns ConfigurationPolicy c already: rename one of the templates`)
	step("an error, and a template that may be pending", "x: @b(y y!) c(y)~", known{b: said("Compliant", "Compliant; all is there", 36*time.Second), object("#c"): missing}, `"NonCompliant"
b "NonCompliant" | 12:01:10 NonCompliant; template-error; spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": contradicts spec.policy-templates[0].extraDependencies[0].compliance, which is Compliant for the same Policy y | 12:00:36 Compliant; all is there | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant
c "Compliant" | 12:01:10 Compliant; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant; it counts as compliant because of ignorePending | 12:01:00 NonCompliant; template-error; Policy q owns ConfigurationPolicy c already: rename one of the templates`)
	step("the error is fixed, and the object has nothing new to say", "x: @b", known{b: said("Compliant", "Compliant; all is there", 36*time.Second)}, `"Compliant"
b "Compliant" | 12:01:20 Compliant; all is there | 12:01:10 NonCompliant; template-error; spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": contradicts spec.policy-templates[0].extraDependencies[0].compliance, which is Compliant for the same Policy y | 12:00:36 Compliant; all is there | 12:00:10 Pending; Dependencies were not satisfied: Policy y is NonCompliant, must be Compliant`)
}

// P12: a message of an object from before the newest one counts from now on, as the history has the newest first.
func TestAnOldMessageCountsFromNowOn(t *testing.T) {
	e := evaluate(world("x: a"), nil)[0]
	st := e.Status(known{object("#a"): {Compliance: "Compliant", Policy: "q"}}, policyv1.PolicyStatus{}, noon.Add(time.Minute))
	st = e.Status(known{object("#a"): said("Compliant", "Compliant; fine", 0)}, st, noon.Add(2*time.Minute))
	const want = `"Compliant"
a "Compliant" | 12:02:00 Compliant; fine | 12:01:00 NonCompliant; template-error; Policy q owns ConfigurationPolicy a already: rename one of the templates`
	if got := details(st); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// P12: Gatekeeper's objects have no messages of their own.
func TestStatusOfGatekeepersObjects(t *testing.T) {
	e := evaluate(world("x: +g =k"), nil)[0]
	read := func(o dependency.Object, status map[string]any) dependency.Observation {
		u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
		u.SetAPIVersion(o.APIVersion)
		u.SetKind(o.Kind)
		u.SetName(o.Name)
		u.SetLabels(map[string]string{"policy.open-cluster-management.io/policy": "x"})
		return dependency.ObservationOf(u, nil)
	}
	g, k := object("+g"), object("=k")
	st := e.Status(known{
		g: read(g, map[string]any{"created": true}), k: read(k, map[string]any{"totalViolations": int64(2)}),
	}, policyv1.PolicyStatus{}, noon)
	const want = `"NonCompliant"
g "Compliant" | 12:00:00 Compliant; ConstraintTemplate g is Compliant
k "NonCompliant" | 12:00:00 NonCompliant; K8sThing k is NonCompliant: status.totalViolations is 2`
	if got := details(st); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// P12: the name of an event has the time with all its digits, as OCM's have, and the time has whole seconds, as it is stored.
func TestHistoryIsAsItIsStored(t *testing.T) {
	e := evaluate(world("x: a"), nil)[0]
	st := e.Status(known{object("#a"): said("Compliant", "Compliant; fine", 0)}, policyv1.PolicyStatus{}, noon.Add(time.Hour))
	want := []policyv1.PolicyHistory{{
		LastTimestamp: metav1.NewTime(noon.Truncate(time.Second)), Message: "Compliant; fine", EventName: fmt.Sprintf("x.%x", noon.UnixNano()),
	}}
	if diff := cmp.Diff(want, st.Details[0].History); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	named := said("Compliant", "Compliant; fine", time.Minute)
	named.Event.EventName = "sent.123"
	for range 2 {
		st = e.Status(known{object("#a"): named}, st, noon.Add(time.Hour))
	}
	if h := st.Details[0].History; len(h) != 2 || h[0].EventName != "sent.123" {
		t.Errorf("an event with a name of its own: %v", h)
	}
	for i := range 20 {
		st = e.Status(known{object("#a"): said("Compliant", fmt.Sprint("Compliant; ", i), time.Duration(i)*time.Hour)}, st, noon.Add(time.Hour))
	}
	if h := st.Details[0].History; len(h) != 10 || h[0].Message != "Compliant; 19" || h[9].Message != "Compliant; 10" {
		t.Errorf("%d messages: %v", len(h), h)
	}
}

// P9: the newest message of an object, whatever the order, and no message that cannot be read.
func TestTheNewestMessageOfAnObject(t *testing.T) {
	u := read(t, "observed.yaml")[1]
	for _, test := range []struct {
		why     string
		history any
		want    string
	}{
		{"none", nil, ""},
		{"the newest", []any{
			map[string]any{"lastTimestamp": "2026-01-02T12:00:00.000001Z", "message": "Compliant; old"},
			map[string]any{"lastTimestamp": "2026-01-02T12:00:00.000002Z", "message": " Compliant; new "},
			map[string]any{"lastTimestamp": "2026-01-02T11:00:00Z", "message": "Compliant; older"},
		}, "Compliant; new"},
		{"odd ones", []any{"7", map[string]any{"lastTimestamp": "yesterday", "message": "x"}, map[string]any{"lastTimestamp": "2026-01-02T11:00:00Z"}}, ""},
		{"no list", "x", ""},
	} {
		u = u.DeepCopy()
		if err := unstructured.SetNestedField(u.Object, test.history, "status", "history"); err != nil && test.history != nil {
			u.Object["status"].(map[string]any)["history"] = test.history
		}
		if got := dependency.ObservationOf(u, nil).Event.Message; got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// P12: whatever happened before, the status is that of the templates, and a second look adds nothing.
func TestStatusAddsNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st policyv1.PolicyStatus
		for i := range 3 {
			e := evaluate([]*policyv1.Policy{drawPolicy(t, "x", allWants()...)}, nil)[0]
			own := known{}
			for _, template := range e.Templates {
				observation := drawObservation(t)
				observation.Policy = rapid.SampledFrom([]string{"x", "x", "x", "q", ""}).Draw(t, "whose")
				if rapid.Bool().Draw(t, "says") {
					observation.Event = said("Compliant", "Compliant; x", time.Duration(rapid.IntRange(0, 2).Draw(t, "when"))*time.Second).Event
				}
				own[template.Object] = observation
			}
			now := noon.Add(time.Duration(i) * time.Second)
			previous := st
			st = e.Status(own, previous, now)
			if got, want := st.ComplianceState, e.Compliance(own, previous.ComplianceState); got != want {
				t.Fatalf("the policy is %q, want %q", got, want)
			}
			if len(st.Details) != len(e.Templates) {
				t.Fatalf("%d details of %d templates", len(st.Details), len(e.Templates))
			}
			for j, d := range st.Details {
				if d.TemplateMeta.Name != e.Templates[j].Object.Name || len(d.History) > 10 {
					t.Fatalf("detail %d is %+v", j, d)
				}
			}
			if again := e.Status(own, st, now.Add(time.Hour)); details(again) != details(st) {
				t.Fatalf("again\n%s\nwant\n%s", details(again), details(st))
			}
		}
	})
}
