// SPDX-License-Identifier: Apache-2.0

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
	var all notes
	for _, placed := range planned.progress.Placements {
		prefix := planned.progress.prefix(placed)
		all.addClusters(prefix, placed.Changes)
		all.addStops(prefix, placed.Changes)
	}
	all.addForeign(state, planned.progress.Foreign)
	for _, note := range all {
		r.event(owner, note.kind, note.reason, strings.Join(note.texts, "; "))
	}
	r.tellMistaken(owner, state, planned.wanted.outdatedApprovals())
	r.tellRefused(owner, state, refusedSentence(planned.progress.Refused))
}

func (r *reconciler) tellRefused(owner client.Object, state *ownerState, refused string) {
	if refused != "" && refused != state.refused {
		r.event(owner, corev1.EventTypeWarning, ReasonRefused, refused)
	}
	state.refused = refused
}

// notes are the events of a reconcile, one for each reason: of two events with the same reason and owner, the recorder of
// client-go sends only one, and counts the other.
type notes []note

type note struct {
	kind, reason string
	texts        []string
}

func (n *notes) add(kind, reason, text string) {
	for i := range *n {
		if of := &(*n)[i]; of.kind == kind && of.reason == reason {
			of.texts = append(of.texts, text)
			return
		}
	}
	*n = append(*n, note{kind: kind, reason: reason, texts: []string{text}})
}

func (n *notes) addClusters(prefix string, changes rollout.Changes) {
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
			n.add(part.kind, part.reason, prefix+sentence)
		}
	}
}

// addStops adds breached budgets and warnings.
func (n *notes) addStops(prefix string, changes rollout.Changes) {
	if changes.Breached != nil {
		n.add(corev1.EventTypeWarning, "Stopped", prefix+changes.Breached.String())
	}
	if changes.Resumed {
		n.add(corev1.EventTypeNormal, "Resumed", prefix+"no budget is breached any more")
	}
	for _, warning := range changes.Warned {
		n.add(corev1.EventTypeWarning, string(warning.Type), prefix+warning.String())
	}
}

// addForeign warns once of each object of another owner that is in the way.
func (n *notes) addForeign(state *ownerState, foreign []writes.Foreign) {
	told := make(map[writes.Foreign]bool, len(foreign))
	for _, object := range foreign {
		told[object] = true
		if !state.foreign[object] {
			n.add(corev1.EventTypeWarning, "ForeignObject", object.String())
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
