package hub_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// observe plays worlds, as many at a time as allowed, and hands each observation to judge. It ends early when judge
// says so.
func observeAll(t *testing.T, n, atOnce int, seed uint64, ignored duty, judge func(*observation) bool) {
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
				o := draw(seed+uint64(i), ignored).play(ctx, fmt.Sprintf("w%d", numbers.Add(1)))
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

// TestRollouts shows that a controller that does what the documentation says breaks nothing.
func TestRollouts(t *testing.T) {
	seed := seedOf()
	t.Logf("seeds %d to %d", seed, seed+uint64(*flagRollouts)-1)
	var all figures
	start := time.Now()
	observeAll(t, *flagRollouts, *flagParallel, seed, "", func(o *observation) bool {
		if o.err != nil {
			t.Errorf("%s\n%v", o.world, o.err)
			return true
		}
		all.add(o)
		for _, v := range o.violations {
			t.Errorf("%s (%s)\n%s", v, o.world.name, o.world)
		}
		if len(o.violations) > 0 && *flagHistory {
			t.Logf("%s", o.history)
		}
		return true
	})
	t.Logf("%s\nin %v", &all, time.Since(start).Round(time.Second))
}

// TestEachDuty shows that the harness finds a controller that ignores a duty of the documentation.
func TestEachDuty(t *testing.T) { testDuties(t, duties) }

// TestEachInvariant shows that the observer sees it where a strategy isn't kept to.
func TestEachInvariant(t *testing.T) { testDuties(t, strategyDuties) }

func testDuties(t *testing.T, duties map[duty][]invariant) {
	if testing.Short() {
		t.Skip("one or two minutes")
	}
	t.Parallel()
	seed := seedOf()
	for _, d := range slices.Sorted(maps.Keys(duties)) {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			var all figures
			found := map[invariant]int{}
			proof := ""
			observeAll(t, *flagBound, 4, seed, d, func(o *observation) bool {
				if proof != "" {
					return false // it was stopped
				}
				if o.err != nil {
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
