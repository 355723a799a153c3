// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// edit changes the replicated policy of a cluster by hand.
func (h *hub) edit(cluster string, change func(object *unstructured.Unstructured)) {
	object := h.replica(cluster).DeepCopy()
	change(object)
	h.store(object)
}

// As OCM's propagator: a spec edited by hand is set back, with the action that the cluster has. No cluster starts by that.
func TestASpecEditedByHandIsSetBack(t *testing.T) {
	h := started(t)
	content := h.replica("b").Object["spec"].(map[string]any)["policy-templates"]
	for cluster, want := range map[string]string{"a": "a: update enforce", "b": "b: update inform"} {
		h.edit(cluster, func(o *unstructured.Unstructured) {
			o.Object["spec"].(map[string]any)["policy-templates"].([]any)[0].(map[string]any)["objectDefinition"].(map[string]any)["kind"] = "OperatorPolicy"
		})
		h.events()
		h.wrote(want)
		if told := strings.Join(h.events(), "; "); !strings.Contains(told, "Edited the replicated policy of cluster "+cluster+" was edited by hand: the controller writes it back") {
			t.Errorf("told %q", told)
		}
		if got := h.replica(cluster).Object["spec"].(map[string]any)["policy-templates"]; !equalJSON(got, content) {
			t.Errorf("%s has %v", cluster, got)
		}
		h.wrote("")
	}
}

// Of two events with the same reason the recorder sends only one. Each reason therefore has one event in a reconcile.
func TestOneEventForEachReason(t *testing.T) {
	h := started(t)
	for _, cluster := range []string{"a", "b"} {
		h.edit(cluster, func(o *unstructured.Unstructured) {
			o.Object["spec"].(map[string]any)["policy-templates"].([]any)[0].(map[string]any)["objectDefinition"].(map[string]any)["kind"] = "OperatorPolicy"
		})
	}
	h.events()
	h.wrote("a: update enforce, b: update inform")
	const back = " was edited by hand: the controller writes it back"
	told := slices.DeleteFunc(h.events(), func(event string) bool { return !strings.Contains(event, "Edited") })
	if !slices.Equal(told, []string{"Warning Edited the replicated policy of cluster a" + back + "; the replicated policy of cluster b" + back}) {
		t.Errorf("told %q", told)
	}
}

// Labels and annotations follow those of the root, and are set back. That begins nothing anew: the cluster keeps its stamp, and the
// verdict on it.
func TestLabelsOfReplicasFollowTheRoot(t *testing.T) {
	h := started(t)
	h.report(policyv1.Compliant, "a")
	h.edit("a", func(o *unstructured.Unstructured) {
		annotations := o.GetAnnotations()
		annotations[verdictAnnotation] = "yes"
		o.SetAnnotations(annotations)
	})
	stamped := h.replica("a").GetAnnotations()
	h.wrote("b: update enforce")
	for what, change := range map[string]func(o *unstructured.Unstructured){
		"a label of the root": func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"team": "storage", "tier": "one"}) },
		"a label less":        func(o *unstructured.Unstructured) { o.SetLabels(nil) },
		"an annotation": func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{"example.com/owner": "storage"})
		},
		"none again": func(o *unstructured.Unstructured) { o.SetAnnotations(nil) },
	} {
		root := h.policies[thePolicy.String()].DeepCopy()
		change(root)
		h.store(root)
		h.clock = h.clock.Add(time.Second)
		h.catchUp()
		if _, _, err := h.look(); err != nil {
			t.Fatal(err)
		}
		h.wrote("")
		wanted := map[string]string{rootLabel: "policies.etcd", clusterLabel: "a", clusterNamespaceLabel: "a"}
		maps.Copy(wanted, root.GetLabels())
		if got := h.replica("a").GetLabels(); !maps.Equal(got, wanted) {
			t.Errorf("%s: labels %v", what, got)
		}
		annotations := maps.Clone(stamped)
		maps.Copy(annotations, root.GetAnnotations())
		if got := h.replica("a").GetAnnotations(); !maps.Equal(got, annotations) {
			t.Errorf("%s: annotations %v, want %v", what, got, annotations)
		}
	}
	h.edit("a", func(o *unstructured.Unstructured) {
		o.SetLabels(map[string]string{rootLabel: "policies.etcd", "by": "hand"})
	})
	h.wrote("a: label")
	h.wrote("")
	if got := h.status(); got != "Progressing: a Compliant Succeeded, b Progressing" {
		t.Error(got)
	}
}

// The day of the switch from OCM's propagator: replicas without a stamp, all enforced. None is written, and none loses its compliance. One
// that has the content before an edit gets the one after it.
func TestPoliciesOfOCMsPropagatorAreTakenOver(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: enforce\n" + templates)
	h.wrote("a: create enforce, b: create enforce")
	h.report(policyv1.Compliant, "a", "b")
	h.wrote("")
	before := h.status()
	for _, cluster := range []string{"a", "b"} {
		h.edit(cluster, func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{"argocd.argoproj.io/compare-options": "IgnoreExtraneous"})
			o.SetGeneration(1) // as OCM's propagator created it
			o.SetCreationTimestamp(metav1.NewTime(h.clock.Add(-time.Hour)))
		})
	}
	h.restart()
	h.wrote("")
	if got := h.status(); got != before || got != "Compliant Succeeded: a Compliant Succeeded, b Compliant Succeeded" {
		t.Errorf("after the switch %s, before it %s", got, before)
	}
	// OCM copies what kubectl apply noted on the root. It is removed, which is no content: the cluster keeps its compliance.
	h.edit("a", func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{"argocd.argoproj.io/compare-options": "IgnoreExtraneous", "kubectl.kubernetes.io/last-applied-configuration": "{}"})
	})
	h.restart()
	h.wrote("a: label")
	h.wrote("")
	if got := h.status(); got != before {
		t.Errorf("without that annotation %s, before it %s", got, before)
	}
	h.edit("b", func(o *unstructured.Unstructured) { o.Object["spec"].(map[string]any)["severity"] = "of yesterday" })
	h.restart()
	h.wrote("b: update enforce")
}

// Where a cache leaves managed fields out, nothing tells when OCM's propagator wrote a replica that it has changed. Each is written once, for
// its stamp alone, and none loses its compliance.
func TestPoliciesWithoutManagedFieldsAreTakenOverByAWrite(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: enforce\n" + templates)
	h.wrote("a: create enforce")
	h.report(policyv1.Compliant, "a")
	h.wrote("")
	before := h.status()
	h.edit("a", func(o *unstructured.Unstructured) {
		o.SetAnnotations(nil)
		o.SetGeneration(2)
		o.SetManagedFields(nil)
	})
	h.restart()
	h.wrote("a: update enforce")
	if got, want := h.status(), strings.ReplaceAll(before, "Succeeded", "Progressing"); got != want {
		t.Errorf("after the write %s, want %s", got, want)
	}
	h.clock = h.clock.Add(6 * time.Minute)
	h.wrote("")
	if got := h.status(); got != before {
		t.Errorf("after five minutes %s, before the switch %s", got, before)
	}
}

// A deleted Placement selects no cluster. It is read live, since a cache without it may be behind. Until the API server has answered,
// nothing is deleted and no cluster starts.
func TestADeletedPlacement(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.place("deleted", "b")
	h.bind("prod", "prod", itself(), "")
	h.bind("deleted", "deleted", itself(), "")
	h.policy("remediationAction: enforce\n" + templates)
	h.wrote("a: create enforce, b: create enforce")
	deleted, _, _ := h.stored.GetByKey("policies/deleted")
	h.must(h.caches.placements.Delete(deleted)) // the cache alone lacks it
	h.wrote("")
	h.clock = h.clock.Add(time.Hour)
	h.place("prod", "a", "c")
	h.wrote("c: create inform")

	h.unreachable = errors.New("the API server does not answer")
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || !errors.Is(err, h.unreachable) {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	h.unreachable = nil
	h.must(h.stored.Delete(deleted))
	h.wrote("c: update enforce")
	h.clock = h.clock.Add(time.Hour)
	h.wrote("b: delete")
	placements, _, _ := unstructured.NestedSlice(h.policies[thePolicy.String()].Object, "status", "placement")
	if len(placements) != 2 || placements[0].(map[string]any)["placement"] != nil {
		t.Errorf("the root says it is bound by %v", placements)
	}
}
