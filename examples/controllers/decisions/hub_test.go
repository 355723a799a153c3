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
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// hub is a controller with a fake API server, and caches that are updated on request.
type hub struct {
	*controller
	t      testing.TB
	server client.WithWatch // for the writes of others
	writes []string         // of the controller, to PlacementDecisions
	clock  time.Time

	// fail, if set, decides about each write of a PlacementDecision. With lost, the write is made anyway.
	fail func(write string) (err error, lost bool)
	// after, if set, is called after each write of a PlacementDecision.
	after func()
}

var thePlacement = types.NamespacedName{Namespace: "apps", Name: "web"}

func newHub(t testing.TB) *hub {
	h := &hub{t: t, clock: time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)}
	h.server = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).Build()
	h.bind("all")
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
					o.SetUID(types.UID(fmt.Sprintf("%s %d", o.GetName(), len(h.writes))))
					o.(*clusterv1beta1.PlacementDecision).Status = clusterv1beta1.PlacementDecisionStatus{} // as an API server does
					return c.Create(ctx, o, opts...)
				})
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				return h.write("label", o, func() error { return c.Update(ctx, o, opts...) })
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return h.write("delete", o, func() error { return c.Delete(ctx, o, opts...) })
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, _ string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				return h.write("fill", o, func() error { return c.Status().Update(ctx, o, opts...) })
			},
		}),
		live:     h.server,
		teller:   newTeller(events.NewFakeRecorder(1000), prometheus.NewRegistry()),
		now:      func() time.Time { return h.clock },
		strategy: decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate},
	}
	h.catchUp()
}

func newStores() caches {
	store := func(indexers toolscache.Indexers) toolscache.Indexer {
		s := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
		_ = s.AddIndexers(indexers)
		return s
	}
	return caches{
		placements: store(nil), decisions: store(nil), clusters: store(clusterIndexers),
		sets: store(nil), bindings: store(bindingIndexers),
	}
}

func (h *hub) write(verb string, o client.Object, do func() error) error {
	if _, ok := o.(*clusterv1beta1.PlacementDecision); !ok {
		return do()
	}
	write := verb + " " + strings.TrimPrefix(o.GetName(), "web-decision-")
	var err error
	lost := true
	if h.fail != nil {
		err, lost = h.fail(write)
	}
	if err == nil || lost {
		h.writes = append(h.writes, write)
		if done := do(); done != nil {
			return done
		}
		if h.after != nil {
			h.after()
		}
	}
	return err
}

// catchUp updates the caches. As in an informer, an unchanged object keeps its pointer.
func (h *hub) catchUp() {
	h.show(h.caches.placements, &clusterv1beta1.PlacementList{})
	h.show(h.caches.decisions, &clusterv1beta1.PlacementDecisionList{})
	h.show(h.caches.clusters, &clusterv1.ManagedClusterList{})
	h.show(h.caches.sets, &clusterv1beta2.ManagedClusterSetList{})
	h.show(h.caches.bindings, &clusterv1beta2.ManagedClusterSetBindingList{})
}

func (h *hub) show(store toolscache.Indexer, list client.ObjectList) {
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

func (h *hub) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

// wrote updates the caches, reconciles, and fails unless that writes this: "create 1, fill 1".
func (h *hub) wrote(want string) {
	h.t.Helper()
	h.catchUp()
	got, _, err := h.look()
	h.must(err)
	if got != want {
		h.t.Fatalf("wrote %q, want %q", got, want)
	}
}

// look reconciles with the caches as they are.
func (h *hub) look() (wrote string, result reconcile.Result, err error) {
	h.writes = nil
	result, err = h.Reconcile(h.t.Context(), reconcile.Request{NamespacedName: thePlacement})
	return strings.Join(h.writes, ", "), result, err
}

// present returns a check for use after a write. It fails unless each of the clusters is in a decision. If a cluster was in
// a decision with the label of the Placement when present was called, it must still be in such a one.
func (h *hub) present(clusters ...string) func() {
	h.t.Helper()
	before := clustersOf(h.labelled())
	return func() {
		h.t.Helper()
		var list clusterv1beta1.PlacementDecisionList
		h.must(h.server.List(h.t.Context(), &list))
		var all []*clusterv1beta1.PlacementDecision
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		there, labelled := clustersOf(all), clustersOf(h.labelled())
		for _, cluster := range clusters {
			if !there[cluster] || before[cluster] && !labelled[cluster] {
				h.t.Fatalf("%s is absent after %v", cluster, h.writes)
			}
		}
	}
}

func (h *hub) labelled() (labelled []*clusterv1beta1.PlacementDecision) {
	h.t.Helper()
	var list clusterv1beta1.PlacementDecisionList
	h.must(h.server.List(h.t.Context(), &list, client.InNamespace(thePlacement.Namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: thePlacement.Name}))
	for i := range list.Items {
		labelled = append(labelled, &list.Items[i])
	}
	return labelled
}

func clustersOf(decisions []*clusterv1beta1.PlacementDecision) map[string]bool {
	clusters := map[string]bool{}
	for _, pd := range decisions {
		for _, d := range pd.Status.Decisions {
			clusters[d.ClusterName] = true
		}
	}
	return clusters
}

// events returns the events since the last call.
func (h *hub) events() (told []string) {
	recorder := h.teller.events.(*events.FakeRecorder)
	for len(recorder.Events) > 0 {
		told = append(told, <-recorder.Events)
	}
	return told
}

func (h *hub) bind(sets ...string) {
	h.t.Helper()
	for _, name := range sets {
		h.put(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}})
		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: thePlacement.Namespace, Name: name}}
		binding.Spec.ClusterSet = name
		h.put(binding)
	}
}

// join makes clusters join a set, with labels "key=value".
func (h *hub) join(set string, names []string, labels ...string) {
	h.t.Helper()
	for _, name := range names {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: set}}}
		for _, label := range labels {
			key, value, _ := strings.Cut(label, "=")
			cluster.Labels[key] = value
		}
		h.put(cluster)
	}
}

func (h *hub) taint(name string, effect clusterv1.TaintEffect) {
	h.t.Helper()
	var cluster clusterv1.ManagedCluster
	h.must(h.server.Get(h.t.Context(), client.ObjectKey{Name: name}, &cluster))
	cluster.Spec.Taints = []clusterv1.Taint{{Key: "maintenance", Effect: effect}}
	h.must(h.server.Update(h.t.Context(), &cluster))
}

// place creates or changes the Placement.
func (h *hub) place(change func(*clusterv1beta1.PlacementSpec)) {
	h.t.Helper()
	var placement clusterv1beta1.Placement
	err := h.server.Get(h.t.Context(), thePlacement, &placement)
	placement.Namespace, placement.Name = thePlacement.Namespace, thePlacement.Name
	change(&placement.Spec)
	placement.Generation++
	if err != nil {
		placement.UID = "the placement"
		h.must(h.server.Create(h.t.Context(), &placement))
		return
	}
	h.must(h.server.Update(h.t.Context(), &placement))
}

func groupsOf(size int, named ...string) func(*clusterv1beta1.PlacementSpec) {
	return func(spec *clusterv1beta1.PlacementSpec) {
		spec.DecisionStrategy.GroupStrategy = clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt(size)}
		for _, name := range named {
			spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(spec.DecisionStrategy.GroupStrategy.DecisionGroups, clusterv1beta1.DecisionGroup{
				GroupName:       name,
				ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"stage": name}}},
			})
		}
	}
}

// put creates or replaces an object.
func (h *hub) put(o client.Object) {
	h.t.Helper()
	_ = h.server.Delete(h.t.Context(), o.DeepCopyObject().(client.Object))
	o.SetResourceVersion("")
	h.must(h.server.Create(h.t.Context(), o))
}

func (h *hub) placement() *clusterv1beta1.Placement {
	h.t.Helper()
	var placement clusterv1beta1.Placement
	h.must(h.server.Get(h.t.Context(), thePlacement, &placement))
	return &placement
}

// decisions are the stored decisions, as text: "1 canary: a b; 2: c".
func (h *hub) decisions() string {
	h.t.Helper()
	var list clusterv1beta1.PlacementDecisionList
	h.must(h.server.List(h.t.Context(), &list))
	var all []string
	for _, pd := range list.Items {
		text := strings.TrimPrefix(pd.Name, "web-decision-")
		if name := pd.Labels[clusterv1beta1.DecisionGroupNameLabel]; name != "" {
			text += " " + name
		}
		text += ":"
		for _, d := range pd.Status.Decisions {
			text += " " + d.ClusterName
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func names(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%06d", prefix, i))
	}
	return names
}
