package placer

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// tell emits events for what is new.
func (r *reconciler) tell(ctx context.Context, owner client.Object, state *ownerState, planned *situation) {
	state.invalid = ""
	if changes := planned.progress.changed(); changes != "" {
		log.FromContext(ctx).Info("The rollout went on", "version", planned.progress.Version, "changes", changes)
	}
	for _, placed := range planned.progress.Placements {
		prefix := planned.progress.prefix(placed)
		r.tellClusters(owner, prefix, placed.Changes)
		r.tellStops(owner, prefix, placed.Changes)
	}
	r.tellForeign(owner, state, planned.progress.Foreign)
	r.tellMistaken(owner, state, planned.wanted.outdatedApprovals())
	r.tellRefused(owner, state, refusedSentence(planned.progress.Refused))
}

func (r *reconciler) tellRefused(owner client.Object, state *ownerState, refused string) {
	if refused != "" && refused != state.refused {
		r.event(owner, corev1.EventTypeWarning, ReasonRefused, refused)
	}
	state.refused = refused
}

func (r *reconciler) tellClusters(owner client.Object, prefix string, changes rollout.Changes) {
	for _, part := range []struct {
		reason, kind string
		changes      rollout.Changes
	}{
		{"Started", corev1.EventTypeNormal, rollout.Changes{Started: changes.Started}},
		{"Succeeded", corev1.EventTypeNormal, rollout.Changes{Succeeded: changes.Succeeded}},
		{"Failed", corev1.EventTypeWarning, rollout.Changes{Failed: changes.Failed, Why: changes.Why}},
		{"TimedOut", corev1.EventTypeWarning, rollout.Changes{TimedOut: changes.TimedOut, Why: changes.Why}},
		{"Recovered", corev1.EventTypeNormal, rollout.Changes{Recovered: changes.Recovered}},
	} {
		if sentence := part.changes.String(); sentence != "" {
			r.event(owner, part.kind, part.reason, prefix+sentence)
		}
	}
}

// tellStops emits events for breached budgets and for warnings.
func (r *reconciler) tellStops(owner client.Object, prefix string, changes rollout.Changes) {
	if changes.Breached != nil {
		r.event(owner, corev1.EventTypeWarning, "Stopped", prefix+changes.Breached.String())
	}
	if changes.Resumed {
		r.event(owner, corev1.EventTypeNormal, "Resumed", prefix+"no budget is breached any more")
	}
	for _, warning := range changes.Warned {
		r.event(owner, corev1.EventTypeWarning, string(warning.Type), prefix+warning.String())
	}
}

// tellForeign warns once of each object of another owner that is in the way.
func (r *reconciler) tellForeign(owner client.Object, state *ownerState, foreign []writes.Foreign) {
	told := make(map[writes.Foreign]bool, len(foreign))
	for _, object := range foreign {
		told[object] = true
		if !state.foreign[object] {
			r.event(owner, corev1.EventTypeWarning, "ForeignObject", object.String())
		}
	}
	state.foreign = told
}

// tellMistaken warns once of approvals without an effect.
func (r *reconciler) tellMistaken(owner client.Object, state *ownerState, sentences []string) {
	mistaken := strings.Join(sentences, "; ")
	if mistaken != "" && mistaken != state.mistaken {
		r.event(owner, corev1.EventTypeWarning, "ApprovalOutdated", mistaken)
	}
	state.mistaken = mistaken
}

func (r *reconciler) tellInvalid(owner client.Object, state *ownerState, invalid error) {
	if invalid.Error() != state.invalid {
		r.event(owner, corev1.EventTypeWarning, ReasonInvalid, invalid.Error())
	}
	state.invalid = invalid.Error()
}

// event emits an event about an owner. The API server rejects notes of more than 1024 bytes.
func (r *reconciler) event(owner client.Object, kind, reason, note string) {
	const most = 1000
	r.events.Eventf(owner, nil, kind, reason, "Rollout", "%s", clip(note, most))
}
