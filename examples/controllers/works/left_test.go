// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// failing has a failed with the version, and one other cluster. One may be in flight.
func failing(t *testing.T) *hub {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.answer(status.Failed, "a")
	h.wrote("")
	return h
}

// left are the clusters in the record of the set.
func (h *hub) left() (clusters []string) {
	h.t.Helper()
	records, err := status.RecordsOf(h.set())
	h.must(err)
	for _, left := range records["prod"].Deselected {
		clusters = append(clusters, left.Cluster)
	}
	return clusters
}

func (h *hub) annotate(key, value string) {
	h.t.Helper()
	set := h.set()
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, key, value)
	h.must(h.server.Update(h.t.Context(), set))
}

// R46, R48: a failed cluster that is deselected is recorded before its work is deleted. It stops the rollout after its work
// is gone, and after a restart.
func TestAFailedDeselectedClusterCountsWithoutItsWork(t *testing.T) {
	h := failing(t)
	h.place("prod", "b")
	h.wrote("")
	if got := h.left(); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("the record has %v", got)
	}
	h.wrote("")
	h.clock = h.clock.Add(grace)
	h.wrote("delete a")
	for range 3 {
		h.wrote("")
		h.restart()
		h.clock = h.clock.Add(time.Hour)
	}
	for _, c := range h.set().Status.Conditions {
		if c.Type == workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut && (c.Status == metav1.ConditionTrue || !strings.Contains(c.Message, "a (deselected)")) {
			t.Errorf("%s %s: %s", c.Type, c.Status, c.Message)
		}
	}
}

// R48: nothing is deleted until the record is stored.
func TestNothingIsDeletedBeforeTheRecordIsStored(t *testing.T) {
	h := failing(t)
	h.place("prod", "b")
	h.wrote("") // stored, and the grace begins
	set := h.set()
	delete(set.Annotations, "cohort.open-cluster-management.io/left")
	h.must(h.server.Update(t.Context(), set))
	h.clock = h.clock.Add(grace)
	h.wrote("") // the record is stored again
	h.wrote("delete a")
}

// R50: the last placement removes a cluster that the first one has to record. Until both records are stored, nothing is
// deleted.
func TestNothingIsDeletedBeforeTheRecordsOfAllPlacementsAreStored(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.place("edge", "x")
	h.create(ref("prod", atATime(1)), ref("edge", clusterv1alpha1.RolloutStrategy{}))
	h.wrote("create a, create x")
	h.answer(status.Failed, "a")
	h.answer(status.Succeeded, "x")
	h.wrote("")
	h.place("prod", "b")
	h.wrote("") // stored, and the grace begins
	h.clock = h.clock.Add(grace)
	set := h.set()
	delete(set.Annotations, "cohort.open-cluster-management.io/left")
	h.must(h.server.Update(t.Context(), set))
	h.catchUp()
	h.annotate("another", "write") // a write that the cache does not show
	if wrote, _, err := h.look(); wrote != "" || !apierrors.IsConflict(err) {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	h.wrote("delete a")
	if got := h.left(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the record has %v", got)
	}
}

// R37: an operator ignores a cluster by name.
func TestAnIgnoredClusterCountsNoMore(t *testing.T) {
	h := failing(t)
	h.place("prod", "b")
	h.wrote("")
	h.annotate(ignoreAnnotation, " x, a ")
	h.wrote("create b")
	if got := h.left(); got != nil {
		t.Errorf("the record still has %v", got)
	}
}

// R37: deleting the ManagedCluster ignores the cluster. The namespace with the work is deleted with it.
func TestAClusterWithoutManagedClusterIsIgnored(t *testing.T) {
	h := failing(t)
	h.place("prod", "b")
	h.wrote("")
	h.wrote("")
	h.must(h.server.Delete(t.Context(), h.work("a")))
	h.wrote("")
	h.must(h.server.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("create b")
}

// A work may outlast its ManagedCluster. The cluster stays ignored meanwhile.
func TestAClusterWithoutManagedClusterStaysIgnored(t *testing.T) {
	h := failing(t)
	work := h.work("a")
	work.Finalizers = []string{"agent"}
	h.must(h.server.Update(t.Context(), work))
	h.place("prod", "b")
	h.wrote("") // stored, and the grace begins
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("delete a")
	h.must(h.server.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("create b")
	for range 4 {
		h.clock = h.clock.Add(writes.Patience)
		h.wrote("")
		if got := h.left(); got != nil {
			t.Fatalf("the record has %v again", got)
		}
	}
}

// R5, R46: a deselected cluster's agent reports while the work hangs in deletion, and is cut off before it removes its
// finalizer. The first answer is recorded. Otherwise the soak would begin anew at each reconcile, and block the other
// clusters for as long as the work hangs.
func TestFirstAnswerOfAWorkThatHangsIsNoted(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	soaking := atATime(1)
	soaking.Progressive.MinSuccessTime.Duration = time.Minute
	h.create(ref("prod", soaking))
	h.wrote("create a")
	work := h.work("a")
	work.Finalizers = []string{"agent"}
	h.must(h.server.Update(t.Context(), work))
	h.place("prod", "b")
	h.wrote("")
	h.clock = h.clock.Add(grace)
	h.wrote("delete a")
	h.answer(status.Succeeded, "a")
	h.wrote("update a") // its answer
	h.clock = h.clock.Add(59 * time.Second)
	h.wrote("")
	h.clock = h.clock.Add(time.Second)
	h.wrote("create b")
}

// An unreadable record stops the set, and an event says why: failed clusters must not be forgotten.
func TestARecordThatCannotBeReadStopsTheSet(t *testing.T) {
	h := failing(t)
	h.place("prod", "b")
	h.annotate("cohort.open-cluster-management.io/left", "{")
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || err == nil || !strings.Contains(err.Error(), "must be the JSON of records") {
		t.Errorf("wrote %q, %v", wrote, err)
	}
}

// R46: no event says that the ManagedCluster of a deselected cluster is deleted. While such a cluster counts, the
// controller requeues to look it up, even after a restart, and with a work that hangs.
func TestADeletedManagedClusterIsHeardInTime(t *testing.T) {
	for _, fails := range []bool{true, false} {
		h := newHub(t)
		h.place("prod", "a", "b")
		h.create(ref("prod", atATime(1)))
		h.wrote("create a")
		if fails {
			h.answer(status.Failed, "a")
			h.wrote("")
		} else {
			work := h.work("a")
			work.Finalizers = []string{"agent"} // a dead agent
			h.must(h.server.Update(t.Context(), work))
		}
		h.place("prod", "b")
		for range 3 { // recorded, then removed
			h.catchUp()
			_, _, err := h.look()
			h.must(err)
		}
		h.clock = h.clock.Add(grace)
		h.wrote("delete a")
		h.restart()
		h.must(h.server.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
		for looks := 0; ; looks++ {
			h.catchUp()
			wrote, result, err := h.look()
			h.must(err)
			if strings.Contains(wrote, "create b") {
				break
			}
			if result.RequeueAfter == 0 || result.RequeueAfter > time.Minute || looks == 5 {
				t.Errorf("fails %v: look %d wrote %q and comes back after %v; want b to get the work soon", fails, looks, wrote, result.RequeueAfter)
				break
			}
			h.clock = h.clock.Add(result.RequeueAfter)
		}
	}
}
