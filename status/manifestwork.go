package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// WorkState is what a controller knows of a ManifestWork. With [Stamp], Work and Version are enough.
type WorkState struct {
	// Work is the object. It is not changed.
	Work *workv1.ManifestWork

	// Version is the wanted version of the workload. Where it is empty, every work counts as having it: leave it empty
	// only where the workload never changes.
	Version string

	// Has is the version that the work has. Empty means the version that [Stamp] noted on it. Set it where the version
	// is kept elsewhere, for instance in a label. For works from before anyone stamped them, set it to a hash of the
	// work's own spec; otherwise a rollout takes them for outdated and writes all of them again.
	Has string

	// Applied is since when the work has its version. The zero time means the time of its stamp. Without a stamp, it means
	// the creation of the work if its spec was never changed (generation 1), and otherwise the newest write of the spec
	// that its managed fields show.
	Applied time.Time
}

// FromManifestWork reads the report of the work's cluster, which is the work's namespace. It returns false where there
// is no work, or where it is being deleted: there is nothing to report then. The first line that applies decides:
//
//	the work does not have the wanted version                        ToApply, without Applied
//	Applied is not True, or not for the work's generation            ToApply
//	Progressing is missing, or has not observed the generation       ToApply
//	Degraded is there and has not observed the generation            ToApply
//	Progressing True, Degraded True                                  Failed; Progressing where it was so before a later attempt
//	Progressing True or Unknown                                      Progressing
//	Progressing False                                                Succeeded
//
// Applied is since when the work has the version. ToApply with Applied is a cluster in flight whose agent has not
// answered. A stamp from before the work's creation, brought along by a copy or a backup, counts from the creation.
// Someone other than the stamp's writer may have written the spec later, as far as the managed fields tell. Then the
// agent has to answer that write, and the wait for it begins anew, unless the caller set Applied.
//
// LastTransitionTime is the time of the condition that decided; for Failed the later of the two, for ToApply zero. It may be
// from before the version, where the condition was the same with the version before. The soak then runs from Applied, even if
// the agent answered long after that. Attempt is what [StampAttempt] noted, where the stamp is about the version that the
// work has.
//
// Since when the work has the version is unknown where the spec was changed, nothing was stamped, and the managed fields are
// stripped or do not say who wrote the spec. Then LastTransitionTime is zero, too: the time of a condition may be about an
// earlier version, since it does not move when the condition only observes a new generation. A cluster that has not answered
// is Progressing then. So a soak may never end, rather than end early. Package rollout warns of that.
func FromManifestWork(w WorkState) (Report, bool) {
	if w.Work == nil || w.Work.DeletionTimestamp != nil {
		return Report{}, false
	}
	report := Report{Cluster: w.Work.Namespace, Status: ToApply}
	has, stamped, attempt := w.stamp()
	if w.Version != "" && has != w.Version {
		return report, true
	}
	report.Status, report.LastTransitionTime = manifestWork(w.Work)
	report.Applied, report.Attempt = w.applied(stamped), attempt
	switch unanswered := report.Status == ToApply; {
	case report.Applied.IsZero():
		report.LastTransitionTime = time.Time{}
		if unanswered {
			report.Status = Progressing
		}
	case unanswered && w.Applied.IsZero():
		report.Applied = later(report.Applied, specWritten(w.Work.ManagedFields, stamped.IsZero()))
	}
	return report.ofAttempt(), true
}

// stamp gives the version that the work has and, where the stamp is about that one, since when and at which attempt.
func (w WorkState) stamp() (has string, applied time.Time, attempt int) {
	version, attempt, applied := StampOf(w.Work)
	if w.Has != "" && w.Has != version {
		return w.Has, time.Time{}, 0
	}
	return version, applied, attempt
}

// applied gives since when the work has its version, from the first source that knows.
func (w WorkState) applied(stamped time.Time) time.Time {
	switch {
	case !w.Applied.IsZero():
		return w.Applied
	case !stamped.IsZero():
		return later(stamped, w.Work.CreationTimestamp.Time) // a copy or a backup has an older stamp
	case w.Work.Generation == 1:
		return w.Work.CreationTimestamp.Time
	default:
		return specWritten(w.Work.ManagedFields, true)
	}
}

// manifestWork gives the status that follows from the work's conditions, and since when.
func manifestWork(work *workv1.ManifestWork) (RolloutStatus, time.Time) {
	find := func(conditionType string) (c *metav1.Condition, current bool) {
		c = meta.FindStatusCondition(work.Status.Conditions, conditionType)
		return c, c != nil && c.ObservedGeneration == work.Generation
	}
	applied, appliedCurrent := find(workv1.WorkApplied)
	progressing, progressingCurrent := find(workv1.WorkProgressing)
	degraded, degradedCurrent := find(workv1.WorkDegraded)
	switch {
	case !appliedCurrent, applied.Status != metav1.ConditionTrue, !progressingCurrent, degraded != nil && !degradedCurrent:
		return ToApply, time.Time{}
	case progressing.Status == metav1.ConditionFalse:
		return Succeeded, progressing.LastTransitionTime.Time
	case progressing.Status == metav1.ConditionTrue && degraded != nil && degraded.Status == metav1.ConditionTrue:
		return Failed, later(progressing.LastTransitionTime.Time, degraded.LastTransitionTime.Time)
	default:
		return Progressing, progressing.LastTransitionTime.Time
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
