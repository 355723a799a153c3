// SPDX-License-Identifier: Apache-2.0

// Package inventory converts between PlacementDecisions of SIG Multicluster (KEP-5313, sigs.k8s.io/cluster-inventory-api)
// and those of OCM, so that the library's packages work on both.
//
// An object of SIG Multicluster is a slice: at most 100 references to ClusterProfiles. [ToOCM] and [FromOCM] convert one.
// What both have survives both ways: metadata, labels and annotations, the clusters in their order, and the reasons. Only
// OCM has scores.
//
// A mirror of OCM's decisions:
//
//	source := inventory.Label(ocm)                      // decision-key, decision-index by slice; no scores
//	stored := inventory.ToOCM(convention, slices...)    // the mirror's slices
//	update, err := mirror.Diff(stored, source, rolling) // package decisionupdate/mirror
//	...
//	outcome, err := decisionupdate.Applier{Client: inventory.Client{...}}.Apply(ctx, update)
//
// A reader uses [Read], which makes groups of any scheduler's slices. Incomplete slices make incomplete groups, for which
// package rollout starts and removes no cluster.
//
// This is a Go module of its own, so that the library does not require its dependencies.
package inventory
