// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
)

// TestDecisions runs the program decisions with a real API server while clusters join, are deleted, and change their
// groups. It kills the program between its writes. A watch, whose events are in the order of the writes, checks that each
// cluster that stays selected is in some PlacementDecision at any time. The mirror of examples/inventory also runs and is
// killed: each such cluster is in some slice of SIG Multicluster's at any time. Package decisions tests the same in virtual time, with two
// processes.
func TestDecisions(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.copied()
	absent, kills := f.change(t, 3)
	if len(absent) > 0 {
		t.Errorf("clusters that stay were in no PlacementDecision: %v", absent)
	}
	f.mirrored()
	t.Logf("%d events, %d of slices, %d kills, %d clusters in the end", f.events, f.slices.events, kills, len(f.wanted))
}

// fleet plays the users, and knows the wanted decisions.
type fleet struct {
	client.WithWatch
	t       *testing.T
	start   func() *exec.Cmd
	program *exec.Cmd
	wanted  map[string]string // by cluster: its stage
	next    int
	rng     *rand.Rand

	kubeconfig string
	mirror     func() *exec.Cmd // starts the mirror, if there is one
	copier     *exec.Cmd

	mu sync.Mutex
	view
	slices view // of SIG Multicluster's, if there is a mirror
}

// view is what a watch has shown of objects of one kind.
type view struct {
	objects map[string][]string // by object: its clusters
	stay    map[string]bool     // clusters that were seen, and must not be absent
	absent  map[string]bool
	events  int
}

func newView() view {
	return view{objects: map[string][]string{}, stay: map[string]bool{}, absent: map[string]bool{}}
}

var web = client.ObjectKey{Namespace: "apps", Name: "web"}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig, "-definitions", sigDefinitions(t))
	f := &fleet{
		t: t, rng: rand.New(rand.NewPCG(1, 2)), wanted: map[string]string{}, view: newView(), slices: newView(), kubeconfig: kubeconfig,
	}
	f.start = func() *exec.Cmd {
		return run(t, program(t, "decisions"), "-kubeconfig", kubeconfig, "-metrics-bind-address", "0", "-qps", "300")
	}
	waitFor(t, kubeconfig)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	f.must(err)
	config.QPS = -1
	scheme := runtime.NewScheme()
	f.must(clusterv1.Install(scheme))
	f.must(clusterv1beta1.Install(scheme))
	f.must(clusterv1beta2.Install(scheme))
	f.WithWatch, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	f.must(err)
	f.watch()
	f.program = f.start()
	return f
}

// waitFor waits until a file exists.
func waitFor(t *testing.T, file string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func (f *fleet) must(err error) {
	if err != nil {
		f.t.Helper()
		f.t.Fatal(err)
	}
}

// watch replays the writes of PlacementDecisions, event by event.
func (f *fleet) watch() {
	w, err := f.Watch(f.t.Context(), &clusterv1beta1.PlacementDecisionList{})
	f.must(err)
	var done sync.WaitGroup
	f.t.Cleanup(func() { w.Stop(); done.Wait() })
	done.Go(func() {
		for event := range w.ResultChan() {
			if pd, ok := event.Object.(*clusterv1beta1.PlacementDecision); ok {
				var clusters []string
				for _, d := range pd.Status.Decisions {
					clusters = append(clusters, d.ClusterName)
				}
				f.saw(&f.view, event.Type, pd.Name, clusters)
			}
		}
	})
}

func (f *fleet) saw(v *view, event watch.EventType, name string, clusters []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v.events++
	for _, cluster := range clusters {
		if _, ok := f.wanted[cluster]; ok {
			v.stay[cluster] = true
		}
	}
	v.objects[name] = clusters
	if event == watch.Deleted {
		delete(v.objects, name)
	}
	there := v.selected()
	for cluster := range v.stay {
		if !there[cluster] {
			v.absent[cluster] = true
		}
	}
}

func (v *view) selected() map[string]bool {
	there := map[string]bool{}
	for _, clusters := range v.objects {
		for _, cluster := range clusters {
			there[cluster] = true
		}
	}
	return there
}

// change makes changes, one after the other, and waits for the decisions to follow. At each third change it kills the
// program while it writes. It returns the selected clusters that were in no PlacementDecision.
func (f *fleet) change(t *testing.T, changes int) (absent []string, kills int) {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	f.must(f.Create(t.Context(), set))
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: "all"}}
	binding.Spec.ClusterSet = "all"
	f.must(f.Create(t.Context(), binding))
	f.join(230, "")
	f.join(20, "canary")
	f.place(100, "canary")
	f.settled("250 clusters are placed")

	for i := range changes {
		size := []int{100, 40, 25, 60, 10, 30}[i%6]
		f.place(size, []string{"canary", "early", "edge"}[:1+i%3]...)
		f.leave(10)
		f.join(10, []string{"", "edge", "early"}[i%3])
		f.move(25, []string{"early", "canary", "edge", ""}[i%4])
		f.edit([]string{`null`, `"other"`, `""`}[i%3])
		if i%3 == 1 {
			f.writing()
			f.must(f.program.Process.Kill())
			_ = f.program.Wait()
			f.program = f.start()
			if f.mirror != nil {
				f.must(f.copier.Process.Kill())
				_ = f.copier.Wait()
				f.copier = f.mirror()
			}
			kills++
		}
		f.settled(fmt.Sprintf("change %d is carried out", i))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.absent)), kills
}

// writing waits until the program has made some writes.
func (f *fleet) writing() {
	count := func() int { f.mu.Lock(); defer f.mu.Unlock(); return f.events }
	before := count()
	for end := time.Now().Add(10 * time.Second); count() < before+3 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// place creates the Placement, or changes its groups.
func (f *fleet) place(size int, named ...string) {
	f.t.Helper()
	var placement clusterv1beta1.Placement
	err := f.Get(f.t.Context(), web, &placement)
	f.must(client.IgnoreNotFound(err))
	placement.Namespace, placement.Name = web.Namespace, web.Name
	strategy := clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt(size)}
	for _, name := range named {
		strategy.DecisionGroups = append(strategy.DecisionGroups, clusterv1beta1.DecisionGroup{
			GroupName:       name,
			ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"stage": name}}},
		})
	}
	patch := client.MergeFrom(placement.DeepCopy())
	placement.Spec.DecisionStrategy.GroupStrategy = strategy
	if err != nil {
		f.must(f.Create(f.t.Context(), &placement))
		return
	}
	f.must(f.Patch(f.t.Context(), &placement, patch))
}

// join adds n new clusters.
func (f *fleet) join(n int, stage string) {
	f.t.Helper()
	for range n {
		name := fmt.Sprintf("cluster-%04d", (f.next*617)%10_000) // sorted anywhere among the others
		f.next++
		f.want(name, stage)
		f.must(f.Create(f.t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "all", "stage": stage},
		}}))
	}
}

func (f *fleet) want(cluster, stage string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted[cluster] = stage
}

// some are n clusters of the fleet.
func (f *fleet) some(n int) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Sorted(maps.Keys(f.wanted))
	f.rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:n]
}

// leave deletes n clusters.
func (f *fleet) leave(n int) {
	f.t.Helper()
	for _, name := range f.some(n) {
		f.mu.Lock()
		delete(f.wanted, name) // from now on it may be absent
		delete(f.stay, name)
		delete(f.slices.stay, name)
		f.mu.Unlock()
		f.must(f.Delete(f.t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
}

// move gives n clusters another stage.
func (f *fleet) move(n int, stage string) {
	f.t.Helper()
	for _, name := range f.some(n) {
		f.want(name, stage)
		patch := fmt.Sprintf(`{"metadata":{"labels":{"stage":%q}}}`, stage)
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		f.must(f.Patch(f.t.Context(), cluster, client.RawPatch("application/merge-patch+json", []byte(patch))))
	}
}

// edit changes or removes the placement label of a PlacementDecision, as a user may by mistake.
func (f *fleet) edit(label string) {
	f.t.Helper()
	var list clusterv1beta1.PlacementDecisionList
	f.must(f.List(f.t.Context(), &list, client.InNamespace(web.Namespace)))
	pd := &list.Items[f.rng.IntN(len(list.Items))]
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, clusterv1beta1.PlacementLabel, label)
	f.must(client.IgnoreNotFound(f.Patch(f.t.Context(), pd, client.RawPatch("application/merge-patch+json", []byte(patch)))))
}

// settled waits until the decisions are what the fleet wants.
func (f *fleet) settled(what string) {
	f.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		why := f.unsettled(f.t.Context())
		if why == "" {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("not within %v: %s: %s", patience, what, why)
		}
	}
}

// unsettled says what is wrong with the decisions: each cluster of the fleet must be in one group, of its stage if the
// Placement names it, and no group may be too large.
func (f *fleet) unsettled(ctx context.Context) string {
	var placement clusterv1beta1.Placement
	var list clusterv1beta1.PlacementDecisionList
	f.must(f.List(ctx, &list))
	f.must(f.Get(ctx, web, &placement))
	var stored []*clusterv1beta1.PlacementDecision
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
		if label := list.Items[i].Labels[clusterv1beta1.PlacementLabel]; label != web.Name {
			return fmt.Sprintf("%s is labelled with the placement %q", list.Items[i].Name, label)
		}
	}
	groups, err := grouping.Read(&placement, stored)
	if err != nil {
		return err.Error()
	}
	if why := groups.Incomplete(); why != "" {
		return why
	}
	strategy := placement.Spec.DecisionStrategy.GroupStrategy
	f.mu.Lock()
	defer f.mu.Unlock()
	if groups.NumClusters() != len(f.wanted) {
		return fmt.Sprintf("%d clusters are selected, of %d", groups.NumClusters(), len(f.wanted))
	}
	for i := range groups.Len() {
		if n := groups.Size(i); n > strategy.ClustersPerDecisionGroup.IntValue() {
			return fmt.Sprintf("group %d has %d clusters", i, n)
		}
	}
	for cluster, stage := range f.wanted {
		if !slices.ContainsFunc(strategy.DecisionGroups, func(g clusterv1beta1.DecisionGroup) bool { return g.GroupName == stage }) {
			stage = ""
		}
		key, _, ok := groups.Find(cluster)
		if !ok || key.Name != stage {
			return fmt.Sprintf("%s is in group %v, its stage is %q", cluster, key, stage)
		}
	}
	return ""
}
