// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/place"
	"github.com/cohort-ocm/cohort/internal/surge"
)

// plan says in which step which object is written. It names vertices, not objects.
type plan struct {
	steps  [][]act
	extras int // objects of the surge
}

// act is one write of a plan.
type act struct {
	vertex   int32   // none for an object of the surge
	extra    int     // which object of the surge
	last     bool    // the final content; of an object of the surge its deletion
	whole    bool    // keeps all that is stored (D3)
	clusters []int32 // those let in early; of an object of the surge all that it has from now on
}

// add puts a write into a step, from 1.
func (p *plan) add(step int, act act) {
	for len(p.steps) < step {
		p.steps = append(p.steps, nil)
	}
	p.steps[step-1] = append(p.steps[step-1], act)
}

// moves are the objects that have to be written, with the clusters that move between them.
type moves struct {
	*fleet
	objects []int32   // by vertex
	vertex  []int32   // by object
	held    [][]int32 // by vertex: the clusters that it has to keep until their goals have them
	stay    []int     // by vertex: how many of its clusters it keeps for ever
	urgent  []int32   // clusters that are only in objects that are being deleted, and not in their goals (D13)
	g       graph     // an edge from the object that holds a cluster to the one that it goes to
}

func (m *moves) goalOf(cluster int32) int32 { return m.vertex[m.goal[cluster]] }

func (m *moves) groupFor(cluster int32) Group {
	return groupOf(m.fleet.objects[m.goal[cluster]].desired.Labels)
}

func (m *moves) object(v int32) *object { return &m.fleet.objects[m.objects[v]] }

// room returns how many clusters a surge of the vertex may let in beside those that it keeps.
func (m *moves) room(v int32, keeps int) int {
	return max(m.limit-m.stay[v]-keeps, 0)
}

// moves finds the objects that have to be written.
func (f *fleet) moves() *moves {
	moves := &moves{fleet: f, vertex: make([]int32, len(f.objects))}
	for o := range f.objects {
		if f.objects[o].differs() {
			moves.vertex[o] = int32(len(moves.objects))
			moves.objects = append(moves.objects, int32(o))
		}
	}
	n := len(moves.objects)
	moves.g, moves.held, moves.stay = newGraph(n), make([][]int32, n), make([]int, n)
	for v, o := range moves.objects {
		for _, cluster := range f.objects[o].storedIDs {
			if cluster != none && f.holder[cluster] == o && !slices.Contains(moves.held[v], cluster) {
				moves.held[v] = append(moves.held[v], cluster)
				moves.g.link(int32(v), moves.goalOf(cluster))
			}
		}
	}
	moves.weigh()
	return moves
}

// weigh counts what stays, and how far a surge could take each object over the limit.
func (m *moves) weigh() {
	for v := range m.objects {
		obj := m.object(int32(v))
		if obj.desired == nil {
			continue
		}
		comes := 0
		for i := range obj.desired.Status.Decisions {
			switch id := obj.first + int32(i); {
			case m.stays[id]:
				m.stay[v]++
			case m.holder[id] != none:
				comes++
			}
		}
		if obj.stored != nil {
			m.g.over[v] = int32(max(m.stay[v]+comes+len(m.held[v])-m.limit, 0))
		}
	}
	for cluster, from := range m.holder {
		if from != none && m.fleet.objects[from].dying() {
			m.urgent = append(m.urgent, int32(cluster))
		}
	}
}

// stage is what has been written so far.
type stage struct {
	*moves
	done   []bool           // by vertex: has its final content
	early  []bool           // by cluster: a surge has let it in
	parked []bool           // by cluster: an object of the surge has it
	last   map[string]Write // by name: the last write
	names  map[string]bool  // of all objects
}

// elsewhere reports whether the cluster stands in another object than its holder.
func (s *stage) elsewhere(cluster int32) bool {
	return s.parked[cluster] || s.early[cluster] || s.done[s.goalOf(cluster)]
}

// do notes a write.
func (s *stage) do(act act) {
	switch {
	case act.vertex != none && act.last:
		s.done[act.vertex] = true
	case act.vertex != none:
		for _, cluster := range act.clusters {
			s.early[cluster] = true
		}
	default:
		for _, cluster := range act.clusters {
			s.parked[cluster] = true
		}
	}
}

// carryOut turns a plan into writes. What a write lets go is what was elsewhere before its step.
func (m *moves) carryOut(plan plan) []Step {
	stage := &stage{
		moves: m, done: make([]bool, len(m.objects)), early: make([]bool, len(m.goal)), parked: make([]bool, len(m.goal)),
		last: make(map[string]Write), names: make(map[string]bool),
	}
	for o := range m.fleet.objects {
		stage.names[m.fleet.objects[o].name] = true
	}
	extras := make([]string, plan.extras)
	steps := make([]Step, len(plan.steps))
	for i, acts := range plan.steps {
		for _, act := range acts {
			var write Write
			if act.vertex == none {
				write = stage.extra(act, extras)
			} else {
				write = stage.write(act)
			}
			steps[i] = append(steps[i], write)
		}
		for j, act := range acts {
			stage.do(act)
			stage.last[steps[i][j].Name()] = steps[i][j]
		}
		slices.SortFunc(steps[i], func(a, b Write) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return steps
}

// write returns the write of a stored or desired object.
func (s *stage) write(act act) Write {
	o := s.objects[act.vertex]
	obj := &s.fleet.objects[o]
	var before *Write
	if write, ok := s.last[obj.name]; ok {
		before = &write
	}
	if act.last {
		return obj.final(before)
	}
	keep := func(cluster int32) bool {
		return act.whole || cluster != none && s.holder[cluster] == o && !s.elsewhere(cluster)
	}
	admit := func(cluster int32) bool { return s.early[cluster] || slices.Contains(act.clusters, cluster) }
	return obj.surge(before, s.content(o, keep, admit))
}

// extra returns the write of an object of the surge. It is like the object that its first cluster goes to.
func (s *stage) extra(act act, names []string) Write {
	if act.last {
		return Write{Verb: VerbDelete, From: s.last[names[act.extra]].To}
	}
	var decisions []clusterv1beta1.ClusterDecision
	for _, cluster := range act.clusters {
		goal := &s.fleet.objects[s.goal[cluster]]
		decisions = append(decisions, goal.desired.Status.Decisions[cluster-goal.first])
	}
	slices.SortFunc(decisions, func(a, b clusterv1beta1.ClusterDecision) int {
		return strings.Compare(a.ClusterName, b.ClusterName)
	})
	like := s.fleet.objects[s.goal[act.clusters[0]]].desired
	to := &clusterv1beta1.PlacementDecision{TypeMeta: like.TypeMeta}
	to.Namespace, to.Labels, to.OwnerReferences = like.Namespace, maps.Clone(like.Labels), slices.Clone(like.OwnerReferences)
	to.Annotations = map[string]string{surge.Annotation: "true"}
	if value, placed := like.Annotations[place.Annotation]; placed {
		to.Annotations[place.Annotation] = value
	}
	to.Name = s.unused(like.Name)
	to.Status.Decisions = decisions
	names[act.extra] = to.Name
	return Write{Verb: VerbCreate, Parts: []Part{PartLabels, PartStatus}, Surge: true, To: to}
}

// unused returns a name for an object of the surge, and takes it.
func (s *stage) unused(like string) string {
	const longest = 253 - len("-surge-1000000")
	like = like[:min(len(like), longest)]
	name := like + "-surge"
	for n := 2; s.names[name]; n++ {
		name = fmt.Sprintf("%s-surge-%d", like, n)
	}
	s.names[name] = true
	return name
}
