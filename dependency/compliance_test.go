// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P5, P6, P7: what a template counts as for its policy, for each state, each own observation and with ignorePending.
func TestWhatTemplatesCountAs(t *testing.T) {
	const ready, waits, kept = "x: a%", "x: a(y)%", "x: a(z)%"
	for _, test := range []struct{ why, policy, own, ignored, want string }{
		{"P7 a ready one counts as its object", ready, "NonCompliant", "NonCompliant", "NonCompliant"},
		{"P7 also where that is Pending", ready, "Pending", "Pending", "Pending"},
		{"P7 and is unknown where that is odd", ready, "Odd", "", ""},
		{"P7 or was not read", ready, "", "", ""},
		{"P5 one that waits is Pending, or ignored, whatever its object said", waits, "NonCompliant", "Compliant", "Pending"},
		{"P6 one that waits for what is not known counts as its object", kept, "NonCompliant", "NonCompliant", "NonCompliant"},
		{"P6 and is Pending where that is not known", kept, "", "Compliant", "Pending"},
		{"P7 an invalid one is not compliant", "x: a(y y!)%", "Compliant", "NonCompliant", "NonCompliant"},
		{"P7 one of a disabled policy is unknown", "-x: a%", "Compliant", "", ""},
	} {
		for sign, want := range map[string]string{"": test.want, "~": test.ignored} {
			e := evaluate(world(strings.ReplaceAll(test.policy, "%", sign)), observed("y!"))[0]
			own := known{object("#a"): {Compliance: policyv1.ComplianceState(test.own)}}
			if got := e.Compliance(of("x", own), ""); string(got) != want {
				t.Errorf("%s: with %q %q, want %q", test.why, sign, got, want)
			}
			ignores := strings.Contains(e.Templates[0].Message(), "it counts as compliant because of ignorePending")
			if pending := e.Templates[0].State == dependency.StatePending; ignores != (pending && sign == "~") {
				t.Errorf("P5 %s: the message is %q", test.why, e.Templates[0].Message())
			}
		}
	}
}

// P6, P7: what a policy's status says stays while what counts was not read, unless the other templates rule it out.
func TestAFailedReadKeepsTheComplianceThatIsWritten(t *testing.T) {
	const failed, ready, kept = "a: ReadFailed", "x: a b", "x: a(z) b"
	for _, test := range []struct{ why, policy, a, b, previous, want string }{
		{"stays", ready, failed, "Compliant", "Compliant", "Compliant"},
		{"stays, NonCompliant, too", ready, failed, "Compliant", "NonCompliant", "NonCompliant"},
		{"stays where the object was not read yet", ready, "", "Compliant", "Compliant", "Compliant"},
		{"stays of a template that keeps its object", kept, failed, "Compliant", "Compliant", "Compliant"},
		{"what was read counts", ready, "NonCompliant", "Compliant", "Compliant", "NonCompliant"},
		{"what is missing counts", ready, "NotFound", "Compliant", "Compliant", ""},
		{"another template rules it out", ready, failed, "NonCompliant", "Compliant", "NonCompliant"},
		{"another one that is Pending, too", ready, failed, "Pending", "Compliant", "Pending"},
		{"another one that is unknown, too", ready, failed, "NotFound", "Compliant", ""},
		{"another one does not", ready, failed, "Pending", "NonCompliant", "NonCompliant"},
		{"there is nothing to stay", ready, failed, "Compliant", "", ""},
		{"nothing that is a compliance", ready, failed, "Compliant", "Odd", ""},
		{"a template that waits for what was read counts as Pending", "x: a(y) b", failed, "Compliant", "Compliant", "Pending"},
		{"one that keeps its object and may be pending does so, too", "x: a(z)~ b", "NotFound", "Compliant", "NonCompliant", "Compliant"},
		{"but stays where the object was not read", "x: a(z)~ b", failed, "Compliant", "NonCompliant", "NonCompliant"},
		{"one that may be pending counts as compliant", "x: a(y)~ b", failed, "Compliant", "NonCompliant", "Compliant"},
	} {
		e := evaluate(world(test.policy), observed("y!"))[0]
		own := known{}
		for name, what := range map[string]string{"#a": test.a, "#b": test.b} {
			switch what {
			case "":
			case failed:
				own[object(name)] = dependency.Observation{Problem: dependency.ReasonReadFailed}
			case "NotFound":
				own[object(name)] = dependency.Observation{Problem: dependency.ReasonNotFound}
			default:
				own[object(name)] = dependency.Observation{Compliance: policyv1.ComplianceState(what)}
			}
		}
		if got := e.Compliance(of("x", own), policyv1.ComplianceState(test.previous)); string(got) != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}
