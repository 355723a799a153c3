package trial

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// numbers are the numbers of the worlds.
var numbers atomic.Int64

// figures are of all rollouts that were observed.
type figures struct {
	rollouts, complete, stopped, events, writes, lost, reconciles, errors, restarts int
	starts, versions, removed, schedules, violations                                int
	leaders, held, blind                                                            int
	blindOf                                                                         map[Invariant]int
	most, mostExposed                                                               float64
	reached, reachedOf, earlySoaks                                                  int
	dropped, failed, excused                                                        int
	longestSeed                                                                     uint64
	longest                                                                         time.Duration
}

// A block is some of the rollouts of a run, by their seeds.
type block struct {
	figures
	number, size int
}

// over says whether all its rollouts are.
func (b *block) over() bool { return b.rollouts+b.dropped+b.failed == b.size }

func (b *block) String() string {
	is := "green"
	if b.violations+b.failed > 0 {
		is = "RED"
	}
	return fmt.Sprintf("block %d is %s: %d rollouts of %d versions, %d starts, %d restarts, %d answers lost, %d violations, %d not observed",
		b.number, is, b.rollouts, b.versions, b.starts, b.restarts, b.lost, b.violations, b.dropped+b.failed)
}

// blocks are the blocks of a run.
type blocks []*block

// newBlocks divides n rollouts into blocks whose sizes differ by at most one.
func newBlocks(n, parts int) (all blocks) {
	parts = max(1, min(parts, n))
	for i := range parts {
		all = append(all, &block{number: i + 1, size: n*(i+1)/parts - n*i/parts})
	}
	return all
}

// of is the block of the i-th rollout.
func (b blocks) of(i int) *block {
	for _, block := range b {
		if i < block.size {
			return block
		}
		i -= block.size
	}
	return b[len(b)-1]
}

// String says of each block whether it was green, if there are several.
func (b blocks) String() string {
	if len(b) < 2 {
		return ""
	}
	var s strings.Builder
	for _, block := range b {
		s.WriteString(block.String() + "\n")
	}
	return s.String()
}

// memory says how much memory the process has taken at most: API server, etcd, controllers and observer together.
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
	switch {
	case o.overwhelmed():
		f.dropped++
		return false
	case o.err != nil:
		f.failed++
		return false
	}
	f.rollouts++
	if o.excused {
		f.excused++
	}
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

// stalls says how many worlds a machine stalled that was too busy; nothing if it stalled none.
func stalls(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d judged by their limits alone, as the machine served nobody for over %v)", n, slowBeat)
}

func (f *figures) String() string {
	dropped := ""
	if f.dropped > 0 {
		dropped = fmt.Sprintf("%d rollouts not observed, since etcd gave up writes on a machine that was too busy\n", f.dropped)
	}
	text := dropped + fmt.Sprintf("%d rollouts%s of %d versions: %d came to their end, %d stood still; %d events, %d reconciles (%d with an error), %d processes that acted, %d restarts; "+
		"%d writes of the controller (%d answers lost, %d held back), %d starts, %d removals; longest %v (seed %d); %d violations\n"+
		"%d starts that only what the caches did not show yet forbade: %v; at most %.1f times of MaxConcurrency in flight; "+
		"%d starts that only a soak from the first answer would have forbidden",
		f.rollouts, stalls(f.excused), f.versions, f.complete, f.stopped, f.events, f.reconciles, f.errors, f.leaders, f.restarts,
		f.writes, f.lost, f.held, f.starts, f.removed, f.longest.Round(time.Second), f.longestSeed, f.violations, f.blind, f.blindOf, max(1, f.most), f.earlySoaks)
	if f.reachedOf > 0 {
		text += fmt.Sprintf("\nthe last version reached %d clusters of %d that were selected first; at most %.1f times of what a strategy exposes had a version and were not done", f.reached, f.reachedOf, max(1, f.mostExposed))
	}
	return text
}
