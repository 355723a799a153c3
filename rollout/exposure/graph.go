// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"encoding/binary"
	"math"
)

// load is how many clusters of a stage count while it is active, and how many once it is complete; the latter is not
// greater.
type load struct{ active, passed int }

// then gives the load of two stages where the second comes after the first and nothing else does.
func (most load) then(next load) load {
	return load{max(most.active, most.passed+next.active), most.passed + next.passed}
}

// together gives the most clusters of all stages that count at the same time. A stage becomes active when all stages before
// it are complete. If many stages come after the same set of stages, one set node between them replaces all their pairs. A set
// node becomes active when all stages before it are complete, is complete at once, and counts nothing.
func (p *prospect) together(loadOf func(stage int) load) int {
	if p.After == nil {
		var sum load
		for i := range p.Stages {
			sum = sum.then(loadOf(i))
		}
		return sum.active
	}
	var chains []load    // stages between which nothing branches
	var before [][]int32 // for each chain those that it comes after
	of := make([]int32, len(p.Stages))
	next := make([]int, len(p.Stages)) // how many stages come directly after each
	for i := range p.Stages {
		for _, b := range p.After[i] {
			next[b]++
		}
	}
	setNodes := make(map[string]int32) // a chain without load for each set of stages that several come after
	var key []byte                     // the numbers in such a set
	for i := range p.Stages {
		if after := p.After[i]; len(after) == 1 && next[after[0]] == 1 {
			of[i] = of[after[0]]
			chains[of[i]] = chains[of[i]].then(loadOf(i))
			continue
		}
		var earlier []int32
		for _, stage := range p.After[i] {
			earlier = append(earlier, of[stage])
		}
		if len(earlier) > 1 {
			key = key[:0]
			for _, chain := range earlier {
				key = binary.LittleEndian.AppendUint32(key, uint32(chain))
			}
			setNode, known := setNodes[string(key)]
			if !known {
				setNode = int32(len(chains))
				setNodes[string(key)] = setNode
				chains, before = append(chains, load{}), append(before, earlier)
			}
			earlier = []int32{setNode}
		}
		of[i] = int32(len(chains))
		chains, before = append(chains, loadOf(i)), append(before, earlier)
	}
	return newNetwork(chains, before).heaviest()
}

// network finds which stages must be active, and which complete, so that most clusters count together. It is a maximum
// closure problem: an active stage adds its load, but all stages before it must be complete, and each of those loses the
// difference between its active and its complete load. A maximum flow from the gains to the losses solves it: the gains less
// the flow are the most clusters.
//
// For example, b {2, 2} and c {2, 2} come after a {4 active, 1 passed}. The gains are 4 + 2 + 2 = 8. Going from a to b and
// c loses 3, which b and c can pay with their 2 + 2. With b and c active, 1 + 2 + 2 = 5 count: 8 less 3.
//
// Stage i has two places: 2i gives its gain, and 2i+1 takes its loss. The flow from a place goes to the taking places of all
// stages before it, which take it while there is room. The rest flows on to the giving place of that stage, and may
// be called back later. The flow grows in rounds (Dinic): each round uses up the shortest paths, so the next round has
// longer ones.
type network struct {
	given, room []int   // for each stage what it has not sent yet, and what it may still take
	begin       []int32 // the first arc of each place
	arcs        []arc   // the arcs from one place are adjacent
	steps       []int32 // the length of the shortest path from each place to room; 0 if there is none
	next        []int32 // the first arc of each place that may still be on a shortest path in this round
	queue       []int32
}

// arc leads from one place to another.
type arc struct {
	to, back int32 // the place, and the arc in the other direction
	left     int   // how much more may go
}

func newNetwork(loads []load, before [][]int32) *network {
	n := len(loads)
	places := 2 * n
	network := &network{
		given: make([]int, n), room: make([]int, n),
		begin: make([]int32, places+1), steps: make([]int32, places), next: make([]int32, places), queue: make([]int32, 0, places),
	}
	each := func(do func(from, to int32)) {
		for i := range before {
			gives := int32(2 * i)
			for _, b := range before[i] {
				do(gives, 2*b+1)
			}
			if len(before[i]) > 0 {
				do(gives+1, gives)
			}
		}
	}
	each(func(from, to int32) { network.begin[from+1]++; network.begin[to+1]++ })
	for place := range places {
		network.begin[place+1] += network.begin[place]
	}
	network.arcs = make([]arc, network.begin[places])
	copy(network.next, network.begin) // where the next arc of each place belongs
	each(func(from, to int32) {
		there, back := network.next[from], network.next[to]
		network.arcs[there], network.arcs[back] = arc{to, back, math.MaxInt / 2}, arc{from, there, 0}
		network.next[from], network.next[to] = there+1, back+1
	})
	for i, load := range loads {
		network.given[i], network.room[i] = load.active, load.active-load.passed
	}
	return network
}

// heaviest gives the sum of all gains less the maximum flow.
func (f *network) heaviest() (rest int) {
	for f.measure() {
		for i, given := range f.given {
			if given > 0 {
				f.given[i] -= f.send(int32(2*i), given)
			}
		}
	}
	for _, given := range f.given {
		rest += given
	}
	return rest
}

// measure begins a round. It finds the shortest paths to room, backwards from there, and says whether one begins where
// something is left to give.
func (f *network) measure() (any bool) {
	clear(f.steps)
	copy(f.next, f.begin)
	f.queue = f.queue[:0]
	for i, room := range f.room {
		if room > 0 {
			f.steps[2*i+1] = 1
			f.queue = append(f.queue, int32(2*i+1))
		}
	}
	for at := 0; at < len(f.queue); at++ {
		place := f.queue[at]
		any = any || place%2 == 0 && f.given[place/2] > 0
		for _, arc := range f.arcs[f.begin[place]:f.begin[place+1]] {
			if f.steps[arc.to] == 0 && f.arcs[arc.back].left > 0 {
				f.steps[arc.to] = f.steps[place] + 1
				f.queue = append(f.queue, arc.to)
			}
		}
	}
	return any
}

// send moves at most so much from a place to room, by shortest paths, and gives how much it moved.
func (f *network) send(place int32, most int) (sent int) {
	steps := f.steps[place]
	switch steps {
	case 0:
		return 0
	case 1:
		sent = min(most, f.room[place/2])
		f.room[place/2] -= sent
		return sent
	}
	for ; f.next[place] < f.begin[place+1]; f.next[place]++ {
		arc := &f.arcs[f.next[place]]
		if arc.left == 0 || f.steps[arc.to] != steps-1 {
			continue
		}
		n := f.send(arc.to, min(most-sent, arc.left))
		arc.left -= n
		f.arcs[arc.back].left += n
		if sent += n; sent == most {
			break
		}
	}
	return sent
}
