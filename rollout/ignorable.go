// SPDX-License-Identifier: Apache-2.0

package rollout

import "slices"

// ignorableClusters counts clusters that can be ignored, since they are deselected, start late, are refused their start, or cannot recover, and has the names of the first.
type ignorableClusters struct {
	n     int
	names []string
}

// add counts a cluster if it is one of these.
func (ignorable *ignorableClusters) add(blocker *Blocker) {
	if !blocker.Deselected && !blocker.late && !blocker.refused && !blocker.lost {
		return
	}
	if ignorable.n++; ignorable.n <= maxNamed {
		ignorable.names = append(ignorable.names, blocker.Name)
	}
}

func (ignorable *ignorableClusters) merge(other *ignorableClusters) {
	ignorable.n += other.n
	ignorable.names = append(ignorable.names, other.names...)
	slices.Sort(ignorable.names)
	ignorable.names = ignorable.names[:min(len(ignorable.names), maxNamed)]
}

// ignore names the way to ignore such clusters, if there are some.
func (ignorable *ignorableClusters) ignore() []Remedy {
	if ignorable.n == 0 {
		return nil
	}
	return []Remedy{{Type: RemedyIgnore, Clusters: listed(ignorable.names, ignorable.n)}}
}
