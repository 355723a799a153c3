// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Any number of workers reconcile owners concurrently. The state that they share is guarded: run this with -race.
func TestManyWorkers(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b", "c")
	const owners = 8
	objects := []client.Object{}
	for i := range owners {
		owner := newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All})
		owner.Name, owner.UID, owner.Generation = fmt.Sprint("web", i), types.UID(fmt.Sprint("web", i)), 1
		objects = append(objects, owner)
	}
	for _, o := range h.truth() {
		o.SetResourceVersion("")
		objects = append(objects, o)
	}
	meters, err := newMetrics(prometheus.NewRegistry(), example.WithKind("Thing").GroupKind())
	must(t, err)
	r := &reconciler{
		meters: meters,
		kind:   kindOf(things), gvk: example.WithKind("Thing"), events: quiet{}, now: time.Now, begun: newOnce(),
	}
	store := fake.NewClientBuilder().WithScheme(h.scheme).WithStatusSubresource(&thing{}).WithObjects(objects...).
		WithIndex(&workv1.ManifestWork{}, r.worksIndex(), r.hashesOf).
		WithIndex(&clusterv1beta1.PlacementDecision{}, r.decisionsIndex(), placementOf).Build()
	r.client, r.live = store, store

	var workers sync.WaitGroup
	for i := range owners {
		workers.Go(func() {
			key := types.NamespacedName{Namespace: "apps", Name: fmt.Sprint("web", i)}
			for range 5 {
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
					t.Error(err)
				}
				r.ownersOfPlacement(&clusterv1beta1.Placement{})
			}
		})
	}
	workers.Wait()
	var works workv1.ManifestWorkList
	must(t, store.List(t.Context(), &works))
	if len(works.Items) != 3*owners {
		t.Errorf("there are %d ManifestWorks, and must be %d", len(works.Items), 3*owners)
	}
}

type quiet struct{ events.EventRecorder }

func (quiet) Eventf(apiruntime.Object, apiruntime.Object, string, string, string, string, ...any) {}

// BenchmarkReconcile reconciles an owner whose clusters are all done. Its caches behave like those of controller-runtime: they
// have an index, and do not copy objects.
//
//	go test -run '^$' -bench Reconcile -benchmem .
func BenchmarkReconcile(b *testing.B) {
	for _, clusters := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint("clusters=", clusters), func(b *testing.B) {
			h := newHub(b)
			var names []string
			for i := range clusters {
				names = append(names, fmt.Sprintf("cluster%04d", i))
			}
			h.selects(names...)
			h.make(newThing(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}))
			p := newProcess(h, things)
			p.settle()
			h.answerAll()
			p.settle()
			p.client = newIndexed(p)
			runtime.GC()
			b.ReportAllocs()
			for b.Loop() {
				p.look()
			}
		})
	}
}

// indexed is a cache that answers from its indexes, as informers do.
type indexed struct {
	*lateCache
	works, decisions []apiruntime.Object
}

func newIndexed(p *process) *indexed {
	i := &indexed{lateCache: p.cache}
	for _, o := range p.cache.objects {
		switch o := o.(type) {
		case *workv1.ManifestWork:
			i.works = append(i.works, o)
		case *clusterv1beta1.PlacementDecision:
			i.decisions = append(i.decisions, o)
		}
	}
	return i
}

func (i *indexed) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	if _, are := into.(*workv1.ManifestWorkList); are {
		return meta.SetList(into, i.works)
	}
	return meta.SetList(into, i.decisions)
}
