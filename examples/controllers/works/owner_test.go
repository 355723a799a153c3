// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/status"
)

// A set whose name is too long for its works' label gets no work, and its status says so once. When it is deleted, a
// finalizer of an earlier controller is removed.
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

// A set takes over works that another controller wrote, without stamps and under other names. Works that equal the template
// have the version: no cluster starts, no work is written, and no soak begins anew, even in mid-rollout. That holds for the
// labels that OCM writes today, and for those of ocm#1684.
func TestTheDayOfTheSwitch(t *testing.T) {
	for name, labelled := range map[string]func(*workv1.ManifestWork){
		"as today": func(*workv1.ManifestWork) {},
		"with the hash": func(work *workv1.ManifestWork) {
			delete(work.Labels, kit.OwnerLabel)
			work.Labels["work.open-cluster-management.io/ownerkey-hash"] = "0123456789abcdef0123456789abcdef"
			work.Annotations = map[string]string{"work.open-cluster-management.io/manifestworkreplicaset-owner": theSet.String()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			clusters := []string{"a", "b", "c", "d", "e"}
			h.place("prod", clusters...)
			strategy := atATime(2)
			strategy.Progressive.MinSuccessTime.Duration = 10 * grace
			h.create(ref("prod", strategy))
			for i, cluster := range clusters {
				work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
					Namespace: cluster, Name: "web-x7k2p", Generation: 1, CreationTimestamp: metav1.NewTime(h.clock),
					Labels: map[string]string{kit.OwnerLabel: "apps.web", placementLabel: "prod"},
				}, Spec: template("one")}
				if i >= 3 {
					work.Spec = template("zero")
				}
				labelled(work)
				h.must(h.server.Create(t.Context(), work))
			}
			h.answer(status.Succeeded, clusters...)
			h.clock = h.clock.Add(9 * grace)
			h.wrote("") // a, b and c soak; d and e wait
			h.clock = h.clock.Add(2 * grace)
			h.restart()
			h.wrote("update d, update e") // the soak of a, b and c is over, and did not begin anew
			h.answer(status.Succeeded, "d", "e")
			h.wrote("update d, update e") // with the time of their success, from which the soak runs
			h.clock = h.clock.Add(11 * grace)
			h.wrote("")
			for _, cluster := range clusters[:3] {
				if work := h.work(cluster); status.StampOf(work).Version != "" || work.Generation != 1 {
					t.Errorf("%s was written: %v", cluster, work.ObjectMeta)
				}
			}

			// With another template each work is written in its turn, and gets this controller's label.
			h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
			h.wrote("update a, update b")
			if work := h.work("a"); work.Name != "web-x7k2p" || work.Labels[kit.OwnerLabel] != "apps.web" {
				t.Errorf("a's work is %s with %v", work.Name, work.Labels)
			}
		})
	}
}
