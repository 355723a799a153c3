// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// twentyWrites returns three states of twelve to sixteen objects. From the first to the second it takes twenty
// writes: circles, a chain, creates, deletes, and clusters that come and go.
func twentyWrites(namespace string) (first, second, third []*decision) {
	state := func(index func(name string) string, objects map[string][]string) []*decision {
		var all []*decision
		for name, clusters := range objects {
			for i := range clusters {
				clusters[i] = namespace + "-" + clusters[i]
			}
			o := pd(name, index(name), clusters...)
			o.Namespace = namespace
			all = append(all, o)
		}
		return all
	}
	steady := func(name string) string { return fmt.Sprint(len(name) - 2) }
	first = state(steady, map[string][]string{
		"d1": {"a1", "a2"}, "d2": {"b1", "b2"}, "d3": {"c1", "c2"}, "d4": {"d1", "d2"}, "d5": {"e1", "e2"}, "d6": {"f1", "f2"},
		"d7": {"g1", "g2"}, "d8": {"h1", "h2"}, "d9": {"i1", "i2"}, "d10": {"j1", "j2"}, "d11": {"k1", "k2"}, "d12": {"l1", "l2"},
		"d13": {"m1", "m2"}, "d14": {"n1", "n2", "n3"},
	})
	second = state(steady, map[string][]string{
		"d1": {"a2", "b1"}, "d2": {"b2", "a1"}, "d3": {"c2", "e1"}, "d4": {"c1", "d2"}, "d5": {"e2", "d1"},
		"d6": {"f1", "new1"}, "d7": {"f2", "g1"}, "d8": {"g2", "h1"}, "d9": {"h2", "i1"},
		"d10": {"j1", "j2", "i2", "n1"}, "d11": {"k1", "k2", "n2"}, "d12": {"l2", "m1"},
		"d15": {"m2", "k9"}, "d16": {"new2"}, "d17": {"n3"}, "d18": {"new3"},
	})
	third = state(steady, map[string][]string{
		"d2": {"a1", "a2", "b1", "b2"}, "d5": {"c1", "d1", "e1", "f1"}, "d9": {"c2", "d2", "e2", "f2", "g1"},
		"d13": {"g2", "h1", "i1", "n1", "n3"}, "d19": {"h2", "i2", "m2"},
	})
	return first, second, third
}

// D8: on a real API server, watched by a real consumer: the writer crashes after every single request of an update
// of twenty writes, in turn, and begins again towards the same state or another one.
func TestCrashAtEverySinglePointOfTwentyWrites(t *testing.T) {
	w := newWriter(t, "crash", small(), rolling, 20)
	first, second, third := twentyWrites("crash")
	update, err := decisionupdate.Diff(first, second, rolling)
	if err != nil || update.Writes() != 20 {
		t.Fatalf("%d writes, want 20: %v\n%s", update.Writes(), err, update)
	}
	points := 0
	for crashed := true; crashed; points++ {
		next := second
		if points%2 == 1 {
			next = third
		}
		mustAttempt(t, w, first)
		w.children = w.consumer.settle(t, w.list(t))
		w.consumer.sinceLast()

		err := w.attempt(t, w.list(t), second, points, w.strategy)
		if crashed = errors.Is(err, errCrashed); !crashed && err != nil {
			t.Fatal(err)
		}
		mustAttempt(t, w, next)

		stay := maps.Clone(w.children)
		always := map[string]int{}
		for _, state := range [][]*decision{second, next} {
			for _, o := range state {
				for _, cluster := range namesIn(o) {
					always[cluster]++
				}
			}
		}
		for cluster := range stay {
			if always[cluster] != 2 {
				delete(stay, cluster)
			}
		}
		w.compare(t, stay)
		if n := w.tally.absent.Load() + w.tally.recreated.Load(); n > 0 {
			t.Fatalf("crash after %d requests: %d clusters absent, %d children deleted", points, w.tally.absent.Load(), w.tally.recreated.Load())
		}
	}
	t.Logf("crashed after each of the first %d requests; %d times a cluster stayed selected and kept its child", points-1, w.tally.kept.Load())
}

func mustAttempt(t *testing.T, w *writer, desired []*decision) {
	t.Helper()
	if err := w.attempt(t, w.list(t), desired, -1, w.strategy); err != nil {
		t.Fatal(err)
	}
}
