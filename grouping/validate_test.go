// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// G2, G5, G7: a webhook hears of all that Divide and Decisions would refuse, and of nothing else.
func TestValidate(t *testing.T) {
	fine := newPlacement(intstr.FromInt32(2), byLabel("canary", "canary"))
	unnamed := fine.DeepCopy()
	unnamed.Name = ""
	wrong := newPlacement(intstr.FromInt32(-1), byLabel("", "canary"))
	wrong.Name = strings.Repeat("a", 64)
	wrong.Spec.SortBy = "Size"
	dotted := fine.DeepCopy()
	dotted.Name = "a b"
	for _, test := range []struct {
		why       string
		placement *clusterv1beta1.Placement
		path      *field.Path
		want      []string
	}{
		{"nothing wrong", fine, nil, nil},
		{"a name that will be generated", unnamed, nil, nil},
		{"nil", nil, nil, []string{"placement: Required value: must not be nil"}},
		{"everything wrong, elsewhere", wrong, field.NewPath("placements").Index(3), []string{
			`placements[3].spec.sortBy: Unsupported value: "Size": supported values: "ClusterName", "Score"`,
			`placements[3].spec.decisionStrategy.groupStrategy.decisionGroups[0].groupName: Required value: must be a name: the clusters that no group selects are those without`,
			`placements[3].spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup: Invalid value: -1: must be a positive count, or a percentage from 1% to 100% in decimal digits`,
			`placements[3].metadata.name: Invalid value: "` + wrong.Name + `": must be usable as the value of a label: must be no more than 63 bytes`,
		}},
		{"a name with a space", dotted, nil, []string{`metadata.name: Invalid value: "a b": must be usable in the names of PlacementDecisions: ` +
			`a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character ` +
			`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}},
	} {
		var got []string
		for _, err := range grouping.Validate(test.placement, test.path) {
			got = append(got, err.Error())
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", test.why, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		g, err := grouping.Divide(test.placement, nil, grouping.Options{})
		if err == nil {
			_, err = g.Decisions(test.placement)
		}
		if (err == nil) != (len(test.want) == 0) && test.placement != unnamed {
			t.Errorf("%s: dividing says %v", test.why, err)
		}
	}
}

// G5: a group without a selector is valid, and takes all that no group before it has. That is told, and is no error.
func TestWarnings(t *testing.T) {
	const at, empty = "spec.decisionStrategy.groupStrategy.decisionGroups", "has no label and no claim to select by, so group %q takes every cluster that no group before it has; a misspelled selector looks like this once the API server has pruned it"
	byClaim := byLabel("claims", "x")
	byClaim.ClusterSelector.LabelSelector = metav1.LabelSelector{}
	byClaim.ClusterSelector.ClaimSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}
	pruned := clusterv1beta1.DecisionGroup{GroupName: "canary"}
	wrong := newPlacement(intstr.FromInt32(-1), pruned)
	for _, c := range []struct {
		why       string
		placement *clusterv1beta1.Placement
		path      *field.Path
		want      []string
	}{
		{"no groups", newPlacement(intstr.FromInt32(2)), nil, nil},
		{"selectors", newPlacement(intstr.FromInt32(2), byLabel("canary", "canary"), byClaim), nil, nil},
		{"one without", newPlacement(intstr.FromInt32(2), byLabel("early", "canary"), pruned), nil, []string{at + "[1].groupClusterSelector: " + fmt.Sprintf(empty, "canary")}},
		{"elsewhere", newPlacement(intstr.FromInt32(2), pruned), field.NewPath("placements").Index(3), []string{"placements[3]." + at + "[0].groupClusterSelector: " + fmt.Sprintf(empty, "canary")}},
		{"an error is told alone", wrong, nil, nil},
		{"nil", nil, nil, nil},
	} {
		if got := grouping.Warnings(c.placement, c.path); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
		if errs := grouping.Validate(c.placement, c.path); len(errs) > 0 != (c.placement == nil || c.placement == wrong) {
			t.Errorf("%s: %v", c.why, errs)
		}
	}
}
