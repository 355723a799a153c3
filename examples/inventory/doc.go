// Package inventory reads and writes the PlacementDecisions of SIG Multicluster (KEP-5313, sigs.k8s.io/cluster-inventory-api) as those of OCM,
// so that the library's packages work on both.
//
// An object of SIG Multicluster is a slice: at most 100 references to ClusterProfiles. [ToOCM] and [FromOCM] translate one. What both
// have survives both ways: metadata, labels and annotations, the clusters in their order, and the reasons. A score is OCM's alone.
//
// A mirror of OCM's decisions:
//
//	source := inventory.Label(ocm)                      // decision-key, decision-index by slice; no scores
//	stored := inventory.ToOCM(convention, slices...)    // what the mirror has written
//	update, err := mirror.Diff(stored, source, rolling) // package decisionupdate/mirror
//	...
//	outcome, err := decisionupdate.Applier{Client: inventory.Client{...}}.Apply(ctx, update)
//
// A reader uses [Read], which makes groups of slices that any scheduler wrote. Groups that lack something are incomplete, so that package
// rollout starts and removes nobody.
//
// This is a Go module of its own, so that the library does not require what it requires.
package inventory
