package hub_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// observe plays worlds, as many at a time as allowed, and hands each observation to judge. It ends early when judge
// says so.
func observeAll(t *testing.T, n, atOnce int, seed uint64, ignored duty, judge func(*observation) bool) {
	t.Helper()
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
				o := draw(seed+uint64(i), ignored).play(t.Context(), fmt.Sprintf("w%d", numbers.Add(1)))
				mu.Lock()
				stop = !judge(o) || stop
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

// TestEachDuty shows that the harness finds a controller that ignores a duty.
func TestEachDuty(t *testing.T) {
	seed := seedOf()
	for _, d := range duties {
		t.Run(string(d), func(t *testing.T) {
			var all figures
			found := map[invariant]int{}
			first := ""
			observeAll(t, *flagBound, min(*flagParallel, *flagBound), seed, d, func(o *observation) bool {
				if o.err != nil {
					t.Errorf("%s\n%v", o.world, o.err)
					return true
				}
				all.add(o)
				for _, v := range o.violations {
					found[v.invariant]++
					if first == "" {
						first = fmt.Sprintf("caught in rollout %d: %s", all.rollouts, v)
					}
				}
				return first == ""
			})
			if first == "" {
				t.Errorf("not caught in %d rollouts from seed %d", *flagBound, seed)
			}
			t.Logf("%s\n%v", first, found)
		})
	}
}
