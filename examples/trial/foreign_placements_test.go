// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// ofPlacements are worlds of a Placement with clusters that come, go and change. The program writes the decisions.
var ofPlacements = foreignKind{
	schedules: true,
	definitions: func(string) ([]string, error) {
		return apiserver.OCMDefinitions(
			"cluster/v1beta2/0000_00_clusters.open-cluster-management.io_managedclustersets.crd.yaml",
			"cluster/v1beta2/0000_01_clusters.open-cluster-management.io_managedclustersetbindings.crd.yaml",
			"cluster/v1alpha1/0000_05_clusters.open-cluster-management.io_addonplacementscores.crd.yaml",
		)
	},
	probe: func(ctx context.Context, hub *realHub) (object, func() (object, error), error) {
		api := hub.clients("user").cluster.ClusterV1beta1().Placements("probe")
		written, err := api.Create(ctx, &placement{ObjectMeta: metav1.ObjectMeta{Namespace: "probe", Name: "probe"}}, metav1.CreateOptions{})
		return written, func() (object, error) { return api.Get(ctx, "probe", metav1.GetOptions{}) }, err
	},
	play: func(ctx context.Context, hub *realHub, _ *Subject, i int, seed uint64) *foreignOutcome {
		w := drawPlaces(i, seed)
		o := &foreignOutcome{world: w, class: w.class, seed: seed}
		o.history, o.err = w.play(ctx, hub.site, worldName())
		return o
	},
}

// places is a world of one Placement. The seed decides it.
type places struct {
	name, class string
	seed        uint64
	rng         *rand.Rand
	pool        []string
	first       []string // are clusters of the set from the beginning
	named       []string // groups by name, from the front
	size        int      // clusters per group; 0 is no limit
	acts        []act

	user   clients
	inside map[string]bool   // the clusters that the Placement selects
	group  map[string]string // by cluster
	mu     sync.Mutex
	events []event
}

// What happens to a Placement and its clusters.
const (
	joinsFront   = "a cluster joins in front"
	joinsAny     = "a cluster joins"
	tainted      = "a cluster is tainted"
	untainted    = "a taint is removed"
	unlabelled   = "a cluster leaves the set"
	regrouped    = "a cluster goes to another group"
	swapped      = "two clusters change places"
	resized      = "groups have another size"
	groupInFront = "a group is named in front"
	groupGone    = "a group is named no more"
)

// placesClasses are worlds in which one thing happens again and again.
var placesClasses = []struct {
	class string
	size  int
	named []string
	acts  []string
}{
	{"clusters move up", 2, nil, []string{joinsFront, joinsFront, tainted, joinsFront, untainted}},
	{"a group is renamed", 0, []string{"canary"}, []string{groupInFront, groupGone, groupInFront, groupGone}},
	{"a group loses its last cluster", 2, []string{"canary"}, []string{regrouped, regrouped, tainted, untainted, regrouped}},
	{"clusters change places", 0, []string{"canary", "eu"}, []string{swapped, swapped, swapped, swapped, swapped, swapped}},
	{"groups have another size", 3, []string{"canary"}, []string{resized, resized, resized, resized}},
}

func (w *places) String() string {
	var acts []string
	for _, a := range w.acts {
		acts = append(acts, fmt.Sprintf("%s+%v", a.what, a.after))
	}
	return fmt.Sprintf("seed %d: %d clusters of %d, groups %q of %d; %s", w.seed, len(w.first), len(w.pool), w.named, w.size, strings.Join(acts, ", "))
}

// drawPlaces is any world, one of a class, or one with more clusters than a PlacementDecision holds.
func drawPlaces(i int, seed uint64) *places {
	rng := rand.New(rand.NewPCG(seed, 21))
	w := &places{seed: seed, rng: rng, inside: map[string]bool{}, group: map[string]string{}}
	n := 6 + rng.IntN(5)
	what := []string{joinsFront, joinsAny, tainted, tainted, untainted, unlabelled, regrouped, swapped, resized, groupInFront, groupGone}
	w.size, w.named = pick(rng, 0, 2, 3), pick(rng, nil, []string{"canary"}, []string{"eu", "canary"})
	switch {
	case i%3 == 1:
		c := placesClasses[i/3%len(placesClasses)]
		w.class, w.size, w.named, what = c.class, c.size, c.named, nil
		for _, a := range c.acts {
			w.acts = append(w.acts, act{w.after(), a})
		}
	case i%6 == 5:
		n, w.size, w.class, what = 104, 0, "more than a decision holds", []string{joinsFront, tainted, untainted}
	}
	for i := range n + 5 {
		w.pool = append(w.pool, fmt.Sprintf("c%03d", i))
	}
	w.first = w.pool[5:]
	for range 8 {
		if what != nil {
			w.acts = append(w.acts, act{w.after(), pick(rng, what...)})
		}
	}
	for i, c := range w.pool {
		w.group[c] = []string{"", "canary", "eu", ""}[i%4]
	}
	return w
}

func (w *places) after() time.Duration {
	return time.Duration(100+w.rng.IntN(1500)) * time.Millisecond
}

func (w *places) cluster(c string) string { return w.name + "-" + c }

// play plays the world, and records Placements and PlacementDecisions alone.
func (w *places) play(ctx context.Context, hub *site, name string) (*history, error) {
	w.name, w.user = name, hub.clients("user")
	defer hub.watch(name, func(e event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	})()
	err := w.begin(ctx)
	for _, a := range w.acts {
		if err != nil {
			break
		}
		w.sleep(ctx, a.after)
		err = w.act(ctx, a.what)
	}
	for ctx.Err() == nil && err == nil { // decisions that stay partially observed are found after 7 seconds
		w.sleep(ctx, 500*time.Millisecond)
		w.mu.Lock()
		quiet := len(w.events) > 0 && time.Since(w.events[len(w.events)-1].at) > 9*time.Second
		w.mu.Unlock()
		if quiet {
			break
		}
	}
	until := time.Now()
	w.mu.Lock()
	events := slices.Clone(w.events)
	w.mu.Unlock()
	err = errors.Join(err, ctx.Err(), w.clear(ctx))
	h := newHistory(events, nil, nil)
	h.until = until
	return h, err
}

func (w *places) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// begin makes a set of clusters, bound to the namespace, and the Placement.
func (w *places) begin(ctx context.Context) error {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
	if _, err := w.user.cluster.ClusterV1beta2().ManagedClusterSets().Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: w.name}}
	binding.Spec.ClusterSet = w.name
	if _, err := w.user.cluster.ClusterV1beta2().ManagedClusterSetBindings(w.name).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, c := range w.pool {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.cluster(c), Labels: map[string]string{"group": w.group[c]}}}
		if w.inside[c] = slices.Contains(w.first, c); w.inside[c] {
			cluster.Labels[clusterv1beta2.ClusterSetLabel] = w.name
		}
		cluster.Spec.HubAcceptsClient = true
		if _, err := w.user.cluster.ClusterV1().ManagedClusters().Create(ctx, cluster, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	p := &placement{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: placementName}}
	w.shape(p)
	_, err := w.user.cluster.ClusterV1beta1().Placements(w.name).Create(ctx, p, metav1.CreateOptions{})
	return err
}

// shape has the Placement divide its clusters as the world wants it.
func (w *places) shape(p *placement) {
	strategy := &p.Spec.DecisionStrategy.GroupStrategy
	if strategy.ClustersPerDecisionGroup = intstr.FromString("100%"); w.size > 0 {
		strategy.ClustersPerDecisionGroup = intstr.FromInt32(int32(w.size))
	}
	strategy.DecisionGroups = nil
	for _, name := range w.named {
		strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": name}}}})
	}
}

func (w *places) reshape(ctx context.Context) error {
	api := w.user.cluster.ClusterV1beta1().Placements(w.name)
	p := &placement{}
	w.shape(p)
	body := patchOf(nil, map[string]any{"spec": map[string]any{"decisionStrategy": map[string]any{"groupStrategy": p.Spec.DecisionStrategy.GroupStrategy}}})
	_, err := api.Patch(ctx, placementName, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

func (w *places) patch(ctx context.Context, c string, change map[string]any) error {
	_, err := w.user.cluster.ClusterV1().ManagedClusters().Patch(ctx, w.cluster(c), types.MergePatchType, patchOf(nil, change), metav1.PatchOptions{})
	return err
}

func (w *places) label(ctx context.Context, c, label string, value any) error {
	return w.patch(ctx, c, map[string]any{"metadata": map[string]any{"labels": map[string]any{label: value}}})
}

// any draws a cluster, if there is one.
func (w *places) any(is func(c string) bool) (string, bool) {
	var of []string
	for _, c := range w.pool {
		if is(c) {
			of = append(of, c)
		}
	}
	if len(of) == 0 {
		return "", false
	}
	return pick(w.rng, of...), true
}

func (w *places) act(ctx context.Context, what string) error {
	in, out := func(c string) bool { return w.inside[c] }, func(c string) bool { return !w.inside[c] }
	switch what {
	case joinsFront, joinsAny:
		c, ok := w.any(out)
		if i := slices.IndexFunc(w.pool, out); ok && what == joinsFront {
			c = w.pool[i]
		}
		if ok {
			w.inside[c] = true
			return errors.Join(w.patch(ctx, c, map[string]any{"spec": map[string]any{"taints": nil}}), w.label(ctx, c, clusterv1beta2.ClusterSetLabel, w.name))
		}
	case untainted:
		if c, ok := w.any(out); ok {
			w.inside[c] = true
			return errors.Join(w.label(ctx, c, clusterv1beta2.ClusterSetLabel, w.name), w.patch(ctx, c, map[string]any{"spec": map[string]any{"taints": nil}}))
		}
	case tainted:
		if c, ok := w.any(in); ok {
			delete(w.inside, c)
			taint := clusterv1.Taint{Key: "down", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: metav1.Now()}
			return w.patch(ctx, c, map[string]any{"spec": map[string]any{"taints": []clusterv1.Taint{taint}}})
		}
	case unlabelled:
		if c, ok := w.any(in); ok {
			delete(w.inside, c)
			return w.label(ctx, c, clusterv1beta2.ClusterSetLabel, nil)
		}
	case regrouped:
		if c, ok := w.any(in); ok {
			w.group[c] = map[string]string{"": "canary", "canary": "", "eu": ""}[w.group[c]]
			return w.label(ctx, c, "group", w.group[c])
		}
	case swapped:
		a, ok := w.any(in)
		b, also := w.any(func(c string) bool { return in(c) && w.group[c] != w.group[a] })
		if ok && also {
			w.group[a], w.group[b] = w.group[b], w.group[a]
			return errors.Join(w.label(ctx, a, "group", w.group[a]), w.label(ctx, b, "group", w.group[b]))
		}
	case resized:
		w.size = pick(w.rng, 2, 3, 4, 0)
		return w.reshape(ctx)
	case groupInFront:
		if i := slices.IndexFunc([]string{"eu", "canary"}, func(g string) bool { return !slices.Contains(w.named, g) }); i >= 0 {
			w.named = slices.Concat([]string{[]string{"eu", "canary"}[i]}, w.named)
			return w.reshape(ctx)
		}
	case groupGone:
		if len(w.named) > 0 {
			w.named = w.named[1:]
			return w.reshape(ctx)
		}
	}
	return nil
}

// clear deletes the Placement and all that it is about.
func (w *places) clear(ctx context.Context) error {
	api := w.user.cluster
	errs := []error{
		api.ClusterV1beta1().Placements(w.name).Delete(ctx, placementName, metav1.DeleteOptions{}),
		api.ClusterV1beta1().PlacementDecisions(w.name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		api.ClusterV1beta2().ManagedClusterSetBindings(w.name).Delete(ctx, w.name, metav1.DeleteOptions{}),
		api.ClusterV1beta2().ManagedClusterSets().Delete(ctx, w.name, metav1.DeleteOptions{}),
	}
	for _, c := range w.pool {
		errs = append(errs, api.ClusterV1().ManagedClusters().Delete(ctx, w.cluster(c), metav1.DeleteOptions{}))
	}
	return errors.Join(errs...)
}
