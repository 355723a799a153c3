// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// condition sets a condition of a cluster's work, with a message.
func (h *hub) condition(cluster, conditionType string, is metav1.ConditionStatus, message string) {
	h.t.Helper()
	work := h.work(cluster)
	meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{Type: conditionType, Status: is, Reason: "Test", Message: message,
		ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(h.clock)})
	h.must(h.server.Status().Update(h.t.Context(), work))
}

// A template without conditionRules: the first applied work is told, by an event and in OCM's own condition. A condition
// message that changes causes no write. With the annotation of the set, Available counts.
func TestTemplateWithoutConditionRules(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	strategy := atATime(1)
	strategy.Progressive.ProgressDeadline = "10m"
	strategy.Progressive.MaxFailures = intstr.FromInt(1)
	h.create(ref("prod", strategy))
	h.wrote("create a")
	h.condition("a", workv1.WorkApplied, metav1.ConditionFalse, "namespaces \"web\" not found")
	h.wrote("")
	before := h.set().ResourceVersion
	h.condition("a", workv1.WorkApplied, metav1.ConditionFalse, "namespaces \"web\" is forbidden")
	h.wrote("")
	if now := h.set().ResourceVersion; now != before {
		t.Errorf("a message alone changed the status of the set, from %s to %s: %+v", before, now, h.set().Status.Conditions)
	}
	h.condition("a", workv1.WorkApplied, metav1.ConditionTrue, "")
	h.condition("a", workv1.WorkAvailable, metav1.ConditionTrue, "")
	h.events()
	h.wrote("")
	const sentence = "no conditionRules tell when it is done"
	if told := strings.Join(h.events(), "\n"); !strings.Contains(told, "Warning Untracked") || !strings.Contains(told, sentence) {
		t.Errorf("the events are %q", told)
	}
	if c := meta.FindStatusCondition(h.set().Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut); !strings.Contains(c.Message, sentence) {
		t.Errorf("PlacementRolledOut says %q", c.Message)
	}

	h.clock = h.clock.Add(10 * time.Minute)
	h.wrote("create b")
	if told := strings.Join(h.events(), "\n"); !strings.Contains(told, `a timed out; a: "its template has no conditionRules that set the condition Progressing, so it is unknown when the workload is done"`) {
		t.Errorf("the events are %q", told)
	}
	set := h.set()
	set.Annotations = map[string]string{kit.AvailableAnnotation: "true"}
	h.must(h.server.Update(t.Context(), set))
	h.wrote("") // a has succeeded; b is in flight
	h.condition("b", workv1.WorkApplied, metav1.ConditionTrue, "")
	h.condition("b", workv1.WorkAvailable, metav1.ConditionFalse, "1 of 1 resources are not available")
	h.wrote("")
	h.condition("b", workv1.WorkAvailable, metav1.ConditionTrue, "")
	h.wrote("create c")
}
