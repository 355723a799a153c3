// SPDX-License-Identifier: Apache-2.0

package limits

import "iter"

// Load is how many clusters count and are selected in a stage, how many of them may hold a slot, and how many may fail.
type Load struct{ Clusters, Slots, Tolerated int }

// Exposure gives the most clusters that are exposed at a time: that have the version and are not done with it (R40, R66).
type Exposure struct {
	Ramp  int  // the initial number; 0 without a ramp
	Frees bool // whether failed clusters release their slots
}

// Active gives how many of a stage are exposed at most while it is active.
func (e Exposure) Active(load Load) int {
	if e.Frees {
		return min(load.Clusters, load.Tolerated+load.Slots)
	}
	return load.Slots
}

// Passed gives how many of a stage are exposed at most once it is complete.
func (e Exposure) Passed(load Load) int {
	if e.Frees {
		return load.Tolerated
	}
	return min(load.Slots, load.Tolerated)
}

// InOrder gives the most clusters that stages expose which go one after the other.
func (e Exposure) InOrder(loads iter.Seq[Load]) (most int) {
	failed, passed := 0, 0 // how many of the clusters of the stages before
	for load := range loads {
		passed += load.Clusters
		if e.Frees {
			failed += load.Tolerated
			most = max(most, failed+min(e.Active(load)-load.Tolerated, e.slots(passed-failed)))
			continue
		}
		ramp := e.slots(passed)
		failed = min(failed, e.slots(passed-load.Clusters+1)-1) // or none of this stage starts: the first, too, needs a slot
		most = max(most, min(failed+e.Active(load), ramp))
		failed = min(failed+e.Passed(load), ramp)
	}
	return most
}

// AtOnce gives the most clusters that stages expose together which are active or complete now, by their loads, and by how many each exposes.
func (e Exposure) AtOnce(loads iter.Seq2[Load, int]) int {
	n, exposed, failed := 0, 0, 0 // failed have no slot
	for load, own := range loads {
		n += load.Clusters
		exposed += own
		if e.Frees {
			failed += load.Tolerated
		}
	}
	return failed + min(exposed-failed, e.slots(n-failed))
}

// slots gives how many clusters may hold a slot by the ramp where n hold one or have soaked.
func (e Exposure) slots(n int) int {
	if e.Ramp == 0 {
		return Unlimited
	}
	return max(e.Ramp, n/2)
}
