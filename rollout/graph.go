package rollout

import (
	"encoding/binary"
	"slices"

	"github.com/cohort-ocm/cohort/internal/bitset"
)

// graph says which groups come after which, by their places among all groups (R33). Groups that come directly after the same
// ones share a set. So a graph takes no more room than what it was made from, though its pairs may be many.
type graph struct {
	order  []int32   // each group is behind all that it comes after
	sets   [][]int32 // of groups, each in order; the first is empty
	before []int32   // for each group the set that it comes directly after
}

func newGraph(groups int) graph {
	return graph{sets: make([][]int32, 1, groups+1), before: make([]int32, groups)}
}

// add adds a set that is not there yet.
func (g *graph) add(set []int32) int32 {
	g.sets = append(g.sets, set)
	return int32(len(g.sets) - 1)
}

// arrange makes a graph of the groups under ProgressivePerGroup with the option GroupOrder: first the mandatory groups,
// one after the other, then the others (R33). Groups that may go in any order are in the order of their index.
func (s *schedule) arrange(mandatory int) graph {
	g, first, others := newGraph(s.groups.Len()), int32(0), s.order[mandatory:]
	for i, group := range s.order[:mandatory] {
		g.before[group] = first
		first = g.add(s.order[i : i+1])
	}
	j := newSetNodes(s.options.groupOrder)
	heads := s.chains(&g, others, j)
	j.connect()
	for _, head := range heads {
		if g.before[head.group] = first; head.known && j.of[head.name] != 0 {
			g.before[head.group] = j.setIn(&g, j.of[head.name])
		}
	}
	g.order = s.order[:mandatory:mandatory]
	g.sort(others)
	return g
}

// head is the first of the groups of a name in a placement.
type head struct {
	group int32
	name  int  // in the order of names
	known bool // whether it stands there
}

// chains lets the groups of each name, in each placement, come one after the other. It notes the last of each for its name,
// and lists the first of each.
func (s *schedule) chains(g *graph, groups []int32, j *setNodes) (heads []head) {
	type chain struct{ placement, name string }
	number := make(map[chain]int)
	var last []int // for each chain where its last group stands in groups
	for i, group := range groups {
		key := s.groups.Key(int(group))
		of := chain{key.Placement, key.Name}
		at, begun := number[of]
		if begun {
			g.before[group] = g.add(groups[last[at] : last[at]+1])
			last[at] = i
			continue
		}
		number[of] = len(last)
		name, known := slices.BinarySearch(j.order.names, key.Name)
		heads, last = append(heads, head{group, name, known}), append(last, i)
	}
	for i, head := range heads {
		if head.known {
			j.ends[head.name] = append(j.ends[head.name], groups[last[i]])
		}
	}
	return heads
}

// setNodes say what comes directly before each name. A set node stands for several names, and for other set nodes. A name without a
// group has no place in the graph: whatever comes after it comes after its set node. Names that come after the same ones have the
// same set node. So n names, one without a group, and m names after that have n + m pairs here, and not n · m.
type setNodes struct {
	order *groupOrder
	ends  [][]int32        // for each name the last group of each of its chains
	of    []int32          // for each name its set node; 0 where nothing comes before it
	from  [][]int32        // for each set node the names that it stands for, and ^set node of the others; the first has none
	known map[string]int32 // the set node for the numbers in from
	sets  []int32          // for each set node its set in the graph; 0 until it is needed

	seenName, seenNode []int32 // by which set node last
}

func newSetNodes(order *groupOrder) *setNodes {
	n := len(order.names)
	return &setNodes{
		order: order, ends: make([][]int32, n), of: make([]int32, n), from: make([][]int32, 1), known: make(map[string]int32),
	}
}

// connect finds the set node of each name, once it is known which names have groups.
func (j *setNodes) connect() {
	var from []int32
	var key []byte
	for _, name := range j.order.sorted {
		from = from[:0]
		for _, before := range j.order.after[name] {
			if len(j.ends[before]) > 0 {
				from = append(from, before)
			} else if j.of[before] != 0 {
				from = append(from, ^j.of[before])
			}
		}
		slices.Sort(from)
		from = slices.Compact(from)
		switch {
		case len(from) == 0:
			continue
		case len(from) == 1 && from[0] < 0:
			j.of[name] = ^from[0]
			continue
		}
		key = key[:0]
		for _, number := range from {
			key = binary.LittleEndian.AppendUint32(key, uint32(number))
		}
		node, known := j.known[string(key)]
		if !known {
			node = int32(len(j.from))
			j.known[string(key)] = node
			j.from = append(j.from, slices.Clone(from))
		}
		j.of[name] = node
	}
	j.sets, j.seenNode, j.seenName = make([]int32, len(j.from)), make([]int32, len(j.from)), make([]int32, len(j.of))
}

// setIn gives the set of the groups that a set node stands for.
func (j *setNodes) setIn(g *graph, node int32) int32 {
	if j.sets[node] != 0 {
		return j.sets[node]
	}
	var groups []int32
	for todo := []int32{node}; len(todo) > 0; {
		from := j.from[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		for _, number := range from {
			switch {
			case number >= 0 && j.seenName[number] != node:
				j.seenName[number] = node
				groups = append(groups, j.ends[number]...)
			case number < 0 && j.seenNode[^number] != node:
				j.seenNode[^number] = node
				todo = append(todo, ^number)
			}
		}
	}
	slices.Sort(groups)
	j.sets[node] = g.add(groups)
	return j.sets[node]
}

// sort puts the other groups behind the mandatory ones, each behind all that it comes after, otherwise by their index.
func (g *graph) sort(others []int32) {
	isOther := make([]bool, len(g.before))
	for _, group := range others {
		isOther[group] = true
	}
	missing := make([]int32, len(g.sets)) // for each set how many of its groups are not in order yet
	for set, groups := range g.sets {
		for _, group := range groups {
			if isOther[group] {
				missing[set]++
			}
		}
	}
	in, behind, ready := g.in(), g.behind(), bitset.New(len(g.before))
	for _, group := range others {
		if missing[g.before[group]] == 0 {
			ready.Add(int(group))
		}
	}
	g.order = slices.Grow(g.order, len(others))
	for group, ok := ready.Next(0); ok; group, ok = ready.Next(0) {
		ready.Remove(group)
		g.order = append(g.order, int32(group))
		for _, set := range in.of(int32(group)) {
			if missing[set]--; missing[set] == 0 {
				for _, next := range behind.of(set) {
					ready.Add(int(next))
				}
			}
		}
	}
}

// reverse gives the reverse graph, in which each group comes after those that came after it (R44).
func (g *graph) reverse() graph {
	round := newGraph(len(g.before))
	round.order = slices.Clone(g.order)
	slices.Reverse(round.order)
	in, behind, known := g.in(), g.behind(), make(map[string]int32)
	var key []byte
	for _, group := range g.order {
		var after []int32
		key = key[:0]
		for _, set := range in.of(group) {
			key = binary.LittleEndian.AppendUint32(key, uint32(set))
		}
		set, isKnown := known[string(key)]
		if !isKnown {
			for _, set := range in.of(group) {
				after = append(after, behind.of(set)...)
			}
			if slices.Sort(after); len(after) > 0 {
				set = round.add(after)
			}
			known[string(key)] = set
		}
		round.before[group] = set
	}
	return round
}

// in gives for each group the sets that have it.
func (g *graph) in() lists {
	return listsOf(len(g.before), func(yield func(group, set int32)) {
		for set, groups := range g.sets {
			for _, group := range groups {
				yield(group, int32(set))
			}
		}
	})
}

// behind gives for each set the groups that come directly after it.
func (g *graph) behind() lists {
	return listsOf(len(g.sets), func(yield func(set, group int32)) {
		for group, set := range g.before {
			yield(set, int32(group))
		}
	})
}

// lists are many short lists of numbers, one behind the other.
type lists struct{ begin, all []int32 }

// listsOf makes n lists of pairs of a list and a number. It asks for the pairs twice.
func listsOf(n int, pairs func(yield func(list, number int32))) lists {
	l := lists{begin: make([]int32, n+2)}
	pairs(func(list, _ int32) { l.begin[list+2]++ })
	for i := range n {
		l.begin[i+2] += l.begin[i+1]
	}
	l.all = make([]int32, l.begin[n+1])
	pairs(func(list, number int32) {
		l.all[l.begin[list+1]] = number
		l.begin[list+1]++
	})
	return l
}

func (l lists) of(list int32) []int32 { return l.all[l.begin[list]:l.begin[list+1]] }

// link notes what each stage comes directly after, where the stages are the groups of a graph, in its order, and not a
// chain.
func (s *schedule) link(g graph) {
	after, chain := make([][]int, len(g.order)), true
	twins := make([]int32, len(g.order))
	first := make([]int32, len(g.sets)) // for each set 1 + the first stage that comes after it
	for stage, group := range g.order {
		set := g.before[group]
		if first[set] == 0 {
			row := make([]int, len(g.sets[set]))
			for i, before := range g.sets[set] {
				row[i] = int(s.stageOf[before])
			}
			slices.Sort(row)
			first[set], after[stage] = int32(stage)+1, row
		}
		twins[stage] = first[set] - 1
		after[stage] = after[twins[stage]]
		last := len(after[stage]) - 1
		chain = chain && (stage == 0 || last >= 0 && after[stage][last] == stage-1)
	}
	if !chain {
		s.links = &links{after, twins}
	}
}

// links say which stages of a graph come directly after which.
type links struct {
	after            [][]int // as in Schedule.After
	samePredecessors []int32 // for each stage the first that comes directly after the same ones; they share a slice of after
}

// clone gives a copy of what Schedule.After has.
func (l *links) clone() [][]int {
	after := slices.Clone(l.after)
	for i, same := range l.samePredecessors {
		if after[i] = after[same]; int(same) == i {
			after[i] = slices.Clone(l.after[i])
		}
	}
	return after
}
