// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	workv1 "open-cluster-management.io/api/work/v1"
)

// WorkState is what a controller knows of a ManifestWork. With a [Stamp] on the work, Work and Version are enough.
type WorkState struct {
	// Work is the object. It is not changed.
	Work *workv1.ManifestWork

	// Version is the wanted version of the workload. Where it is empty, every work counts as having it: leave it empty
	// only where the workload never changes.
	Version string

	// Has is the version that the work has. Empty means the version of its [Stamp]. Set it where the version
	// is kept elsewhere, for instance in a label. For works from before they were stamped, use [Adopt]; otherwise a rollout takes them for outdated and writes all of them again.
	Has string

	// Applied is when the work got its version. The zero time means the time of its stamp. Without a stamp, it means
	// the creation of the work if its spec was never changed (generation 1), and otherwise the newest write of the spec
	// that its managed fields show.
	Applied time.Time

	// AvailableSucceeds says that a work has succeeded once it is Available, where no conditionRules in its template are for the
	// condition Progressing. Otherwise nothing ever says that such a work is done. Available says that the manifests exist on the
	// cluster, not that they work: a Deployment whose pods crash is Available. Prefer conditionRules.
	AvailableSucceeds bool

	// Now is the time of reading, for a caller that notes answers; leave it zero otherwise. Where a cluster has answered and
	// no answer is noted ([Stamp.NoteOn]), the report has Now as Answered. Write a new stamp for each work with such a
	// report, also of clusters that are settled or deselected: as long as nothing is noted, a soak and a wait between groups begin
	// anew at each reading. Where a rollout has neither, nothing need be noted.
	Now time.Time
}

// FromManifestWork reads the report of the work's cluster, which is the work's namespace. It returns false where there
// is no work. A work that is being deleted is reported like any other, as long as it is there: the API server counts the
// deletion as a generation, so conditions of the generation before are current then. The first line that applies decides:
//
//	the work does not have the wanted version                        ToApply, without Applied
//	Applied is False for the work's generation                       ToApply, ReportRefused
//	Applied is not True, or not for the work's generation            ToApply
//	Progressing or Degraded is there and of another generation       ToApply
//	Progressing True, Degraded True                                  Failed; Progressing where it was so before a later attempt
//	Progressing True or Unknown, or False by a rule with an error    Progressing
//	Progressing False                                                Succeeded
//
// OCM's agents set Progressing only where conditionRules in the template say how. Where it is missing, Available decides:
//
//	Available is missing or of another generation                    ToApply
//	AvailableSucceeds, and no rule is for Progressing:
//	    Available True, Degraded True                                Failed, like above
//	    Available True                                               Succeeded
//	    Available False or Unknown                                   Progressing
//	a rule is for Progressing, and Available is not True yet         Progressing
//	anything else                                                    Progressing, ReportUntracked
//
// A rule that has an error, such as for a field that is missing, makes Progressing False. OCM's own controllers count that as a
// success.
//
// Message is that of the first manifest in the status that has the deciding condition with the deciding status, or else that of the
// work's condition. A success has none.
//
// Applied is when the work got the version. ToApply with Applied is a cluster in flight whose agent has not
// answered. A stamp from before the work's creation, brought along by a copy or a backup, counts from the creation.
// Another writer than the stamp's may have written the spec later, as far as the managed fields tell. Then the
// agent has to answer that write, and the wait for it starts over, unless the caller set Applied.
//
// LastTransitionTime is the time of the condition that decided; for Failed the later of the two, for ToApply zero. Where Available
// decides it is not before that of Applied. It may be
// from before the version, where the condition was the same with the version before. The soak then runs from the answer that
// was noted, or from Applied where none was, even if the agent answered long after that. Attempt is the one of the stamp,
// where the stamp is about the version that the work has.
//
// When the work got the version is unknown where the spec was changed, nothing was stamped, and the managed fields are
// stripped or do not name the writer of the spec. Then LastTransitionTime is zero, too: the time of a condition may be about an
// earlier version, since it does not move when the condition only observes a new generation. A cluster that has not answered
// is Progressing then. A soak may therefore never end, rather than end early. Package rollout warns of that.
func FromManifestWork(state WorkState) (Report, bool) {
	if state.Work == nil {
		return Report{}, false
	}
	report := Report{Cluster: state.Work.Namespace, Status: ToApply, Deleting: state.Work.DeletionTimestamp != nil}
	has, stamp := state.stamp()
	if state.Version != "" && has != state.Version {
		return report, true
	}
	stands := state.stands()
	report.Status, report.LastTransitionTime, report.Reason, report.Message = stands.Status, stands.LastTransitionTime, stands.Reason, stands.Message
	report.Applied = state.applied(stamp.Applied)
	switch unanswered := report.Status == ToApply; {
	case report.Applied.IsZero():
		report.LastTransitionTime = time.Time{}
		if unanswered {
			report.Status = Progressing
		}
	case unanswered && state.Applied.IsZero():
		report.Applied = later(report.Applied, specWritten(state.Work.ManagedFields, stamp.Applied.IsZero()))
	}
	return stamp.Report(report, state.Now), true
}

// stamp gives the version that the work has and, where the stamp is about that one, the stamp.
func (w WorkState) stamp() (has string, stamp Stamp) {
	if stamp = noted(w.Work); w.Has != "" && w.Has != stamp.Version {
		return w.Has, Stamp{}
	}
	return stamp.Version, stamp
}

// applied gives the time when the work got its version, from the first source that knows.
func (w WorkState) applied(stamped time.Time) time.Time {
	switch {
	case !w.Applied.IsZero():
		return w.Applied
	case !stamped.IsZero():
		return later(stamped, w.Work.CreationTimestamp.Time) // a copy or a backup has an older stamp
	case specGeneration(w.Work) == 1:
		return w.Work.CreationTimestamp.Time
	default:
		return specWritten(w.Work.ManagedFields, true)
	}
}

// specGeneration gives the generation of the work's last change. The API server counts the request to delete a work as one
// more, which an agent that was cut off never observes.
func specGeneration(work *workv1.ManifestWork) int64 {
	if work.DeletionTimestamp != nil {
		return work.Generation - 1
	}
	return work.Generation
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
