// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// figures are of all rollouts that were observed.
type figures struct {
	rollouts, complete, stopped, events, writes, lost, reconciles, errors, restarts int
	starts, versions, removed, schedules, violations                                int
	leaders, held, blind                                                            int
	blindOf                                                                         map[Invariant]int
	most, mostExposed                                                               float64
	reached, reachedOf, earlySoaks                                                  int
	failed                                                                          int
	virtual                                                                         time.Duration // of all together
	longestSeed                                                                     uint64
	longest                                                                         time.Duration
}

// memory says how much memory the process has taken at most: API server, controllers and observer together.
func memory() string {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if kB, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kB), " kB"))
			return fmt.Sprintf(", in at most %.1f GB", float64(n)/(1<<20))
		}
	}
	return ""
}

// add counts an observation, and says whether it can be judged.
func (f *figures) add(o *observation) bool {
	f.virtual += o.took
	if o.err != nil {
		f.failed++
		return false
	}
	f.rollouts++
	if o.ending.complete {
		f.complete++
	} else {
		f.stopped++
	}
	f.restarts += o.restarts
	if o.took > f.longest {
		f.longest, f.longestSeed = o.took, o.world.seed
	}
	f.events += len(o.history.events)
	f.reconciles += len(o.history.reconciles)
	for _, r := range o.history.reconciles {
		if r.err != nil {
			f.errors++
		}
	}
	for _, w := range o.history.writes {
		f.writes++
		if w.delayed {
			f.held++
		}
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
	f.leaders += o.history.processes()
	f.blind += o.history.blindStarts
	f.earlySoaks += o.history.earlySoaks
	f.most = max(f.most, o.history.most)
	f.mostExposed = max(f.mostExposed, o.history.mostExposed)
	if o.world.cut != nil {
		f.reached += o.history.reached()
		f.reachedOf += len(o.world.initial)
	}
	for i, n := range o.history.blind {
		if f.blindOf == nil {
			f.blindOf = map[Invariant]int{}
		}
		f.blindOf[i] += n
	}
	return true
}

func (f *figures) String() string {
	text := fmt.Sprintf("%d rollouts of %d versions: %d came to their end, %d stood still; %d events, %d reconciles (%d with an error), %d processes that acted, %d restarts; "+
		"%d writes of the controller (%d answers lost, %d held back), %d starts, %d removals; longest %v (seed %d); %d violations\n"+
		"%d starts that only what the caches did not show yet forbade: %v; at most %.1f times of MaxConcurrency in flight; "+
		"%d starts that only a soak from the first answer would have forbidden",
		f.rollouts, f.versions, f.complete, f.stopped, f.events, f.reconciles, f.errors, f.leaders, f.restarts,
		f.writes, f.lost, f.held, f.starts, f.removed, f.longest.Round(time.Second), f.longestSeed, f.violations, f.blind, f.blindOf, max(1, f.most), f.earlySoaks)
	if f.reachedOf > 0 {
		text += fmt.Sprintf("\nthe last version reached %d clusters of %d that were selected first; at most %.1f times of what a strategy exposes had a version and were not done", f.reached, f.reachedOf, max(1, f.mostExposed))
	}
	return text
}
