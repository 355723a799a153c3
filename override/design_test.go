package override_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// O7: the five examples of the design document, in both spellings. An inform policy is bound to
// placementrule-initial; each example adds bindings.
func TestDesignExamples(t *testing.T) {
	selected := map[string][]string{
		"placementrule-initial":  {"A", "B", "C", "D"},
		"placementrule-sub":      {"A", "B"},
		"placementrule-sub-2":    {"E", "F"},
		"placementrule-extended": {"A", "B", "E", "F"},
	}
	const (
		policy = `
kind: Policy
metadata: {name: test-policy-1}
spec: {remediationAction: inform}
---`
		// A binding begins with its placement rule and ends with its override.
		begin = `
kind: PlacementBinding
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: test-policy-1}]
metadata: {name: NAME}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: placementrule-NAME}
`
		none          = "---"
		enforce       = "remediationActionOverride: {remediationAction: enforce}\n---"
		enforceAll    = "remediationActionOverride: {remediationAction: enforce, subFilter: false}\n---"
		subFilter     = "remediationActionOverride: {remediationAction: enforce, subFilter: true}\n---"
		shipped       = "bindingOverrides: {remediationAction: enforce}\n---"
		shippedFilter = "bindingOverrides: {remediationAction: enforce}\nsubFilter: restricted\n---"
	)
	binding := func(name, override string) string { return strings.ReplaceAll(begin, "NAME", name) + override }

	for _, test := range []struct {
		name     string
		bindings []string
		shipped  []string
		want     string
		why      []string
	}{
		{
			"O7 example 1: simple selection",
			[]string{binding("sub", enforce)},
			[]string{binding("sub", shipped)},
			"enforce: A B; inform: C D",
			[]string{
				"A: enforce by sub, bound by initial, sub",
				"B: enforce by sub, bound by initial, sub",
				"C: inform by the policy, bound by initial",
				"D: inform by the policy, bound by initial",
			},
		}, {
			"O7 example 2: no sub filtering",
			[]string{binding("extended", enforceAll)},
			[]string{binding("extended", shipped)},
			"enforce: A B E F; inform: C D",
			[]string{
				"A: enforce by extended, bound by extended, initial",
				"B: enforce by extended, bound by extended, initial",
				"C: inform by the policy, bound by initial",
				"D: inform by the policy, bound by initial",
				"E: enforce by extended, bound by extended",
				"F: enforce by extended, bound by extended",
			},
		}, {
			"O7 example 3: with sub filtering",
			[]string{binding("extended", subFilter)},
			[]string{binding("extended", shippedFilter)},
			"enforce: A B; inform: C D",
			[]string{
				"A: enforce by extended, bound by initial",
				"B: enforce by extended, bound by initial",
				"C: inform by the policy, bound by initial",
				"D: inform by the policy, bound by initial",
			},
		}, {
			"O7 example 4: multiple placements with sub filtering",
			[]string{binding("sub-2", none), binding("extended", subFilter)},
			[]string{binding("sub-2", none), binding("extended", shippedFilter)},
			"enforce: A B E F; inform: C D",
			[]string{
				"A: enforce by extended, bound by initial",
				"B: enforce by extended, bound by initial",
				"C: inform by the policy, bound by initial",
				"D: inform by the policy, bound by initial",
				"E: enforce by extended, bound by sub-2",
				"F: enforce by extended, bound by sub-2",
			},
		}, {
			"O7 example 5: no overlap",
			[]string{binding("sub-2", subFilter)},
			[]string{binding("sub-2", shippedFilter)},
			"inform: A B C D",
			[]string{
				"A: inform by the policy, bound by initial",
				"B: inform by the policy, bound by initial",
				"C: inform by the policy, bound by initial",
				"D: inform by the policy, bound by initial",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, bindings := range [][]string{test.bindings, test.shipped} {
				text := policy + binding("initial", none) + strings.Join(bindings, "")
				result := resolve(t, read(t, []byte(text), throughYAML), selected)
				if got := result.String(); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if diff := cmp.Diff(test.why, explain(result)); diff != "" {
					t.Errorf("why (-want +got):\n%s", diff)
				}
			}
		})
	}
}
