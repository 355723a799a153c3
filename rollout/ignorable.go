// SPDX-License-Identifier: Apache-2.0

package rollout

import "slices"

// ignorableClusters counts clusters that can be ignored, since they are deselected, start late, are refused their start, or cannot recover, and has the names of the first.
type ignorableClusters struct {
	n     int
	names []string
}

// add counts a cluster if it is one of these.
func (a *ignorableClusters) add(blocker *Blocker) {
	if !blocker.Deselected && !blocker.late && !blocker.refused && !blocker.lost {
		return
	}
	if a.n++; a.n <= maxNamed {
		a.names = append(a.names, blocker.Name)
	}
}

func (a *ignorableClusters) merge(other *ignorableClusters) {
	a.n += other.n
	a.names = append(a.names, other.names...)
	slices.Sort(a.names)
	a.names = a.names[:min(len(a.names), maxNamed)]
}

// ignore names the way to ignore such clusters, if there are some.
func (a *ignorableClusters) ignore() []Remedy {
	if a.n == 0 {
		return nil
	}
	return []Remedy{{Type: RemedyIgnore, Clusters: listed(a.names, a.n)}}
}
