// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/grouping"
)

// teller emits events and Prometheus metrics of updates.
type teller struct {
	events   events.EventRecorder
	writes   *prometheus.CounterVec // by Placement and verb
	changes  *prometheus.CounterVec // by Placement and kind of change
	clusters *prometheus.GaugeVec   // by Placement
}

// newTeller makes a teller and registers its metrics.
func newTeller(recorder events.EventRecorder, registry prometheus.Registerer) teller {
	t := teller{
		events: recorder,
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "placement_decision_writes_total",
			Help: "How many PlacementDecisions were written, of which a surge is one that is written twice.",
		}, []string{"namespace", "name", "verb"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "placement_cluster_changes_total",
			Help: "How many clusters were added to a Placement, removed, or moved to another decision group.",
		}, []string{"namespace", "name", "change"}),
		clusters: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "placement_clusters",
			Help: "How many clusters a Placement selects.",
		}, []string{"namespace", "name"}),
	}
	registry.MustRegister(t.writes, t.changes, t.clusters)
	return t
}

// The reasons of events, as in OCM's placement controller.
var reasons = map[decisionupdate.Verb]string{
	decisionupdate.VerbCreate: "DecisionCreate",
	decisionupdate.VerbUpdate: "DecisionUpdate",
	decisionupdate.VerbDelete: "DecisionDelete",
}

// tell emits an event for each write that was made or may have been, and counts writes and clusters. If an update fails
// halfway and is made again, a cluster may count twice.
func (t *teller) tell(placement *clusterv1beta1.Placement, outcome decisionupdate.Outcome, changes grouping.Changes, selected int) {
	for _, w := range outcome.Writes {
		verb := string(w.Verb)
		if w.Surge {
			verb = "surge"
		}
		t.writes.WithLabelValues(placement.Namespace, placement.Name, verb).Inc()
		object := w.To
		if object == nil {
			object = w.From
		}
		switch {
		case w.Unknown:
			t.event(placement, object, kit.Warning, reasons[w.Verb], w.String()+": no answer")
		case !w.Complete:
			t.event(placement, object, kit.Warning, reasons[w.Verb], w.String()+": in part")
		default:
			t.event(placement, object, kit.Normal, reasons[w.Verb], w.String())
		}
	}
	for change, n := range map[string]int{"added": len(changes.Added), "removed": len(changes.Removed), "moved": len(changes.Moved)} {
		if n > 0 {
			t.changes.WithLabelValues(placement.Namespace, placement.Name, change).Add(float64(n))
		}
	}
	t.clusters.WithLabelValues(placement.Namespace, placement.Name).Set(float64(selected))
}

// warn tells of objects that need attention: one with an invalid index label, which is repaired, and another owner's object
// under a name of this Placement, which is not touched.
func (t *teller) warn(placement *clusterv1beta1.Placement, stored []*clusterv1beta1.PlacementDecision) {
	for _, decision := range stored {
		own := grouping.Owns(placement, decision)
		index, labelled := decision.Labels[clusterv1beta1.DecisionGroupIndexLabel]
		number, named := strings.CutPrefix(decision.Name, placement.Name+"-decision-")
		switch {
		case own && labelled && !isNumber(index):
			t.event(placement, decision, kit.Warning, "Unreadable", fmt.Sprintf("PlacementDecision %s has the label decision-group-index %q, which must be a number", decision.Name, index))
		case !own && named && isNumber(number):
			t.event(placement, decision, kit.Warning, "NameTaken", fmt.Sprintf("PlacementDecision %s is not of this Placement: its name is not used", decision.Name))
		}
	}
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return err == nil
}

func (t *teller) event(placement *clusterv1beta1.Placement, related runtime.Object, kind, reason, note string) {
	kit.Event(t.events, placement, related, kind, reason, "Schedule", note)
}

// forget drops the metrics of a Placement.
func (t *teller) forget(placement types.NamespacedName) {
	labels := prometheus.Labels{"namespace": placement.Namespace, "name": placement.Name}
	t.writes.DeletePartialMatch(labels)
	t.changes.DeletePartialMatch(labels)
	t.clusters.DeletePartialMatch(labels)
}
