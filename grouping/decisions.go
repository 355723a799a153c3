package grouping

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// MaxDecisions is how many clusters a PlacementDecision may hold. The API documents the limit and does
// not enforce it.
const MaxDecisions = 100

// Decisions gives the PlacementDecisions to store for g, in the order of the groups. Each has at
// most MaxDecisions clusters of one group, the labels of the placement and the group, placement as
// controlling owner, and the name `<placement>-decision-<n>`, n from 1. A group without clusters has one
// PlacementDecision without decisions.
//
// It is an error (*field.Error) if the placement is nil, or has a name from which no valid names and
// labels follow (it may have at most 63 characters, the length of a label's value), or if [Join] made g.
// The objects share nothing with g or placement but strings.
func (g *Groups) Decisions(placement *clusterv1beta1.Placement) ([]*clusterv1beta1.PlacementDecision, error) {
	return g.DecisionsKeeping(placement, nil)
}

func newDecision(placement *clusterv1beta1.Placement, name string, key Key, decisions []clusterv1beta1.ClusterDecision) *clusterv1beta1.PlacementDecision {
	return &clusterv1beta1.PlacementDecision{
		TypeMeta: metav1.TypeMeta{APIVersion: schema.GroupVersion(clusterv1beta1.GroupVersion).String(), Kind: "PlacementDecision"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: placement.Namespace,
			Name:      name,
			Labels: map[string]string{
				clusterv1beta1.PlacementLabel:          placement.Name,
				clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(int(key.Index)),
				clusterv1beta1.DecisionGroupNameLabel:  key.Name,
			},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(placement, schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement")),
			},
		},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: decisions},
	}
}
