// SPDX-License-Identifier: Apache-2.0

package grouping

import "slices"

// pack puts items into bins of at most size and moves as few items as that allows. It cuts both a name into groups and
// a group into PlacementDecisions.
//
// An item stays in the bin home(item), where -1 is no bin, as long as that has room; earlier items go first. Each of
// the rest goes, in the order of items, to the first bin of fill that has room, or else to a new bin. Fill lists all
// existing bins in the order in which they fill. Bins that get nothing are empty in the result. Each bin has its items
// in their order. Without bins, items are cut into consecutive runs.
func pack(items []int32, size int, fill []int, home func(item int32) int) [][]int32 {
	if len(fill) == 0 {
		return slices.Collect(slices.Chunk(items, size))
	}
	counts := make([]int, len(fill))
	bins := make([]int, len(items)) // of each item
	var rest []int
	for i, item := range items {
		if bin := home(item); bin >= 0 && counts[bin] < size {
			bins[i] = bin
			counts[bin]++
		} else {
			rest = append(rest, i)
		}
	}
	for _, i := range rest {
		for len(fill) > 0 && counts[fill[0]] >= size {
			fill = fill[1:]
		}
		if len(fill) == 0 {
			fill = []int{len(counts)}
			counts = append(counts, 0)
		}
		bins[i] = fill[0]
		counts[fill[0]]++
	}

	packed := make([][]int32, len(counts))
	for bin, count := range counts {
		packed[bin] = make([]int32, 0, count)
	}
	for i, item := range items {
		packed[bins[i]] = append(packed[bins[i]], item)
	}
	return packed
}
