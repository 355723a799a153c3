// Package rollback has what the owner of a rollout that can be taken back keeps and shows: which version its clusters go from
// and to, when that was aborted, and the conditions.
//
// rollout.Revert takes a failed rollout back: clusters that have the failed version get the version before it again. Under All
// they go back at once, which is the fastest cure. Another strategy limits the way back. Then failed clusters go first,
// followed by those that got the failed version last; but ProgressivePerGroup goes group by group, and takes a failed
// cluster of an early group among the last. A cluster that never had the failed version is not touched. A failure on the way
// back stops nobody, unless the caller says so. The controller keeps what it has to remember in the owner's status as
// [Revisions]. Its names follow OCM's enhancement 229 (failureStrategy: AbortAll).
//
// # What the caller does
//
// The duties are those on the page of package rollout, and these:
//
//  1. Keep the template of the current revision as long as clusters may have to go back to it. For a new update
//     revision, first keep its template, then store the revision, and only then write anything of it to a cluster.
//
//  2. Store the aborted time before the first cluster goes back. Take it from the clock that stamps the works, and read
//     it back like every write of your own. It tells clusters that went back from those that never had the version. A
//     controller that crashes in between finds either the breach again or the stored time. Where a person asks for the
//     way back, for instance by an annotation, let the controller store the time, too: the person's clock may differ.
//
//  3. As long as that time is stored, write the version before, and no other. Stamp each work with the version and the time
//     of the write, as always. So each cluster is written once, however often the controller restarts, and a cluster where
//     the failed version arrives late goes back as well.
//
//  4. Where Revert neither starts nor holds anyone, Plan with the version before: that brings it to clusters that
//     joined meanwhile or have a third version.
//
//  5. Set a progressDeadline, for the rollout and for the way back. Without one, a cluster that failed or never answers is
//     in flight for ever, even where FailedBefore names it. So the rollout never completes: a first revision never becomes the
//     current one, and then nothing can be aborted. And the conditions never say that the way back ended. The zero strategy
//     has no deadline: use one of type All that sets it. Pass RemoveAfter, Ignored and Memory as for the rollout, with
//     the version before; the page of rollout.Revert says what other options do.
//
//  6. Begin anew where the template changes. If the owner gets the older template back instead of being aborted, Plan with
//     that version asks for the same writes, but in another order, within the budgets, and together with clusters that never
//     had a workload.
//
// In code:
//
//	// plan says what may happen to the works of an owner, which get the template of r.Target(). It says nothing where it stored
//	// what has to stand there first. Otherwise the caller carries out the result, and stores the owner's status if that has changed.
//	// It stamps each work with the Attempt of its cluster in the result.
//	func (c *aborter) plan(ctx context.Context, owner *app, groups *grouping.Groups) (*rollout.Result, error) {
//		r := &owner.revisions
//		if r.Want(hashOf(owner.template)) {
//			// First the template is kept under the name of its revision. Where that fails, nothing may name the revision.
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
//			RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: c.last, // and Ignored, where the rollout has it
//			StoredRecord: &rollout.StoredRecord{Version: r.Target(), Record: records[""]},
//		}
//		var result *rollout.Result
//		if r.AbortedTime == nil {
//			if result, err = rollout.Plan(owner.strategy, groups, update, c.now(), opts); err != nil {
//				return nil, err
//			}
//			if (owner.abort || result.Breach != nil) && r.Abort(c.now()) {
//				return nil, c.updateStatus(ctx, owner) // stored before anything goes back
//			}
//		} else {
//			abort := rollout.Abort{Time: r.AbortedTime.Time, Failed: update, Before: current}
//			if result, err = rollout.Revert(owner.strategy, groups, abort, c.now(), opts); err != nil {
//				return nil, err
//			}
//		}
//		summary := result.Summary() // after an abort Revert's in any case: Plan counts those that never had the failed version, too
//		if r.AbortedTime != nil && len(result.Start)+len(result.BlockCounts()) == 0 {
//			// Who joined gets what all others have.
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
//			return nil, err // the record is stored before anything is carried out
//		}
//		r.Complete(summary)
//		rollback.SetConditions(&owner.status, *r, summary, owner.Generation, c.now())
//		return result, nil
//	}
//
// # Why it is beside the engine
//
// rollout.Revert and rollout.Abort are in package rollout. A way back is planned by the engine of a rollout, with another order
// and other budgets: who has the failed version stands in its schedule, its turns and its explanations. Parted from that, Revert
// would need all of the engine exported. So what an owner keeps is here, and the engine knows nothing of it.
package rollback
