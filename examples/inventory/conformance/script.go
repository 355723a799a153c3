// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/inventory/conformance/requirements"
	"github.com/cohort-ocm/cohort/grouping"
)

// step is a change of the source, in one or several consecutive updates.
type step struct {
	requirements.Step
	updates [][]part
	down    bool // stop the mirror meanwhile
	halfway bool // pause after the first step of the update
	plainly bool // write the objects one after the other, of any size
}

// part is an object of the source.
type part struct {
	group, number int
	clusters      []int
}

func (p part) name() string { return fmt.Sprintf("%s-%d-%d", placement, p.group, p.number) }

// divide splits clusters into full objects of a group.
func divide(group int, clusters []int) (parts []part) {
	for chunk := range slices.Chunk(clusters, grouping.MaxDecisions) {
		parts = append(parts, part{group, len(parts) + 1, chunk})
	}
	return parts
}

func numbers(first, last int) (all []int) {
	for i := first; i <= last; i++ {
		all = append(all, i)
	}
	return all
}

// script is the sequence of steps, each from the state of the one before. No deselected cluster is selected again. It
// begins with the fewest clusters, so that findings are small.
func script() []step {
	rng := rand.New(rand.NewPCG(5313, 0))
	shuffled := func(clusters []int) []int {
		clusters = slices.Clone(clusters)
		rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
		return clusters
	}
	of := func(first, second []int) []part { return append(divide(0, first), divide(1, second)...) }
	canaries := numbers(1001, 1050)
	shifted := numbers(100, 399)
	swapped := slices.Clone(shifted)
	swapped[0], swapped[150] = swapped[150], swapped[0]
	others := slices.Clone(canaries)
	swapped[299], others[0] = others[0], swapped[299]
	grown := append(shuffled(swapped), numbers(500, 649)...)
	shrunk := shuffled(grown[250:370])
	over := []part{{0, 1, shrunk[:101]}, {0, 2, nil}, {1, 1, nil}}
	burst := func(clusters []int, updates int) (all [][]part) {
		for range updates {
			all = append(all, of(shuffled(clusters), others))
		}
		return all
	}
	one := func(name string, parts []part) step {
		return step{Step: requirements.Step{Name: name}, updates: [][]part{parts}}
	}
	steps := []step{
		one("create", []part{{0, 1, []int{1}}, {0, 2, []int{2}}}),
		{Step: requirements.Step{Name: "swap while the mirror is down", Restart: true}, updates: [][]part{{{0, 1, []int{2}}, {0, 2, []int{1}}}}, down: true},
		one("replace", of(numbers(101, 400), canaries)),
		one("shift by one", of(shifted, canaries)),
		one("swap", of(swapped, others)),
		{Step: requirements.Step{Name: "shuffle"}, updates: burst(swapped, 5)},
		one("grow", of(grown, others)),
		one("halfway", of(shuffled(grown), others)),
		{Step: requirements.Step{Name: "restart", Restart: true}, updates: burst(grown, 3)},
		one("shrink", of(shrunk, others)),
		one("an object of 101", over),
		{Step: requirements.Step{Name: "delete", Delete: true}},
	}
	steps[7].halfway, steps[10].plainly = true, true
	return steps
}

func objects(namespace string, parts []part) []*clusterv1beta1.PlacementDecision {
	var all []*clusterv1beta1.PlacementDecision
	for _, p := range parts {
		o := &clusterv1beta1.PlacementDecision{}
		o.Namespace, o.Name = namespace, p.name()
		o.Labels = map[string]string{clusterv1beta1.PlacementLabel: placement, clusterv1beta1.DecisionGroupIndexLabel: fmt.Sprint(p.group)}
		o.Status.Decisions = []clusterv1beta1.ClusterDecision{} // the API requires a list
		for _, c := range p.clusters {
			o.Status.Decisions = append(o.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster(c)})
		}
		all = append(all, o)
	}
	return all
}

func cluster(number int) string { return fmt.Sprintf("cluster-%04d", number) }
