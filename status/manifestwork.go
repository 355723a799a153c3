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

	// Has is the version that the work has. Empty means the version that Stamp noted on it. Set it where the version is
	// kept elsewhere, in a label for instance.
	Has string

	// Applied is since when the work has the version that it has. The zero time means: since when Stamp says so; where it
	// was not asked, since the work's creation if its spec was never changed (generation 1), else since the newest write of
	// its spec that its managed fields show.
	Applied time.Time
}

// FromManifestWork reads the report of the work's cluster, which is the work's namespace. It returns false where there
// is no work, or one that is being deleted, which is as good as none: there is nothing to report then. In this order:
//
//	the work does not have the wanted version                        ToApply, without Applied
//	Applied is not True, or not for the work's generation            ToApply
//	Progressing is missing, or has not observed the generation       ToApply
//	Degraded is there and has not observed the generation            ToApply
//	Progressing True, Degraded True                                  Failed
//	Progressing True or Unknown                                      Progressing
//	Progressing False                                                Succeeded
//
// Applied is since when the work has the version; with it, ToApply is a cluster in flight whose agent has not answered.
// Unless the caller said since when, the wait for an answer begins anew where someone wrote the spec later, as far as the
// managed fields tell: the agent has to answer that too.
//
// LastTransitionTime is the time of the condition that decided, for Failed the later of the two; for ToApply it is zero.
//
// A condition's time does not move when it only observes a new generation, so it says nothing of the present version
// where nobody knows since when the work has that. Then LastTransitionTime is zero too, and a cluster that has not
// answered is Progressing: better a soak that does not end, of which package rollout warns, than one that ends early. This
// happens only where the spec was changed, nothing was stamped, and the managed fields are stripped or do not say who
// wrote the spec.
func FromManifestWork(w WorkState) (Report, bool) {
	if w.Work == nil || w.Work.DeletionTimestamp != nil {
		return Report{}, false
	}
	report := Report{Cluster: w.Work.Namespace, Status: ToApply}
	has, stamped := w.stamp()
	if w.Version != "" && has != w.Version {
		return report, true
	}
	report.Applied = w.applied(stamped)
	report.Status, report.LastTransitionTime = manifestWork(w.Work)
	switch unanswered := report.Status == ToApply; {
	case report.Applied.IsZero():
		report.LastTransitionTime = time.Time{}
		if unanswered {
			report.Status = Progressing
		}
	case unanswered && w.Applied.IsZero():
		report.Applied = later(report.Applied, specWritten(w.Work.ManagedFields))
	}
	return report, true
}

// stamp gives the version that the work has and since when Stamp says that it has it, if it does.
func (w WorkState) stamp() (has string, applied time.Time) {
	version, applied := StampOf(w.Work)
	if w.Has != "" && w.Has != version {
		return w.Has, time.Time{} // the stamp is about another version
	}
	return version, applied
}

// applied is since when the work has its version: the first that is known.
func (w WorkState) applied(stamped time.Time) time.Time {
	switch {
	case !w.Applied.IsZero():
		return w.Applied
	case !stamped.IsZero():
		return stamped
	case w.Work.Generation == 1:
		return w.Work.CreationTimestamp.Time
	default:
		return specWritten(w.Work.ManagedFields)
	}
}

// manifestWork gives the status that the work's conditions come to, and since when.
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
