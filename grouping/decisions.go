// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/place"
)

// MaxDecisions is how many clusters a PlacementDecision may hold. The API documents the limit and does
// not enforce it.
const MaxDecisions = 100

// Decisions gives the PlacementDecisions to store for g, in the order of the groups. Each has at
// most MaxDecisions clusters of one group, the labels of the placement and the group, placement as
// controlling owner, and the name `<placement>-decision-<n>`, n from 1. A group without clusters has one
// PlacementDecision without decisions.
//
// Stored are the stored PlacementDecisions; only those count that [Owns] says are the placement's. With them, names are steady: an
// object keeps its group, by the group's name and place among the groups of that name, and a cluster stays in its object as long as it stays
// in that group. A stored object never changes the name of its group, and its index only with all of its group. Few objects are
// rewritten. Without them, all is cut and numbered anew.
//
// Clusters that are new to a group fill its objects with room, in the order of their names, and then new objects, with the
// lowest numbers that no stored object has, not even another owner's. A stored object with more than MaxDecisions clusters loses its
// last ones. Objects that are no longer full are not merged.
//
// Delete the stored objects of the placement that are not in the result: their group is gone, or none of their clusters is left. An
// object that is being deleted, that an earlier placement of the same name controls, or that is of a surge of package decisionupdate
// keeps nothing: its clusters go to other objects.
//
// Clusters are in the order of their group within an object, but not across the stored objects of a group.
//
// It is an error (*field.Error) if the placement is nil, if its name gives no valid names and labels (it may have at most 63
// characters, like a label's value), or if [Join] made g. The errors for stored are the same as from [Read]. The result shares only strings with g, placement and stored. It takes time linear in the
// clusters of g and stored.
func (g *Groups) Decisions(placement *clusterv1beta1.Placement, stored ...*clusterv1beta1.PlacementDecision) ([]*clusterv1beta1.PlacementDecision, error) {
	if placement == nil {
		return nil, nilPlacement()
	}
	if err := validateName(placement, nil); err != nil {
		return nil, err
	}
	if err := ofOnePlacement(field.NewPath("groups"), g); err != nil {
		return nil, err
	}
	sources, err := parse(placement, stored)
	if err != nil {
		return nil, err
	}
	keeper := newKeeper(g, placement, sources)
	for _, decision := range stored {
		keeper.names[decision.Name] = keeper.names[decision.Name] || decision.Namespace == placement.Namespace
	}
	var result []*clusterv1beta1.PlacementDecision
	for i := range g.Len() {
		for _, source := range keeper.cut(i) {
			result = append(result, newDecision(placement, source))
		}
	}
	return result, nil
}

func newDecision(placement *clusterv1beta1.Placement, source source) *clusterv1beta1.PlacementDecision {
	labels := map[string]string{
		clusterv1beta1.PlacementLabel:          placement.Name,
		clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(int(source.key.Index)),
		clusterv1beta1.DecisionGroupNameLabel:  source.key.Name,
	}
	return &clusterv1beta1.PlacementDecision{
		TypeMeta: metav1.TypeMeta{APIVersion: schema.GroupVersion(clusterv1beta1.GroupVersion).String(), Kind: "PlacementDecision"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   placement.Namespace,
			Name:        source.object,
			Labels:      labels,
			Annotations: map[string]string{place.Annotation: place.Of(int(source.group.Index), labels)},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(placement, schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement")),
			},
		},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: source.decisions},
	}
}
