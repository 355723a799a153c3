package limits

import "iter"

// Load is how many clusters count and are selected in a stage, how many of them may hold a slot, and how many may fail.
type Load struct{ Clusters, Slots, Tolerated int }

// Exposure gives the most clusters that are exposed at a time: that have the version and are not done with it (R40, R66).
type Exposure struct {
	Ramp  int  // the initial number; 0 without a ramp
	Frees bool // whether clusters that failed give up their slots
}

// Active gives how many of a stage are exposed at most while it is active.
func (e Exposure) Active(l Load) int {
	if e.Frees {
		return min(l.Clusters, l.Tolerated+l.Slots)
	}
	return l.Slots
}

// Passed gives how many of a stage are exposed at most once it is complete.
func (e Exposure) Passed(l Load) int {
	if e.Frees {
		return l.Tolerated
	}
	return min(l.Slots, l.Tolerated)
}

// InOrder gives the most clusters that stages expose which go one after the other.
func (e Exposure) InOrder(loads iter.Seq[Load]) (most int) {
	failed, passed := 0, 0 // how many of the clusters of the stages before
	for l := range loads {
		passed += l.Clusters
		if e.Frees {
			failed += l.Tolerated
			most = max(most, failed+min(e.Active(l)-l.Tolerated, e.slots(passed-failed)))
			continue
		}
		ramp := e.slots(passed)
		failed = min(failed, e.slots(passed-l.Clusters+1)-1) // or none of this stage starts: the first, too, needs a slot
		most = max(most, min(failed+e.Active(l), ramp))
		failed = min(failed+e.Passed(l), ramp)
	}
	return most
}

// AtOnce gives the most clusters that stages expose together which are active or complete now, by their loads, and by how many each exposes.
func (e Exposure) AtOnce(loads iter.Seq2[Load, int]) int {
	n, exposed, failed := 0, 0, 0 // failed have no slot
	for l, own := range loads {
		n += l.Clusters
		exposed += own
		if e.Frees {
			failed += l.Tolerated
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
