// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// metered are the metrics of a registry that are not 0, as `placer_clusters fleet Succeeded 2`.
func metered(t *testing.T, registry prometheus.Gatherer) string {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	var all []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make(map[string]string)
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["kind"] != "thing.example.com" || labels["namespace"] != "apps" || labels["name"] != "web" {
				t.Errorf("the labels of %s are %v", family.GetName(), labels)
			}
			if n := metric.GetCounter().GetValue() + metric.GetGauge().GetValue(); n != 0 {
				all = append(all, fmt.Sprint(family.GetName(), " ", labels["placement"], " ", labels["change"], labels["status"], " ", n))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// The metrics say how many clusters have each status, and count what changes. Those of a Placement go when the owner names it
// no more, and all when the owner is gone. A second kind of the process shares them.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	h := newHub(t)
	h.selects("a", "b")
	h.selectsBy("edge", "c")
	h.make(ofTwo())
	p := newProcess(h, things)
	for _, kind := range []string{"Other", "Thing"} {
		meters, err := newMetrics(registry, example.WithKind(kind).GroupKind())
		must(t, err)
		p.meters = meters
	}
	check := func(when string, want ...string) {
		t.Helper()
		p.settle()
		if got := metered(t, registry); got != strings.Join(want, "\n") {
			t.Errorf("%s the metrics are\n%s\nwant\n%s", when, got, strings.Join(want, "\n"))
		}
	}
	check("at first",
		"placer_cluster_changes_total edge Started 1", "placer_cluster_changes_total fleet Started 1",
		"placer_clusters edge Progressing 1", "placer_clusters fleet Progressing 1", "placer_clusters fleet ToApply 1")
	h.answer(h.work("a"), false)
	h.answer(h.work("c"), true)
	check("after answers",
		"placer_cluster_changes_total edge Started 1", "placer_cluster_changes_total edge Succeeded 1",
		"placer_cluster_changes_total fleet Failed 1", "placer_cluster_changes_total fleet Started 1",
		"placer_clusters edge Succeeded 1", "placer_clusters fleet Failed 1", "placer_clusters fleet ToApply 1")
	h.change(func(o *thing) { o.Spec.Second = "" })
	check("with one Placement",
		"placer_cluster_changes_total fleet Failed 1", "placer_cluster_changes_total fleet Started 1",
		"placer_clusters fleet Failed 1", "placer_clusters fleet ToApply 1")
	must(t, h.store.Delete(t.Context(), h.thing()))
	p.settle()
	h.answerAll()
	check("without the owner")
}
