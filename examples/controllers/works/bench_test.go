// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// BenchmarkReconcile measures a reconcile without changes. Half of the works are done, a tenth of the clusters are in
// flight, and the others wait. After an event of a work one report is made again. After an event of a decision the groups
// are read again. After a restart, or a change of the template, everything is.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		for _, placements := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d/placements=%d", n, placements), func(b *testing.B) { benchmarkReconcile(b, n, placements) })
		}
	}
}

func benchmarkReconcile(b *testing.B, n, placements int) {
	h := steady(b, n, placements)
	work := h.caches.worksOf(h.caches.set(theSet))[0]
	request := reconcile.Request{NamespacedName: theSet}
	for _, event := range []string{"work", "decision", "restart"} {
		b.Run(event, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				switch event {
				case "work":
					work = work.DeepCopy()
					h.must(h.caches.works.Update(work))
				case "decision":
					h.memories.Of(theSet).read = kit.Apart{}
				case "restart":
					h.memories.Forget(theSet)
				}
				if _, err := h.Reconcile(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
			if len(h.writes) > 0 {
				b.Fatalf("wrote %q", h.writes)
			}
		})
	}
}

// steady is a hub with a set of n clusters in some placements, and nothing to do.
func steady(b *testing.B, n, placements int) *hub {
	h := newHub(b)
	var refs []workv1alpha1.LocalPlacementReference
	for i := range placements {
		refs = append(refs, ref(fmt.Sprintf("placement-%d", i), atATime(n/10/placements)))
	}
	h.create(refs...)
	set := h.set()
	set.Finalizers = []string{finalizer}
	set.Spec.ManifestWorkTemplate = manifests(5)
	h.must(h.server.Update(b.Context(), set))
	set = h.set()
	h.must(h.caches.sets.Update(set))

	selected := make([][]*clusterv1.ManagedCluster, placements)
	version := writes.VersionOf(set.Spec.ManifestWorkTemplate)
	for i := range n {
		name := fmt.Sprintf("cluster-%06d", i)
		p := i % placements
		selected[p] = append(selected[p], &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if i < n/2+n/10 {
			work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
				Namespace: name, Name: "web", UID: types.UID(name), ResourceVersion: fmt.Sprint(i + 1), Generation: 3,
				CreationTimestamp: metav1.NewTime(h.clock),
				Labels:            map[string]string{kit.OwnerLabel: kit.OwnerValue(set), placementLabel: refs[p].Name},
			}}
			work.Spec = *set.Spec.ManifestWorkTemplate.DeepCopy()
			status.StampOf(work).NoteOn(work, version, 0, h.clock)
			if i < n/2 {
				setConditions(work, status.Succeeded, h.clock.Add(time.Minute))
			} else {
				setConditions(work, status.Progressing, h.clock.Add(time.Minute))
			}
			h.must(h.caches.works.Add(work))
		}
	}
	for p, selected := range selected {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: theSet.Namespace, Name: refs[p].Name}}
		groups, err := grouping.Divide(placement, selected, grouping.Options{})
		h.must(err)
		decisions, err := groups.Decisions(placement)
		h.must(err)
		placement.Status, err = grouping.Status(decisions)
		h.must(err)
		h.must(h.caches.placements.Add(placement))
		for _, decision := range decisions {
			h.must(h.caches.decisions.Add(decision))
		}
	}

	h.begun.Skip() // the works are only in the cache
	h.clock = h.clock.Add(time.Hour)
	if wrote, _, err := h.look(); wrote != "" || err != nil { // the status
		b.Fatalf("wrote %q, %v", wrote, err)
	}
	h.must(h.caches.sets.Update(h.set()))
	return h
}

// manifests is a template of n ConfigMaps, of 700 bytes each.
func manifests(n int) (spec workv1.ManifestWorkSpec) {
	for i := range n {
		raw := fmt.Sprintf(`{"apiVersion":"v1","data":{"text":"%0600d"},"kind":"ConfigMap","metadata":{"name":"it-%d","namespace":"default"}}`, i, i)
		spec.Workload.Manifests = append(spec.Workload.Manifests, workv1.Manifest{RawExtension: runtime.RawExtension{Raw: []byte(raw)}})
	}
	return spec
}
