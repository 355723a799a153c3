// SPDX-License-Identifier: Apache-2.0

// Package seal says whether PlacementDecisions that are read together belong together.
package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Annotation is on every object of a sealed decision. On one of them it has the seal of all; elsewhere its value is empty.
const Annotation = "cohort.open-cluster-management.io/decision-seal"

// Of returns the seal of objects: their number, the number of their clusters, and a digest of their names, groups and clusters. The order
// of objects and clusters does not matter.
func Of(objects []*clusterv1beta1.PlacementDecision) string {
	lines := make([]string, 0, len(objects))
	clusters := 0
	for _, pd := range objects {
		names := make([]string, 0, len(pd.Status.Decisions))
		for _, decision := range pd.Status.Decisions {
			if decision.ClusterName != "" {
				names = append(names, decision.ClusterName)
			}
		}
		clusters += len(names)
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("%s %q %q %s\n", pd.Name, pd.Labels[clusterv1beta1.DecisionGroupIndexLabel],
			pd.Labels[clusterv1beta1.DecisionGroupNameLabel], strings.Join(names, " ")))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return fmt.Sprintf("%d/%d/%s", len(objects), clusters, hex.EncodeToString(sum[:8]))
}

// Missing says in one short line why sealed objects do not belong together; empty if they do, or if none is sealed.
func Missing(objects []*clusterv1beta1.PlacementDecision) string {
	sealed, found := false, ""
	is := Of(objects)
	for _, pd := range objects {
		value, ok := pd.Annotations[Annotation]
		sealed = sealed || ok
		switch {
		case value == is:
			return ""
		case value != "" && found == "":
			found = value
		}
	}
	switch {
	case !sealed:
		return ""
	case found == "":
		return "the PlacementDecision with the seal of all is not found"
	}
	var objectsWanted, clustersWanted, objectsHere, clustersHere int
	_, badSeal := fmt.Sscanf(found, "%d/%d/", &objectsWanted, &clustersWanted)
	_, _ = fmt.Sscanf(is, "%d/%d/", &objectsHere, &clustersHere)
	switch {
	case badSeal != nil:
		return fmt.Sprintf("the PlacementDecisions have the seal %q, which is none", found)
	case objectsWanted != objectsHere:
		return fmt.Sprintf("PlacementDecisions: %d found, the seal says %d", objectsHere, objectsWanted)
	case clustersWanted != clustersHere:
		return fmt.Sprintf("clusters in the PlacementDecisions: %d found, the seal says %d", clustersHere, clustersWanted)
	}
	return "the PlacementDecisions are not those of their seal"
}
