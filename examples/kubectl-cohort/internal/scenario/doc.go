// SPDX-License-Identifier: Apache-2.0

// Package scenario makes one rollout out of the objects in a user's files.
//
// Load sorts the objects by kind, finds the strategy and the placement that it is for, and the groups: from the stored
// PlacementDecisions, or else what the Placement's own rules give over the ManagedClusters. What it can't do as OCM
// does is an error, or a note where the result is still of use; nothing that has a part in the result is passed over in
// silence.
//
// A Policy names no placement: its bindings do. Its groups are made of the clusters that they bind, from all their
// placements.
//
// A kind of object is read in objects.go. A kind of rollout gives an applier, which is all that the rest knows of it.
package scenario
