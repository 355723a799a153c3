// SPDX-License-Identifier: Apache-2.0

// Package rollback has what the owner of a rollout with a rollback stores and shows: the version before, the version of the
// template, when the rollout was aborted, and the conditions.
//
// Example: version 2 breaches its budget on ten clusters. The controller stores the time of the abort and calls
// rollout.Revert, which gives these ten clusters version 1 again. A cluster that never had version 2 is not touched.
//
// Under All, all clusters roll back at once, which is the fastest. Another strategy limits the rollback: failed clusters roll
// back first, then the clusters that got the failed version last. ProgressivePerGroup goes group by group, and takes a
// failed cluster of an early group among the last. A failure during the rollback stops nothing, unless the caller asks for it.
// The controller stores [Revisions] in the owner's status. Their names follow OCM's enhancement 229 (failureStrategy: AbortAll).
//
// # The duties of a controller
//
// The duties are those of package rollout, and these:
//
//  1. Keep the template of the current revision as long as a rollback may need it. For a new update revision, first keep its
//     template, then store the revision, and only then write the revision to clusters.
//
//  2. Store the aborted time before the first cluster rolls back. Take the time from the clock that stamps the works, and
//     read it back like each of your own writes. It tells clusters that were rolled back from clusters that never had the
//     version. A controller that crashes in between finds either the breach again or the stored time. If an operator asks for
//     the rollback, for instance by an annotation, let the controller store the time: the operator's clock may differ.
//
//  3. As long as that time is stored, write only the version before. Stamp each work with the version and the time of the
//     write, as usual. Each cluster is then written once, however often the controller restarts. A cluster where the failed
//     version arrives late rolls back as well.
//
//  4. If Revert neither starts nor blocks a cluster, call Plan with the version before: Plan brings that version to clusters
//     that joined meanwhile or have a third version.
//
//  5. Set a progressDeadline, for the rollout and for the rollback. Without one, a cluster that failed or never answers is
//     in flight for ever, even if FailedBefore names it. The rollout then never completes: a first revision never becomes the
//     current one, and nothing can be aborted. The conditions never say that the rollback ended. The zero strategy
//     has no deadline: use one of type All that sets it.
//
//  6. Pass RemoveAfter, Ignored and StoredRecord as for the rollout, with the version before. The documentation of
//     rollout.Revert describes the other options.
//
//  7. Begin anew if the template changes. If a user gives the owner the older template instead of an abort, Plan with that
//     version asks for the same writes, but in another order, within the budgets, and together with clusters that never had a
//     workload.
//
// In code:
//
//	// plan returns what may happen to the works of an owner, which get the template of r.Target(). It returns nothing if it stored
//	// what has to be stored first. Otherwise the caller carries out the result, and stores the owner's status if that has changed.
//	// The caller stamps each work with the Attempt of its cluster in the result.
//	func (c *aborter) plan(ctx context.Context, owner *app, groups *grouping.Groups) (*rollout.Result, error) {
//		r := &owner.revisions
//		if r.Want(hashOf(owner.template)) {
//			// First keep the template under the name of its revision. If that fails, nothing may name the revision.
//			if err := c.keepTemplate(ctx, owner); err != nil {
//				return nil, err
//			}
//			return nil, c.updateStatus(ctx, owner)
//		}
//		records, err := status.RecordsOf(owner)
//		if err != nil {
//			return nil, err
//		}
//		update, current := c.reports(owner, r.UpdateRevision), c.reports(owner, r.CurrentRevision)
//		opts := rollout.Options{
//			RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: c.last, // and Ignored, if the rollout has it
//			StoredRecord: &rollout.StoredRecord{Version: r.Target(), Record: records[""]},
//		}
//		var result *rollout.Result
//		if r.AbortedTime == nil {
//			if result, err = rollout.Plan(owner.strategy, groups, update, c.now(), opts); err != nil {
//				return nil, err
//			}
//			if (owner.abort || result.Breach != nil) && r.Abort(c.now()) {
//				return nil, c.updateStatus(ctx, owner) // store the time before a cluster rolls back
//			}
//		} else {
//			abort := rollout.Abort{Time: r.AbortedTime.Time, Failed: update, Before: current}
//			if result, err = rollout.Revert(owner.strategy, groups, abort, c.now(), opts); err != nil {
//				return nil, err
//			}
//		}
//		summary := result.Summary() // after an abort always Revert's: Plan also counts clusters that never had the failed version
//		if r.AbortedTime != nil && len(result.Start)+len(result.BlockCounts()) == 0 {
//			// A cluster that joined gets the version of all others.
//			if result, err = rollout.Plan(owner.strategy, groups, current, c.now(), opts); err != nil {
//				return nil, err
//			}
//		}
//		c.last = result
//		changed, err := (status.Records{"": result.Record}).Note(owner)
//		if changed && err == nil {
//			err = c.update(ctx, owner)
//		}
//		if err != nil {
//			return nil, err // store the record before you carry out the result
//		}
//		r.Complete(summary)
//		rollback.SetConditions(&owner.status, *r, summary, owner.Generation, c.now())
//		return result, nil
//	}
//
// # Why Revert is in package rollout
//
// The engine of a rollout plans a rollback, with another order and other budgets. In this package, Revert and Abort would need
// the internals of the engine exported. This package has only what an owner stores, and the engine does not import it.
package rollback
