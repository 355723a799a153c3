// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

type pd = clusterv1beta1.PlacementDecision

var rolling = decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}

func object(name, group string, clusters ...string) *pd {
	o := &pd{}
	o.Namespace, o.Name = "default", name
	o.Labels = map[string]string{clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: group}
	for _, cluster := range clusters {
		o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return o
}

// divided puts clusters into full objects of one group.
func divided(clusters []int) []*pd {
	var objects []*pd
	for part := range slices.Chunk(clusters, grouping.MaxDecisions) {
		o := object(fmt.Sprintf("web-decision-%d", len(objects)+1), "0")
		for _, c := range part {
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%04d", c)})
		}
		objects = append(objects, o)
	}
	return objects
}

func numbers(first, last int) []int {
	var all []int
	for i := first; i <= last; i++ {
		all = append(all, i)
	}
	return all
}

// site is a hub with the objects of one placement. It keeps each state of each object, and counts what its readers meet.
type site struct {
	objects map[string]*pd
	states  map[string][]*pd // by name: all states since the beginning; nil is none
	in      map[string]int   // by cluster: in how many objects
	stays   map[string]bool  // clusters that are always selected
	absent  []string         // clusters of these that were in no object
	refused int              // writes of more than 100 clusters
}

func newSite(objects []*pd, stays map[string]bool) *site {
	s := &site{objects: map[string]*pd{}, states: map[string][]*pd{}, in: map[string]int{}, stays: stays}
	for _, o := range objects {
		s.put(o.Name, o)
	}
	return s
}

// put stores an object; nil deletes it. A custom resource of SIG Multicluster refuses more than 100 clusters.
func (s *site) put(name string, o *pd) {
	if o != nil && len(o.Status.Decisions) > grouping.MaxDecisions {
		s.refused++
	}
	before := s.objects[name]
	if o == nil {
		delete(s.objects, name)
	} else {
		s.objects[name] = o
		for _, d := range o.Status.Decisions {
			s.in[d.ClusterName]++
		}
	}
	s.states[name] = append(s.states[name], o)
	if before == nil {
		return
	}
	for _, d := range before.Status.Decisions {
		if s.in[d.ClusterName]--; s.in[d.ClusterName] == 0 && s.stays[d.ClusterName] {
			s.absent = append(s.absent, d.ClusterName)
		}
	}
}

func (s *site) list() []*pd { return slices.Collect(maps.Values(s.objects)) }

// request is one request of a write: a create drops the clusters, labels and clusters are written apart.
type request struct {
	write decisionupdate.Write
	part  int
}

func (s *site) do(r request) {
	if r.write.Verb == decisionupdate.VerbDelete {
		s.put(r.write.Name(), nil)
		return
	}
	o := &pd{ObjectMeta: r.write.To.ObjectMeta}
	if before := s.objects[r.write.Name()]; before != nil {
		o.Labels, o.Status = before.Labels, before.Status
	}
	if r.write.Verb != decisionupdate.VerbCreate || r.part > 0 {
		if r.write.Parts[r.part] == decisionupdate.PartLabels {
			o.Labels = r.write.To.Labels
		} else {
			o.Status = r.write.To.Status
		}
	} else {
		o.Labels = r.write.To.Labels
	}
	s.put(o.Name, o)
}

// requests returns the requests of a step in some order.
func requests(step decisionupdate.Step, rng *rand.Rand) []request {
	var all []request
	next := make([]int, len(step))
	for open := rng.Perm(len(step)); len(open) > 0; {
		i := rng.IntN(len(open))
		w := open[i]
		all = append(all, request{step[w], next[w]})
		if next[w]++; next[w] >= len(step[w].Parts) {
			open = slices.Delete(open, i, i+1)
		}
	}
	return all
}

// follower copies object by object, in any order and as late as it likes: any state that it has not skipped yet.
type follower struct {
	from, to *site
	copied   map[string]int // by name: how many states it knows
	rng      *rand.Rand
}

func newFollower(from *site, rng *rand.Rand) *follower {
	f := &follower{from: from, to: newSite(from.list(), from.stays), copied: map[string]int{}, rng: rng}
	for name, states := range from.states {
		f.copied[name] = len(states)
	}
	return f
}

// copy copies one object that has changed, and reports whether there was one.
func (f *follower) copy() bool {
	var dirty []string
	for _, name := range slices.Sorted(maps.Keys(f.from.states)) {
		if f.copied[name] < len(f.from.states[name]) {
			dirty = append(dirty, name)
		}
	}
	if len(dirty) == 0 {
		return false
	}
	name := dirty[f.rng.IntN(len(dirty))]
	states := f.from.states[name]
	f.copied[name] += 1 + f.rng.IntN(len(states)-f.copied[name])
	f.to.put(name, states[f.copied[name]-1])
	return true
}

// change is one of the changes that the issue measures.
type change struct {
	name            string
	stored, desired []*pd
}

func changes(rng *rand.Rand) []change {
	swapped := numbers(1, 200)
	swapped[0], swapped[150] = swapped[150], swapped[0]
	shuffled := numbers(1, 1000)
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return []change{
		{"ten full objects shift by one", divided(numbers(1, 1000)), divided(numbers(2, 1001))},
		{"two full objects swap a cluster", divided(numbers(1, 200)), divided(swapped)},
		{"1000 clusters are shuffled", divided(numbers(1, 1000)), divided(shuffled)},
	}
}

// stayOf returns the clusters that are in both.
func stayOf(stored, desired []*pd) map[string]bool {
	before, stays := map[string]bool{}, map[string]bool{}
	for _, o := range stored {
		for _, d := range o.Status.Decisions {
			before[d.ClusterName] = true
		}
	}
	for _, o := range desired {
		for _, d := range o.Status.Decisions {
			if before[d.ClusterName] {
				stays[d.ClusterName] = true
			}
		}
	}
	return stays
}

func mustDiff(t testing.TB, stored, desired []*pd) decisionupdate.Update {
	t.Helper()
	update, err := decisionupdate.Diff(stored, desired, rolling)
	if err != nil {
		t.Fatal(err)
	}
	return update
}

// inPlace is an update as the library planned it before it knew a limit: unions, then what is desired.
func inPlace(stored, desired []*pd) []map[string]*pd {
	union, last := map[string]*pd{}, map[string]*pd{}
	for i, o := range desired {
		both, has := o.DeepCopy(), map[string]bool{}
		for _, d := range o.Status.Decisions {
			has[d.ClusterName] = true
		}
		for _, d := range stored[i].Status.Decisions {
			if !has[d.ClusterName] {
				both.Status.Decisions = append(both.Status.Decisions, d)
			}
		}
		union[o.Name], last[o.Name] = both, o
	}
	return []map[string]*pd{union, last}
}
