// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"errors"
	"maps"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// metrics are those of rollouts. The controllers of a process share them.
type metrics struct {
	kind     string // the value of the label kind: kind.group, in lower case
	changes  *prometheus.CounterVec
	clusters *prometheus.GaugeVec
}

// newMetrics registers the metrics of rollouts, or finds them if another kind has registered them.
func newMetrics(registry prometheus.Registerer, kind schema.GroupKind) (*metrics, error) {
	labels := []string{"kind", "namespace", "name", "placement"}
	metrics := &metrics{
		kind: strings.ToLower(kind.String()),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "placer_cluster_changes_total",
			Help: "How many clusters of a rollout have started, succeeded, failed, timed out, or recovered.",
		}, append(labels[:len(labels):len(labels)], "change")),
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "placer_clusters",
			Help: "How many clusters of a rollout have a status now.",
		}, append(labels[:len(labels):len(labels)], "status")),
	}
	var before prometheus.AlreadyRegisteredError
	if err := registry.Register(metrics.changes); errors.As(err, &before) {
		metrics.changes = before.ExistingCollector.(*prometheus.CounterVec)
	} else if err != nil {
		return nil, err
	}
	if err := registry.Register(metrics.clusters); errors.As(err, &before) {
		metrics.clusters = before.ExistingCollector.(*prometheus.GaugeVec)
	} else if err != nil {
		return nil, err
	}
	return metrics, nil
}

// tell counts what changed, and says how many clusters have each status. The metrics of a Placement that only the reconcile
// before had are dropped.
func (m *metrics) tell(owner types.NamespacedName, progress Progress, before map[string]*rollout.Result) {
	dropped := maps.Clone(before)
	for _, placed := range progress.Placements {
		delete(dropped, placed.Name)
		labels := []string{m.kind, owner.Namespace, owner.Name, placed.Name}
		for change, clusters := range map[string][]string{
			"Started": placed.Changes.Started, "Succeeded": placed.Changes.Succeeded, "Failed": placed.Changes.Failed,
			"TimedOut": placed.Changes.TimedOut, "Recovered": placed.Changes.Recovered,
		} {
			m.changes.WithLabelValues(append(labels[:4:4], change)...).Add(float64(len(clusters)))
		}
		counts := placed.Summary().WithoutMoved()
		for status, n := range map[status.RolloutStatus]int{
			status.ToApply: counts.ToApply, status.Progressing: counts.Progressing, status.Succeeded: counts.Succeeded,
			status.Failed: counts.Failed, status.TimeOut: counts.TimeOut, status.Skip: counts.Skip,
		} {
			m.clusters.WithLabelValues(append(labels[:4:4], string(status))...).Set(float64(n))
		}
	}
	for placement := range dropped {
		m.forget(owner, prometheus.Labels{"placement": placement})
	}
}

// forget drops the metrics of an owner, or only those with more labels.
func (m *metrics) forget(owner types.NamespacedName, more prometheus.Labels) {
	labels := prometheus.Labels{"kind": m.kind, "namespace": owner.Namespace, "name": owner.Name}
	for name, value := range more {
		labels[name] = value
	}
	m.changes.DeletePartialMatch(labels)
	m.clusters.DeletePartialMatch(labels)
}
