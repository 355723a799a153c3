// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"encoding/binary"
	"slices"
)

// setNodes say what comes directly before each name. A set node stands for several names, and for other set nodes. A name without a
// group has no place among the groups: whatever comes after it comes after its set node. Names that come after the same ones have the
// same set node. Thus n names, one without a group, and m names after that have n + m pairs here, and not n · m.
type setNodes struct {
	order *Order
	ends  [][]Group        // for each name the last group of each of its chains
	of    []int32          // for each name its set node; 0 where nothing comes before it
	from  [][]int32        // for each set node the names that it stands for, and ^set node of the others; the first has none
	known map[string]int32 // the set node for the numbers in from
	sets  []groupSet       // for each set node its set; 0 until it is needed

	seenName, seenNode []int32 // by which set node last
}

func newSetNodes(order *Order) *setNodes {
	n := len(order.names)
	return &setNodes{
		order: order, ends: make([][]Group, n), of: make([]int32, n), from: make([][]int32, 1), known: make(map[string]int32),
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
	j.sets, j.seenNode, j.seenName = make([]groupSet, len(j.from)), make([]int32, len(j.from)), make([]int32, len(j.of))
}

// setIn gives the set of the groups that a set node stands for.
func (j *setNodes) setIn(edges *edges, node int32) groupSet {
	if j.sets[node] != 0 {
		return j.sets[node]
	}
	var groups []Group
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
	j.sets[node] = edges.add(groups)
	return j.sets[node]
}
