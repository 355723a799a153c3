package placer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

type condition = metav1.Condition

// The conditions of an owner, beside those of status.SetConditions. The first three are those of kstatus, which kubectl, Argo CD and Flux
// understand.
const (
	// ConditionReady says that the rollout has succeeded.
	ConditionReady = "Ready"
	// ConditionReconciling says that the rollout goes on, or waits for something that comes without a person.
	ConditionReconciling = "Reconciling"
	// ConditionStalled says that a person has to mend something: the owner is invalid, or more clusters failed than are tolerated,
	// or the rollout came to its end and some clusters failed.
	ConditionStalled = "Stalled"
	// ConditionWritesRefused says that the API server refuses to write ManifestWorks of some clusters, or another request without
	// which nothing goes on.
	ConditionWritesRefused = "WritesRefused"
)

// The reasons of the conditions, beside those of status.SetConditions.
const (
	// ReasonInvalid says that the owner is wrong, and how.
	ReasonInvalid = "Invalid"
	// ReasonRefused says that requests are refused.
	ReasonRefused = "Refused"
	// ReasonAccepted says that none is refused any more.
	ReasonAccepted = "Accepted"
)

// setStatus sets the status of an owner after a look.
func (r *reconciler) setStatus(ctx context.Context, owner client.Object, kept *memory, s *situation) error {
	return r.updateStatus(ctx, owner, kept, func(owner client.Object) {
		summary := s.progress.Summary()
		conditions := r.kind.conditions(owner)
		status.SetConditions(conditions, summary, owner.GetGeneration(), r.now())
		r.setRefused(conditions, owner.GetGeneration(), s.progress.Refused)
		aggregate := summary.Aggregate()
		common := condition{
			Reason:             meta.FindStatusCondition(*conditions, status.ConditionProgressing).Reason,
			Message:            messageOf(s),
			ObservedGeneration: owner.GetGeneration(),
		}
		r.setFlag(conditions, common, ConditionReady, aggregate == status.Succeeded)
		r.setFlag(conditions, common, ConditionReconciling, aggregate == status.Progressing)
		r.setFlag(conditions, common, ConditionStalled, aggregate == status.Failed)
		r.kind.show(owner, s.progress)
	})
}

// stall shows in the status that a person has to mend something, and tells it once. It returns no error: nothing is tried again before
// the owner changes.
func (r *reconciler) stall(ctx context.Context, owner client.Object, kept *memory, invalid error) error {
	r.tellInvalid(owner, kept, invalid)
	return r.updateStatus(ctx, owner, kept, func(owner client.Object) {
		conditions := r.kind.conditions(owner)
		common := condition{Reason: ReasonInvalid, Message: invalid.Error(), ObservedGeneration: owner.GetGeneration()}
		r.setFlag(conditions, common, ConditionReady, false)
		r.setFlag(conditions, common, ConditionReconciling, false)
		r.setFlag(conditions, common, ConditionStalled, true)
		r.setUnknown(conditions, common)
	})
}

// setUnknown says in those conditions of status.SetConditions that are there that nobody knows how the rollout stands. They are not
// there before a plan.
func (r *reconciler) setUnknown(conditions *[]condition, common condition) {
	for _, kind := range []string{status.ConditionProgressing, status.ConditionSucceeded, status.ConditionFailed} {
		if meta.FindStatusCondition(*conditions, kind) != nil {
			r.setCondition(conditions, common, kind, metav1.ConditionUnknown)
		}
	}
}

// refuse shows in the status that the API server refuses what a look needs beside the ManifestWorks, such as the record, and tells it
// once. It returns the error.
func (r *reconciler) refuse(ctx context.Context, owner client.Object, kept *memory, failed error) error {
	if !writes.Refused(failed) || apierrors.IsNotFound(failed) { // what is not there was deleted, and the cache is late
		return failed
	}
	r.tellRefused(owner, kept, failed.Error())
	err := r.updateStatus(ctx, owner, kept, func(owner client.Object) {
		conditions := r.kind.conditions(owner)
		common := condition{Reason: ReasonRefused, Message: failed.Error(), ObservedGeneration: owner.GetGeneration()}
		r.setFlag(conditions, common, ConditionWritesRefused, true)
		r.setFlag(conditions, common, ConditionReady, false)
		r.setFlag(conditions, common, ConditionReconciling, true)
		r.setFlag(conditions, common, ConditionStalled, false)
	})
	return errors.Join(failed, err)
}

// updateStatus writes the status of an owner where a function changes it, and notes the answer.
func (r *reconciler) updateStatus(ctx context.Context, owner client.Object, kept *memory, change func(client.Object)) error {
	next := owner.DeepCopyObject().(client.Object)
	r.kind.observe(next)
	change(next)
	if equality.Semantic.DeepEqual(owner, next) {
		return nil
	}
	err := r.client.Status().Update(ctx, next)
	if err := kept.stored.Wrote(next, err, r.now()); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}

// mostMessage is how many bytes the message of a condition may have.
const mostMessage = 32768

// clip cuts a text that is too long.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:most-len(more)], "") + more
}

// setFlag sets one condition to True or False.
func (r *reconciler) setFlag(conditions *[]condition, common condition, kind string, is bool) {
	said := metav1.ConditionFalse
	if is {
		said = metav1.ConditionTrue
	}
	r.setCondition(conditions, common, kind, said)
}

func (r *reconciler) setCondition(conditions *[]condition, common condition, kind string, said metav1.ConditionStatus) {
	common.Type, common.Status = kind, said
	common.LastTransitionTime = metav1.NewTime(r.now())
	common.Message = clip(common.Message, mostMessage)
	meta.SetStatusCondition(conditions, common)
}

// setRefused sets the condition WritesRefused. It is not there before a write was refused.
func (r *reconciler) setRefused(conditions *[]condition, generation int64, refused map[string]error) {
	if len(refused) == 0 {
		if meta.FindStatusCondition(*conditions, ConditionWritesRefused) != nil {
			accepted := condition{Reason: ReasonAccepted, Message: "no write is refused", ObservedGeneration: generation}
			r.setFlag(conditions, accepted, ConditionWritesRefused, false)
		}
		return
	}
	said := condition{Reason: ReasonRefused, Message: refusedSentence(refused), ObservedGeneration: generation}
	r.setFlag(conditions, said, ConditionWritesRefused, true)
}

// messageOf says how a rollout stands: its version, what is refused, the summary, and what has no effect.
func messageOf(s *situation) string {
	clauses := []string{"version " + s.progress.Version + ": " + s.progress.Summary().String()}
	if len(s.progress.Refused) > 0 {
		clauses = append(clauses, refusedSentence(s.progress.Refused))
	}
	clauses = append(clauses, s.wanted.forgotten()...)
	return strings.Join(clauses, "; ")
}

// refusedSentence names the first three clusters whose writes are refused. It is empty where there are none.
func refusedSentence(refused map[string]error) string {
	if len(refused) == 0 {
		return ""
	}
	const most = 3
	clusters := slices.Sorted(maps.Keys(refused))
	var clauses []string
	for _, cluster := range clusters[:min(most, len(clusters))] {
		clauses = append(clauses, cluster+": "+refused[cluster].Error())
	}
	if more := len(clusters) - most; more > 0 {
		clauses = append(clauses, fmt.Sprintf("and %d more", more))
	}
	return "the API server refuses " + strings.Join(clauses, "; ")
}
