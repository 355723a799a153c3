// SPDX-License-Identifier: Apache-2.0

// Package mirror keeps copies of a placement's PlacementDecisions from losing clusters on the way.
//
// A mirror copies PlacementDecisions to another hub or into another API, such as SIG Multicluster's. If it copies object by object,
// it may copy the object that has lost a cluster before the one that has gained it, whatever care the source has taken. Its
// readers then delete what they keep for the cluster. There are two cures, and one of them is enough:
//
//   - The mirror plans its own writes, with [Diff]. It need not wait for anything, and its source may be any that loses no
//     cluster itself. A mirror of such a mirror is as good as the first.
//   - The source waits for a mirror that it cannot change, with [Behind].
//
// # A mirror that plans its own writes
//
//	update, err := mirror.Diff(stored, source, strategy) // what the mirror stores, and what the source shows now
//	if err != nil {
//		return err
//	}
//	outcome, err := decisionupdate.Applier{Client: client}.Apply(ctx, update)
//
// Its duties:
//
//  1. Read the source from one list or one informer: their objects are of one moment. Objects that are read one by one are not.
//     Do nothing before the informer has its first list: a source without objects means that nothing is selected any more.
//  2. List what the mirror stores as [decisionupdate.Diff] wants it.
//  3. Carry the update out, or a part of it, and begin again whenever the source has changed or something failed.
//
// # A source that waits
//
// The mirror may be any that copies whole objects, in any order, as late as it likes, and never an older state of an object after a
// newer one. The source carries out one step at a time:
//
//	objects, clusters, err := mirror.Behind(update.Steps[0], stored, shown) // what the mirror shows
//	switch {
//	case err != nil:
//		return err
//	case len(objects) > 0 && waited < bound:
//		return again(objects) // when the mirror has changed
//	case len(clusters) > 0:
//		warn("the mirror may drop", clusters)
//	}
//	update.Steps = update.Steps[:1]
//	outcome, err := decisionupdate.Applier{Client: client}.Apply(ctx, update) // then list and plan again
//
// The bound is for a mirror that is dead: decisions go on without it. Where mirrors follow one another, wait for the last. Where
// there are several, wait for each.
package mirror
