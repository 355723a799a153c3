// Package grouping answers who is in which decision group.
//
// A Placement selects clusters and divides them into decision groups. OCM stores the groups as
// PlacementDecisions of at most 100 clusters each, and whoever rolls something out reads the groups
// back from there. Both directions end in the same value, [Groups]:
//
//	ManagedClusters + Placement ──Divide──▶ Groups ──Decisions──▶ PlacementDecisions ──Read──▶ Groups
//	                                                                      └─Status──▶ PlacementStatus
//
// A controller that rolls out needs one call, whenever a PlacementDecision of its placement changed:
//
//	groups, err := grouping.Read(decisions) // as listed, by the label of the placement
//	if err != nil {
//		return err // names the object and the label
//	}
//	changes := groups.Changes(previous) // clusters added, removed and moved, if it wants to know
//
// A placement controller needs three, whenever the selected clusters or the strategy changed:
//
//	groups, err := grouping.Divide(placement, selected)
//	if err != nil {
//		return err // names the field of the placement, or the cluster
//	}
//	decisions, err := groups.Decisions(placement) // the objects to store
//	if err != nil {
//		return err
//	}
//	status, err := grouping.Status(decisions) // its decisionGroups and numberOfSelectedClusters
//
// # Order
//
// Groups are in the order of their index. The groups that decisionStrategy names come first, as they
// are listed there; the clusters that none of them selects follow under the empty name. Where a name
// has more clusters than fit one group, it has several groups with consecutive indexes (G1, G2).
//
// All results are the same for the same input in any order, and no input is changed or kept.
//
// # Where it departs from the design document
//
// The rules are G1 to G12 of the specification, which follow the Placement Strategy design document
// (enhancement 64). The document's prose gives the last of its groups 140 clusters, which does not add
// up to its 320; here every selected cluster is counted. PlacementDecisions are numbered from 1, as
// OCM's controller does, not from 0. While a group moves between PlacementDecisions a cluster may stand
// in two of them: it then belongs to the group with the lower index, every time (G11).
package grouping
