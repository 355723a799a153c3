// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/removals"
)

// ignoreAnnotation names the ignored clusters.
const ignoreAnnotation = "cohort.open-cluster-management.io/ignore"

// grace is how long a deselected cluster keeps its work.
const grace = 5 * time.Second

// hub is a controller with a fake API server, and caches that are updated on request.
type hub struct {
	*controller
	t      testing.TB
	server client.WithWatch // for the writes of others
	writes []string         // of the controller, to works
	clock  time.Time
	order  *removals.Order // of the controller, also after a restart

	// fail, if set, decides about each write of the controller. With lost, the write is made anyway.
	fail func(verb, cluster string) (err error, lost bool)
}

var theSet = types.NamespacedName{Namespace: "apps", Name: "web"}

func newHub(t testing.TB) *hub {
	h := &hub{t: t, clock: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)}
	scheme := scheme
	h.must(clusterv1.Install(scheme))
	h.server = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&workv1alpha1.ManifestWorkReplicaSet{}, &workv1.ManifestWork{}).Build()
	h.restart()
	return h
}

// restart restarts the controller, with caches that are up to date.
func (h *hub) restart() {
	h.controller = &controller{
		caches: newStores(),
		client: interceptor.NewClient(h.server, interceptor.Funcs{
			// The manager's client reads copies from its cache, which may be stale.
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return errors.New("read by the client")
			},
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return errors.New("list by the client")
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return h.write("create", o, func() error {
					o.SetUID(types.UID(fmt.Sprintf("%s/%s %d", o.GetNamespace(), o.GetName(), len(h.writes))))
					o.SetGeneration(1)
					o.SetCreationTimestamp(metav1.NewTime(h.clock))
					return c.Create(ctx, o, opts...)
				})
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				return h.write("update", o, func() error {
					now := o.(*workv1.ManifestWork)
					var before workv1.ManifestWork
					if err := h.server.Get(ctx, client.ObjectKeyFromObject(o), &before); err != nil {
						return err
					}
					if !equality.Semantic.DeepEqual(before.Spec, now.Spec) {
						now.Generation++
					}
					return c.Update(ctx, o, opts...)
				})
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return h.write("delete", o, func() error { return c.Delete(ctx, o, opts...) })
			},
		}),
		live:   h.server,
		teller: newTeller(events.NewFakeRecorder(1000), prometheus.NewRegistry()),
		now:    func() time.Time { return h.clock },

		removeAfter: grace, removals: h.order,
	}
	h.catchUp()
}

func newStores() caches {
	store := func(indexers toolscache.Indexers) toolscache.Indexer {
		return toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, indexers)
	}
	return caches{sets: store(setIndexers), works: store(workIndexers), placements: store(nil), decisions: store(kit.DecisionIndexers)}
}

func (h *hub) write(verb string, o client.Object, do func() error) error {
	var err error
	lost := true
	if h.fail != nil {
		err, lost = h.fail(verb, o.GetNamespace())
	}
	if err == nil || lost {
		h.writes = append(h.writes, verb+" "+o.GetNamespace())
		if done := do(); done != nil {
			return done
		}
	}
	return err
}

// catchUp updates the caches. As in an informer, an unchanged object keeps its pointer.
func (h *hub) catchUp() {
	replace := func(store toolscache.Indexer, list client.ObjectList) {
		h.must(h.server.List(h.t.Context(), list))
		var objects []any
		h.must(meta.EachListItem(list, func(o runtime.Object) error {
			if had, ok, _ := store.Get(o); ok && equality.Semantic.DeepEqual(had, o) {
				objects = append(objects, had)
			} else {
				objects = append(objects, o)
			}
			return nil
		}))
		h.must(store.Replace(objects, ""))
	}
	replace(h.caches.sets, &workv1alpha1.ManifestWorkReplicaSetList{})
	replace(h.caches.works, &workv1.ManifestWorkList{})
	replace(h.caches.placements, &clusterv1beta1.PlacementList{})
	replace(h.caches.decisions, &clusterv1beta1.PlacementDecisionList{})
}

func (h *hub) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

// reconcile updates the caches and reconciles, and returns what that wrote: "create a, create b".
func (h *hub) reconcile() string {
	h.t.Helper()
	h.catchUp()
	wrote, _, err := h.look()
	h.must(err)
	return wrote
}

// look reconciles with the caches as they are.
func (h *hub) look() (wrote string, result reconcile.Result, err error) {
	h.writes = nil
	result, err = h.Reconcile(h.t.Context(), reconcile.Request{NamespacedName: theSet})
	slices.Sort(h.writes)
	return strings.Join(h.writes, ", "), result, err
}

// events returns the events since the last call.
func (h *hub) events() (told []string) {
	recorder := h.teller.Events.(*events.FakeRecorder)
	for len(recorder.Events) > 0 {
		told = append(told, <-recorder.Events)
	}
	return told
}

// place makes a placement select clusters, in one decision group.
func (h *hub) place(name string, clusters ...string) {
	h.t.Helper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: theSet.Namespace, Name: name}}
	var selected []*clusterv1.ManagedCluster
	for _, cluster := range clusters {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
		_ = h.server.Create(h.t.Context(), selected[len(selected)-1].DeepCopy()) // unless it exists
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	h.must(err)
	decisions, err := groups.Decisions(placement)
	h.must(err)
	placement.Status, err = grouping.Status(decisions)
	h.must(err)
	h.put(placement)
	for _, decision := range decisions {
		h.put(decision)
	}
}

// put creates or replaces an object.
func (h *hub) put(o client.Object) {
	h.t.Helper()
	_ = h.server.Delete(h.t.Context(), o.DeepCopyObject().(client.Object))
	o.SetResourceVersion("")
	h.must(h.server.Create(h.t.Context(), o))
}

// atATime is a strategy that starts n clusters at a time.
func atATime(n int) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt(n)},
	}
}

func ref(placement string, strategy clusterv1alpha1.RolloutStrategy) workv1alpha1.LocalPlacementReference {
	return workv1alpha1.LocalPlacementReference{Name: placement, RolloutStrategy: strategy}
}

func template(text string) workv1.ManifestWorkSpec {
	raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"it","namespace":"default"},"data":{"text":%q}}`, text)
	return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{
		Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}},
	}}
}

func (h *hub) create(refs ...workv1alpha1.LocalPlacementReference) {
	h.t.Helper()
	set := &workv1alpha1.ManifestWorkReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: theSet.Namespace, Name: theSet.Name, UID: "the set", Generation: 1},
	}
	set.Spec.PlacementRefs = refs
	set.Spec.ManifestWorkTemplate = template("one")
	h.must(h.server.Create(h.t.Context(), set))
}

func (h *hub) change(do func(*workv1alpha1.ManifestWorkReplicaSetSpec)) {
	h.t.Helper()
	set := h.set()
	do(&set.Spec)
	set.Generation++
	h.must(h.server.Update(h.t.Context(), set))
}

func (h *hub) set() *workv1alpha1.ManifestWorkReplicaSet {
	h.t.Helper()
	var set workv1alpha1.ManifestWorkReplicaSet
	h.must(h.server.Get(h.t.Context(), theSet, &set))
	return &set
}

// work is the only work of a cluster.
func (h *hub) work(cluster string) *workv1.ManifestWork {
	h.t.Helper()
	var works workv1.ManifestWorkList
	h.must(h.server.List(h.t.Context(), &works, client.InNamespace(cluster)))
	if len(works.Items) != 1 {
		h.t.Fatalf("cluster %s has %d works", cluster, len(works.Items))
	}
	return &works.Items[0]
}

// answer makes the agents of clusters report a status on their works: Succeeded, Failed or Progressing.
func (h *hub) answer(s status.RolloutStatus, clusters ...string) {
	h.t.Helper()
	for _, cluster := range clusters {
		work := h.work(cluster)
		setConditions(work, s, h.clock)
		h.must(h.server.Status().Update(h.t.Context(), work))
	}
}

func setConditions(work *workv1.ManifestWork, s status.RolloutStatus, now time.Time) {
	set := func(conditionType string, is bool) {
		c := metav1.Condition{
			Type: conditionType, Status: metav1.ConditionFalse, Reason: "Test",
			ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(now),
		}
		if is {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&work.Status.Conditions, c)
	}
	set(workv1.WorkApplied, true)
	set(workv1.WorkAvailable, s == status.Succeeded)
	set(workv1.WorkProgressing, s != status.Succeeded)
	set(workv1.WorkDegraded, s == status.Failed)
}

func mandatory(group string) clusterv1alpha1.MandatoryDecisionGroup {
	return clusterv1alpha1.MandatoryDecisionGroup{GroupName: group}
}
