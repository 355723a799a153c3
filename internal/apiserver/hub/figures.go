package hub

import (
	"fmt"
	"sync/atomic"
	"time"
)

// numbers are those of the worlds.
var numbers atomic.Int64

// figures are of all rollouts that were observed.
type figures struct {
	rollouts, complete, stopped, events, writes, lost, reconciles, errors, restarts int
	starts, versions, removed, schedules, violations                                int
	longest                                                                         time.Duration
}

func (f *figures) add(o *observation) {
	f.rollouts++
	if o.ending.complete {
		f.complete++
	} else {
		f.stopped++
	}
	f.restarts += o.restarts
	f.longest = max(f.longest, o.took)
	f.events += len(o.history.events)
	f.reconciles += len(o.history.reconciles)
	for _, r := range o.history.reconciles {
		if r.err != nil {
			f.errors++
		}
	}
	for _, w := range o.history.writes {
		f.writes++
		if w.done && w.lost {
			f.lost++
		}
		if w.done && w.kind == Works && w.verb == "DELETE" {
			f.removed++
		} else if w.done && w.kind == Works {
			f.starts++
		}
	}
	for i, states := range o.history.states {
		switch i.kind {
		case ReplicaSets:
			f.versions += int(states[len(states)-1].object.GetGeneration())
		case Placements:
			f.schedules += len(states)
		}
	}
	f.violations += len(o.violations)
}

func (f *figures) String() string {
	return fmt.Sprintf("%d rollouts of %d versions: %d came to their end, %d stood still; %d events, %d reconciles (%d with an error), %d restarts; %d writes of the controller (%d answers lost), %d starts, %d removals; longest %v; %d violations",
		f.rollouts, f.versions, f.complete, f.stopped, f.events, f.reconciles, f.errors, f.restarts, f.writes, f.lost, f.starts, f.removed, f.longest.Round(time.Second), f.violations)
}
