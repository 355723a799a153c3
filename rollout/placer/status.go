// SPDX-License-Identifier: Apache-2.0

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

// The conditions of an owner, in addition to those of status.SetConditions. The first three are those of kstatus, which
// kubectl, Argo CD and Flux understand.
const (
	// ConditionReady says that the rollout has succeeded.
	ConditionReady = "Ready"
	// ConditionReconciling says that the rollout goes on, or waits: for agents, a gate, a pause, or a missing Placement.
	ConditionReconciling = "Reconciling"
	// ConditionStalled says that a user has to act: the owner is invalid, or more clusters failed than are tolerated, or
	// the rollout ended with failed clusters.
	ConditionStalled = "Stalled"
	// ConditionWritesRefused says that the API server rejects ManifestWorks of some clusters, or another request that the
	// rollout needs.
	ConditionWritesRefused = "WritesRefused"
)

// The reasons of the conditions, in addition to those of status.SetConditions.
const (
	// ReasonInvalid says that the owner is invalid.
	ReasonInvalid = "Invalid"
	// ReasonRefused says that the API server rejects requests.
	ReasonRefused = "Refused"
	// ReasonAccepted says that no request is rejected any more.
	ReasonAccepted = "Accepted"
)

func (r *reconciler) setStatus(ctx context.Context, owner client.Object, state *ownerState, planned *situation) error {
	return r.updateStatus(ctx, owner, state, func(owner client.Object) {
		summary := planned.progress.Summary()
		conditions := r.kind.conditions(owner)
		status.SetConditions(conditions, summary, owner.GetGeneration(), r.now())
		r.setRefused(conditions, owner.GetGeneration(), planned.progress.Refused)
		aggregate := summary.Aggregate()
		common := *meta.FindStatusCondition(*conditions, status.ConditionProgressing)
		common.Message = strings.Join(append([]string{common.Message}, r.alsoSays(owner, planned)...), "; ")
		r.setFlag(conditions, common, ConditionReady, aggregate == status.Succeeded)
		r.setFlag(conditions, common, ConditionReconciling, aggregate == status.Progressing)
		r.setFlag(conditions, common, ConditionStalled, aggregate == status.Failed)
		r.kind.show(owner, planned.progress)
	})
}

// stall shows an invalid owner in the status, and emits an event once. It returns no error, so there is no retry before the
// owner changes.
func (r *reconciler) stall(ctx context.Context, owner client.Object, state *ownerState, invalid error) error {
	r.tellInvalid(owner, state, invalid)
	return r.updateStatus(ctx, owner, state, func(owner client.Object) {
		conditions := r.kind.conditions(owner)
		common := condition{Reason: ReasonInvalid, Message: invalid.Error(), ObservedGeneration: owner.GetGeneration()}
		r.setFlag(conditions, common, ConditionReady, false)
		r.setFlag(conditions, common, ConditionReconciling, false)
		r.setFlag(conditions, common, ConditionStalled, true)
		r.setUnknown(conditions, common)
	})
}

// setUnknown sets the existing conditions of status.SetConditions to Unknown. Before the first plan there are none.
func (r *reconciler) setUnknown(conditions *[]condition, common condition) {
	for _, kind := range []string{status.ConditionProgressing, status.ConditionSucceeded, status.ConditionFailed} {
		if meta.FindStatusCondition(*conditions, kind) != nil {
			r.setCondition(conditions, common, kind, metav1.ConditionUnknown)
		}
	}
}

// refuse shows in the status, and once in an event, that the API server rejects a request other than the write of a
// ManifestWork, such as the record. It returns the error.
func (r *reconciler) refuse(ctx context.Context, owner client.Object, state *ownerState, failed error) error {
	if !writes.Refused(failed) || apierrors.IsNotFound(failed) { // NotFound: the object was deleted, and the cache is stale
		return failed
	}
	r.tellRefused(owner, state, failed.Error())
	err := r.updateStatus(ctx, owner, state, func(owner client.Object) {
		conditions := r.kind.conditions(owner)
		common := condition{Reason: ReasonRefused, Message: failed.Error(), ObservedGeneration: owner.GetGeneration()}
		r.setFlag(conditions, common, ConditionWritesRefused, true)
		r.setFlag(conditions, common, ConditionReady, false)
		r.setFlag(conditions, common, ConditionReconciling, true)
		r.setFlag(conditions, common, ConditionStalled, false)
	})
	return errors.Join(failed, err)
}

// updateStatus writes the status of an owner if a function changes it, and records the answer.
func (r *reconciler) updateStatus(ctx context.Context, owner client.Object, state *ownerState, change func(client.Object)) error {
	next := owner.DeepCopyObject().(client.Object)
	r.kind.observe(next)
	change(next)
	if equality.Semantic.DeepEqual(owner, next) {
		return nil
	}
	err := r.client.Status().Update(ctx, next)
	if err := state.stored.Wrote(next, err, r.now()); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}

// mostMessage is the limit of a condition's message, in bytes.
const mostMessage = 32768

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:most-len(more)], "") + more
}

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

// setRefused sets the condition WritesRefused. The condition is missing until a write is rejected.
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

// alsoSays is what the conditions of this package say in addition to those of status.SetConditions: what else is rejected, how
// a gate is opened, and which approvals have no effect.
func (r *reconciler) alsoSays(owner client.Object, planned *situation) []string {
	var clauses []string
	if refused := planned.untold(); len(refused) > 0 {
		clauses = append(clauses, refusedSentence(refused))
	}
	if opening := r.opening(owner, planned); opening != "" {
		clauses = append(clauses, opening)
	}
	return append(clauses, planned.wanted.outdatedApprovals()...)
}

// untold are the rejected writes of which the summary says nothing.
func (s *situation) untold() map[string]error {
	untold := maps.Clone(s.progress.Refused)
	for _, placed := range s.progress.Placements {
		for _, cluster := range placed.Start {
			if s.told[cluster.Name] != nil {
				delete(untold, cluster.Name)
			}
		}
	}
	return untold
}

// refusedSentence names the first three clusters whose writes are rejected. It is empty if there are none.
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
