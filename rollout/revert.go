package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
)

// Abort describes a rollout to take back: since when it is aborted, and how the clusters stand with the failed version
// and with the version before it. All of it is stored in objects, so a controller that restarts goes on where it was.
//
// # The duties
//
// A controller that takes versions back keeps what it has to remember in the owner's status, as [status.Revisions]. Its names
// follow OCM's enhancement 229 (failureStrategy: AbortAll). It has the duties of every rollout, and these:
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
//     has no deadline: use one of type All that sets it. Pass RemoveAfter, Uncounted and Memory as for the rollout, with
//     the version before; [Revert] says what other options do.
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
//			RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: c.last, // and Uncounted, where the rollout has it
//			Memory: &rollout.Memory{Version: r.Target(), Record: records[""]},
//		}
//		var result *rollout.Result
//		if r.AbortedTime == nil {
//			if result, err = rollout.Plan(owner.strategy, groups, update, c.now(), opts); err != nil {
//				return nil, err
//			}
//			if (owner.abort || result.Breach != nil) && r.Abort(c.now()) {
//				return nil, c.updateStatus(ctx, owner) // stored before anything goes back
//			}
//			r.Complete(result.Summary())
//		} else {
//			abort := rollout.Abort{Time: r.AbortedTime.Time, Failed: update, Before: current}
//			if result, err = rollout.Revert(owner.strategy, groups, abort, c.now(), opts); err != nil {
//				return nil, err
//			}
//		}
//		// After an abort the conditions are Revert's in any case: Plan counts those that never had the failed version, too.
//		status.SetRevisionConditions(&owner.status, *r, result.Summary(), owner.Generation, c.now())
//		if r.AbortedTime != nil && len(result.Start)+len(result.Holds()) == 0 {
//			// Who joined gets what all others have.
//			if result, err = rollout.Plan(owner.strategy, groups, current, c.now(), opts); err != nil {
//				return nil, err
//			}
//		}
//		c.last = result
//		if changed, err := (status.Records{"": result.Record}).Note(owner); changed || err != nil {
//			return nil, errors.Join(err, c.update(ctx, owner)) // plan anew with what is stored
//		}
//		return result, nil
//	}
type Abort struct {
	// Time is when the rollout was aborted, as stored in the owner's status. It tells a cluster that went back from one
	// that never had the failed version, since both have the version before. Fractions of a second do not count.
	Time time.Time
	// Failed are the reports about the failed version, and Before the reports about the version before it, each as Plan would
	// be given them for that version. So each object has a report in both lists. As an object has one version, its report
	// about the other is ToApply without Applied. An object with a third version has two such reports.
	Failed, Before []status.Report
	// StopAtBreach lets the strategy's MaxFailures stop the way back, too. Without it any number of clusters may fail with
	// the version before: they are no worse off than with the failed version.
	StopAtBreach bool
}

// Revert says what may happen at the time now to bring clusters with the failed version back to the version before.
// Clusters in Start and InFlight are to get the version before. Otherwise the result is as from Plan.
//
//	has the failed version                                       waits, and starts in its turn
//	has the version before, Applied at abort.Time or later       went back: as reported
//	any other, also one that joined or has no workload           Skip: is not touched
//	is reported and not selected                                 removed
//
// The type All brings them back at once. The other types limit the way back: Progressive pools all groups, and
// ProgressivePerGroup takes them in the reverse of the order in which they started. Among the clusters that may start, those
// that failed or timed out go first. Then, unless [Options].Order says otherwise, come those that got the failed version at an
// unknown time, then the others, the latest first. So ProgressivePerGroup takes a failed cluster of an early group among the
// last.
//
// A cluster that fails again gives up its slot, unless abort.StopAtBreach. Mandatory groups only affect the order; they
// tolerate failures like the others. Percentages are shares of all selected clusters, or of all clusters of the group,
// including those that never had the failed version.
//
// Always set a progressDeadline for the way back, under All too; the zero strategy has none. Without one, the
// conditions never say that the way back ended if a cluster never answers.
//
// Memory has the version before and the record of the owner, which may still be the record of the failed version: what happened
// before abort.Time counts for nothing.
//
// Set Uncounted, FailedBefore and RemoveAfter in opts as for the rollout; Previous may be a result of Plan or of Revert, for
// either function. Gates and Paused hold the way back, too, and GroupOrder is reversed. Ramp, MaxStarts and WaitBetweenGroups
// slow it as they slow a rollout, and a ramp begins anew: leave them out unless you mean that.
//
// Leave out Attempt, too, here and in the plan with the version before, unless clusters that fail on the way back are to
// be tried again. The clusters of the result then have the attempt to note, as from Plan.
//
// When Revert neither starts nor holds anyone, no cluster has the failed version any more. From then on, Plan with the
// version before brings it to clusters that joined meanwhile or have a third version; these then count as gone back.
//
// The errors are the same as from Plan, and one if abort.Time is zero or after now. It takes as long as Plan, and in
// addition sorts the clusters that have the failed version.
func Revert(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, abort Abort, now time.Time, opts Options) (*Result, error) {
	rules, o, errs := compile(strategy, &opts)
	if errs = append(errs, abort.check(now)...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	o.memory = o.memory.since(&abort)
	back, reports := newWayBack(groups, &abort, &o)
	o.back, o.freeFailed = back, o.freeFailed || back.isTolerant()
	return newSchedule(rules, o, groups, nil).plan(reports, now)
}

// since gives the memory of a way back (R43): what tells of the failed version is left out.
func (m *memory) since(abort *Abort) *memory {
	if m == nil || len(m.entries) == 0 {
		return m
	}
	has := make(map[string]bool)
	for i := range abort.Failed {
		if r := &abort.Failed[i]; hasVersion(r) {
			has[r.Cluster] = true
		}
	}
	kept := m.Memory
	kept.Record.Left = nil
	for _, left := range m.Record.Left {
		switch {
		case !wentBack(&left.Report, abort.Time):
			kept.Record.More = 0
		case !has[left.Cluster]:
			kept.Record.Left = append(kept.Record.Left, left)
		}
	}
	return newMemory(kept)
}

// check returns the faults of an abort at the time now.
func (a *Abort) check(now time.Time) (errs field.ErrorList) {
	path := field.NewPath("abort")
	if a.Time.IsZero() {
		errs = append(errs, field.Required(path.Child("time"), "must be when the rollout was aborted"))
	} else if now.Round(0).Before(a.Time.Truncate(time.Second)) { // otherwise a cluster that goes back now would count as one that never had it
		errs = append(errs, field.Invalid(path.Child("time"), a.Time.Format(time.RFC3339), "must not be after now"))
	}
	errs = append(errs, nameless(a.Failed, path.Child("failed"))...)
	return append(errs, nameless(a.Before, path.Child("before"))...)
}
