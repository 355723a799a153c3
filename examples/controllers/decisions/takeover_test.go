// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// takeOverLate starts a process whose caches are as stale as before.
func (h *hub) takeOverLate() {
	before := h.caches
	h.restart()
	h.caches = before
}

// A new leader has had running caches all along. They may not show yet a cluster that the leader before placed. That
// cluster must be in some decision at any time.
func TestProcessTakesOverWithCachesThatAreBehind(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a"})
	h.place(groupsOf(10))
	h.wrote("create 1, fill 1")
	before := h.caches
	behind := newStores()
	for _, each := range [][2]any{{before.placements, behind.placements}, {before.clusters, behind.clusters}, {before.sets, behind.sets}, {before.bindings, behind.bindings}} {
		h.must(each[1].(store).Replace(each[0].(store).List(), ""))
	}
	h.join("all", []string{"b"})
	h.wrote("fill 1")

	h.caches = behind
	h.takeOverLate()
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("")
	if got := h.decisions(); got != "1: a b" {
		t.Error(got)
	}
}

type store interface {
	List() []any
	Replace([]any, string) error
}

// A cluster that the leader before removed from the decisions does not come back, even if the caches show it.
func TestProcessTakesOverWithAClusterThatIsGone(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(10))
	h.wrote("create 1, fill 1")
	h.must(h.server.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}}))
	h.takeOverLate()
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("fill 1")
}

// The wait for an object ends if the object is deleted before the caches show it.
func TestProcessAsksAgainForWhatNeverComes(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a"})
	h.place(groupsOf(10))
	h.wrote("create 1, fill 1")
	h.join("all", []string{"b"})
	h.takeOverLate()
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.must(h.server.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}}))
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("")
}
