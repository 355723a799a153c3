// SPDX-License-Identifier: Apache-2.0

// Package place says which place a PlacementDecision's group has among the groups of its name. The index cannot say so while an
// update is under way: where an earlier name gains or loses a group, all indexes behind it change, one object after the other.
package place

import (
	"strconv"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Annotation has the place, and the labels that were written with it.
const Annotation = "cohort.open-cluster-management.io/decision-group-place"

// Of returns the annotation's value for an object with these labels: "2 of 5/canary" is the third group of canary, and of all groups the
// one with the index 5.
func Of(number int, labels map[string]string) string {
	return strconv.Itoa(number) + " of " + labels[clusterv1beta1.DecisionGroupIndexLabel] + "/" + labels[clusterv1beta1.DecisionGroupNameLabel]
}

// Read returns the place of an object, and whether it has one. It has none if another client has written the labels since, such as a
// scheduler that does not know the annotation. An index label that is no index may be repaired, so it is not compared. No group is
// at a place beyond its index.
func Read(labels, annotations map[string]string) (number int, ok bool) {
	stored, placed := annotations[Annotation]
	if !placed {
		return 0, false
	}
	value, written, _ := strings.Cut(stored, " of ")
	index, name, _ := strings.Cut(written, "/")
	n, err := strconv.ParseUint(value, 10, 31)
	most, _ := strconv.ParseUint(index, 10, 31)
	label := labels[clusterv1beta1.DecisionGroupIndexLabel]
	if err != nil || n > most || name != labels[clusterv1beta1.DecisionGroupNameLabel] || index != label && IsIndex(label) {
		return 0, false
	}
	return int(n), true
}

// IsIndex reports whether the value of an index label is an index.
func IsIndex(label string) bool {
	_, err := strconv.ParseUint(label, 10, 31)
	return err == nil
}
