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
		{"P6 one that waits for what is not known counts as its object", kept, "NonCompliant", "Compliant", "NonCompliant"},
		{"P6 and is Pending where that is not known", kept, "", "Compliant", "Pending"},
		{"P7 an invalid one is not compliant", "x: a(y y!)%", "Compliant", "NonCompliant", "NonCompliant"},
		{"P7 one of a disabled policy is unknown", "-x: a%", "Compliant", "", ""},
	} {
		for sign, want := range map[string]string{"": test.want, "~": test.ignored} {
			e := evaluate(world(strings.ReplaceAll(test.policy, "%", sign)), observed("y!"))[0]
			own := known{object("#a"): {Compliance: policyv1.ComplianceState(test.own)}}
			if got := e.Compliance(own); string(got) != want {
				t.Errorf("%s: with %q %q, want %q", test.why, sign, got, want)
			}
			ignores := strings.Contains(e.Templates[0].Message(), "it counts as compliant because of ignorePending")
			if pending := e.Templates[0].State == dependency.StatePending; ignores != (pending && sign == "~") {
				t.Errorf("P5 %s: the message is %q", test.why, e.Templates[0].Message())
			}
		}
	}
}
