// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

func TestEventsAndMetrics(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	strategy := atATime(2)
	h.create(ref("prod", strategy))
	told := func(want ...string) {
		t.Helper()
		h.reconcile()
		if got := h.events(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	told()
	told("Normal Started placement prod: a, b started")
	told()
	h.answer(status.Failed, "a")
	h.answer(status.Succeeded, "b")
	told(
		"Normal Succeeded placement prod: b succeeded",
		"Warning Failed placement prod: a failed",
		`Warning Stopped placement prod: the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out`,
	)
	h.restart()
	told() // told only once
	h.answer(status.Succeeded, "a")
	told("Normal Succeeded placement prod: a succeeded", "Normal Recovered placement prod: a recovered", "Normal Resumed placement prod: maxFailures is not exceeded any more, and the rollout continues")
	told("Normal Started placement prod: c started")

	if n := testutil.ToFloat64(h.teller.Changes.WithLabelValues("apps", "web", "prod", "Succeeded")); n != 1 {
		t.Errorf("%v have succeeded", n)
	}
	if n := testutil.ToFloat64(h.teller.Clusters.WithLabelValues("apps", "web", "prod", "Succeeded")); n != 2 {
		t.Errorf("%v are succeeded", n)
	}
	h.place("other", "a", "b", "c")
	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.PlacementRefs[0].Name = "other" })
	h.reconcile()
	if n := testutil.CollectAndCount(h.teller.Clusters); n != 6 {
		t.Errorf("%d series, want those of one placement", n)
	}
	h.teller.Forget(theSet, nil)
	if n := testutil.CollectAndCount(h.teller.Clusters) + testutil.CollectAndCount(h.teller.Changes); n != 0 {
		t.Errorf("%d series of a set that is gone", n)
	}
}

// The warnings of the first plan are told, too.
func TestWarningOfANewSet(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	strategy := atATime(1)
	strategy.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups = append(strategy.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups, mandatory("canary"))
	h.create(ref("prod", strategy))
	h.reconcile()
	if told := h.events(); len(told) != 1 {
		t.Errorf("told %q", told)
	}
	h.reconcile()
	h.restart()
	h.reconcile()
	if told := h.events(); len(told) != 0 {
		t.Errorf("told again %q", told)
	}
}

// Of two events with the same reason the recorder sends only one. Each reason therefore has one event in a reconcile.
func TestOneEventForEachReason(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.place("edge", "b")
	h.create(ref("prod", atATime(1)), ref("edge", atATime(1)))
	h.reconcile()
	h.reconcile()
	if told := h.events(); !slices.Equal(told, []string{"Normal Started placement prod: a started; placement edge: b started"}) {
		t.Errorf("told %q", told)
	}
}
