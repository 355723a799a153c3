package hubs

import (
	"context"
	"flag"
	"sync"
	"testing"
	"time"
)

var (
	flagRollouts = flag.Int("hub-rollouts", 4, "how many rollouts over hubs are observed")
	flagParallel = flag.Int("hub-rollouts-at-once", 4, "how many of them run at a time")
	flagSeed     = flag.Uint64("hub-seed", 0, "the seed of the first; 0 is a new one")
	flagBound    = flag.Int("hub-bound", 12, "how many rollouts an engine that leaves out a duty gets until it must be found")
)

// Rollouts has rollouts over the hubs with partitions and kills, and observes that the limits hold over all hubs, and that each rollout
// ends once the hubs answer each other.
func (h *Hubs) Rollouts(t *testing.T, s *Subject) {
	first := *flagSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano()/1e6) % 1e9
	}
	var mu sync.Mutex
	starts, lives, violations, stuck := 0, int64(0), 0, 0
	var all counts
	h.each(t.Context(), *flagRollouts, *flagParallel, func(i int) {
		w := newWorld(first + uint64(i))
		out, err := h.play(t.Context(), s, w)
		mu.Lock()
		defer mu.Unlock()
		starts, lives, violations = starts+out.starts, lives+out.lives, violations+len(out.violations)
		if err != nil {
			t.Errorf("-hub-seed %d: %v", w.seed, err)
			return
		}
		all.add(out.counts)
		for _, v := range out.violations {
			t.Errorf("-hub-seed %d: %s", w.seed, v)
		}
		if out.stuck != "" {
			stuck++
			t.Errorf("-hub-seed %d: %s; %+v", w.seed, out.stuck, w.script)
		}
	})
	t.Logf("seeds %d to %d: %d rollouts over two hubs, %d starts, %d processes, %d messages cut off, %d lost, %d doubled of which %d were refused, "+
		"%d arrived when their process had ended; %d that did not end, %d violations of the limits over all hubs", first, first+uint64(*flagRollouts)-1, *flagRollouts,
		starts, lives, all.cut.Load(), all.lost.Load(), all.doubled.Load(), all.refused.Load(), all.late.Load(), stuck, violations)
}

// EachDuty has an engine leave out one duty after the other, in a scene where it matters, until the observer finds a violation. In the same
// scene nothing is found of an engine that keeps it, and its rollout ends.
func (h *Hubs) EachDuty(t *testing.T, s *Subject) {
	for _, duty := range Duties() {
		t.Run(string(duty), func(t *testing.T) {
			play := func(ignored bool) outcome {
				w := newWorld(uint64(time.Now().UnixNano()/1e3) % 1e12)
				w.duty, w.ignored = duty, ignored
				out, err := h.play(t.Context(), s, w)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			for n := range *flagBound {
				if out := play(true); len(out.violations) > 0 {
					t.Logf("found in rollout %d: %s", n+1, out.violations[0])
					break
				} else if n+1 == *flagBound {
					t.Errorf("not found in %d rollouts; in the end%s", n+1, out.stuck)
				}
			}
			if out := play(false); len(out.violations) > 0 || out.stuck != "" {
				t.Errorf("with the duty: %q, stuck: %q", out.violations, out.stuck)
			}
		})
	}
}

// each does something n times, some of them at a time.
func (h *Hubs) each(ctx context.Context, n, atOnce int, do func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, max(1, atOnce))
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

func (c *counts) add(other *counts) {
	c.cut.Add(other.cut.Load())
	c.lost.Add(other.lost.Load())
	c.doubled.Add(other.doubled.Load())
	c.late.Add(other.late.Load())
	c.refused.Add(other.refused.Load())
}
