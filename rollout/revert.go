package rollout

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
)

// Abort says which rollout is taken back: since when, and how the clusters stand with the version that failed and with
// the one before it. All of it stands in objects, so that a controller that restarts goes on where it was.
type Abort struct {
	// Time is when the rollout was aborted, as the owner's status keeps it. It tells a cluster that went back from one
	// that never had the failed version, as both have the version before. Fractions of a second do not count.
	Time time.Time
	// Failed are the reports about the version that failed, and Before those about the version before it. Each is what Plan
	// would be given for that version. So each object has a report in both. As it has one version, the other report is ToApply
	// without Applied; where it has a third version, both are.
	Failed, Before []status.Report
	// StopAtBreach lets the strategy's MaxFailures stop the way back, too. Without it any number of clusters may fail with
	// the version before: they are no worse off than with the one that failed.
	StopAtBreach bool
}

// Revert says what may happen at the time now to bring the clusters that have the failed version back to the version
// before. Those in Start and InFlight are to have the version before; everything else about the result is as Plan has it.
//
//	has the failed version                                       waits, and starts in its turn
//	has the version before, Applied at abort.Time or later       went back: as reported
//	any other, also one that joined or has no workload           Skip: is not touched
//	is reported and not selected                                 removed
//
// The type All brings them back at once. Another one limits the way back: Progressive pools all groups, and
// ProgressivePerGroup takes them in the reverse of the order in which they started. Of the clusters that may start, those
// go first that failed or timed out; then, unless [Order] says otherwise, those that got the failed version last, before
// them those of which nobody knows when. So ProgressivePerGroup takes a failed cluster of an early group among the last.
// A cluster that fails again gives up its slot, unless abort.StopAtBreach. On the way back a mandatory group counts only
// for the order; it tolerates failures like the others. Percentages are shares of all selected clusters, or of all in the
// group, also of those that never had the failed version.
//
// Set a progressDeadline for the way back in any case, under All too; the zero strategy has none. Without one a cluster
// that never answers keeps the conditions from ever saying that it ended.
//
// Pass [Uncounted], [FailedBefore] and [RemoveAfter] as for the rollout: the result before may be one of Plan or of
// Revert, for either. [Closed] and [Paused] hold the way back, too, and [GroupOrder] is turned round. [Ramp], [MaxStarts]
// and [WaitBetweenGroups] slow it as they slow a rollout, and a ramp begins anew: leave them out unless you mean that.
//
// Leave out [Attempt], too, here and in the plan with the version before, unless whatever fails on the way back is to be
// tried again. With it, stamp the clusters in Start by [status.StampAttempt] with its number. Stamped by [status.Stamp] they
// have attempt 0, and each that fails is in Start again at every call: no budget stops that, nor does anything warn of it.
//
// Nobody has the failed version any more where Revert neither starts nor holds anyone. From then on Plan with the version
// before brings it to those that joined meanwhile or have a third version; they count as gone back then.
//
// It is an error if Plan would return one, if abort.Time is zero or after now, or if a report has no cluster. Beside what
// Plan takes it sorts the clusters that have the failed version.
func Revert(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, abort Abort, now time.Time, opts ...Option) (*Result, error) {
	rules, o, err := compile(strategy, opts)
	if err := errors.Join(err, abort.check(now)); err != nil {
		return nil, err
	}
	back, reports := newWayBack(groups, &abort)
	o.back, o.freeFailed = back, o.freeFailed || back.isTolerant()
	return newSchedule(rules, o, groups).plan(reports, now)
}

// check returns the faults of an abort at the time now.
func (a *Abort) check(now time.Time) error {
	path := field.NewPath("abort")
	var errs field.ErrorList
	if a.Time.IsZero() {
		errs = append(errs, field.Required(path.Child("time"), "must be when the rollout was aborted"))
	} else if now.Round(0).Before(a.Time.Truncate(time.Second)) { // else who goes back now would count as one that never had it
		errs = append(errs, field.Invalid(path.Child("time"), a.Time.Format(time.RFC3339), "must not be after now"))
	}
	for _, list := range []struct {
		name    string
		reports []status.Report
	}{{"failed", a.Failed}, {"before", a.Before}} {
		for i := range list.reports {
			if list.reports[i].Cluster == "" {
				errs = append(errs, withoutCluster(path.Child(list.name).Index(i)))
			}
		}
	}
	return fielderrs.Join(errs)
}
