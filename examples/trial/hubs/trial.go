// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"flag"
	"testing"

	"github.com/cohort-ocm/cohort/examples/trial/internal/seeds"
)

var (
	flagRollouts = flag.Int("hub-rollouts", 4, "how many rollouts over hubs are observed")
	flagSeed     = flag.Uint64("hub-seed", 0, "the seed of the first; by default half of the seeds are always the same, and half are new each day")
	flagTwice    = flag.Int("hub-twice", 1, "how many of them are played a second time, where selects take other cases, which must be the same in every byte")
	flagLogs     = flag.String("hub-logs", "", "a directory for the log of each play, in which two plays of a seed can be compared: with all messages and writes")
	flagBound    = flag.Int("hub-bound", 12, "how many rollouts an engine that leaves out a duty gets until it must be found")
)

// Rollouts has rollouts over the hubs with partitions and kills, and observes that the limits hold over all hubs, and that each rollout
// ends once the hubs answer each other.
func (h *Hubs) Rollouts(t *testing.T, s *Subject) {
	starts, lives, violations, stuck := 0, int64(0), 0, 0
	var all counts
	stories := seeds.Of(t, "Hubs", *flagRollouts, *flagSeed)
	for i, story := range stories {
		seed := story.Seed
		if len(story.Without) > 0 {
			t.Fatalf("%s: Hubs %d is to be without %q, and these worlds have no parts", seeds.File, seed, story.Without)
		}
		w := newWorld(seed)
		out, err := h.play(t, s, w)
		if i < *flagTwice { // all that happens follows from the seed
			other := newWorld(seed)
			other.choices = 1
			if again, _ := h.play(t, s, other); again.hash != out.hash {
				t.Errorf("-hub-seed %d: the history of a second play is another one", w.seed)
			}
		}
		starts, lives, violations = starts+out.starts, lives+out.lives, violations+len(out.violations)
		if err != nil {
			t.Errorf("-hub-seed %d: %v", w.seed, err)
			continue
		}
		all.add(out.counts)
		for _, v := range out.violations {
			t.Errorf("-hub-seed %d: %s", w.seed, v)
		}
		if out.stuck != "" {
			stuck++
			t.Errorf("-hub-seed %d: %s; %+v", w.seed, out.stuck, w.script)
		}
	}
	t.Logf("%d rollouts over two hubs, %d starts, %d processes, %d messages cut off, %d lost, %d doubled of which %d were refused, "+
		"%d arrived when their process had ended; %d that did not end, %d violations of the limits over all hubs", len(stories),
		starts, lives, all.cut.Load(), all.lost.Load(), all.doubled.Load(), all.refused.Load(), all.late.Load(), stuck, violations)
}

// EachDuty has an engine leave out one duty after the other, in a scene where it matters, until the observer finds a violation. In the same
// scene nothing is found of an engine that keeps it, and its rollout ends.
func (h *Hubs) EachDuty(t *testing.T, s *Subject) {
	for _, duty := range Duties() {
		t.Run(string(duty), func(t *testing.T) {
			play := func(seed uint64, ignored bool) outcome {
				w := newWorld(seed)
				w.duty, w.ignored = duty, ignored
				out, err := h.play(t, s, w)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			first := max(1, *flagSeed)
			for n := range *flagBound {
				if out := play(first+uint64(n), true); len(out.violations) > 0 {
					t.Logf("found in rollout %d: %s", n+1, out.violations[0])
					break
				} else if n+1 == *flagBound {
					t.Errorf("not found in %d rollouts; in the end%s", n+1, out.stuck)
				}
			}
			if out := play(first, false); len(out.violations) > 0 || out.stuck != "" {
				t.Errorf("with the duty: %q, stuck: %q", out.violations, out.stuck)
			}
		})
	}
}

func (c *counts) add(other *counts) {
	c.cut.Add(other.cut.Load())
	c.lost.Add(other.lost.Load())
	c.doubled.Add(other.doubled.Load())
	c.late.Add(other.late.Load())
	c.refused.Add(other.refused.Load())
}
