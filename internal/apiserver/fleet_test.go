package apiserver_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// sizes keep the fleets of the tests small, so that there are many redistributions a second. What moves is as
// with 100 clusters an object.
type sizes struct {
	clusters  int // that there are; between none and all of them are selected
	perObject int // clusters in one PlacementDecision
}

// fleet is a placement whose selection changes at random.
type fleet struct {
	namespace string
	sizes     sizes
	rng       *rand.Rand

	selected map[string]bool
	canary   map[string]bool // clusters that the selector of the first group matches
	perGroup int             // clustersPerDecisionGroup
	steady   bool            // names of objects stay with their group
}

func newFleet(namespace string, sizes sizes, seed uint64) *fleet {
	f := &fleet{namespace: namespace, sizes: sizes, rng: rand.New(rand.NewPCG(seed, 4)), selected: map[string]bool{}, canary: map[string]bool{}, perGroup: sizes.clusters}
	for i := range sizes.clusters / 2 {
		f.selected[f.cluster(2*i)] = true
	}
	return f
}

// cluster returns the name of a cluster, which no other fleet has.
func (f *fleet) cluster(i int) string { return fmt.Sprintf("%s-c%03d", f.namespace, i) }

// change adds and removes clusters, or changes the groups' size, the selector or the way of naming objects.
func (f *fleet) change() {
	some := func(set map[string]bool) {
		for range 1 + f.rng.IntN(3) {
			c := f.cluster(f.rng.IntN(f.sizes.clusters))
			if set[c] {
				delete(set, c)
			} else {
				set[c] = true
			}
		}
	}
	switch f.rng.IntN(8) {
	case 0:
		f.perGroup = 1 + f.rng.IntN(f.sizes.clusters)
	case 1:
		some(f.canary)
	case 2:
		f.steady = !f.steady
	default:
		some(f.selected)
	}
}

// desired returns the PlacementDecisions for the selected clusters: those of the canary group first, then the
// others, each in groups of at most perGroup and objects of at most perObject clusters. It stands in for the
// package grouping.
func (f *fleet) desired(stored []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	var canary, rest []string
	for _, c := range slices.Sorted(maps.Keys(f.selected)) {
		if f.canary[c] {
			canary = append(canary, c)
		} else {
			rest = append(rest, c)
		}
	}
	var objects []*clusterv1beta1.PlacementDecision
	group := 0
	add := func(name string, clusters []string) {
		for part := range slices.Chunk(clusters, f.perGroup) {
			for slice := range slices.Chunk(part, f.sizes.perObject) {
				objects = append(objects, f.object(strconv.Itoa(group), name, slice))
			}
			group++
		}
	}
	add("canary", canary)
	add("", rest)
	if len(objects) == 0 {
		objects = append(objects, f.object("0", "", nil))
	}
	if f.steady {
		steadyNames(objects, stored)
	} else {
		for i, o := range objects {
			o.Name = fmt.Sprintf("web-decision-%d", i+1)
		}
	}
	return objects
}

func (f *fleet) object(index, name string, clusters []string) *clusterv1beta1.PlacementDecision {
	o := pd("", index, clusters...)
	o.Namespace = f.namespace
	o.Labels[clusterv1beta1.DecisionGroupNameLabel] = name
	return o
}

// steadyNames gives each object the name of the stored one of its group that it has most clusters in common
// with, or an unused name.
func steadyNames(objects, stored []*clusterv1beta1.PlacementDecision) {
	taken := map[string]bool{}
	for _, s := range stored {
		taken[s.Name] = true
	}
	given := map[string]bool{}
	next := 1
	for _, o := range objects {
		most := -1
		for _, s := range stored {
			if given[s.Name] || !maps.Equal(s.Labels, o.Labels) {
				continue
			}
			if n := common(s, o); n > most || n == most && s.Name < o.Name {
				most, o.Name = n, s.Name
			}
		}
		for most < 0 && (o.Name == "" || taken[o.Name]) {
			o.Name = fmt.Sprintf("web-decision-%d", next)
			next++
		}
		taken[o.Name], given[o.Name] = true, true
	}
}

func common(a, b *clusterv1beta1.PlacementDecision) int {
	n := 0
	for _, d := range a.Status.Decisions {
		if slices.ContainsFunc(b.Status.Decisions, func(e clusterv1beta1.ClusterDecision) bool { return e.ClusterName == d.ClusterName }) {
			n++
		}
	}
	return n
}
