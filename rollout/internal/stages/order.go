// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"maps"
	"slices"
)

// Order says which groups come after which, by their names. Names are numbers from here on.
type Order struct {
	names  []string  // in order
	after  [][]int32 // for each name those that it comes directly after, in order
	sorted []int32   // the names, each behind all that it comes after
}

// NewOrder makes an order of a map from each name to the names that it comes directly after. If a name comes after itself, it gives no order
// but the names of the first such cycle, from the first of them by name back to that. It takes time linear in the names and their pairs,
// beside sorting the names.
func NewOrder(after map[string][]string) (_ *Order, cycle []string) {
	order := numberNames(after)
	if cycle = order.sort(); cycle != nil {
		return nil, cycle
	}
	return order, nil
}

// Names gives all names, in order. They are not to be changed.
func (o *Order) Names() []string { return o.names }

func numberNames(after map[string][]string) *Order {
	number := make(map[string]int32, len(after))
	for name, before := range after {
		number[name] = 0
		for _, name := range before {
			number[name] = 0
		}
	}
	order := &Order{names: slices.Sorted(maps.Keys(number)), after: make([][]int32, len(number))}
	for i, name := range order.names {
		number[name] = int32(i)
	}
	for name, before := range after {
		numbers := make([]int32, len(before))
		for i, name := range before {
			numbers[i] = number[name]
		}
		slices.Sort(numbers)
		order.after[number[name]] = slices.Compact(numbers)
	}
	return order
}

// sort sorts the names, or gives a cycle for the first name that comes after itself. It goes from each name to those that it comes after,
// as deep as it can.
func (o *Order) sort() (cycle []string) {
	o.sorted = make([]int32, 0, len(o.names))
	const isSorted = -1
	depth := make([]int32, len(o.names)) // of each name on the path, from 1; 0 where it was not seen yet
	next := make([]int32, len(o.names))  // how many of those that it comes after were seen
	var path []int32
	enter := func(name int32) {
		path = append(path, name)
		depth[name] = int32(len(path))
	}
	for first := range o.names {
		if depth[first] == 0 {
			enter(int32(first))
		}
		for len(path) > 0 {
			name := path[len(path)-1]
			if int(next[name]) == len(o.after[name]) {
				path, depth[name] = path[:len(path)-1], isSorted
				o.sorted = append(o.sorted, name)
				continue
			}
			before := o.after[name][next[name]]
			next[name]++
			switch found := depth[before]; {
			case found == 0:
				enter(before)
			case found != isSorted:
				return o.namesOf(path[found-1:])
			}
		}
	}
	return nil
}

// namesOf gives the names of a cycle, from its first name back to that.
func (o *Order) namesOf(cycle []int32) (names []string) {
	first := slices.Index(cycle, slices.Min(cycle))
	for _, name := range slices.Concat(cycle[first:], cycle[:first+1]) {
		names = append(names, o.names[name])
	}
	return names
}
