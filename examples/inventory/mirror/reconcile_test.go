// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/inventory"
	"github.com/cohort-ocm/cohort/grouping"
)

// hub is a fake API server that checks each write of a slice, and fails some.
type hub struct {
	t       *testing.T
	server  client.WithWatch
	m       *mirrorer
	rng     *rand.Rand
	trouble int             // one write in this number fails; 0 is none
	stays   map[string]bool // clusters that stay selected once they are in a slice
	writes  int
}

var web = types.NamespacedName{Namespace: "apps", Name: "web"}

func newHub(t *testing.T) *hub {
	h := &hub{t: t, rng: rand.New(rand.NewPCG(5313, 3)), stays: map[string]bool{}}
	h.server = fake.NewClientBuilder().WithScheme(newScheme()).
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).Build()
	watched := interceptor.NewClient(h.server, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return h.write(o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return h.write(o, func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return h.write(o, func() error { return c.Delete(ctx, o, opts...) })
		},
	})
	h.m = &mirrorer{source: h.server, client: watched, live: h.server, convention: inventory.Convention{Profiles: "fleet", Scheduler: "cohort"}}
	return h
}

// write makes a write, or fails before it, or loses the answer. After it, all clusters that stay selected are in some
// slice.
func (h *hub) write(o client.Object, write func() error) error {
	if s, ok := o.(*sig.PlacementDecision); ok && len(s.Decisions) > grouping.MaxDecisions {
		h.t.Errorf("%s has %d clusters", s.Name, len(s.Decisions))
	}
	h.writes++
	trouble := h.trouble > 0 && h.rng.IntN(h.trouble) == 0
	if trouble && h.rng.IntN(2) == 0 {
		return errors.New("not carried out")
	}
	if err := write(); err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, s := range h.slices() {
		for _, d := range s.Decisions {
			shown[d.ClusterProfileRef.Name] = true
		}
	}
	for cluster := range h.stays {
		if !shown[cluster] {
			h.t.Errorf("after the write of %s, %s is in no slice", o.GetName(), cluster)
		}
	}
	if trouble {
		return errors.New("the answer is lost")
	}
	return nil
}

func (h *hub) slices() []*sig.PlacementDecision {
	var list sig.PlacementDecisionList
	if err := h.server.List(context.Background(), &list); err != nil {
		h.t.Fatal(err)
	}
	var all []*sig.PlacementDecision
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all
}

// place stores a placement's decisions, "name group: clusters", with or without a matching status.
func (h *hub) place(whole bool, lines ...string) {
	ctx := context.Background()
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	must(h.server.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace(web.Namespace)))
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
	must(client.IgnoreAlreadyExists(h.server.Create(ctx, placement)))
	must(h.server.Get(ctx, web, placement))
	var objects []*clusterv1beta1.PlacementDecision
	for _, line := range lines {
		head, clusters, _ := strings.Cut(line, ":")
		name, group, _ := strings.Cut(head, " ")
		o := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: name, Labels: map[string]string{
			clusterv1beta1.PlacementLabel: web.Name, clusterv1beta1.DecisionGroupIndexLabel: group}}}
		must(h.server.Create(ctx, o))
		for _, cluster := range strings.Fields(clusters) {
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster, Score: 7})
		}
		must(h.server.Status().Update(ctx, o))
		objects = append(objects, o)
	}
	placement.Status = clusterv1beta1.PlacementStatus{}
	if whole {
		status, err := grouping.Status(objects)
		must(err)
		placement.Status.DecisionGroups, placement.Status.NumberOfSelectedClusters = status.DecisionGroups, status.NumberOfSelectedClusters
	}
	must(h.server.Status().Update(ctx, placement))
}

// reconcile reconciles until nothing fails.
func (h *hub) reconcile() {
	h.t.Helper()
	for range 100 {
		if _, err := h.m.Reconcile(context.Background(), reconcile.Request{NamespacedName: web}); err == nil {
			return
		}
	}
	h.t.Fatal("it fails again and again")
}

func (h *hub) want(missing string, lines ...string) {
	h.t.Helper()
	var got []string
	for _, s := range h.slices() {
		line := s.Name + " " + s.Labels[sig.DecisionIndexLabel] + ":"
		for _, d := range s.Decisions {
			line += " " + d.ClusterProfileRef.Namespace + "/" + d.ClusterProfileRef.Name
		}
		got = append(got, line)
	}
	if fmt.Sprint(got) != fmt.Sprint(lines) {
		h.t.Errorf("slices %q, want %q", got, lines)
	}
	if groups, err := inventory.Read(h.m.convention, h.slices(), nil); err != nil || groups.Incomplete() != missing {
		h.t.Errorf("a reader finds %q, %v, want %q", groups.Incomplete(), err, missing)
	}
}

// The slices become equal to the source, with indexes by slice, and are complete when the source is.
func TestSlicesFollowTheSource(t *testing.T) {
	h := newHub(t)
	h.place(true, "web-1 0: a b", "web-2 0: c", "web-3 1: d")
	h.reconcile()
	h.want("", "web-1 0: fleet/a fleet/b", "web-2 1: fleet/c", "web-3 2: fleet/d")
	writes := h.writes
	if h.reconcile(); h.writes != writes {
		t.Errorf("%d writes more, and nothing has changed", h.writes-writes)
	}
	h.place(false, "web-1 0: a", "web-3 1: d b")
	h.reconcile()
	h.want("PlacementDecisions: 2 found, the seal says 3", "web-1 0: fleet/a", "web-3 1: fleet/d fleet/b")
	h.place(true, "web-1 0: a", "web-3 1: d b")
	h.reconcile()
	h.want("", "web-1 0: fleet/a", "web-3 1: fleet/d fleet/b")
	if err := h.server.DeleteAllOf(context.Background(), &clusterv1beta1.PlacementDecision{}, client.InNamespace(web.Namespace)); err != nil {
		t.Fatal(err)
	}
	h.reconcile() // the cache is not filled yet, or nothing is scheduled yet
	h.want("", "web-1 0: fleet/a", "web-3 1: fleet/d fleet/b")
	if err := h.server.DeleteAllOf(context.Background(), &clusterv1beta1.Placement{}, client.InNamespace(web.Namespace)); err != nil {
		t.Fatal(err)
	}
	h.reconcile()
	h.want("no PlacementDecision is found")
}

// Editing or removing a label of a decision removes no cluster, since the placement controls the object.
func TestEditedLabels(t *testing.T) {
	h := newHub(t)
	h.place(true, "web-decision-1 0: a b", "web-decision-2 1: c")
	h.reconcile()
	for _, label := range []string{"", "other"} {
		var list clusterv1beta1.PlacementDecisionList
		if err := h.server.List(context.Background(), &list); err != nil {
			t.Fatal(err)
		}
		o, yes := &list.Items[0], true
		o.Labels[clusterv1beta1.PlacementLabel] = label
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: web.Name, UID: "u", Controller: &yes}}
		if err := h.server.Update(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if requests := by(placementOf)(context.Background(), o); len(requests) != 1 || requests[0].NamespacedName != web {
			t.Errorf("label %q: its events are of %v", label, requests)
		}
		h.reconcile()
		h.want("", "web-decision-1 0: fleet/a fleet/b", "web-decision-2 1: fleet/c")
	}
}

// The same for the labels of a slice: they are restored, and the slice is neither lost nor mistaken for another
// placement's.
func TestEditedLabelsOfSlices(t *testing.T) {
	h := newHub(t)
	h.place(true, "web-decision-1 0: a b", "web-decision-2 1: c")
	h.reconcile()
	h.stays = map[string]bool{"a": true, "b": true, "c": true}
	for _, test := range []struct {
		why  string
		edit func(labels map[string]string) map[string]string
	}{
		{"no key", func(labels map[string]string) map[string]string { delete(labels, sig.DecisionKeyLabel); return labels }},
		{"another key", func(labels map[string]string) map[string]string { labels[sig.DecisionKeyLabel] = "db"; return labels }},
		{"another placement", func(labels map[string]string) map[string]string {
			labels[clusterv1beta1.PlacementLabel] = "db"
			return labels
		}},
		{"an index that another slice has", func(labels map[string]string) map[string]string { labels[sig.DecisionIndexLabel] = "1"; return labels }},
		{"no labels at all", func(map[string]string) map[string]string { return nil }},
	} {
		s := h.slices()[0]
		s.Labels = test.edit(s.Labels)
		if err := h.server.Update(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if requests := by(keyOf)(context.Background(), s); len(requests) != 1 || requests[0].NamespacedName != web {
			t.Errorf("%s: its events are of %v", test.why, requests)
		}
		if _, err := h.m.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "apps", Name: "db"}}); err != nil {
			t.Errorf("%s: the other placement: %v", test.why, err)
		}
		h.reconcile()
		h.want("", "web-decision-1 0: fleet/a fleet/b", "web-decision-2 1: fleet/c")
		if key := h.slices()[0].Labels[sig.DecisionKeyLabel]; key != "web" {
			t.Errorf("%s: the key is %q", test.why, key)
		}
	}
}

// Invalid decisions remove no cluster: the mirror copies what it can, and readers see that the slices are incomplete.
func TestBadSources(t *testing.T) {
	for _, test := range []struct {
		why     string
		lines   []string
		edit    func(o *clusterv1beta1.PlacementDecision) // of the first object
		missing string                                    // as a reader of the slices reports it
	}{
		{why: "an index that is none", lines: []string{"web-decision-1 x: a b", "web-decision-2 1: c"},
			missing: `PlacementDecision web-decision-1 has the value "x" in its label cluster.open-cluster-management.io/decision-group-index, but that must be a number`},
		{why: "a cluster in two objects, which is shown where it was", lines: []string{"web-decision-1 0: a b", "web-decision-2 1: c a"}},
		{why: "an object of another writer, with its label", lines: []string{"web-decision-1 0: a b", "web-decision-2 1: c", "other 2: x"},
			missing: "PlacementDecisions: 3 found, the seal says 2"},
		{why: "no cluster name", lines: []string{"web-decision-1 0: a b", "web-decision-2 1: c"}, edit: func(o *clusterv1beta1.PlacementDecision) {
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{})
		}},
	} {
		h := newHub(t)
		h.place(true, "web-decision-1 0: a b", "web-decision-2 1: c")
		h.reconcile()
		h.stays = map[string]bool{"a": true, "b": true, "c": true}
		h.place(false, test.lines...)
		if test.edit != nil {
			var list clusterv1beta1.PlacementDecisionList
			if err := h.server.List(context.Background(), &list); err != nil {
				t.Fatal(err)
			}
			test.edit(&list.Items[0])
			if err := h.server.Status().Update(context.Background(), &list.Items[0]); err != nil {
				t.Fatal(err)
			}
		}
		h.reconcile()
		if groups, err := inventory.Read(h.m.convention, h.slices(), nil); err != nil || groups.Incomplete() != test.missing {
			t.Errorf("%s: a reader finds %q, %v, want %q", test.why, groups.Incomplete(), err, test.missing)
		}
	}
}

// Another writer's slices are not touched.
func TestSlicesOfOthersAreNotTouched(t *testing.T) {
	h := newHub(t)
	h.place(true, "web-1 0: a")
	other := &sig.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: "web-1", Labels: map[string]string{sig.DecisionKeyLabel: web.Name}}, SchedulerName: "other"}
	if err := h.server.Create(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	_, err := h.m.Reconcile(context.Background(), reconcile.Request{NamespacedName: web})
	if err == nil || !strings.Contains(err.Error(), `is of the scheduler "other", want "cohort"`) || h.writes > 0 {
		t.Errorf("%d writes, %v", h.writes, err)
	}
}

// Clusters move at random, and one write in five fails or loses its answer. At any time each cluster that stays selected is
// in some slice.
func TestNoClusterIsEverInNoSlice(t *testing.T) {
	h := newHub(t)
	h.trouble = 5
	clusters := strings.Fields("a b c d e f g h i j k l")
	for round := range 60 {
		h.rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
		h.place(round%3 > 0, "web-1 0: "+strings.Join(clusters[:4], " "), "web-2 0: "+strings.Join(clusters[4:8], " "), "web-3 1: "+strings.Join(clusters[8:], " "))
		h.reconcile()
		for _, cluster := range clusters {
			h.stays[cluster] = true
		}
	}
	t.Logf("%d writes", h.writes)
}
