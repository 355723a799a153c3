// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"strconv"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Group is a decision group as named by the labels of a PlacementDecision. A missing label is empty.
type Group struct {
	Index string
	Name  string
}

// String returns the index, and the name if there is one, as in "1" and "0/canary".
func (group Group) String() string {
	if group.Name == "" {
		return group.Index
	}
	return group.Index + "/" + group.Name
}

func groupOf(labels map[string]string) Group {
	return Group{
		Index: labels[clusterv1beta1.DecisionGroupIndexLabel],
		Name:  labels[clusterv1beta1.DecisionGroupNameLabel],
	}
}

// index returns the group's index as a number. A text that is no index sorts before all others, so that an object
// without a readable index gets one before its clusters change.
func (group Group) index() int32 {
	i, err := strconv.ParseInt(group.Index, 10, 32)
	if err != nil {
		return -1
	}
	return int32(i)
}

// groupLabels returns the keys of the labels that only the writer of PlacementDecisions sets.
func groupLabels() [3]string {
	return [3]string{clusterv1beta1.PlacementLabel, clusterv1beta1.DecisionGroupIndexLabel, clusterv1beta1.DecisionGroupNameLabel}
}

// showsNothing reports whether the stored object names neither a placement nor a group, so that no reader sees its clusters in a wrong one.
func (o *object) showsNothing() bool { return o.outOfSight() && groupOf(o.stored.Labels) == Group{} }

// outOfSight reports whether the stored object has no label of any placement, so readers that list by it don't see it
// (D14).
func (o *object) outOfSight() bool {
	return o.stored != nil && o.stored.Labels[clusterv1beta1.PlacementLabel] == ""
}
