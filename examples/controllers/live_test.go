// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/status"
)

// reading has the counts of clusters by state. Any kind of failure counts as failed.
type reading struct{ ToApply, Progressing, Succeeded, Soaking, Failed, Left int }

// planned is the report of kubectl cohort plan on a dump, and its notes. Clusters that it would start now count as waiting.
func planned(t *testing.T, dump []byte) (r reading, notes string) {
	t.Helper()
	cmd := exec.Command(program(t, "kubectl-cohort"), "plan", "-f", "-", "-o", "json", "--start", time.Now().UTC().Format(time.RFC3339))
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(dump), &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	var report struct {
		Notes []string
		Waves []struct {
			Started []string
			Counts  status.Counts
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	now := report.Waves[0]
	c, started := now.Counts, len(now.Started)
	return reading{c.ToApply + started, c.Progressing - started, c.Succeeded, c.Soaking, c.Failed + c.TimeOut, c.Deselected}, strings.Join(report.Notes, "\n")
}

// dumpOf is what kubectl prints of all objects of some kinds, with or without managed fields. Strip removes something.
func dumpOf(t *testing.T, of dynamic.Interface, managed bool, strip func(*unstructured.Unstructured), kinds ...schema.GroupVersionResource) (objects []unstructured.Unstructured, text []byte) {
	t.Helper()
	all := unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, kind := range kinds {
		list, err := of.Resource(kind).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range list.Items {
			if !managed {
				object.SetManagedFields(nil)
			}
			if strip != nil {
				strip(&object)
			}
			all.Items = append(all.Items, object)
		}
	}
	text, err := yaml.Marshal(all.UnstructuredContent())
	if err != nil {
		t.Fatal(err)
	}
	return all.Items, text
}

// unstamp removes the stamp of a work, so that it is like one of OCM's own controller.
func unstamp(object *unstructured.Unstructured) {
	if object.GetKind() == "ManifestWork" {
		object.SetAnnotations(nil)
	}
}

const showManagedFields = "--show-managed-fields"

// liveWorks is a hub with works on which the test decides each agent's answer.
type liveWorks struct {
	*hub
	objects    dynamic.Interface
	kubeconfig string
	agents     map[string]status.RolloutStatus // the answer of each; Succeeded if it is missing, no answer if it is empty
	soak       bool                            // a soak that outlasts the test
	dumps      int
}

// TestThePluginReadsWorks runs the program works through three versions, with a breach, a failed cluster that is
// deselected, and soaks. The plugin's report on each dump must equal what the objects show without their stamps.
func TestThePluginReadsWorks(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig)
	h := &liveWorks{hub: connect(t, kubeconfig), kubeconfig: kubeconfig, agents: map[string]status.RolloutStatus{}}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	h.must(err)
	config.QPS = -1
	h.objects, err = dynamic.NewForConfig(config)
	h.must(err)
	run(t, program(t, "works"), "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")

	clusters := names("prod", 8)
	for _, name := range clusters { // a deselected cluster without one is ignored
		cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster", "metadata": map[string]any{"name": name}, "spec": map[string]any{"hubAcceptsClient": true}}}
		_, err := h.objects.Resource(schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1", Resource: "managedclusters"}).Create(t.Context(), cluster, metav1.CreateOptions{})
		h.must(err)
	}
	h.place("prod", clusters...)
	o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	o.Spec.ManifestWorkTemplate = template(`{"text":"one"}`)
	o.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "prod", RolloutStrategy: strategy(3)}}
	h.must(h.Create(t.Context(), o))
	h.until("all have the first version", func(now reading) bool { return now == reading{Succeeded: 8} })

	h.agents[clusters[1]], h.agents[clusters[2]] = status.Failed, ""
	h.change(`{"text":"two"}`)
	h.until("one has failed, and all is stopped", func(now reading) bool { return now.Failed == 1 && now.Progressing <= 2 })

	h.place("prod", slices.Delete(slices.Clone(clusters), 1, 2)...)
	h.until("it has left, and its owner remembers", func(now reading) bool {
		return now.Failed == 1 && now.Left == 1 && h.work(clusters[1]) == nil
	})

	h.soak = true
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{
		"manifestWorkTemplate": template(`{"text":"three"}`),
		"placementRefs": []any{map[string]any{"name": "prod", "rolloutStrategy": map[string]any{
			"type": "Progressive", "progressive": map[string]any{"maxConcurrency": 3, "minSuccessTime": "3h"}}}},
	}})
	h.must(err)
	h.must(h.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, patch)))
	delete(h.agents, clusters[1])
	h.until("the third version soaks, and one is silent", func(now reading) bool {
		return now == reading{ToApply: 4, Progressing: 1, Succeeded: 2, Soaking: 2} || now == reading{ToApply: 4, Succeeded: 3, Soaking: 3}
	})
	for _, command := range [][]string{{"status"}, {"status", "-o", "wide"}, {"explain"}, {"explain", clusters[3]}, {"plan", "--max-concurrency", "5"}, {"exposure"}} {
		if out := string(plugin(t, kubeconfig, command...)); !strings.Contains(out, set.Name) {
			t.Errorf("%v does not name the set:\n%s", command, out)
		}
	}
	if out := string(plugin(t, kubeconfig, "status", "-o", "name")); out != "manifestworkreplicaset.work.open-cluster-management.io/"+set.Name+"\n" {
		t.Errorf("-o name: %s", out)
	}
	t.Logf("%d dumps", h.dumps)
}

// until lets the agents answer, and reads dumps, until one has a state.
func (h *liveWorks) until(what string, so func(reading) bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var works workv1.ManifestWorkList
		h.must(h.List(h.t.Context(), &works))
		h.works = works.Items
		for i := range h.works {
			h.say(&h.works[i])
		}
		now := h.compare()
		if so(now) {
			h.live()
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("not within %v: %s; it stands %+v", patience, what, now)
		}
	}
}

// say sets the conditions of a work as its agent. A condition keeps its time as long as its status is the same.
func (h *liveWorks) say(work *workv1.ManifestWork) {
	says, told := h.agents[work.Namespace]
	if told && says == "" || answered(work) {
		return
	}
	condition := func(name string, is bool) {
		c := metav1.Condition{Type: name, Status: metav1.ConditionFalse, Reason: "Test", ObservedGeneration: work.Generation}
		if is {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&work.Status.Conditions, c)
	}
	condition(workv1.WorkApplied, true)
	condition(workv1.WorkProgressing, says == status.Failed)
	condition(workv1.WorkDegraded, says == status.Failed)
	_ = h.Status().Update(h.t.Context(), work) // after a conflict, try again next time
}

// liveKinds are the kinds in a dump of works.
func liveKinds() []schema.GroupVersionResource {
	cluster, work := schema.GroupVersion{Group: "cluster.open-cluster-management.io", Version: "v1beta1"}, "work.open-cluster-management.io"
	return []schema.GroupVersionResource{
		cluster.WithResource("placements"), cluster.WithResource("placementdecisions"),
		{Group: work, Version: "v1alpha1", Resource: "manifestworkreplicasets"}, {Group: work, Version: "v1", Resource: "manifestworks"},
	}
}

// compare reads dumps of the hub, with and without stamps and managed fields.
func (h *liveWorks) compare() (now reading) {
	h.t.Helper()
	for _, kind := range []struct {
		managed bool
		strip   func(*unstructured.Unstructured)
	}{{true, nil}, {false, nil}, {true, unstamp}, {false, unstamp}} {
		objects, text := dumpOf(h.t, h.objects, kind.managed, kind.strip, liveKinds()...)
		h.dumps++
		now = h.read(objects)
		got, notes := planned(h.t, text)
		if got != now {
			h.t.Errorf("managed fields %v, stamps %v: the plan says %+v, and the objects %+v of\n%s", kind.managed, kind.strip == nil, got, now, text)
		}
		undated := !kind.managed && kind.strip != nil && slices.ContainsFunc(objects, func(o unstructured.Unstructured) bool {
			return o.GetKind() == "ManifestWork" && o.GetGeneration() > 1 && h.has(objects, &o)
		})
		if asks := strings.Contains(notes, showManagedFields); asks != undated {
			h.t.Errorf("managed fields %v, stamps %v: %v that it asks for managed fields, want %v, in\n%s", kind.managed, kind.strip == nil, asks, undated, notes)
		}
	}
	return now
}

// live asks the plugin for the status of the hub itself. It counts only if nothing changed meanwhile.
func (h *liveWorks) live() {
	h.t.Helper()
	dump := func() reading {
		objects, _ := dumpOf(h.t, h.objects, true, nil, liveKinds()...)
		return h.read(objects)
	}
	for range 20 {
		before, got := dump(), statusNow(h.t, h.kubeconfig)
		if after := dump(); before == after {
			if got != after {
				h.t.Errorf("status says %+v of the hub, and the objects %+v", got, after)
			}
			return
		}
	}
	h.t.Error("the hub never stands still")
}

// statusNow is what kubectl cohort status prints of the only rollout of a hub.
func statusNow(t *testing.T, kubeconfig string) reading {
	t.Helper()
	var stands struct {
		Summary struct{ status.Counts }
	}
	if err := json.Unmarshal(plugin(t, kubeconfig, "status", "-o", "json"), &stands); err != nil {
		t.Fatal(err)
	}
	c := stands.Summary
	return reading{c.ToApply, c.Progressing, c.Succeeded, c.Soaking, c.Failed + c.TimeOut, c.Deselected}
}

// plugin returns the output of a command of the plugin, which must succeed.
func plugin(t *testing.T, kubeconfig string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program(t, "kubectl-cohort"), append(args, "--kubeconfig", kubeconfig)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, said.Bytes())
	}
	return out
}

// has says whether a work's spec equals the template of the set.
func (h *liveWorks) has(objects []unstructured.Unstructured, work *unstructured.Unstructured) bool {
	i := slices.IndexFunc(objects, func(o unstructured.Unstructured) bool { return o.GetKind() == "ManifestWorkReplicaSet" })
	template, _, _ := unstructured.NestedMap(objects[i].Object, "spec", "manifestWorkTemplate")
	return fmt.Sprint(work.Object["spec"]) == fmt.Sprint(template)
}

// read returns the state of the rollout: by the specs and the conditions of the works, and by the names in the set's
// record.
func (h *liveWorks) read(objects []unstructured.Unstructured) (r reading) {
	selected := map[string]bool{}
	stands := map[string]string{}
	for i := range objects {
		switch o := &objects[i]; o.GetKind() {
		case "PlacementDecision":
			decisions, _, _ := unstructured.NestedSlice(o.Object, "status", "decisions")
			for _, d := range decisions {
				selected[d.(map[string]any)["clusterName"].(string)] = true
			}
		case "ManifestWork":
			if h.has(objects, o) {
				stands[o.GetNamespace()] = h.standing(o)
			}
		case "ManifestWorkReplicaSet":
			var records map[string]struct {
				Version string
				Left    []struct{ Cluster, Status string }
			}
			_ = json.Unmarshal([]byte(o.GetAnnotations()["cohort.open-cluster-management.io/left"]), &records)
			raw, _ := json.Marshal(o.Object["spec"])
			for _, left := range records["prod"].Left {
				if strings.Contains(string(raw), `"two"`) && left.Status != "Succeeded" && left.Status != "Skip" { // the only version with a failure
					stands[left.Cluster] = left.Status
				}
			}
		}
	}
	for cluster, s := range stands {
		switch {
		case s == "Failed" || s == "TimeOut":
			r.Failed++
		case s == "Succeeded" && selected[cluster]:
			r.Succeeded++
			if h.soak {
				r.Soaking++
			}
		case s == "Progressing":
			r.Progressing++
		}
		if !selected[cluster] && s != "Succeeded" {
			r.Left++
		}
	}
	for cluster := range selected {
		if _, has := stands[cluster]; !has {
			r.ToApply++
		}
	}
	return r
}

// standing is the state of a work, by its conditions.
func (h *liveWorks) standing(o *unstructured.Unstructured) string {
	var work workv1.ManifestWork
	h.must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &work))
	switch {
	case !answered(&work):
		return "Progressing"
	case meta.IsStatusConditionTrue(work.Status.Conditions, workv1.WorkDegraded):
		return "Failed"
	case meta.IsStatusConditionTrue(work.Status.Conditions, workv1.WorkProgressing):
		return "Progressing"
	}
	return "Succeeded"
}

// TestThePluginReadsPolicies runs the program policies through two versions, with a failure. The plugin's report on each
// dump must equal what the replicas show: a cluster's messages have the generation that it reported on.
func TestThePluginReadsPolicies(t *testing.T) {
	t.Parallel()
	f := newPolicies(t)
	dumps := 0
	compare := func() (now reading) {
		cluster := schema.GroupVersion{Group: "cluster.open-cluster-management.io", Version: "v1beta1"}
		objects, text := dumpOf(t, f.client, dumps%2 == 0, nil, cluster.WithResource("placements"), cluster.WithResource("placementdecisions"),
			resource("placementbindings"), resource("policysets"), resource("policies"))
		dumps++
		now = readReplicas(objects)
		if got, notes := planned(t, text); got != now {
			t.Errorf("the plan says %+v, and the objects %+v; %s\n%s", got, now, notes, text)
		}
		return now
	}
	f.apply("placementbindings", `{placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: all}, subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: base}]}`)
	f.apply("policysets", `{spec: {policies: [etcd]}}`)
	f.place()
	f.apply("policies", `metadata: {annotations: {cohort.open-cluster-management.io/fail-at-once: "true"}}`+policyYAML("one"))
	f.until("all clusters have the first version", func() bool { return compare() == reading{Succeeded: 20} })

	f.fail("cluster-07", true)
	f.mu.Lock()
	f.limit = 4
	f.mu.Unlock()
	f.apply("policies", policyOf("two", "{type: Progressive, progressive: {maxConcurrency: 4}}"))
	f.until("a cluster has failed with the second, and all is stopped", func() bool { now := compare(); return now.Failed == 1 && now.Progressing == 0 })
	if now := compare(); now.ToApply == 0 {
		t.Errorf("%+v: no cluster waits", now)
	} else if live := statusNow(t, f.kubeconfig); live != now {
		t.Errorf("status says %+v of the hub, and the objects %+v", live, now)
	}
	f.fail("cluster-07", false)
	f.until("all clusters have the second version", func() bool { return compare() == reading{Succeeded: 20} })
	t.Logf("%d dumps", dumps)
}

// readReplicas reads the state of a policy: by its replicas' templates and actions, and the reported generation.
func readReplicas(objects []unstructured.Unstructured) (r reading) {
	root := slices.IndexFunc(objects, func(o unstructured.Unstructured) bool {
		return o.GetKind() == "Policy" && o.GetNamespace() == "policies"
	})
	r.ToApply = 20
	for i := range objects {
		o := &objects[i]
		if o.GetKind() != "Policy" || i == root || templateOf(o) != templateOf(&objects[root]) || actionOf(o) != "enforce" {
			continue
		}
		r.ToApply--
		switch compliance, _, _ := unstructured.NestedString(o.Object, "status", "compliant"); {
		case reportedOn(o) != o.GetGeneration():
			r.Progressing++
		case compliance == "Compliant":
			r.Succeeded++
		default:
			r.Failed++
		}
	}
	return r
}
