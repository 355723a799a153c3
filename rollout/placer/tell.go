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

// tell makes events of what is new.
func (r *reconciler) tell(ctx context.Context, owner client.Object, kept *memory, s *situation) {
	kept.invalid = ""
	if changes := s.progress.Changes.String(); changes != "" {
		log.FromContext(ctx).Info("The rollout went on", "version", s.progress.Version, "changes", changes)
	}
	r.tellClusters(owner, s.progress.Changes)
	r.tellStops(owner, s.progress.Changes)
	r.tellForeign(owner, kept, s.progress.Foreign)
	r.tellMistaken(owner, kept, s.wanted.forgotten())
	r.tellRefused(owner, kept, refusedSentence(s.progress.Refused))
}

// tellRefused warns once of what the API server refuses.
func (r *reconciler) tellRefused(owner client.Object, kept *memory, refused string) {
	if refused != "" && refused != kept.refused {
		r.event(owner, corev1.EventTypeWarning, ReasonRefused, refused)
	}
	kept.refused = refused
}

// tellClusters tells what became of clusters.
func (r *reconciler) tellClusters(owner client.Object, changes rollout.Changes) {
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
			r.event(owner, part.kind, part.reason, sentence)
		}
	}
}

// tellStops tells what stops the rollout, and what is wrong with it.
func (r *reconciler) tellStops(owner client.Object, changes rollout.Changes) {
	if changes.Breached != nil {
		r.event(owner, corev1.EventTypeWarning, "Stopped", changes.Breached.String())
	}
	if changes.Resumed {
		r.event(owner, corev1.EventTypeNormal, "Resumed", "no budget is breached any more")
	}
	for _, warning := range changes.Warned {
		r.event(owner, corev1.EventTypeWarning, string(warning.Type), warning.String())
	}
}

// tellForeign warns once of each object of others that is in the way.
func (r *reconciler) tellForeign(owner client.Object, kept *memory, foreign []writes.Foreign) {
	told := make(map[writes.Foreign]bool, len(foreign))
	for _, object := range foreign {
		told[object] = true
		if !kept.foreign[object] {
			r.event(owner, corev1.EventTypeWarning, "ForeignObject", object.String())
		}
	}
	kept.foreign = told
}

// tellMistaken warns once of approvals that decide nothing.
func (r *reconciler) tellMistaken(owner client.Object, kept *memory, sentences []string) {
	mistaken := strings.Join(sentences, "; ")
	if mistaken != "" && mistaken != kept.mistaken {
		r.event(owner, corev1.EventTypeWarning, "ApprovalOutdated", mistaken)
	}
	kept.mistaken = mistaken
}

// tellInvalid warns once of what a person has to mend.
func (r *reconciler) tellInvalid(owner client.Object, kept *memory, invalid error) {
	if invalid.Error() != kept.invalid {
		r.event(owner, corev1.EventTypeWarning, ReasonInvalid, invalid.Error())
	}
	kept.invalid = invalid.Error()
}

// event makes an event about an owner. The API server refuses notes of more than 1024 bytes.
func (r *reconciler) event(owner client.Object, kind, reason, note string) {
	const most = 1000
	r.events.Eventf(owner, nil, kind, reason, "Rollout", "%s", clip(note, most))
}
