package main

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
)

// teller tells people, by events, and Prometheus what became of a rollout.
type teller struct {
	events   events.EventRecorder
	changes  *prometheus.CounterVec // by set, placement, and what became of clusters
	clusters *prometheus.GaugeVec   // by set, placement, and status
}

// newTeller makes one, and registers its metrics.
func newTeller(recorder events.EventRecorder, registry prometheus.Registerer) teller {
	t := teller{
		events: recorder,
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "manifestworkreplicaset_cluster_changes_total",
			Help: "How many clusters of a rollout have started, succeeded, failed, timed out, or recovered.",
		}, []string{"namespace", "name", "placement", "change"}),
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "manifestworkreplicaset_clusters",
			Help: "How many clusters of a rollout have a status now.",
		}, []string{"namespace", "name", "placement", "status"}),
	}
	registry.MustRegister(t.changes, t.clusters)
	return t
}

// tell tells what is new since the reconcile before. Of what happened before this process there is nothing to tell,
// unless nobody has looked at the set yet.
func (c *controller) tell(set *workv1alpha1.ManifestWorkReplicaSet, memory *memory, placements []*placement) {
	before := memory.results
	memory.results = make(map[string]*rollout.Result, len(placements))
	for _, p := range placements {
		previous := before[p.ref.Name]
		if previous == nil && len(set.Status.Conditions) == 0 {
			previous = &rollout.Result{}
		}
		c.teller.tell(set, p, p.result.Changes(previous))
		memory.results[p.ref.Name] = p.result
	}
	for name := range before {
		if memory.results[name] == nil {
			c.teller.drop(prometheus.Labels{"namespace": set.Namespace, "name": set.Name, "placement": name})
		}
	}
}

// tell makes an event of each part of the changes, and adds the lengths to the counters.
func (t *teller) tell(set *workv1alpha1.ManifestWorkReplicaSet, p *placement, changes rollout.Changes) {
	for _, part := range []struct {
		reason, kind string
		clusters     []string
		changes      rollout.Changes // this part alone, for its sentence
	}{
		{"Started", corev1.EventTypeNormal, changes.Started, rollout.Changes{Started: changes.Started}},
		{"Succeeded", corev1.EventTypeNormal, changes.Succeeded, rollout.Changes{Succeeded: changes.Succeeded}},
		{"Failed", corev1.EventTypeWarning, changes.Failed, rollout.Changes{Failed: changes.Failed}},
		{"TimedOut", corev1.EventTypeWarning, changes.TimedOut, rollout.Changes{TimedOut: changes.TimedOut}},
		{"Recovered", corev1.EventTypeNormal, changes.Recovered, rollout.Changes{Recovered: changes.Recovered}},
	} {
		if n := len(part.clusters); n > 0 {
			t.event(set, part.kind, part.reason, "placement "+p.ref.Name+": "+part.changes.String())
			t.changes.WithLabelValues(set.Namespace, set.Name, p.ref.Name, part.reason).Add(float64(n))
		}
	}
	if changes.Breached != nil {
		t.event(set, corev1.EventTypeWarning, "Stopped", "placement "+p.ref.Name+": "+changes.Breached.String())
	}
	if changes.Resumed {
		t.event(set, corev1.EventTypeNormal, "Resumed", "placement "+p.ref.Name+": no budget is breached any more")
	}
	for _, warning := range changes.Warned {
		t.event(set, corev1.EventTypeWarning, string(warning.Type), "placement "+p.ref.Name+": "+warning.String())
	}

	counts := p.result.Counts
	for status, n := range map[string]int{
		"ToApply": counts.ToApply, "Progressing": counts.Progressing, "Succeeded": counts.Succeeded,
		"Failed": counts.Failed, "TimeOut": counts.TimeOut, "Skip": counts.Skip,
	} {
		t.clusters.WithLabelValues(set.Namespace, set.Name, p.ref.Name, status).Set(float64(n))
	}
}

func (t *teller) event(set *workv1alpha1.ManifestWorkReplicaSet, kind, reason, note string) {
	const most = 1000 // the API server refuses notes of more than 1024 bytes
	if len(note) > most {
		note = note[:most] + "…"
	}
	t.events.Eventf(set, nil, kind, reason, "Rollout", "%s", note)
}

// forget drops the metrics of a set.
func (t *teller) forget(set types.NamespacedName) {
	t.drop(prometheus.Labels{"namespace": set.Namespace, "name": set.Name})
}

func (t *teller) drop(labels prometheus.Labels) {
	t.changes.DeletePartialMatch(labels)
	t.clusters.DeletePartialMatch(labels)
}
