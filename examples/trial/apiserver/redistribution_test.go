// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned/typed/cluster/v1beta1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

var (
	redistributions = flag.Int("redistributions", 2000, "how often the clusters are redistributed with RollingUpdate; a tenth of it with All")
	seed            = flag.Uint64("seed", 1, "of the redistributions and the faults")
)

// fleets is how many fleets are redistributed at the same time, each with its consumer. The first is large.
const fleets = 4

// tally is what the consumers have seen, for clusters that stayed selected.
type tally struct {
	rounds, kept, absent, recreated atomic.Int64

	several atomic.Int64 // rounds that end with a group of more than one object
}

// D5, D8 and the design document's success criterion: with RollingUpdate no child of a cluster that stays
// selected is ever deleted, whatever happens to the writer. With All the same harness sees children deleted, or
// it would prove nothing.
func TestChildrenSurviveRedistributions(t *testing.T) {
	rounds := *redistributions
	if testing.Short() {
		rounds = 100
	}
	t.Run("RollingUpdate", func(t *testing.T) {
		tally, counts := redistribute(t, "rolling", rounds, rolling)
		if tally.absent.Load() > 0 || tally.recreated.Load() > 0 {
			t.Errorf("clusters that stayed selected were absent %d times, their children deleted %d times", tally.absent.Load(), tally.recreated.Load())
		}
		if counts.conflicts.Load() == 0 || counts.refused.Load() == 0 || counts.lost.Load() == 0 || counts.slow.Load() == 0 || counts.crashes.Load() == 0 {
			t.Errorf("some fault was never injected: %v", counts)
		}
		if tally.several.Load() == 0 {
			t.Error("no group had more than one object")
		}
	})
	t.Run("All", func(t *testing.T) {
		tally, _ := redistribute(t, "all", max(rounds/10, 100), decisionupdate.UpdateStrategy{})
		if tally.absent.Load() == 0 || tally.recreated.Load() == 0 {
			t.Error("no child was deleted, so this harness proves nothing")
		}
	})
}

func redistribute(t *testing.T, name string, rounds int, strategy decisionupdate.UpdateStrategy) (*tally, *counts) {
	var tally tally
	var counts counts
	start := time.Now()
	var group sync.WaitGroup
	for i := range fleets {
		sizes := small()
		if i == 0 {
			sizes = large()
		}
		w := newWriter(t, fmt.Sprintf("%s-%d", name, i), sizes, strategy, *seed+uint64(i))
		w.counts, w.tally, w.often = &counts, &tally, 40
		group.Go(func() {
			for range rounds / fleets {
				w.round(t)
			}
		})
	}
	group.Wait()
	t.Logf("%s: %d redistributions in %v (%v)", name, tally.rounds.Load(), time.Since(start).Round(time.Second), &counts)
	t.Logf("%s: after %d of them some group had more than one object", name, tally.several.Load())
	t.Logf("%s: %d times a cluster stayed selected; %d times it was in no PlacementDecision, %d times its child was deleted",
		name, tally.kept.Load(), tally.absent.Load(), tally.recreated.Load())
	return &tally, &counts
}

// writer is the controller that keeps the PlacementDecisions of a fleet.
type writer struct {
	*fleet
	consumer *consumer
	client   clusterclient.PlacementDecisionInterface
	strategy decisionupdate.UpdateStrategy
	rng      *rand.Rand
	counts   *counts
	tally    *tally
	often    int

	children map[string]types.UID // by cluster, after the last round
}

func newWriter(t *testing.T, namespace string, sizes sizes, strategy decisionupdate.UpdateStrategy, seed uint64) *writer {
	return &writer{
		fleet:    newFleet(namespace, sizes, seed),
		consumer: startConsumer(t, namespace),
		client:   clusters(t).ClusterV1beta1().PlacementDecisions(namespace),
		strategy: strategy,
		rng:      rand.New(rand.NewPCG(seed, 10)),
		counts:   new(counts), tally: new(tally),
	}
}

// list returns what is stored, from the server.
func (w *writer) list(t *testing.T) []*decision {
	t.Helper()
	list, err := w.client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return nil
	}
	var stored []*decision
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
	}
	return stored
}

// attempt makes an update from what is stored and applies it with a writer that crashes after so many requests, if
// not negative. Where groups are steady, only an object with an index that changes while it gains and loses clusters may show one in a wrong
// group (D7).
func (w *writer) attempt(t *testing.T, stored, desired []*decision, crash int, strategy decisionupdate.UpdateStrategy) error {
	update, err := decisionupdate.Diff(stored, desired, strategy)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, m := range update.Misplaced {
		if w.steady && !exchanges(m.Object, stored, desired) {
			t.Errorf("groups are steady, yet %v", m)
		}
	}
	client := &faults{Client: w.client, counts: w.counts, rng: w.rng, left: crash, often: w.often}
	_, err = decisionupdate.Applier{Client: client, Parallel: 1 + w.rng.IntN(4)}.Apply(t.Context(), update)
	return err
}

// exchanges says whether an object changes the index of its group, and no name, while it gains clusters and loses others.
func exchanges(object string, stored, desired []*decision) bool {
	clusters := func(d *decision) map[string]bool {
		names := map[string]bool{}
		for _, c := range d.Status.Decisions {
			names[c.ClusterName] = true
		}
		return names
	}
	named := func(d *decision) bool { return d.Name == object }
	was, is := stored[slices.IndexFunc(stored, named)], desired[slices.IndexFunc(desired, named)]
	before, after := clusters(was), clusters(is)
	gains, loses := false, false
	for c := range after {
		gains = gains || !before[c]
	}
	for c := range before {
		loses = loses || !after[c]
	}
	const index, name = clusterv1beta1.DecisionGroupIndexLabel, clusterv1beta1.DecisionGroupNameLabel
	return gains && loses && was.Labels[name] == is.Labels[name] && was.Labels[index] != is.Labels[index]
}

// round changes the fleet until an update is carried out to its end, lets the consumer settle, and compares its
// children with the children of the round before. After a failure, or a crash, it begins again towards the same state
// or changes the fleet again.
func (w *writer) round(t *testing.T) {
	stay := map[string]types.UID{}
	for cluster, uid := range w.children {
		stay[cluster] = uid
	}
	for again := false; ; again = true {
		if !again || w.rng.IntN(3) == 0 {
			w.change()
		}
		stored := w.list(t)
		desired := w.desired(t, stored)
		for cluster := range stay {
			if !w.selected[cluster] {
				delete(stay, cluster)
			}
		}
		crash := -1
		if w.rng.IntN(3) == 0 {
			crash = w.rng.IntN(12)
		}
		err := w.attempt(t, stored, desired, crash, w.drawn())
		if err == nil {
			if several(desired) {
				w.tally.several.Add(1)
			}
			break
		}
	}
	w.compare(t, stay)
}

// drawn draws one of the ways to carry out RollingUpdate. All ignores them.
func (w *writer) drawn() decisionupdate.UpdateStrategy {
	strategy := w.strategy
	switch w.rng.IntN(5) {
	case 0:
		strategy.SurgeAndFinalize = true
	case 1:
		strategy.MaxSteps = 2
	case 2:
		strategy.MaxSteps = 3
	}
	return strategy
}

// compare lets the consumer settle and counts what has happened to the clusters that stayed selected all the
// time.
func (w *writer) compare(t *testing.T, stay map[string]types.UID) {
	w.children = w.consumer.settle(t, w.list(t))
	absent, deleted := w.consumer.sinceLast()
	w.tally.rounds.Add(1)
	for cluster, uid := range stay {
		w.tally.kept.Add(1)
		w.tally.absent.Add(int64(absent[cluster]))
		if w.children[cluster] != uid || deleted[cluster] > 0 {
			w.tally.recreated.Add(1)
		}
	}
}
