// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

var (
	workGroup       = schema.GroupVersion{Group: "work.open-cluster-management.io", Version: "v1"}
	clusterGroup    = schema.GroupVersion{Group: "cluster.open-cluster-management.io", Version: "v1beta1"}
	replicaSets     = schema.GroupVersionResource{Group: workGroup.Group, Version: "v1alpha1", Resource: "manifestworkreplicasets"}
	manifestWorks   = workGroup.WithResource("manifestworks")
	managedClusters = schema.GroupVersionResource{Group: clusterGroup.Group, Version: "v1", Resource: "managedclusters"}
	placements      = clusterGroup.WithResource("placements")
	decisions       = clusterGroup.WithResource("placementdecisions")
)

func (s *story) must(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}

// create creates an object, or overwrites its spec.
func (s *story) create(kind schema.GroupVersionResource, o *unstructured.Unstructured) {
	s.t.Helper()
	of := s.client.Resource(kind).Namespace(o.GetNamespace())
	_, err := of.Create(s.t.Context(), o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		patch, _ := json.Marshal(map[string]any{"spec": o.Object["spec"]})
		_, err = of.Patch(s.t.Context(), o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	}
	s.must(err)
}

// patch changes an object, or a subresource. It fails if the object is gone or has changed.
func (s *story) patch(kind schema.GroupVersionResource, o *unstructured.Unstructured, change map[string]any, part ...string) {
	s.t.Helper()
	text, err := json.Marshal(change)
	s.must(err)
	if _, err := s.client.Resource(kind).Namespace(o.GetNamespace()).Patch(s.t.Context(), o.GetName(), types.MergePatchType, text, metav1.PatchOptions{}, part...); !apierrors.IsNotFound(err) {
		s.must(err)
	}
}

// list lists the objects of a kind, in a namespace or with a label.
func (s *story) list(kind schema.GroupVersionResource, namespace, label string) []unstructured.Unstructured {
	s.t.Helper()
	list, err := s.client.Resource(kind).Namespace(namespace).List(s.t.Context(), metav1.ListOptions{LabelSelector: label})
	s.must(err)
	return list.Items
}

// selection are the placement with its decisions, and the clusters.
func (s *story) selection(clusters bool) []unstructured.Unstructured {
	all := append(s.list(placements, s.ns, ""), s.list(decisions, s.ns, "")...)
	if clusters {
		all = append(all, s.list(managedClusters, "", "rollout="+s.ns)...)
	}
	return all
}

// place plays the scheduler.
func (s *story) place(clusters []string) {
	s.t.Helper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "all"}}
	if s.limits.kind != "pool" && s.limits.kind != "all" {
		placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{GroupName: canary, ClusterSelector: clusterv1beta1.GroupClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"stage": canary}}}}}
	}
	if len(s.selected) == 0 {
		s.create(placements, s.object(placement, "cluster.open-cluster-management.io/v1beta1", "Placement"))
	}
	stored, err := s.client.Resource(placements).Namespace(s.ns).Get(s.t.Context(), "all", metav1.GetOptions{})
	s.must(err)
	placement.UID = stored.GetUID()
	clear(s.selected)
	var selected []*clusterv1.ManagedCluster
	for _, name := range clusters {
		s.selected[name] = true
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rollout": s.ns}}, Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true}}
		if slices.Index(s.all, name) < 2 {
			cluster.Labels["stage"] = canary
		}
		s.create(managedClusters, s.object(cluster, "cluster.open-cluster-management.io/v1", "ManagedCluster"))
		selected = append(selected, cluster)
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	s.must(err)
	decided, err := groups.Decisions(placement)
	s.must(err)
	for _, d := range decided {
		o := s.object(d, "cluster.open-cluster-management.io/v1beta1", "PlacementDecision")
		s.create(decisions, o)
		s.patch(decisions, o, map[string]any{"status": o.Object["status"]}, "status")
	}
	of, err := grouping.Status(decided)
	s.must(err)
	placement.Status.DecisionGroups, placement.Status.NumberOfSelectedClusters = of.DecisionGroups, of.NumberOfSelectedClusters
	o := s.object(placement, "", "")
	s.patch(placements, o, map[string]any{"status": o.Object["status"]}, "status")
}

// object converts a typed object for the client.
func (s *story) object(typed any, apiVersion, kind string) *unstructured.Unstructured {
	s.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	s.must(err)
	content["apiVersion"], content["kind"] = apiVersion, kind
	return &unstructured.Unstructured{Object: content}
}

// dumpedWorks is a ManifestWorkReplicaSet with its works and their agents.
type dumpedWorks struct {
	*story
	holds bool // agents have finalizers on their works, and agents that are cut off remove none
}

func newDumpedWorks(s *story) objects { return &dumpedWorks{s, s.rng.IntN(2) == 0} }

func (w *dumpedWorks) works() []unstructured.Unstructured {
	return w.list(manifestWorks, "", workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey+"="+w.ns+".web")
}

func (w *dumpedWorks) begin(text string) {
	set := map[string]any{"apiVersion": "work.open-cluster-management.io/v1alpha1", "kind": "ManifestWorkReplicaSet", "metadata": map[string]any{"namespace": w.ns, "name": "web"},
		"spec": map[string]any{
			"manifestWorkTemplate": map[string]any{"workload": map[string]any{"manifests": []any{map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "it", "namespace": "default"}, "data": map[string]any{"text": text}}}}},
			"placementRefs": []any{map[string]any{"name": "all", "rolloutStrategy": w.limits.strategy()}},
		}}
	w.create(replicaSets, &unstructured.Unstructured{Object: set})
}

// answer lets agents answer about each work, once. An agent with a slow clock answered three hours ago, in the first
// version: a condition keeps its time as long as its status is the same.
func (w *dumpedWorks) answer() (due int) {
	for _, o := range w.works() {
		var work workv1.ManifestWork
		w.must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &work))
		if w.holds && work.DeletionTimestamp == nil && len(work.Finalizers) == 0 {
			w.patch(manifestWorks, &o, map[string]any{"metadata": map[string]any{"finalizers": []string{workv1.ManifestWorkFinalizer}}})
		}
		says, told := w.agents[work.Namespace]
		if !told {
			says = saysOK
		}
		applied := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkApplied)
		if says == saysNothing || work.DeletionTimestamp != nil || w.textOf(&o) != fmt.Sprintf("text-%d", w.version) || applied != nil && applied.ObservedGeneration == work.Generation {
			continue
		}
		if due++; w.rng.Float64() > w.answers {
			continue
		}
		w.say(&work, says)
		status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&work.Status)
		w.must(err)
		w.patch(manifestWorks, &o, map[string]any{"status": status}, "status")
	}
	return due
}

func (w *dumpedWorks) say(work *workv1.ManifestWork, says string) {
	at := metav1.Now()
	if w.version == 1 {
		at = metav1.NewTime(at.Add(-3 * aWhile))
	}
	condition := func(name string, is bool) {
		c := metav1.Condition{Type: name, Status: metav1.ConditionFalse, Reason: "Test", ObservedGeneration: work.Generation, LastTransitionTime: at}
		if is {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&work.Status.Conditions, c)
	}
	condition(workv1.WorkApplied, true)
	if says == saysApplied {
		return
	}
	condition(workv1.WorkProgressing, says != saysOK)
	condition(workv1.WorkDegraded, says == saysFailed)
}

// textOf is the version of a work.
func (w *dumpedWorks) textOf(o *unstructured.Unstructured) string {
	manifests, _, _ := unstructured.NestedSlice(o.Object, "spec", "workload", "manifests")
	text, _, _ := unstructured.NestedString(manifests[0].(map[string]any), "data", "text")
	return text
}

// dump makes works look a day old, as they are when a later version comes: their creation then tells nothing about it.
func (w *dumpedWorks) dump(stamped, clusters bool) []unstructured.Unstructured {
	works := w.works()
	for i := range works {
		if !stamped {
			works[i].SetAnnotations(nil)
		}
		if specGeneration(&works[i]) > 1 {
			works[i].SetCreationTimestamp(metav1.NewTime(works[i].GetCreationTimestamp().Add(-24 * time.Hour)))
		}
	}
	return slices.Concat(w.selection(clusters), w.list(replicaSets, w.ns, ""), works)
}

// specGeneration is the generation of the spec: a deletion increments the object's.
func specGeneration(o *unstructured.Unstructured) int64 {
	if o.GetDeletionTimestamp() != nil {
		return o.GetGeneration() - 1
	}
	return o.GetGeneration()
}

func (w *dumpedWorks) read(d dump) map[string]stand {
	i := slices.IndexFunc(d.objects, func(o unstructured.Unstructured) bool { return o.GetKind() == "ManifestWorkReplicaSet" })
	set := &d.objects[i]
	template, _, _ := unstructured.NestedMap(set.Object, "spec", "manifestWorkTemplate")
	stands := w.remembered(set)
	for i := range d.objects {
		if o := &d.objects[i]; o.GetKind() == "ManifestWork" && sameJSON(o.Object["spec"], template) {
			stands[o.GetNamespace()] = w.stand(o, d)
		}
	}
	return stands
}

// stand is the state of a work with the version, by its conditions.
func (w *dumpedWorks) stand(o *unstructured.Unstructured, d dump) (s stand) {
	var work workv1.ManifestWork
	w.must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &work))
	find := func(name string) (is bool, at time.Time, current bool) {
		c := meta.FindStatusCondition(work.Status.Conditions, name)
		if c == nil {
			return false, time.Time{}, false
		}
		return c.Status == metav1.ConditionTrue, c.LastTransitionTime.Time, c.ObservedGeneration == work.Generation || c.ObservedGeneration == specGeneration(o)
	}
	applied := written(o) // also for a dump with stamps, which say the same
	switch {
	case specGeneration(o) == 1:
		applied = work.CreationTimestamp.Time
	case !d.stamped && !d.managed:
		applied, s.undated = work.CreationTimestamp.Time, true
	}
	_, _, observed := find(workv1.WorkApplied)
	progressing, changed, answered := find(workv1.WorkProgressing)
	degraded, failed, _ := find(workv1.WorkDegraded)
	switch {
	case !observed || !answered:
		s.is, s.since = "Progressing", applied
		if s.undated {
			s.since = time.Time{}
		}
		return s
	case progressing && degraded:
		s.is, changed = "Failed", later(changed, failed)
	case progressing:
		s.is = "Progressing"
	default:
		s.is = "Succeeded"
	}
	s.since = later(applied, changed)
	return s
}

func (w *dumpedWorks) says() bool {
	set := w.list(replicaSets, w.ns, "")[0]
	conditions, _, _ := unstructured.NestedSlice(set.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m := c.(map[string]any)
		return m["type"] == "PlacementRolledOut" && m["status"] == "True"
	})
}

func (w *dumpedWorks) left(cluster string) bool {
	return !slices.ContainsFunc(w.works(), func(o unstructured.Unstructured) bool {
		return o.GetNamespace() == cluster && o.GetDeletionTimestamp() == nil
	})
}
