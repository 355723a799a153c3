// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P4: a message has at most 1 kB and one line, whatever names and errors have, and nothing that matters is missing.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("long name ä\r\n", 40)
	template := dependency.TemplateEvaluation{State: dependency.StatePending, IgnorePending: true}
	for i := range 60 {
		unmet := dependency.Unmet{Object: dependency.Object{APIVersion: "v1", Kind: "Kind", Name: fmt.Sprint(i, long)}, Want: policyv1.Compliant}
		switch i % 4 {
		case 0:
			unmet.Reason, unmet.Observation.Compliance = dependency.ReasonOtherCompliance, policyv1.Pending
		case 1:
			unmet.Reason = dependency.ReasonOnCycle
		case 2:
			unmet.Reason, unmet.Observation.Detail = dependency.ReasonReadFailed, strings.Repeat(long, 10)
		default:
			unmet.Reason = dependency.ReasonNotFound
		}
		template.Unmet = append(template.Unmet, unmet)
	}
	for _, steps := range []int{3, 33, 34, 1000} {
		template.Cycle = make(dependency.Cycle, steps)
		for i := range steps {
			template.Cycle[i].Object = dependency.Object{Kind: "Kind", Name: fmt.Sprint(i, long)}
		}
		message := template.Message()
		if len(message) > 1000 || strings.ContainsAny(message, "\r\n") || strings.ContainsRune(message, '\uFFFD') {
			t.Errorf("%d bytes: %q", len(message), message)
		}
		for _, want := range []string{"15 are still pending", "15 wait for this template", "and 29 more", "dependency cycle", "ignorePending"} {
			if !strings.Contains(message, want) {
				t.Errorf("no %q in %q", want, message)
			}
		}
		if text := template.Cycle.String(); len(text) > 1000 {
			t.Errorf("a cycle of %d bytes: %s", len(text), text)
		}
		action := dependency.Evaluation{Policy: "x", Templates: []dependency.TemplateEvaluation{template}}.Actions(having("x", dependency.Object{}))[0]
		if len(action.Message) > 1024 {
			t.Errorf("an action of %d bytes: %s", len(action.Message), action.Message)
		}
	}
	if got, want := template.Cycle.String(), "and 997 more"; !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}

	policies := world("x: a")
	for range 200 {
		policies[0].Spec.Dependencies = append(policies[0].Spec.Dependencies, policyv1.PolicyDependency{Name: long})
	}
	invalid := evaluate(policies, nil)[0].Templates[0]
	if message := invalid.Message(); len(message) > 1000 || !strings.Contains(message, "more") || strings.ContainsAny(message, "\r\n") {
		t.Errorf("%d bytes: %s", len(message), message)
	}
}
