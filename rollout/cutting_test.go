// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// fate is what a version does to a cluster that got it: it cuts the cluster off, or says what it stands at after a while.
type fate func(cluster string, since time.Duration) (says status.RolloutStatus, cutOff bool)

// cutsOff kills the agent of each cluster.
func cutsOff(string, time.Duration) (status.RolloutStatus, bool) { return status.ToApply, true }

// cutting is a play: a version, a fleet, a scheduler that drops clusters which it cannot reach, and a controller that does as it is told.
type cutting struct {
	strategy clusterv1alpha1.RolloutStrategy
	options  rollout.Options
	fate     fate
	atOnce   bool // objects go at once; otherwise those of dead agents stay
	dropped  time.Duration
	restarts bool                                              // the controller remembers nothing but the record
	divide   func(selected []string) map[grouping.Key][]string // cuts the groups anew at each step; nil: one group

	now     time.Time
	fleet   []string
	works   map[string]time.Time // when each cluster's object got the version
	got     map[string]bool      // which clusters ever got it
	starts  int
	deleted map[string]bool // whose object is being deleted
	record  status.Record
	last    *rollout.Result
	breach  bool
}

func newCutting(n int, strategy clusterv1alpha1.RolloutStrategy, f fate, options rollout.Options) *cutting {
	h := &cutting{
		strategy: strategy, options: options, fate: f, dropped: 5 * time.Minute, now: now,
		works: map[string]time.Time{}, got: map[string]bool{}, deleted: map[string]bool{},
	}
	for i := range n {
		h.fleet = append(h.fleet, fmt.Sprintf("c%02d", i))
	}
	return h
}

// selected are the clusters that the scheduler can reach.
func (h *cutting) selected() []string {
	return slices.DeleteFunc(slices.Clone(h.fleet), func(cluster string) bool {
		since, has := h.works[cluster]
		_, cut := h.fate(cluster, h.now.Sub(since))
		gone := h.got[cluster] && !has && h.atOnce // its replica is gone, and it is as dead as before
		_, dead := h.fate(cluster, 0)
		return has && cut && h.now.Sub(since) >= h.dropped || gone && dead
	})
}

// groups are the current groups.
func (h *cutting) groups(t fataler) *grouping.Groups {
	cut := map[grouping.Key][]string{{}: h.selected()}
	if h.divide != nil {
		cut = h.divide(h.selected())
	}
	groups, err := grouping.FromNames(cut)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// step is a call of the controller, which carries out what it is told.
func (h *cutting) step(t fataler) *rollout.Result {
	groups := h.groups(t)
	var reports []status.Report
	for _, cluster := range slices.Sorted(maps.Keys(h.works)) {
		since := h.works[cluster]
		says, _ := h.fate(cluster, h.now.Sub(since))
		r := status.Report{Cluster: cluster, Status: says, Applied: since, Deleting: h.deleted[cluster]}
		if says != status.ToApply {
			r.LastTransitionTime = since
		}
		reports = append(reports, r)
	}
	last := h.last
	if h.restarts {
		last = nil
	}
	options := h.options
	options.Previous, options.StoredRecord = last, &rollout.StoredRecord{Version: "v2", Record: h.record, AtOnce: h.atOnce}
	r, err := rollout.Plan(h.strategy, groups, reports, h.now, options)
	if err != nil {
		t.Fatal(err)
	}
	h.last = r
	owner := &metav1.ObjectMeta{}
	if _, err := (status.Records{"": r.Record}).Note(owner); err != nil {
		t.Fatal(err)
	}
	stored, err := status.RecordsOf(owner)
	if err != nil {
		t.Fatal(err)
	}
	h.record = stored[""]
	h.breach = h.breach || r.Breach != nil
	for _, cluster := range r.Removed {
		if _, cut := h.fate(cluster, h.now.Sub(h.works[cluster])); cut && !h.atOnce {
			h.deleted[cluster] = true // no agent removes its finalizer
		} else {
			delete(h.works, cluster)
			delete(h.deleted, cluster)
		}
	}
	for _, c := range r.Start {
		h.works[c.Name], h.got[c.Name] = h.now, true
		h.starts++
	}
	return r
}

// play goes on for a while, in steps of half a minute.
func (h *cutting) play(t fataler, d time.Duration) (last *rollout.Result) {
	for end := h.now.Add(d); h.now.Before(end); h.now = h.now.Add(30 * time.Second) {
		last = h.step(t)
	}
	return last
}

// both plays with objects that stay and with objects that go at once, with a controller that remembers and one that restarts
// before each step.
func both(t *testing.T, test func(t *testing.T, atOnce, restarts bool)) {
	for _, atOnce := range []bool{false, true} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("at once %v, restarts %v", atOnce, restarts), func(t *testing.T) { test(t, atOnce, restarts) })
		}
	}
}
