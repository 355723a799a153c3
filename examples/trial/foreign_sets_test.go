// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// ofSets are worlds of ManifestWorkReplicaSets.
var ofSets = foreignKind{
	probe: func(ctx context.Context, hub *realHub) (object, func() (object, error), error) {
		api := hub.clients("user").work.WorkV1alpha1().ManifestWorkReplicaSets("probe")
		probe := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "probe", Name: "probe"}}
		probe.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "none", RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}}}
		probe.Spec.ManifestWorkTemplate.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe"}}`)}}}
		written, err := api.Create(ctx, probe, metav1.CreateOptions{})
		return written, func() (object, error) { return api.Get(ctx, "probe", metav1.GetOptions{}) }, err
	},
	idle: idle(nil), own: subject,
	play: func(ctx context.Context, hub *realHub, subject *Subject, i int, seed uint64) *foreignOutcome {
		return hub.record(ctx, foreignWorld(i, seed, subject, *flagClass), subject)
	},
}

// record runs a world to its end, and deletes what is left of it.
func (h *realHub) record(ctx context.Context, w *world, subject *Subject) *foreignOutcome {
	w.name = worldName()
	p := w.newPlayer(h.site, subject)
	o := p.record(ctx)
	p.clear(ctx)
	return o
}

// clear deletes what is left of a rollout, since worlds share the API server.
func (p *player) clear(ctx context.Context) {
	for _, c := range p.clusters(p.pool) {
		p.unregister(ctx, c)
	}
	p.mu.Lock()
	last := map[id]event{}
	for _, e := range p.events {
		if e.rv > last[e.id].rv {
			last[e.id] = e
		}
	}
	p.mu.Unlock()
	for _, i := range slices.SortedFunc(maps.Keys(last), id.compare) {
		e := last[i]
		namespace, name := e.object.GetNamespace(), e.object.GetName()
		switch {
		case e.gone:
		case i.kind == Works:
			api := p.user.work.WorkV1().ManifestWorks(namespace)
			_, _ = api.Patch(ctx, name, types.MergePatchType, []byte(unhold), metav1.PatchOptions{}) // it may be gone
			_ = api.Delete(ctx, name, metav1.DeleteOptions{})
		case i.kind == ReplicaSets:
			api := p.user.work.WorkV1alpha1().ManifestWorkReplicaSets(namespace)
			_, _ = api.Patch(ctx, name, types.MergePatchType, []byte(unhold), metav1.PatchOptions{})
			_ = api.Delete(ctx, name, metav1.DeleteOptions{})
		}
	}
}
