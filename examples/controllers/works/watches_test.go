// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
)

func TestWhichSetsAnEventConcerns(t *testing.T) {
	h := newHub(t)
	h.create(ref("prod", atATime(1)), ref("test", atATime(1)))
	h.catchUp()
	labelled := func(key, value string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: theSet.Namespace, Name: "x", Labels: map[string]string{key: value}}
	}
	named := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	for name, event := range map[string]struct {
		sets int
		got  []any
	}{
		"a work of the set":              {1, asAny(setsOfWork(&workv1.ManifestWork{ObjectMeta: labelled(kit.OwnerLabel, "apps.web")}))},
		"a work without an owner":        {0, asAny(setsOfWork(&workv1.ManifestWork{}))},
		"a work of something else":       {0, asAny(setsOfWork(&workv1.ManifestWork{ObjectMeta: labelled(kit.OwnerLabel, "web")}))},
		"its second placement":           {1, asAny(h.setsOf(&clusterv1beta1.Placement{ObjectMeta: named("apps", "test")}))},
		"a placement elsewhere":          {0, asAny(h.setsOf(&clusterv1beta1.Placement{ObjectMeta: named("other", "test")}))},
		"a decision of its placement":    {1, asAny(h.setsOf(&clusterv1beta1.PlacementDecision{ObjectMeta: labelled(clusterv1beta1.PlacementLabel, "prod")}))},
		"a decision without a placement": {0, asAny(h.setsOf(&clusterv1beta1.PlacementDecision{ObjectMeta: named("apps", "prod")}))},
	} {
		if len(event.got) != event.sets || event.sets == 1 && event.got[0] != any(theSet) {
			t.Errorf("%s concerns %v", name, event.got)
		}
	}
}

func asAny[T any](values []T) (all []any) {
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// Many events of a set cause one reconcile. A work that loses its label is noticed.
func TestEventsAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		events := manager.Concerns(setsOfWork).(handler.Funcs)
		with := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{kit.OwnerLabel: "apps.web"}}}
		var work, without client.Object = with, &workv1.ManifestWork{}
		for range 1000 {
			events.Create(t.Context(), event.CreateEvent{Object: work}, queue)
			events.Update(t.Context(), event.UpdateEvent{ObjectOld: work, ObjectNew: without}, queue)
			events.Delete(t.Context(), event.DeleteEvent{Object: work}, queue)
		}
		if got, _ := queue.Get(); got.NamespacedName != theSet {
			t.Errorf("%v is looked at", got)
		}
		if n := queue.Len(); n > 0 {
			t.Errorf("%d more", n)
		}
	})
}
