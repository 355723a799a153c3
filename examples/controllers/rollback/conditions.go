// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// SetStatus sets the status of a set like status.SetReplicaSetStatus, with the conditions of the enhancement, and says
// whether anything changed. A revision whose rollout is complete becomes the current one. Update writes the status.
func (t *Turn) SetStatus(set *workv1alpha1.ManifestWorkReplicaSet, progress []status.PlacementProgress, now time.Time) bool {
	before := set.Status.DeepCopy()
	changed := status.SetReplicaSetStatus(&set.Status, progress, set.Generation, now)
	if t.keeper == nil {
		return changed
	}
	next := t.stored.deepCopy()
	next.Status.ManifestWorkReplicaSetStatus = set.Status
	summaries := make([]status.Summary, len(progress))
	for i := range progress {
		summaries[i] = progress[i].Summary
	}
	if next.Status.AbortedTime != nil {
		for i, back := range t.results {
			summaries[i] = back.Summary()
		}
		countUpdated(&next.Status, summaries)
	}
	state := standing{set: next, summary: joined(progress, summaries), found: t.found, asked: t.isAsked(), exceeded: t.exceeded}
	t.completed = next.Status.Complete(state.summary)
	for _, condition := range state.conditions() {
		// Start from the condition before, so that its time is that of its last change.
		if old := meta.FindStatusCondition(before.Conditions, condition.Type); old != nil {
			*meta.FindStatusCondition(next.Status.Conditions, condition.Type) = *old
		} else {
			meta.RemoveStatusCondition(&next.Status.Conditions, condition.Type)
		}
		setCondition(&next.Status.Conditions, condition, now)
	}
	set.Status = next.Status.ManifestWorkReplicaSetStatus
	t.stored.Status.Revisions = next.Status.Revisions
	return t.completed || !equality.Semantic.DeepEqual(before, &set.Status)
}

// Update writes the status of a set, with the fields of the enhancement.
func (t *Turn) Update(ctx context.Context, c client.Client, set *workv1alpha1.ManifestWorkReplicaSet) error {
	if t.keeper == nil {
		return c.Status().Update(ctx, set)
	}
	next := t.stored.deepCopy()
	next.ResourceVersion, next.Status.ManifestWorkReplicaSetStatus = set.ResourceVersion, set.Status
	t.stored = &ManifestWorkReplicaSet{} // unknown until the write succeeds
	if err := t.keeper.store(ctx, next); err != nil {
		return err
	}
	if set.ResourceVersion = next.ResourceVersion; !t.completed { // a completed rollout may leave too many revisions
		t.stored = next
	}
	return nil
}

// countUpdated sets the counts of updated clusters to those with the revision that is rolled back. By then the summaries
// are about the rollbacks, which wait for these clusters.
func countUpdated(st *ManifestWorkReplicaSetStatus, summaries []status.Summary) {
	st.Summary.Updated = 0
	for i := range st.PlacementsSummary {
		updated := summaries[i].ToApply + summaries[i].IgnoredToApply
		st.PlacementsSummary[i].Summary.Updated = updated
		st.Summary.Updated += updated
	}
}

func joined(progress []status.PlacementProgress, summaries []status.Summary) (all status.Summary) {
	if len(summaries) == 1 {
		return summaries[0]
	}
	of := func(i int, text string) []string {
		if text == "" {
			return nil
		}
		return []string{fmt.Sprintf("placement %q: %s", progress[i].Name, text)}
	}
	var incomplete, breach, paused []string
	for i := range summaries {
		summary := &summaries[i]
		all.Counts = all.Add(summary.WithoutMoved())
		incomplete, breach = append(incomplete, of(i, summary.Incomplete)...), append(breach, of(i, summary.Breach)...)
		paused = append(paused, of(i, summary.Paused)...)
		for _, gate := range summary.Gates {
			all.Gates = append(all.Gates, of(i, gate)...)
		}
		for _, wait := range summary.Waiting {
			if wait == summary.Incomplete || wait == summary.Breach || wait == summary.Paused {
				continue // it is joined with those of other placements
			}
			all.Waiting = append(all.Waiting, of(i, wait)...)
		}
	}
	all.Incomplete, all.Breach, all.Paused = strings.Join(incomplete, "; "), strings.Join(breach, "; "), strings.Join(paused, "; ")
	return all
}

// standing is the state of a set, which determines its conditions.
type standing struct {
	set     *ManifestWorkReplicaSet
	summary status.Summary // of the rollout, or of its rollback
	found   bool           // the update revision was already in the history
	asked   bool           // an operator asks for a rollback

	exceeded bool // a placement is stopped: more clusters than maxFailures reached the deadline
}

// conditions are those that the enhancement adds, or sets differently than status.SetReplicaSetStatus.
func (s standing) conditions() []metav1.Condition {
	ended := s.summary.Aggregate() != status.Progressing
	switch {
	case s.set.Status.AbortedTime != nil:
		return s.aborted(ended)
	case s.exceeded, ended && s.summary.Succeeded == 0 && s.summary.Failures() > 0:
		return s.three(ReasonProgressDeadlineExceeded, ReasonRolloutDegraded, s.summary.String())
	case ended && s.summary.Breach == "" && s.summary.Succeeded > 0:
		return []metav1.Condition{s.progressing(metav1.ConditionFalse, ReasonNewManifestWorkAvailable, s.name()+" is rolled out: "+s.summary.String())}
	}
	begun := s.begun()
	begun.Message += ": " + s.summary.String()
	return []metav1.Condition{begun}
}

// begun is the condition before anything of a revision is written.
func (s standing) begun() metav1.Condition {
	reason, message := ReasonNewRevisionCreated, s.name()+" was created"
	if s.found {
		reason, message = ReasonFoundNewRevision, s.name()+" was found in the history"
	}
	return s.progressing(metav1.ConditionTrue, reason, message)
}

// aborted are the conditions of a revision that is rolled back.
func (s standing) aborted(ended bool) []metav1.Condition {
	var own []metav1.Condition
	rollback.SetConditions(&own, s.set.Status.Revisions, s.summary, s.set.Generation, s.set.Status.AbortedTime.Time)
	message := own[0].Message
	if !ended && s.summary.Total() == 0 && s.summary.Incomplete == "" {
		message = "aborted at " + s.set.Status.AbortedTime.UTC().Format(time.RFC3339) + ": clusters roll back to " + s.set.Status.CurrentRevision
	}
	switch {
	case ended:
		return s.three(ReasonRolloutAborted, ReasonRolloutDegraded, message)
	case s.asked:
		return s.three(ReasonRolloutAborted, workv1alpha1.ReasonProgressing, message)
	default:
		return s.three(ReasonProgressDeadlineExceeded, workv1alpha1.ReasonProgressing, message)
	}
}

// failed is the condition if no rollback is possible.
func (s standing) failed(err error) metav1.Condition {
	return s.progressing(metav1.ConditionFalse, ReasonRolloutAborted, err.Error())
}

// three are the conditions of a rollout that does not reach what the set wants.
func (s standing) three(progressing, rolledOut, message string) []metav1.Condition {
	common := s.progressing(metav1.ConditionFalse, progressing, message)
	applied, rolled := common, common
	applied.Type, applied.Reason = workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied, workv1alpha1.ReasonNotAsExpected
	rolled.Type, rolled.Reason = workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut, rolledOut
	return []metav1.Condition{common, applied, rolled}
}

func (s standing) progressing(is metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: ConditionProgressing, Status: is, Reason: reason, Message: message, ObservedGeneration: s.set.Generation,
	}
}

// name names the update revision like its ControllerRevision.
func (s standing) name() string { return "revision " + nameOf(s.set, s.set.Status.UpdateRevision) }

// setCondition sets a condition, and says whether that changed it.
func setCondition(conditions *[]metav1.Condition, condition metav1.Condition, now time.Time) bool {
	condition.LastTransitionTime = metav1.NewTime(now)
	return meta.SetStatusCondition(conditions, condition)
}
