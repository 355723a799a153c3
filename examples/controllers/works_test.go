// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
)

// TestWorks runs the program works with a real API server, plays the scheduler and the agents, and checks the limits from
// outside. It kills the program in mid-rollout.
func TestWorks(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig)
	h := connect(t, kubeconfig)
	start := func() *exec.Cmd {
		return run(t, program(t, "works"), "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")
	}
	works := start()

	prod, test := names("prod", 20), names("test", 5)
	h.limits = map[string]int{"prod": 4, "test": 1}
	h.place("prod", prod...)
	h.place("test", test...)
	h.create(`{"text":"one"}`)
	h.until("all clusters have the template", func() bool { return h.done(25) })

	h.change(`{"text":"two"}`)
	h.until("some have the second template", func() bool { return h.updated() >= 8 })
	works.Process.Kill()
	works.Wait()
	start()
	h.until("all have the second template", func() bool { return h.done(25) })

	moved := prod[7]
	h.place("prod", slices.Delete(slices.Clone(prod), 7, 8)...)
	h.place("test", append(test, moved)...)
	h.until("a cluster has moved to the other placement", func() bool {
		return h.work(moved).Labels[workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey] == "test" && h.done(25)
	})
	h.place("test", test...)
	h.until("a cluster has left", func() bool { return h.work(moved) == nil && h.done(24) })

	h.must(h.Delete(t.Context(), &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}))
	h.until("all is gone", func() bool { return len(h.works) == 0 && h.gone() })
	t.Logf("%d looks at the works, at most %v in flight", h.looks, h.most)
}

// TestNamesThatAreTooLong runs the program works with a real API server. It refuses a set whose works could not have its
// label, and finds works that have a label for longer names.
func TestNamesThatAreTooLong(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig)
	h := connect(t, kubeconfig)
	h.place("prod", "a", "b")
	created := func(name string) *workv1alpha1.ManifestWorkReplicaSet {
		o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: name}}
		o.Spec.ManifestWorkTemplate = template(`{"text":"one"}`)
		o.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "prod", RolloutStrategy: strategy(2)}}
		// OCM's controller ran before: it leaves its finalizer, and a work with the label that it writes for long names.
		o.Finalizers = []string{workv1alpha1.ManifestWorkReplicaSetFinalizer}
		h.must(h.Create(t.Context(), o))
		h.must(h.Create(t.Context(), &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: "a", Name: "w" + name[:min(len(name), 20)],
			Labels:      map[string]string{"work.open-cluster-management.io/ownerkey-hash": "0123456789abcdef0123456789abcdef"},
			Annotations: map[string]string{"work.open-cluster-management.io/manifestworkreplicaset-owner": set.Namespace + "/" + name},
		}, Spec: o.Spec.ManifestWorkTemplate}))
		return o
	}
	fits, long := created(strings.Repeat("y", 58)), created(strings.Repeat("x", 59))
	run(t, program(t, "works"), "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")

	works := func(of string) (n int) {
		var all workv1.ManifestWorkList
		h.must(h.List(t.Context(), &all))
		for _, work := range all.Items {
			if work.Annotations["work.open-cluster-management.io/manifestworkreplicaset-owner"] == set.Namespace+"/"+of ||
				work.Labels[workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey] == set.Namespace+"."+of {
				n++
			}
		}
		return n
	}
	eventually := func(what string, so func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !so(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not within %v: %s", patience, what)
			}
		}
	}
	eventually("the long name is refused", func() bool {
		h.must(h.Get(t.Context(), client.ObjectKeyFromObject(long), long))
		c := meta.FindStatusCondition(long.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied)
		return c != nil && c.Status == metav1.ConditionFalse && c.Reason == "InvalidManifestWorkName"
	})
	eventually("the other has a work on each cluster", func() bool { return works(fits.Name) == 2 })
	if n := works(long.Name); n != 1 {
		t.Errorf("the one with the long name has %d works, of one before", n)
	}
	for _, o := range []*workv1alpha1.ManifestWorkReplicaSet{fits, long} {
		h.must(h.Delete(t.Context(), o))
		eventually("it is gone, and its works are", func() bool {
			return apierrors.IsNotFound(h.Get(t.Context(), client.ObjectKeyFromObject(o), o)) && works(o.Name) == 0
		})
	}
}

// run runs a program until the test ends. Its output is shown if the test fails.
func run(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said\n%s", filepath.Base(program), said.Bytes()[:min(said.Len(), 20_000)])
		}
	})
	return cmd
}

var set = types.NamespacedName{Namespace: "apps", Name: "web"}

func names(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%02d", prefix, i))
	}
	return names
}

// hub plays all others: the user, the scheduler, and the agents of the clusters.
type hub struct {
	client.Client
	t      *testing.T
	limits map[string]int // by placement
	works  []workv1.ManifestWork
	uids   map[string]types.UID // by cluster: the UID of its work, which must not change while the cluster is selected
	most   map[string]int       // by placement
	looks  int
}

func connect(t *testing.T, kubeconfig string) *hub {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(kubeconfig); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	h := &hub{t: t, uids: map[string]types.UID{}, most: map[string]int{}}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	h.must(err)
	config.QPS = -1
	scheme := runtime.NewScheme()
	h.must(clusterv1beta1.Install(scheme))
	h.must(workv1.Install(scheme))
	h.must(workv1alpha1.Install(scheme))
	h.Client, err = client.New(config, client.Options{Scheme: scheme})
	h.must(err)
	return h
}

func (h *hub) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

func strategy(n int) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt(n)},
	}
}

// Its condition rule lets agents say when a work is done: without one they never do, and the plugin predicts that.
func template(data string) workv1.ManifestWorkSpec {
	raw := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it","namespace":"default"},"data":` + data + `}`
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{
		Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}},
	}, ManifestConfigs: []workv1.ManifestConfigOption{{
		ResourceIdentifier: workv1.ResourceIdentifier{Resource: "configmaps", Name: "it", Namespace: "default"},
		ConditionRules:     []workv1.ConditionRule{{Condition: workv1.WorkProgressing, Type: workv1.CelConditionExpressionsType, CelExpressions: []string{"false"}}},
	}}}
}

// create creates the set.
func (h *hub) create(data string) {
	h.t.Helper()
	o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	o.Spec.ManifestWorkTemplate = template(data)
	for _, name := range []string{"prod", "test"} {
		o.Spec.PlacementRefs = append(o.Spec.PlacementRefs, workv1alpha1.LocalPlacementReference{Name: name, RolloutStrategy: strategy(h.limits[name])})
	}
	h.must(h.Create(h.t.Context(), o))
}

// change changes the set's template.
func (h *hub) change(data string) {
	h.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"manifestWorkTemplate": template(data)}})
	h.must(err)
	o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	h.must(h.Patch(h.t.Context(), o, client.RawPatch(types.MergePatchType, patch)))
}

// place plays the scheduler.
func (h *hub) place(name string, clusters ...string) {
	h.t.Helper()
	ctx := h.t.Context()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: name}}
	if err := h.Get(ctx, client.ObjectKeyFromObject(placement), placement); err != nil {
		h.must(client.IgnoreNotFound(err))
		h.must(h.Create(ctx, placement))
	}
	var selected []*clusterv1.ManagedCluster
	for _, cluster := range clusters {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	h.must(err)
	decisions, err := groups.Decisions(placement)
	h.must(err)
	for _, decision := range decisions {
		wanted := decision.Status
		if err := h.Get(ctx, client.ObjectKeyFromObject(decision), decision); err != nil {
			h.must(client.IgnoreNotFound(err))
			h.must(h.Create(ctx, decision))
		}
		decision.Status = wanted
		h.must(h.Status().Update(ctx, decision))
	}
	of, err := grouping.Status(decisions)
	h.must(err)
	placement.Status.DecisionGroups, placement.Status.NumberOfSelectedClusters = of.DecisionGroups, of.NumberOfSelectedClusters
	h.must(h.Status().Update(ctx, placement))
}

// until plays the agents and checks the works until a condition holds.
func (h *hub) until(what string, so func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		h.look()
		if so() {
			return
		}
		if time.Now().After(end) {
			o, err := h.set()
			text, _ := json.MarshalIndent(o.Status, "", "  ")
			h.t.Fatalf("not within %v: %s\n%v %s", patience, what, err, text)
		}
	}
}

// look checks the limits on all works, and lets each second agent answer.
func (h *hub) look() {
	h.t.Helper()
	h.looks++
	var works workv1.ManifestWorkList
	h.must(h.List(h.t.Context(), &works))
	h.works = works.Items
	o, err := h.set()
	h.must(client.IgnoreNotFound(err))
	inFlight := map[string]int{}
	seen := map[string]bool{}
	for i := range h.works {
		work := &h.works[i]
		if seen[work.Namespace] {
			h.t.Errorf("cluster %s has two works", work.Namespace)
		}
		seen[work.Namespace] = true
		if uid, known := h.uids[work.Namespace]; known && uid != work.UID {
			h.t.Errorf("the work of cluster %s was made anew", work.Namespace)
		}
		h.uids[work.Namespace] = work.UID
		if !answered(work) && work.DeletionTimestamp == nil {
			inFlight[work.Labels[workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey]]++
		}
	}
	for placement, n := range inFlight {
		h.most[placement] = max(h.most[placement], n)
		if n > h.limits[placement] {
			h.t.Errorf("%d of %s in flight, of at most %d", n, placement, h.limits[placement])
		}
	}
	if o.Name == "" {
		return
	}
	for i := range h.works {
		if work := &h.works[i]; !answered(work) && (i+h.looks)%2 == 0 {
			h.answer(work)
		}
	}
}

func answered(work *workv1.ManifestWork) bool {
	c := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkProgressing)
	return c != nil && c.ObservedGeneration == work.Generation
}

// answer reports success on a work, as its agent does.
func (h *hub) answer(work *workv1.ManifestWork) {
	h.t.Helper()
	for conditionType, is := range map[string]metav1.ConditionStatus{
		workv1.WorkApplied: metav1.ConditionTrue, workv1.WorkAvailable: metav1.ConditionTrue, workv1.WorkProgressing: metav1.ConditionFalse,
	} {
		meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{
			Type: conditionType, Status: is, Reason: "Test", ObservedGeneration: work.Generation,
		})
	}
	if err := h.Status().Update(h.t.Context(), work); !apierrors.IsConflict(err) { // otherwise in the next round
		h.must(client.IgnoreNotFound(err))
	}
}

func (h *hub) set() (*workv1alpha1.ManifestWorkReplicaSet, error) {
	var o workv1alpha1.ManifestWorkReplicaSet
	err := h.Get(h.t.Context(), set, &o)
	return &o, err
}

// done says whether the set's status shows the present template on n clusters.
func (h *hub) done(n int) bool {
	o, err := h.set()
	h.must(err)
	c := meta.FindStatusCondition(o.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut)
	s := o.Status.Summary
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.Generation &&
		s.Total == n && s.DesiredTotal == n && s.Updated == n && s.Available == n
}

// updated counts the works with the second version.
func (h *hub) updated() (n int) {
	for i := range h.works {
		if h.works[i].Generation == 2 {
			n++
		}
	}
	return n
}

func (h *hub) work(cluster string) *workv1.ManifestWork {
	for i := range h.works {
		if h.works[i].Namespace == cluster {
			return &h.works[i]
		}
	}
	return nil
}

func (h *hub) gone() bool {
	_, err := h.set()
	return apierrors.IsNotFound(err)
}
