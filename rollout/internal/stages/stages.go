// SPDX-License-Identifier: Apache-2.0

// Package stages arranges the groups of a rollout in stages, and says which stage comes after which. It knows the keys of the groups and
// nothing else: no cluster, no state, no limit.
//
//	graph := stages.New(groups, stages.Layout{Mandatory: stages.NewMandatory(entries), Single: true})
//	for stage := range graph.Len() {
//		fmt.Println(graph.Groups(stage), "after", graph.DirectlyBefore(stage))
//	}
//
// Rules R9 to R12, R26, R33 and R44 say what it does.
package stages

import (
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
)

// Group is the place of a group among all groups, from 0, in the order of their index.
type Group int32

// Stage is the place of a stage among all stages, from 0. A stage stands behind all stages that it comes after.
type Stage int32

// None is no group, and no stage.
const None = -1

// Keys has the keys of the groups.
type Keys interface {
	Len() int
	Key(group int) grouping.Key
}

// Layout says how groups become stages.
type Layout struct {
	// Mandatory are the groups that come first, each a stage of its own.
	Mandatory Mandatory
	// Single says that each of the other groups is a stage of its own, too. Otherwise they are one stage, the pool.
	Single bool
	// Order is the order of the other groups, where each is a stage; nil for the order of their index.
	Order *Order
	// Reversed turns the order round, as a rollback needs it. Mandatory groups are then like any other: a part of the pool, or the last ones.
	Reversed bool
}

// IsPooled says whether all groups are one stage.
func (l *Layout) IsPooled() bool { return !l.Single && (l.Mandatory.isNone() || l.Reversed) }

// Graph has the groups in stages. It never changes. Every group is in exactly one stage, and a stage has at least one group.
//
// For example, the groups are 0 {a b}, 1 "canary" {c} and 2 {d}, and canary is mandatory. With a pool the stages are [1] [0 2], order is
// 1, 0, 2, stageOf is 1, 0, 1 and single is 1. Without a pool the stages are [1] [0] [2], stageOf is 1, 0, 2 and single is 3.
//
// A chain is a graph in which each stage comes after the one before it. It has no links.
type Graph struct {
	order     []Group // stage by stage
	stageOf   []Stage // of each group
	mandatory Stage   // how many stages are mandatory groups; they are the first
	single    Stage   // how many stages are a group each; they stand before the pool
	links     *links  // nil for a chain
}

// New arranges groups. It takes time linear in the groups, and in the names and pairs of an order; its page says more.
func New(keys Keys, layout Layout) Graph {
	var graph Graph
	graph.order, graph.mandatory = layout.split(keys)
	var edges edges
	if layout.isOrdered() {
		edges = arrange(keys, graph.order, int(graph.mandatory), layout.Order)
		graph.order = edges.order
	}
	if layout.Reversed {
		graph.mandatory, graph.order = 0, slices.Clone(graph.order)
	}
	if layout.Reversed && layout.Single { // a pool has its groups by their index
		slices.Reverse(graph.order)
	}
	if layout.Reversed && layout.isOrdered() {
		edges = edges.reverse()
	}
	if graph.single = graph.mandatory; layout.Single {
		graph.single = Stage(len(graph.order))
	}
	graph.stageOf = make([]Stage, len(graph.order))
	for i, group := range graph.order {
		graph.stageOf[group] = min(Stage(i), graph.single)
	}
	if layout.isOrdered() {
		graph.links = link(&edges, graph.stageOf)
	}
	return graph
}

func (l *Layout) isOrdered() bool { return l.Single && l.Order != nil }

// split lists the mandatory groups, of which it gives the number, and then the others, both by their index. A group without a known index
// comes first, unless all groups are one stage.
func (l *Layout) split(keys Keys) (order []Group, mandatory Stage) {
	n := keys.Len()
	order = make([]Group, 0, n)
	if l.IsPooled() {
		for group := range n {
			order = append(order, Group(group))
		}
		return order, 0
	}
	var others []Group
	for group := range n {
		if key := keys.Key(group); l.Mandatory.Has(key) || key.Index < 0 {
			order = append(order, Group(group))
		} else {
			others = append(others, Group(group))
		}
	}
	return append(order, others...), Stage(len(order))
}

// Len is the number of stages.
func (g *Graph) Len() Stage {
	if int(g.single) < len(g.order) {
		return g.single + 1
	}
	return g.single
}

// NumGroups is the number of groups.
func (g *Graph) NumGroups() Group { return Group(len(g.order)) }

// Of gives the stage of a group.
func (g *Graph) Of(group Group) Stage { return g.stageOf[group] }

// Groups gives the groups of a stage, in the order of their index. They are not to be changed.
func (g *Graph) Groups(stage Stage) []Group {
	if g.IsSingle(stage) {
		return g.order[stage : stage+1]
	}
	return g.order[g.single:]
}

// First gives the first group of a stage.
func (g *Graph) First(stage Stage) Group { return g.order[stage] }

// IsSingle says whether a stage is a group in a sequence, and not the pool. A pool may have one group, too.
func (g *Graph) IsSingle(stage Stage) bool { return stage < g.single }

// IsMandatory says whether a stage is a mandatory group.
func (g *Graph) IsMandatory(stage Stage) bool { return stage < g.mandatory }
