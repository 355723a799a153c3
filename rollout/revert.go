// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// Abort describes a rollout to take back: when it was aborted, and how the clusters stand with the failed version
// and with the version before it. All of it is stored in objects, so a controller that restarts goes on where it was.
// Package rollout/rollback has the duties of a controller that takes versions back, and the code.
type Abort struct {
	// Time is when the rollout was aborted, as stored in the owner's status. It tells a cluster that rolled back from one
	// that never had the failed version, since both have the version before. Fractions of a second do not count.
	Time time.Time
	// Failed are the reports about the failed version, and Before the reports about the version before it, each as Plan would
	// be given them for that version. Each object has a report in both lists. As an object has one version, its report
	// about the other is ToApply without Applied. An object with a third version has two such reports.
	Failed, Before []status.Report
	// StopAtBreach lets the strategy's MaxFailures stop the rollback, too. Without it any number of clusters may fail with
	// the version before: they are no worse off than with the failed version.
	StopAtBreach bool
}

// Revert says what may happen at the time now to bring clusters with the failed version back to the version before.
// Clusters in Start and InFlight are to get the version before. Otherwise the result is as from Plan.
//
//	has the failed version                                       waits, and starts in its turn
//	has the version before, Applied at abort.Time or later       rolled back: as reported
//	any other, also one that joined or has no workload           Skip: is not touched
//	is reported and not selected                                 removed
//
// The type All brings them back at once. The other types limit the rollback: Progressive pools all groups, and
// ProgressivePerGroup takes them in the reverse of the order in which they started. Among the clusters that may start, those
// that failed or timed out go first. Then, unless [Options].Order says otherwise, come those that got the failed version at an
// unknown time, then the others, the latest first. ProgressivePerGroup takes a failed cluster of an early group among the
// last.
//
// A cluster that fails again frees its slot, unless abort.StopAtBreach. Mandatory groups only affect the order; they
// tolerate failures like the others. Percentages are shares of all selected clusters, or of all clusters of the group,
// including those that never had the failed version.
//
// Always set a progressDeadline for the rollback, under All too; the zero strategy has none. Without one, the
// conditions never say that the rollback ended if a cluster never answers.
//
// StoredRecord has the version before and the record of the owner, which may still be the record of the failed version: what happened
// before abort.Time counts for nothing.
//
// Set Ignored, FailedBefore and RemoveAfter in opts as for the rollout; Previous may be a result of Plan or of Revert, for
// either function. Gates and Paused block the rollback, too: leave out gates that were set for the failed version, and GroupOrder is reversed. Ramp, MaxStarts and WaitBetweenGroups
// slow it as they slow a rollout, and a ramp starts over: leave them out unless you mean that.
//
// Leave out Attempt, too, here and in the plan with the version before, unless clusters that fail in the rollback are to
// be tried again. The clusters of the result then have the attempt to note, as from Plan. Leave out Allowlist, which is of the failed
// version: a cluster that is not in it keeps that version. Freezes block the rollback, since they are of clusters.
//
// When Revert neither starts nor blocks a cluster, no cluster has the failed version any more. From then on, Plan with the
// version before brings it to clusters that joined meanwhile or have a third version; these then count as rolled back.
//
// The errors are the same as from Plan, and one if abort.Time is zero or after now. It takes as long as Plan, and in
// addition sorts the clusters that have the failed version.
func Revert(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, abort Abort, now time.Time, opts Options) (*Result, error) {
	rules, options, errs := compile(strategy, &opts)
	if errs = append(errs, abort.check(now)...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	options.record = options.record.since(&abort)
	rollback, reports := newRollback(groups, &abort, &options)
	options.rollback, options.freeFailed = rollback, options.freeFailed || rollback.isTolerant()
	return newSchedule(&rules, &options, groups, fleet.FormerGroups{}).plan(reports, now)
}

// since gives the stored record of a rollback (R43): what tells of the failed version is left out.
func (index *recordIndex) since(abort *Abort) *recordIndex {
	if index == nil || len(index.entries) == 0 {
		return index
	}
	has := make(map[string]bool)
	for i := range abort.Failed {
		if report := &abort.Failed[i]; hasVersion(report) {
			has[report.Cluster] = true
		}
	}
	kept := index.StoredRecord
	kept.Record.Deselected = nil
	for _, entry := range index.Record.Deselected {
		switch {
		case !rolledBack(&entry.Report, abort.Time):
			kept.Record.More = 0
		case !has[entry.Cluster]:
			kept.Record.Deselected = append(kept.Record.Deselected, entry)
		}
	}
	return newRecordIndex(kept)
}

// check returns the faults of an abort at the time now.
func (abort *Abort) check(now time.Time) (errs field.ErrorList) {
	path := field.NewPath("abort")
	if abort.Time.IsZero() {
		errs = append(errs, field.Required(path.Child("time"), "must be when the rollout was aborted"))
	} else if now.Round(0).Before(abort.Time.Truncate(time.Second)) { // otherwise a cluster that rolls back now would count as one that never had it
		errs = append(errs, field.Invalid(path.Child("time"), abort.Time.Format(time.RFC3339), "must not be after now"))
	}
	errs = append(errs, nameless(abort.Failed, path.Child("failed"))...)
	return append(errs, nameless(abort.Before, path.Child("before"))...)
}
