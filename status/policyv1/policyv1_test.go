package policyv1_test

import (
	"fmt"
	"testing"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P7: one table for policies over templates, roots over clusters and sets over policies.
func TestAggregate(t *testing.T) {
	type states = []policyv1.ComplianceState
	for _, test := range []struct {
		why   string
		parts states
		want  policyv1.ComplianceState
	}{
		{"nothing says nothing", nil, ""},
		{"all comply", states{"Compliant", "Compliant"}, policyv1.Compliant},
		{"one that has not said hides that the others comply", states{"Compliant", ""}, ""},
		{"a value of another API is unknown", states{"Compliant", "Odd"}, ""},
		{"pending is worse than unknown", states{"", "Pending", "Compliant"}, policyv1.Pending},
		{"non-compliance is worst, wherever it stands", states{"Pending", "", "Compliant", "NonCompliant"}, policyv1.NonCompliant},
	} {
		if got := policyv1.Aggregate(test.parts...); got != test.want {
			t.Errorf("%s: Aggregate(%q) = %q, want %q", test.why, test.parts, got, test.want)
		}
	}
}

func ExampleAggregate() {
	fmt.Println(policyv1.Aggregate(policyv1.Compliant, policyv1.Pending))
	// Output: Pending
}
