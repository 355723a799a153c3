// SPDX-License-Identifier: Apache-2.0

// Package grouping answers which cluster is in which decision group.
//
// A Placement selects clusters and divides them into decision groups. OCM stores the groups as
// PlacementDecisions of at most 100 clusters each, and a controller that rolls something out reads the groups
// back from there. Both directions end in the same value, [Groups]:
//
//	ManagedClusters + Placement ──Divide──▶ Groups ──Decisions──▶ PlacementDecisions ──Read──▶ Groups
//	                                                                      └─Status──▶ PlacementStatus
//
// # A controller that rolls out
//
// It reads the groups whenever the placement or one of its PlacementDecisions changed, and keeps them until then:
//
//	groups, err := grouping.Read(placement, decisions) // as listed, by the label of the placement
//	if err != nil {
//		return err // names the object and the field
//	}
//	if why := groups.Incomplete(); why != "" {
//		return wait(why) // until the placement or a decision changes
//	}
//	changes := groups.Changes(previous) // clusters added, removed and moved, if it wants to know
//
// Its duties, in order:
//
// 1. Pass the Placement. A scheduler writes PlacementDecisions one after the other, first without clusters, and the
// placement's status when it is done. Only the status says how many objects and clusters there must be. Without it,
// a canary group that is not filled yet looks like an empty one, which a rollout skips. Objects with a seal (see [Sealed]) say
// themselves whether they belong together, also if the reader has no Placement.
//
// 2. While the groups are incomplete, start nothing and remove no cluster. Package rollout follows this by itself.
// Incomplete groups are not an error and need no retry: the write that completes them is an event.
//
// 3. Don't take an empty cache for an empty selection. If no cluster is selected, the scheduler stores one
// PlacementDecision without clusters. No PlacementDecision at all means that nothing was scheduled yet, or that a cache is
// not filled. Groups read from no objects are therefore incomplete, with a Placement or without.
//
// 4. Remove late: remove a cluster only when it has been in no group for a while, and bound how many are removed at once. The
// options RemoveAfter and MaxRemoved of package rollout do both. The reason is that the status has counts, and counts cannot
// show an exchange. For example, b joins the groups {a c} and {d}, which become {a b} and {c d}. When only the first object is
// rewritten, the groups are {a b} and {d}. A status from before the change has the same counts. The groups look complete, but
// c is in none of them. A scheduler that writes its changes with package decisionupdate never lets that happen. One that
// divides steadily hardly ever does. OCM's own scheduler does.
//
// # A controller that places
//
// It divides whenever the selected clusters or the strategy changed:
//
//	groups, err := grouping.Divide(placement, selected, grouping.Options{})
//	if err != nil {
//		return err // names the field of the placement, or the cluster
//	}
//	decisions, err := groups.Decisions(placement) // the objects to store
//	if err != nil {
//		return err
//	}
//	status, err := grouping.Status(decisions)
//	if err != nil {
//		return err
//	}
//	// Write the decisions first, best with package decisionupdate, and then the placement's status with these two:
//	placement.Status.DecisionGroups = status.DecisionGroups
//	placement.Status.NumberOfSelectedClusters = status.NumberOfSelectedClusters
//
// A webhook calls [Validate], which finds every fault of a placement that would make these calls fail. The errors have the
// paths of the placement's JSON.
//
// # Order
//
// Groups are in the order of their index. The groups that decisionStrategy names come first, as they are listed there.
// The clusters that none of them selects follow under the empty name. A name with more clusters than fit one group has
// several groups with consecutive indexes.
//
// All results are the same for the same input in any order, and no input is changed or kept.
//
// # Steady groups
//
// When clusters are divided again by default, one that joins or is deselected can move a cluster in every group behind it and
// change every PlacementDecision. A placement controller that passes the stored objects moves no cluster that could stay in its
// group, and never moves a stored object to another group (its index label changes only with all of its group):
//
//	previous, err := grouping.Read(placement, stored) // all PlacementDecisions of the namespace will do: see Owns
//	groups, err := grouping.Divide(placement, selected, grouping.Options{Previous: previous})
//	decisions, err := groups.Decisions(placement, stored...)
//
// Stored must have the objects that [Owns] says are the placement's. A list by the placement's label would miss an object with a
// label that was removed by hand. All others are left out, and their names are not taken. The example of package decisionupdate has
// all steps, with the writes.
//
// The controller remembers nothing. Each object has an annotation with the place of its group among the groups of its name. After a
// failed request or a crash, the same calls therefore give the same groups as without it. The status of the placement, if it is given to
// [Read], shows which groups are newer than the last completed update; new clusters fill these last, as they would have.
//
// An object with a missing or invalid index label keeps its clusters, and gets the label back. An object without a place, for instance
// from another scheduler, counts by its labels, even if they were edited to another index or name. An object that is being
// deleted, or that belongs to an earlier placement of the same name, is replaced. Its clusters keep their groups.
//
// The table compares this (steady) with dividing and numbering again (default), when some clusters anywhere in the fleet
// are deselected and as many join. One cluster in 16 is in one of two named groups. The numbers are means over several changes,
// measured by a test:
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
// Moved counts the clusters that stay selected and come into another group. A group is identified by its name and its
// place among the groups of that name. Rewritten counts the objects to create, update or delete. One rarer change costs
// more, and is not in the table: when a name needs one more group, the indexes of all groups behind it grow by one.
// These groups keep their clusters and their objects. Each object gets its new label in one request, which writes no cluster.
//
// # Several placements
//
// The controller of a workload that follows several placements reads each and joins them, in the order in which the
// workload lists them. A cluster that two placements select belongs to the first:
//
//	groups, err := grouping.Join(
//		grouping.PlacementGroups{Placement: "web", Groups: web},
//		grouping.PlacementGroups{Placement: "edge", Groups: edge},
//	)
//
// Pass a part for every placement: nil groups stand for one that was not read yet. The result is incomplete as long as
// one part is. If each placement has its own strategy, [Apart] gives each the clusters that no placement before
// it selects. The parts know each other, so every plan can be given the reports of all clusters.
//
// # Groups without a Placement
//
// [FromNames] makes groups without a Placement, and [Groups.Only] restricts groups to some clusters. Neither needs
// PlacementDecisions.
//
// # Differences from the design document
//
// The rules are in RULES.md and follow the Placement Strategy design document (enhancement 64). The document's prose
// gives the last of its groups 140 clusters, which does not add up to its 320; here every selected cluster is counted.
// PlacementDecisions are numbered from 1, as OCM's controller does, not from 0. While a cluster moves between
// PlacementDecisions it may be in two of them; it then belongs to the group with the lower index.
package grouping
