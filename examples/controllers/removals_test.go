// SPDX-License-Identifier: Apache-2.0

package controllers

import (
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
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/removals"
)

// removing watches how the works of a deleted set are deleted. It plays the agents; all but one remove their finalizers.
type removing struct {
	*hub
	kubeconfig string
	most       int
	dead       string

	there   map[string]bool // the clusters that have a work, and whether it is being deleted
	began   []string        // the order in which they were deleted
	over    int             // the number of deleted works
	ignored bool            // whether the cluster of the dead agent is ignored
}

// TestWorksGoInOrder runs the program works with -remove-at-most, and deletes a set. It checks each event of a work: no
// more works are in deletion than allowed, and no group loses a work while a later group has one. The program is killed
// meanwhile, and an agent is dead until an operator ignores its cluster. The order is the one that kubectl cohort removals
// prints before, during and at the wait.
func TestWorksGoInOrder(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "hub.kubeconfig")
	run(t, program(t, "apiserver"), "-kubeconfig", kubeconfig)
	r := &removing{hub: connect(t, kubeconfig), kubeconfig: kubeconfig, most: 2, dead: "prod-03", there: map[string]bool{}}
	start := func() *exec.Cmd {
		return run(t, program(t, "works"), "-remove-at-most", fmt.Sprint(r.most), "-kubeconfig", kubeconfig, "-metrics-bind-address", "0")
	}
	works := start()
	events := r.rolledOut(names("prod", 8)) // in groups of 3

	before := r.asked()
	if want := []string{"prod-06", "prod-07"}; !slices.Equal(before.Now, want) || len(before.Waves) != 5 {
		t.Fatalf("the plugin says %+v", before)
	}
	r.must(r.Delete(t.Context(), &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}))
	r.follow(events, "one is gone", func() bool { return r.over >= 1 })
	works.Process.Kill()
	works.Wait()
	r.follow(events, "all agents that live have let go", r.isQuiet)
	midst, begun := r.asked(), len(r.began)
	start()
	r.follow(events, "the named works are deleted", func() bool { return len(r.began) >= begun+len(midst.Now) })
	if next := r.began[begun:][:len(midst.Now)]; len(midst.Now) == 0 || !slices.Equal(next, midst.Now) {
		t.Errorf("%v went, and the plugin said %v", next, midst.Now)
	}
	r.follow(events, "all wait for the dead one", func() bool { return r.over == 4 && r.waitsFor(r.dead) })
	if waits := r.asked(); len(waits.Now) > 0 || !slices.Equal(waits.PendingRemoval, []string{r.dead}) {
		t.Errorf("the plugin says %+v", waits)
	}
	end := time.Now().Add(2 * time.Second)
	r.follow(events, "no other work is deleted", func() bool { return time.Now().After(end) })
	if len(r.began) != 5 {
		t.Errorf("%v were deleted", r.began)
	}
	r.ignored = true
	r.patch(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"cohort.open-cluster-management.io/ignore": r.dead}}})
	r.follow(events, "the set is gone", r.hub.gone)
	if deleting, there := r.there[r.dead]; !there || !deleting || len(r.there) != 1 {
		t.Errorf("there are still %v", r.there)
	}
	if all := before.all(); !slices.Equal(r.began, all) {
		t.Errorf("they went in the order %v, and the plugin said %v", r.began, all)
	}
}

// rolledOut rolls a set out to clusters in groups of 3, and returns later events of its works.
func (r *removing) rolledOut(clusters []string) <-chan watch.Event {
	r.t.Helper()
	ctx := r.t.Context()
	r.must(clusterv1.Install(r.Scheme()))
	for _, name := range clusters {
		r.must(r.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true}}))
	}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: "prod"}}
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(3)
	r.must(r.Create(ctx, placement))
	r.place("prod", clusters...)
	o := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name}}
	o.Spec.ManifestWorkTemplate = template(`{"text":"one"}`)
	o.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{
		Name: "prod", RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup},
	}}
	r.must(r.Create(ctx, o))
	r.limits = map[string]int{"prod": len(clusters)}
	r.until("all clusters have the template", func() bool { return r.done(len(clusters)) })

	for i := range r.works {
		work := &r.works[i]
		work.Finalizers = []string{"agent"}
		r.must(r.Update(ctx, work))
		r.there[work.Namespace] = false
	}
	config, err := clientcmd.BuildConfigFromFlags("", r.kubeconfig)
	r.must(err)
	watcher, err := client.NewWithWatch(config, client.Options{Scheme: r.Scheme()})
	r.must(err)
	w, err := watcher.Watch(ctx, &workv1.ManifestWorkList{})
	r.must(err)
	r.t.Cleanup(w.Stop)
	return w.ResultChan()
}

// follow judges events, and lets agents remove finalizers now and then, until a condition holds.
func (r *removing) follow(events <-chan watch.Event, what string, so func() bool) {
	r.t.Helper()
	end, tick := time.After(patience), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case event, open := <-events:
			if !open {
				r.t.Fatalf("the watch ended, before %s", what)
			}
			r.judge(event)
		case <-tick.C:
			r.letGo()
		case <-end:
			o, err := r.set()
			r.t.Fatalf("not within %v: %s; there are %v; %v %+v", patience, what, r.there, err, o.Status.Conditions)
		}
	}
}

func (r *removing) judge(event watch.Event) {
	r.t.Helper()
	work, is := event.Object.(*workv1.ManifestWork)
	if !is {
		r.t.Fatalf("%+v", event)
	}
	cluster := work.Namespace
	switch begun := r.there[cluster]; {
	case event.Type == watch.Deleted:
		delete(r.there, cluster)
		r.over++
	case work.DeletionTimestamp != nil && !begun:
		r.there[cluster] = true
		r.began = append(r.began, cluster)
		if n := r.going(); n > r.most {
			r.t.Errorf("%d are in deletion with %s, of at most %d", n, cluster, r.most)
		}
		for other := range r.there {
			if groupOf(other) > groupOf(cluster) && !(r.ignored && other == r.dead) {
				r.t.Errorf("%s goes before %s", cluster, other)
			}
		}
	}
}

// isQuiet says whether all events are judged, and no work is in deletion but the dead one.
func (r *removing) isQuiet() bool {
	r.t.Helper()
	var works workv1.ManifestWorkList
	r.must(r.List(r.t.Context(), &works))
	for i := range works.Items {
		work := &works.Items[i]
		deleting, known := r.there[work.Namespace]
		if !known || deleting != (work.DeletionTimestamp != nil) || deleting && work.Namespace != r.dead {
			return false
		}
	}
	return len(works.Items) == len(r.there)
}

// groupOf is the group of a cluster such as prod-07.
func groupOf(cluster string) (n int) {
	fmt.Sscanf(cluster, "prod-%d", &n)
	return n / 3
}

// going counts the works in deletion.
func (r *removing) going() (n int) {
	for cluster, deleting := range r.there {
		if deleting && !(r.ignored && cluster == r.dead) {
			n++
		}
	}
	return n
}

// letGo lets the agents remove their finalizers from works that are being deleted, except for the dead one.
func (r *removing) letGo() {
	r.t.Helper()
	for cluster, deleting := range r.there {
		if deleting && cluster != r.dead {
			var works workv1.ManifestWorkList
			r.must(r.List(r.t.Context(), &works, client.InNamespace(cluster)))
			for i := range works.Items {
				works.Items[i].Finalizers = nil
				r.must(client.IgnoreNotFound(r.Update(r.t.Context(), &works.Items[i])))
			}
		}
	}
}

// waitsFor says whether the set's condition says that it waits for only one cluster.
func (r *removing) waitsFor(cluster string) bool {
	o, err := r.set()
	r.must(err)
	c := meta.FindStatusCondition(o.Status.Conditions, removals.Condition)
	return c != nil && c.Reason == removals.ReasonInOrder && strings.HasPrefix(c.Message, "placement prod: in deletion: "+cluster+"; 3 more to delete")
}

// goingWaves is what kubectl cohort removals prints.
type goingWaves struct {
	PendingRemoval, Now []string
	Waves               [][]struct{ Clusters []string }
}

// asked runs it.
func (r *removing) asked() (says goingWaves) {
	r.t.Helper()
	r.must(json.Unmarshal(plugin(r.t, r.kubeconfig, "removals", "--at-a-time", fmt.Sprint(r.most), "-o", "json"), &says))
	return says
}

// all are the clusters in the order of deletion.
func (g *goingWaves) all() (clusters []string) {
	for _, wave := range g.Waves {
		for _, of := range wave {
			clusters = append(clusters, of.Clusters...)
		}
	}
	return clusters
}
