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
//	groups, err := grouping.Read(nil, decisions) // as listed, by the label of the placement
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
// A webhook that checks a Placement calls Divide without clusters: all that can be wrong with the strategy is
// wrong then, too. The errors have the paths of the placement's JSON.
//
// # Order
//
// Groups are in the order of their index. The groups that decisionStrategy names come first, as they
// are listed there; the clusters that none of them selects follow under the empty name. Where a name
// has more clusters than fit one group, it has several groups with consecutive indexes (G1, G2).
//
// All results are the same for the same input in any order, and no input is changed or kept.
//
// # Steady groups
//
// Dividing anew, one cluster that joins or leaves can move a cluster in every group behind it, and
// rewrite every PlacementDecision. A placement controller that passes what is stored moves no cluster
// that could stay where it is (G6), and no stored object ever changes its labels (G8):
//
//	previous, err := grouping.Read(nil, stored)
//	groups, err := grouping.Divide(placement, selected, grouping.Previous(previous))
//	decisions, err := groups.DecisionsKeeping(placement, stored)
//
// Objects from before decision groups have no index label, and Read refuses them. A controller that finds
// such begins with one round of Divide without Previous and Decisions.
//
// What that saves when some clusters, anywhere in the fleet, leave and as many join, beside a division and
// numbering anew. One cluster in 16 is in one of two named groups; the numbers are means over several
// changes, as a test measures them:
//
//	                                           default                 steady
//	clusters  a group  changed       moved   rewritten       moved  rewritten
//	     320      150        1         0.6         2.3         0.0        1.2
//	     320      150       10         2.2         5.6         0.0        5.7
//	   10000     1000        1         3.5        33.0         0.0        2.0
//	   10000     1000       10        13.0        85.5         0.0       11.5
//	   10000     1000      100        42.5       101.0         0.0       67.0
//	  100000     1000        1        69.5       691.5         0.0        2.0
//	  100000     1000       10       126.5       734.0         0.0       11.5
//	  100000     1000      100       639.5       912.5         0.0       99.0
//
// Moved are the clusters, of those that stay, that come into another group, by its name and its place
// among those of the name; rewritten are the objects to create, update or delete. Rarer and dearer, and
// not in the table: when a name needs one group more, the indexes of all groups behind it grow by one
// (G3). No cluster parts from its companions then, but since no object changes its labels, the objects
// of those groups are all rewritten.
//
// # Several placements
//
// A workload that follows several placements reads each and joins them, in the order in which the workload
// lists them (R26). A cluster that two of them select belongs to the first:
//
//	groups, err := grouping.Join(
//		grouping.PlacementGroups{Placement: "web", Groups: web},
//		grouping.PlacementGroups{Placement: "edge", Groups: edge},
//	)
//
// # Where it departs from the design document
//
// The rules are G1 to G12 of the specification, which follow the Placement Strategy design document
// (enhancement 64). The document's prose gives the last of its groups 140 clusters, which does not add
// up to its 320; here every selected cluster is counted. PlacementDecisions are numbered from 1, as
// OCM's controller does, not from 0. While a group moves between PlacementDecisions a cluster may stand
// in two of them: it then belongs to the group with the lower index, every time (G11).
package grouping
