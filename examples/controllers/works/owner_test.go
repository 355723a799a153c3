package main

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A set whose works could not have its label gets no work, and says so once in its status. It is let go when it is deleted, also
// with the finalizer of a controller before.
func TestANameThatIsTooLong(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	set := &workv1alpha1.ManifestWorkReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: theSet.Namespace, Name: strings.Repeat("x", 59), Generation: 1},
	}
	set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{ref("prod", atATime(1))}
	set.Spec.ManifestWorkTemplate = template("one")
	h.must(h.server.Create(t.Context(), set))
	key := client.ObjectKeyFromObject(set)
	look := func() error {
		h.catchUp()
		h.writes = nil
		_, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
		if len(h.writes) > 0 {
			t.Errorf("wrote %v", h.writes)
		}
		return err
	}
	for i := range 2 {
		if err := look(); err == nil || !strings.Contains(err.Error(), "metadata.name") {
			t.Fatalf("it says %v", err)
		}
		version := set.ResourceVersion
		h.must(h.server.Get(t.Context(), key, set))
		c := meta.FindStatusCondition(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied)
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != "InvalidManifestWorkName" || len(set.Finalizers) > 0 {
			t.Fatalf("finalizers %v, condition %+v", set.Finalizers, c)
		}
		if told := h.events(); len(told) != 1 || !strings.Contains(told[0], "Warning Invalid") {
			t.Errorf("told %q", told)
		}
		if i == 1 && set.ResourceVersion != version {
			t.Error("the status was written again")
		}
		h.clock = h.clock.Add(time.Hour)
	}

	set.Finalizers = []string{finalizer}
	h.must(h.server.Update(t.Context(), set))
	h.must(h.server.Delete(t.Context(), set))
	h.must(look())
	if err := client.IgnoreNotFound(h.server.Get(t.Context(), key, set)); err != nil || len(set.Finalizers) > 0 && !set.DeletionTimestamp.IsZero() {
		t.Errorf("it stays, %v", err)
	}
}
