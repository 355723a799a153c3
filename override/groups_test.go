// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O12, R26: scores and reasons stay with their clusters, and gaps in the indexes stay, too, also where some are excluded.
func TestGroupsKeepDecisionsAndIndexes(t *testing.T) {
	decision := func(index string, c clusterv1beta1.ClusterDecision) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{Name: "d" + index, Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: index}},
			Status:     clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{c}},
		}
	}
	placed, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		decision("3", clusterv1beta1.ClusterDecision{ClusterName: "a", Reason: "why", Score: 7}),
		decision("5", clusterv1beta1.ClusterDecision{ClusterName: "b"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := override.Binding{Name: "1", PlacementRef: placement("p"), Groups: placed, Excluded: []string{"b"}}
	groups := resolve(t, policy(policyv1.Enforce, ""), b).Groups()
	if got, want := show(groups), "group 3: a | group 5:"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, d, _ := groups.Find("a"); d.Reason != "why" || d.Score != 7 {
		t.Errorf("the decision became %+v", d)
	}
}

// O12: the groups of one placement without exclusions are handed through, and joined ones are kept.
func TestGroupsAreMadeOnce(t *testing.T) {
	one := binding("one", plain, "AB")
	if r := resolve(t, policy("", ""), one); r.Groups() != one.Groups {
		t.Errorf("%s are no longer those of the binding", r.Groups())
	}
	if r := resolve(t, policy("", ""), one, binding("two", overrides, "AB")); r.Groups() != one.Groups {
		t.Errorf("%s: a binding that binds none is among them", r.Groups())
	}
	r := resolve(t, policy("", ""), one, binding("two", plain, "BC"))
	if first, second := r.Groups(), r.Groups(); first != second {
		t.Error("joined twice")
	}
}
