// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

func TestDivide(t *testing.T) {
	canary, eu, all := byLabel("canary", "canary"), byClaim("eu", "region", "eu"), clusterv1beta1.DecisionGroup{GroupName: "all"}
	both := byLabel("both", "canary")
	both.ClusterSelector.ClaimSelector = eu.ClusterSelector.ClaimSelector
	none := intstr.IntOrString{}

	for _, test := range []struct {
		name     string // with the rule
		size     intstr.IntOrString
		groups   []clusterv1beta1.DecisionGroup
		clusters string
		want     string
	}{
		{"G1 the unnamed come last", none, groups(canary), "a b+canary c", `0 "canary":b | 1:a c`},
		{"G1 the listed order counts, not the names'", none, groups(eu, canary), "a+canary b@eu", `0 "eu":b | 1 "canary":a`},
		{"G1 the first that matches", none, groups(canary, eu), "a+canary@eu b@eu", `0 "canary":a | 1 "eu":b`},
		{"G1 label and claim selector both", none, groups(both), "a+canary b@eu c+canary@eu d+canary@us", `0 "both":c | 1:a b d`},
		{"G1 an empty selector selects all", none, groups(all, canary), "a b+canary", `0 "all":a b`},
		{"G1 a claim is no label", none, groups(byLabel("region", "region")), "a@eu", `0:a`},
		{"G1 a group that selects none does not exist", none, groups(eu, canary), "a+canary", `0 "canary":a`},
		{"G1 a name listed twice is two groups", none, groups(canary, eu, byLabel("canary", "new")), "a+new b@eu c+canary", `0 "canary":c | 1 "eu":b | 2 "canary":a`},

		{"G2 unset is all", none, nil, "a b c", `0:a b c`},
		{"G2 a count", intstr.FromInt32(2), nil, "a b c", `0:a b | 1:c`},
		{"G2 exactly full", intstr.FromInt32(2), nil, "a b c d", `0:a b | 1:c d`},
		{"G2 above the total is all", intstr.FromInt32(9), nil, "a b c", `0:a b c`},
		{"G2 a percentage, rounded up", intstr.FromString("34%"), nil, "a b c", `0:a b | 1:c`},
		{"G2 a percentage of all selected, not of the name's", intstr.FromString("50%"), groups(canary), "a+canary b+canary c d", `0 "canary":a b | 1:c d`},
		{"G2 less than one cluster is one", intstr.FromString("1%"), nil, "a b", `0:a | 1:b`},
		{"G2 the largest count", intstr.FromInt32(1<<31 - 1), nil, "a b", `0:a b`},
		{"G2 G3 a large named group is several, then the rest", intstr.FromInt32(2), groups(canary), "a b+canary c+canary d+canary", `0 "canary":b c | 1 "canary":d | 2:a`},

		{"G3 nothing selected is one empty group", intstr.FromInt32(2), nil, "", `0:`},
		{"G3 it has no name", intstr.FromString("10%"), groups(canary, all), "", `0:`},
		{"G3 no gap where a group selects none", intstr.FromInt32(1), groups(canary, eu), "a b@eu c", `0 "eu":b | 1:a | 2:c`},

		{"G4 in the order of the names", intstr.FromInt32(2), nil, "b d a c", `0:a b | 1:c d`},
		{"G4 the order of the names is bytewise", none, nil, "a-10 a-2 a a1", `0:a a-10 a-2 a1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustDivide(t, newPlacement(test.size, test.groups...), fleet(test.clusters), grouping.Options{})
			if diff := cmp.Diff(test.want, show(got)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

func groups(groups ...clusterv1beta1.DecisionGroup) []clusterv1beta1.DecisionGroup { return groups }

// G4: order by score, and what is kept of scores and reasons.
func TestDivideByScore(t *testing.T) {
	byScore := newPlacement(intstr.FromInt32(2), byLabel("canary", "canary"))
	byScore.Spec.SortBy = clusterv1beta1.PlacementSortByScore
	byName := newPlacement(intstr.FromInt32(2), byLabel("canary", "canary"))
	byName.Spec.SortBy = clusterv1beta1.PlacementSortByClusterName
	scores := grouping.Options{Scores: map[string]int64{"a": -5, "b": 7, "c": 7, "e": 9, "f": 1, "gone": 100}}
	clusters := fleet("f e d c+canary b+canary a+canary")

	for _, test := range []struct {
		why       string
		placement *clusterv1beta1.Placement
		opts      grouping.Options
		want      string
	}{
		{"highest first, ties by name, none is 0, within the name", byScore, scores, `0 "canary":b c | 1 "canary":a | 2:e f | 3:d`},
		{"without scores by name", byScore, grouping.Options{}, `0 "canary":a b | 1 "canary":c | 2:d e | 3:f`},
		{"by name if the placement says so", byName, scores, `0 "canary":a b | 1 "canary":c | 2:d e | 3:f`},
	} {
		if got := show(mustDivide(t, test.placement, clusters, test.opts)); got != test.want {
			t.Errorf("G4 %s: %s, want %s", test.why, got, test.want)
		}
	}

	scores.Reasons = map[string]string{"b": "closest", "gone": "no"}
	got := mustDivide(t, byName, clusters, scores)
	for _, want := range []clusterv1beta1.ClusterDecision{
		{ClusterName: "a", Score: -5},
		{ClusterName: "b", Score: 7, Reason: "closest"},
		{ClusterName: "d"},
	} {
		if _, d, ok := got.Find(want.ClusterName); !ok || d != want {
			t.Errorf("G4 reason and score are kept: Find(%s) = %+v, %v, want %+v", want.ClusterName, d, ok, want)
		}
	}
}

// G4: ties are by name however many there are.
func TestDivideByScoreWithManyTies(t *testing.T) {
	placement := newPlacement(intstr.IntOrString{})
	placement.Spec.SortBy = clusterv1beta1.PlacementSortByScore
	scores := map[string]int64{}
	want := map[int64]string{}
	clusters := numbered(200, "c")
	for i, c := range clusters {
		scores[c.Name] = int64(i * i % 3)
		want[scores[c.Name]] += c.Name + " "
	}
	got := show(mustDivide(t, placement, shuffled(1, clusters), grouping.Options{Scores: scores}))
	if diff := cmp.Diff("0:"+strings.TrimSpace(want[2]+want[1]+want[0]), got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// G5, G2: every fault, with what was found and where.
func TestDivideErrors(t *testing.T) {
	const (
		group  = "spec.decisionStrategy.groupStrategy.decisionGroups[0]"
		size   = "spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup"
		labels = group + ".groupClusterSelector.labelSelector"
		claims = group + ".groupClusterSelector.claimSelector"
		isSize = ": must be a positive count, or a percentage from 1% to 100% in decimal digits"
	)
	selecting := func(key string, op metav1.LabelSelectorOperator, values ...string) clusterv1beta1.DecisionGroup {
		g := byLabel("canary", key)
		g.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = op
		g.ClusterSelector.LabelSelector.MatchExpressions[0].Values = values
		return g
	}
	matching := byLabel("canary", "canary")
	matching.ClusterSelector.LabelSelector.MatchLabels = map[string]string{"z": "ok", "y": "b/c", "x": "a b"}
	sortBy := newPlacement(intstr.IntOrString{})
	sortBy.Spec.SortBy = "Age"

	for _, test := range []struct {
		why       string
		placement *clusterv1beta1.Placement
		clusters  []*clusterv1.ManagedCluster
		want      []string
	}{
		{"G5 no placement", nil, nil, []string{`placement: Required value: must not be nil`}},
		{"G5 unknown operator", newPlacement(intstr.IntOrString{}, selecting("west", "Exist")), nil,
			[]string{labels + `.matchExpressions[0]: Invalid value: "west Exist []": must be valid in the selector of group "canary": "Exist" is not a valid label selector operator`}},
		{"G5 values where there are none", newPlacement(intstr.IntOrString{}, selecting("west", metav1.LabelSelectorOpExists, "true")), nil,
			[]string{labels + `.matchExpressions[0]: Invalid value: "west Exists [\"true\"]": must be valid in the selector of group "canary": values: Invalid value: ["true"]: values set must be empty for exists and does not exist`}},
		{"G5 no values where there are some", newPlacement(intstr.IntOrString{}, selecting("west", metav1.LabelSelectorOpIn)), nil,
			[]string{labels + `.matchExpressions[0]: Invalid value: "west In []": must be valid in the selector of group "canary": values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`}},
		{"G5 the operator of a claim", newPlacement(intstr.IntOrString{}, func() clusterv1beta1.DecisionGroup {
			g := byClaim("eu", "region", "eu")
			g.ClusterSelector.ClaimSelector.MatchExpressions[0].Operator = "in"
			return g
		}()), nil,
			[]string{claims + `.matchExpressions[0]: Invalid value: "region in [\"eu\"]": must be valid in the selector of group "eu": "in" is not a valid label selector operator`}},
		{"G5 all labels that can't match, in order", newPlacement(intstr.IntOrString{}, matching), nil,
			[]string{
				labels + `.matchLabels[x]: Invalid value: "a b": must be valid in the selector of group "canary": values[0][x]: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
				labels + `.matchLabels[y]: Invalid value: "b/c": must be valid in the selector of group "canary": values[0][y]: Invalid value: "b/c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
			}},
		{"G5 a group without a name", newPlacement(intstr.IntOrString{}, byLabel("", "west")), nil,
			[]string{group + `.groupName: Required value: must be a name: the clusters that no group selects are those without`}},
		{"G7 a group with a name that can't be a label", newPlacement(intstr.IntOrString{}, byLabel(strings.Repeat("a", 64), "west")), nil,
			[]string{group + `.groupName: Invalid value: "` + strings.Repeat("a", 64) + `": must be usable as the value of a label: must be no more than 63 bytes`}},

		{"G2 negative", newPlacement(intstr.FromInt32(-1)), nil, []string{size + `: Invalid value: -1` + isSize}},
		{"G2 zero percent", newPlacement(intstr.FromString("0%")), nil, []string{size + `: Invalid value: "0%"` + isSize}},
		{"G2 more than all", newPlacement(intstr.FromString("101%")), nil, []string{size + `: Invalid value: "101%"` + isSize}},
		{"G2 a count is no string", newPlacement(intstr.FromString("150")), nil, []string{size + `: Invalid value: "150"` + isSize}},
		{"G2 the design document's None is not the API's", newPlacement(intstr.FromString("None")), nil, []string{size + `: Invalid value: "None"` + isSize}},
		{"G2 an empty string", newPlacement(intstr.FromString("")), nil, []string{size + `: Invalid value: ""` + isSize}},
		{"G2 neither a count nor a string", newPlacement(intstr.IntOrString{Type: 7}), nil, []string{size + `: Invalid value: 7` + isSize}},
		{"G4 unknown order", sortBy, nil, []string{`spec.sortBy: Unsupported value: "Age": supported values: "ClusterName", "Score"`}},

		{"G5 a nil cluster", newPlacement(intstr.IntOrString{}), []*clusterv1.ManagedCluster{newCluster("a"), nil},
			[]string{`clusters[1]: Required value: must not be nil`}},
		{"G5 a cluster without a name", newPlacement(intstr.IntOrString{}), []*clusterv1.ManagedCluster{newCluster("")},
			[]string{`clusters[0].metadata.name: Required value: must be the name of a ManagedCluster`}},
		{"G5 a name twice", newPlacement(intstr.IntOrString{}), fleet("b a b a a"),
			[]string{`clusters[a]: Duplicate value: "a"`, `clusters[b]: Duplicate value: "b"`}},
		{"G5 all faults at once", newPlacement(intstr.FromInt32(-1), byLabel("", "west")), fleet("b b"),
			[]string{
				group + `.groupName: Required value: must be a name: the clusters that no group selects are those without`,
				size + `: Invalid value: -1` + isSize,
				`clusters[b]: Duplicate value: "b"`,
			}},
	} {
		t.Run(test.why, func(t *testing.T) {
			groups, err := grouping.Divide(test.placement, test.clusters, grouping.Options{})
			wantError(t, err, test.want...)
			if groups != nil {
				t.Errorf("groups beside the error: %v", groups)
			}
		})
	}
}

// G3: the input is neither changed nor kept.
func TestDivideKeepsItsHandsOffTheInput(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(1), byLabel("canary", "canary"))
	clusters := fleet("c b+canary a@eu")
	wantPlacement, wantClusters := placement.DeepCopy(), fleet("c b+canary a@eu")
	groups := mustDivide(t, placement, clusters, grouping.Options{})
	if diff := cmp.Diff(wantPlacement, placement); diff != "" {
		t.Errorf("the placement changed:\n%s", diff)
	}
	if diff := cmp.Diff(wantClusters, clusters); diff != "" {
		t.Errorf("the clusters changed:\n%s", diff)
	}

	want := show(groups)
	placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups[0].GroupName = "other"
	clusters[1].Name, clusters[1].Labels["canary"] = "z", "z"
	if got := show(groups); got != want {
		t.Errorf("groups changed with their source: %s, were %s", got, want)
	}
}
