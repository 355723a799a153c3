// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// otherKind is an owner with the set's namespace and name, of another kind.
func otherKind() writes.Owner {
	return writes.Owner{
		Kind:   schema.GroupKind{Group: "fleet.example.com", Kind: "FleetConfig"},
		Object: &metav1.ObjectMeta{Namespace: theSet.Namespace, Name: theSet.Name, UID: "the config"},
		Labels: map[string]string{"fleet.example.com/config": "apps.web"},
	}
}

// W17: the work of another kind of owner is not touched, whatever its name and labels. The cluster gets another work, and
// an event tells it once.
func TestWorksOfAnotherKindAreLeftAlone(t *testing.T) {
	for _, labelled := range []bool{false, true} {
		h := newHub(t)
		h.place("prod", "a", "b")
		h.create(ref("prod", atATime(2)))
		owner, _ := kit.Owner(h.set(), nil, nil)
		there := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: writes.NameOf[*work](owner), UID: "1", Generation: 1}}
		otherKind().NoteOn(there)
		if labelled {
			there.Labels[kit.OwnerLabel] = "apps.web"
		}
		h.must(h.server.Create(t.Context(), there))
		h.wrote("create a, create b")
		h.wrote("")
		told := slices.DeleteFunc(h.events(), func(e string) bool { return !strings.Contains(e, "ForeignObject") })
		if len(told) != 1 || !strings.Contains(told[0], "a: "+there.Name+" belongs to FleetConfig.fleet.example.com/apps/web/the config, and is left alone") {
			t.Errorf("told %q", told)
		}
		h.must(h.server.Delete(t.Context(), h.set()))
		h.wrote("delete a, delete b")
		if left := h.work("a"); left.Name != there.Name || left.Annotations["cohort.open-cluster-management.io/version"] != "" {
			t.Errorf("left is %v", left.ObjectMeta)
		}
	}
}

// W17: the hub was restored, and the set has another UID than its works note. It takes them over, and creates none. A
// process that still has the earlier set touches no work of the later one.
func TestWorksOfAnEarlierSetGoOn(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)))
	h.wrote("create a, create b")
	earlier := h.set()
	before := h.work("a")
	h.must(h.server.Delete(t.Context(), h.set()))
	left := h.set()
	left.Finalizers = nil
	h.must(h.server.Update(t.Context(), left)) // by force
	h.create(ref("prod", atATime(2)))
	set := h.set()
	set.UID = "restored"
	h.must(h.server.Delete(t.Context(), h.set()))
	set.ResourceVersion = ""
	h.must(h.server.Create(t.Context(), set))
	h.restart()
	h.wrote("")
	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
	h.wrote("update a, update b")
	after := h.work("a")
	if after.Name != before.Name || !strings.HasSuffix(after.Annotations["cohort.open-cluster-management.io/owner"], "/apps/web/restored") {
		t.Errorf("the work is %v", after.ObjectMeta)
	}

	owner, err := kit.Owner(earlier, []*work{after}, func() (types.UID, error) { return h.set().UID, nil })
	if err != nil || owner.Has(after) {
		t.Errorf("the earlier set has the work of the later one, %v", err)
	}
}

// W15: works with names from before names depended on the kind keep them, and the cluster gets no second work.
func TestOldNamesStay(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)))
	there := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
		Namespace: "a", Name: "web-3184d5ed", UID: "1", Generation: 1, Labels: map[string]string{kit.OwnerLabel: "apps.web"},
	}}
	h.must(h.server.Create(t.Context(), there))
	h.wrote("create b, update a")
	if work := h.work("a"); work.Name != "web-3184d5ed" || work.Annotations["cohort.open-cluster-management.io/owner"] == "" {
		t.Errorf("the work is %v", work.ObjectMeta)
	}
	for _, cluster := range []string{"a", "b"} {
		h.must(client.IgnoreNotFound(h.server.Delete(t.Context(), h.work(cluster))))
	}
}
