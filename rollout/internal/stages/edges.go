// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"encoding/binary"
	"slices"

	"github.com/cohort-ocm/cohort/internal/bitset"
)

// edges say which groups come after which (R33). Groups that come directly after the same ones share a set. Edges therefore take no more room than
// what they were made from, though the pairs may be many.
type edges struct {
	order  []Group    // each group is behind all that it comes after
	sets   [][]Group  // the first is empty
	before []groupSet // for each group the set that it comes directly after
}

// groupSet is the place of a set of groups among the sets.
type groupSet int32

func newEdges(groups int) edges {
	return edges{sets: make([][]Group, 1, groups+1), before: make([]groupSet, groups)}
}

// add adds a set that is not there yet.
func (e *edges) add(groups []Group) groupSet {
	e.sets = append(e.sets, groups)
	return groupSet(len(e.sets) - 1)
}

// arrange lets groups come after one another by an order: first the mandatory groups, one after the other, then the others (R33). Groups that
// may go in any order are in the order of their index.
func arrange(keys Keys, order []Group, mandatory int, names *Order) edges {
	edges, first, others := newEdges(keys.Len()), groupSet(0), order[mandatory:]
	for i, group := range order[:mandatory] {
		edges.before[group] = first
		first = edges.add(order[i : i+1])
	}
	nodes := newSetNodes(names)
	heads := edges.chains(keys, others, nodes)
	nodes.connect()
	for _, head := range heads {
		if edges.before[head.group] = first; head.known && nodes.of[head.name] != 0 {
			edges.before[head.group] = nodes.setIn(&edges, nodes.of[head.name])
		}
	}
	edges.order = order[:mandatory:mandatory]
	edges.sort(others)
	return edges
}

// head is the first of the groups of a name in a placement.
type head struct {
	group Group
	name  int  // in the order of names
	known bool // whether it stands there
}

// chains lets the groups of each name, in each placement, come one after the other. It notes the last of each for its name,
// and lists the first of each.
func (e *edges) chains(keys Keys, groups []Group, nodes *setNodes) (heads []head) {
	type chain struct{ placement, name string }
	number := make(map[chain]int)
	var last []int // for each chain where its last group stands in groups
	for i, group := range groups {
		key := keys.Key(int(group))
		of := chain{key.Placement, key.Name}
		at, begun := number[of]
		if begun {
			e.before[group] = e.add(groups[last[at] : last[at]+1])
			last[at] = i
			continue
		}
		number[of] = len(last)
		name, known := slices.BinarySearch(nodes.order.names, key.Name)
		heads, last = append(heads, head{group, name, known}), append(last, i)
	}
	for i, head := range heads {
		if head.known {
			nodes.ends[head.name] = append(nodes.ends[head.name], groups[last[i]])
		}
	}
	return heads
}

// sort puts the other groups behind the mandatory ones, each behind all that it comes after, otherwise by their index.
func (e *edges) sort(others []Group) {
	isOther := make([]bool, len(e.before))
	for _, group := range others {
		isOther[group] = true
	}
	missing := make([]int32, len(e.sets)) // for each set how many of its groups are not in order yet
	for set, groups := range e.sets {
		for _, group := range groups {
			if isOther[group] {
				missing[set]++
			}
		}
	}
	in, behind, ready := e.in(), e.behind(), bitset.New(len(e.before))
	for _, group := range others {
		if missing[e.before[group]] == 0 {
			ready.Add(int(group))
		}
	}
	e.order = slices.Grow(e.order, len(others))
	for group, ok := ready.Next(0); ok; group, ok = ready.Next(0) {
		ready.Remove(group)
		e.order = append(e.order, Group(group))
		for _, set := range in.of(Group(group)) {
			if missing[set]--; missing[set] == 0 {
				for _, next := range behind.of(set) {
					ready.Add(int(next))
				}
			}
		}
	}
}

// reverse gives the reverse, in which each group comes after those that came after it (R44).
func (e *edges) reverse() edges {
	round := newEdges(len(e.before))
	round.order = slices.Clone(e.order)
	slices.Reverse(round.order)
	in, behind, known := e.in(), e.behind(), make(map[string]groupSet)
	var key []byte
	for _, group := range e.order {
		var after []Group
		key = key[:0]
		for _, set := range in.of(group) {
			key = binary.LittleEndian.AppendUint32(key, uint32(set))
		}
		set, isKnown := known[string(key)]
		if !isKnown {
			for _, set := range in.of(group) {
				after = append(after, behind.of(set)...)
			}
			if len(after) > 0 {
				set = round.add(after)
			}
			known[string(key)] = set
		}
		round.before[group] = set
	}
	return round
}

// in gives for each group the sets that have it.
func (e *edges) in() lists[Group, groupSet] {
	return listsOf(len(e.before), func(yield func(group Group, of groupSet)) {
		for i, groups := range e.sets {
			for _, group := range groups {
				yield(group, groupSet(i))
			}
		}
	})
}

// behind gives for each set the groups that come directly after it.
func (e *edges) behind() lists[groupSet, Group] {
	return listsOf(len(e.sets), func(yield func(of groupSet, group Group)) {
		for group, before := range e.before {
			yield(before, Group(group))
		}
	})
}

// lists are many short lists, one behind the other.
type lists[L, V Group | groupSet] struct {
	begin []int32
	all   []V
}

// listsOf makes n lists of pairs of a list and a value. It asks for the pairs twice.
func listsOf[L, V Group | groupSet](n int, pairs func(yield func(list L, value V))) lists[L, V] {
	lists := lists[L, V]{begin: make([]int32, n+2)}
	pairs(func(list L, _ V) { lists.begin[list+2]++ })
	for i := range n {
		lists.begin[i+2] += lists.begin[i+1]
	}
	lists.all = make([]V, lists.begin[n+1])
	pairs(func(list L, value V) {
		lists.all[lists.begin[list+1]] = value
		lists.begin[list+1]++
	})
	return lists
}

func (all lists[L, V]) of(list L) []V { return all.all[all.begin[list]:all.begin[list+1]] }
