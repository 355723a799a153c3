package hub

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	flagRollouts = flag.Int("rollouts", 20, "how many rollouts are observed")
	flagParallel = flag.Int("at-once", 20, "how many of them run at a time")
	flagBlocks   = flag.Int("blocks", 1, "in how many blocks they are counted; the run is one all the same")
	flagSeed     = flag.Uint64("seed", 0, "the seed of the first rollout; 0 is a new one")
	flagBound    = flag.Int("bound", 40, "how many rollouts a controller that ignores a duty gets until it must be caught")
	flagHistory  = flag.Bool("history", false, "print what the API server showed of each rollout with a violation")
)

// observe plays the worlds that draw draws, as many at a time as allowed, and hands each observation to judge. It ends
// early when judge says so.
func (h *Hub) observe(t *testing.T, subject *Subject, n, atOnce int, draw func(i int) *world, judge func(*observation) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var running sync.WaitGroup
	next, stop := 0, false
	for range min(n, atOnce) {
		running.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				end := stop || i >= n
				mu.Unlock()
				if end {
					return
				}
				o := draw(i).play(ctx, h, subject, fmt.Sprintf("w%d", numbers.Add(1)))
				mu.Lock()
				if !judge(o) {
					stop = true
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
}

func seedOf() uint64 {
	if *flagSeed != 0 {
		return *flagSeed
	}
	return rand.Uint64N(1_000_000_000)
}

// Rollouts shows that a controller breaks nothing.
func (h *Hub) Rollouts(t *testing.T, subject *Subject) {
	h.rollouts(t, subject, *flagRollouts, func(seed uint64) *world { return draw(seed, subject, "") })
}

// TwoAct shows what holds while two processes act at a time, each with its own caches and unaware of the other. No
// start breaks an invariant that the process could know of, and no work is made twice, or deleted while it is selected.
// Limits hold for each of them alone, so that twice as many may be in flight. The figures tell.
func (h *Hub) TwoAct(t *testing.T, subject *Subject) {
	if testing.Short() {
		t.Skip("a minute")
	}
	h.rollouts(t, subject, max(1, *flagRollouts/4), func(seed uint64) *world {
		w := draw(seed, subject, "")
		w.replicas, w.elects = 2, false
		w.script = slices.DeleteFunc(w.script, func(c change) bool { return c.what == cuts })
		return w
	})
}

func (h *Hub) rollouts(t *testing.T, subject *Subject, n int, draw func(seed uint64) *world) {
	seed := seedOf()
	t.Logf("seeds %d to %d", seed, seed+uint64(n)-1)
	var all figures
	parts := newBlocks(n, *flagBlocks)
	start := time.Now()
	h.observe(t, subject, n, *flagParallel, func(i int) *world { return draw(seed + uint64(i)) }, func(o *observation) bool {
		block := parts.of(int(o.world.seed - seed))
		switch {
		case o.overwhelmed():
			all.dropped++
			block.dropped++
		case o.err != nil:
			block.failed++
			t.Errorf("%s\n%v", o.world, o.err)
		default:
			all.add(o)
			block.add(o)
		}
		for _, v := range o.violations {
			t.Errorf("%s (%s)\n%s", v, o.world.name, o.world)
		}
		if len(o.violations) > 0 && *flagHistory {
			t.Logf("%s", o.history)
		}
		if len(parts) > 1 && block.over() {
			t.Log(block)
		}
		return true
	})
	if all.rollouts == 0 {
		t.Error("no rollout was observed")
	}
	t.Logf("%s%s\nin %v, %d at a time%s", parts, &all, time.Since(start).Round(time.Second), min(n, *flagParallel), memory())
}

// EachDuty shows that the harness finds a controller that ignores one of the duties. Each has the invariants that are
// broken then.
func (h *Hub) EachDuty(t *testing.T, subject *Subject, duties map[Duty][]Invariant) {
	h.eachDuty(t, duties, subject, func(seed uint64, d Duty) *world { return draw(seed, subject, d) })
}

func (h *Hub) eachDuty(t *testing.T, duties map[Duty][]Invariant, subject *Subject, draw func(seed uint64, d Duty) *world) {
	if testing.Short() {
		t.Skip("one or two minutes")
	}
	seed := seedOf()
	for _, d := range slices.Sorted(maps.Keys(duties)) {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			var all figures
			found := map[Invariant]int{}
			proof := ""
			h.observe(t, subject, *flagBound, 4, func(i int) *world { return draw(seed+uint64(i), d) }, func(o *observation) bool {
				if proof != "" {
					return false // it was stopped
				}
				if o.overwhelmed() {
					all.dropped++
					return true
				} else if o.err != nil {
					t.Errorf("%s\n%v", o.world, o.err)
					return true
				}
				all.add(o)
				if *flagHistory {
					t.Logf("%s\n%s", o.world, o.history)
				}
				for _, v := range o.violations {
					found[v.invariant]++
					if proof == "" && slices.Contains(duties[d], v.invariant) {
						proof = fmt.Sprintf("caught in rollout %d: %s", all.rollouts, v)
					}
				}
				return proof == ""
			})
			if proof == "" {
				t.Errorf("not caught in %d rollouts from seed %d", *flagBound, seed)
			}
			t.Logf("%s\nall that it broke: %v\n%s", proof, found, &all)
		})
	}
}
