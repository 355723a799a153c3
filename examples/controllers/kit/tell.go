// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The types of events.
const (
	Normal  = corev1.EventTypeNormal
	Warning = corev1.EventTypeWarning
)

// Event emits an event. The API server rejects notes of more than 1024 bytes.
func Event(to events.EventRecorder, about, related runtime.Object, kind, reason, action, note string) {
	const most = 1000
	if len(note) > most {
		note = strings.ToValidUTF8(note[:most], "") + "…"
	}
	to.Eventf(about, related, kind, reason, action, "%s", note)
}

// Teller emits events and Prometheus metrics of rollouts.
type Teller struct {
	Events   events.EventRecorder
	Changes  *prometheus.CounterVec
	Clusters *prometheus.GaugeVec
}

// NewTeller makes a Teller, and registers its metrics, kind_cluster_changes_total and kind_clusters, with the labels
// namespace, name and the given ones.
func NewTeller(recorder events.EventRecorder, registry prometheus.Registerer, kind string, labels ...string) Teller {
	labels = append([]string{"namespace", "name"}, labels...)
	t := Teller{
		Events: recorder,
		Changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: kind + "_cluster_changes_total",
			Help: "How many clusters of a rollout have started, succeeded, failed, timed out, or recovered.",
		}, append(labels[:len(labels):len(labels)], "change")),
		Clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: kind + "_clusters",
			Help: "How many clusters of a rollout have a status now.",
		}, append(labels[:len(labels):len(labels)], "status")),
	}
	registry.MustRegister(t.Changes, t.Clusters)
	return t
}

// Event emits an event about the owner of a rollout.
func (t *Teller) Event(owner runtime.Object, kind, reason, note string) {
	Event(t.Events, owner, nil, kind, reason, "Rollout", note)
}

// Notes are the events of a reconcile, one for each reason: of two events with the same reason and owner, the recorder of
// client-go sends only one, and counts the other.
type Notes []note

type note struct {
	kind, reason string
	texts        []string
}

// Add adds a text to the event of a reason.
func (n *Notes) Add(kind, reason, text string) {
	for i := range *n {
		if of := &(*n)[i]; of.kind == kind && of.reason == reason {
			of.texts = append(of.texts, text)
			return
		}
	}
	*n = append(*n, note{kind: kind, reason: reason, texts: []string{text}})
}

// Emit emits the events of a reconcile.
func (t *Teller) Emit(owner runtime.Object, notes Notes) {
	for _, note := range notes {
		t.Event(owner, note.kind, note.reason, strings.Join(note.texts, "; "))
	}
}

// Tell notes each part of the changes, with a prefix, and sets the metrics. The values are those of the labels.
func (t *Teller) Tell(notes *Notes, values []string, prefix string, changes rollout.Changes, counts status.Counts) {
	for _, part := range []struct {
		reason, kind string
		clusters     []string
		changes      rollout.Changes // only this part, for its sentence
	}{
		{"Started", Normal, changes.Started, rollout.Changes{Started: changes.Started}},
		{"Succeeded", Normal, changes.Succeeded, rollout.Changes{Succeeded: changes.Succeeded}},
		{"Failed", Warning, changes.Failed, rollout.Changes{Failed: changes.Failed, Why: changes.Why}},
		{"TimedOut", Warning, changes.TimedOut, rollout.Changes{TimedOut: changes.TimedOut, Why: changes.Why}},
		{"Recovered", Normal, changes.Recovered, rollout.Changes{Recovered: changes.Recovered}},
	} {
		if n := len(part.clusters); n > 0 {
			notes.Add(part.kind, part.reason, prefix+part.changes.String())
			t.Changes.WithLabelValues(append(values[:len(values):len(values)], part.reason)...).Add(float64(n))
		}
	}
	if changes.Breached != nil {
		notes.Add(Warning, "Stopped", prefix+changes.Breached.String())
	}
	if changes.Resumed {
		notes.Add(Normal, "Resumed", prefix+"maxFailures is not exceeded any more, and the rollout continues")
	}
	for _, w := range changes.Warned {
		notes.Add(Warning, string(w.Type), prefix+w.String())
	}
	for status, n := range map[string]int{
		"ToApply": counts.ToApply, "Progressing": counts.Progressing, "Succeeded": counts.Succeeded,
		"Failed": counts.Failed, "TimeOut": counts.TimeOut, "Skip": counts.Skip,
	} {
		t.Clusters.WithLabelValues(append(values[:len(values):len(values)], status)...).Set(float64(n))
	}
}

// Forget drops the metrics of an owner, or only those with more labels.
func (t *Teller) Forget(owner types.NamespacedName, more prometheus.Labels) {
	labels := prometheus.Labels{"namespace": owner.Namespace, "name": owner.Name}
	for name, value := range more {
		labels[name] = value
	}
	t.Changes.DeletePartialMatch(labels)
	t.Clusters.DeletePartialMatch(labels)
}
