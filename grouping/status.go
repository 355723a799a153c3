// SPDX-License-Identifier: Apache-2.0

package grouping

import clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

// Status gives the two fields of a placement's status that follow from its PlacementDecisions: decisionGroups and
// numberOfSelectedClusters. The other fields are zero. Decisions are the objects to store, as from [Groups.Decisions],
// in any order. A group lists the names of its objects in the order of their numbers.
//
// Write the status after the decisions. Until then readers take the groups for incomplete, unless all counts are the same
// as before.
//
// The errors are the same as from [Read].
func Status(decisions []*clusterv1beta1.PlacementDecision) (clusterv1beta1.PlacementStatus, error) {
	objects, err := parse(nil, decisions)
	if err != nil {
		return clusterv1beta1.PlacementStatus{}, err
	}
	groups := build(objects)
	status := clusterv1beta1.PlacementStatus{NumberOfSelectedClusters: int32(groups.NumClusters())}
	for i := range groups.Len() {
		group := clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: groups.keys[i].Index,
			DecisionGroupName:  groups.keys[i].Name,
			ClustersCount:      int32(groups.Size(i)),
		}
		for ; len(objects) > 0 && objects[0].key == groups.keys[i]; objects = objects[1:] {
			group.Decisions = append(group.Decisions, objects[0].object)
		}
		status.DecisionGroups = append(status.DecisionGroups, group)
	}
	return status, nil
}
