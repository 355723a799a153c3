// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// replay is what a planner was told.
type replay struct {
	rollout Rollout
	start   time.Time
	words   []word
	dropped []string // by the scheduler, in order
	told    []told   // by the end of each wave
}

// word is a report, or that the cluster's object is gone.
type word struct {
	report status.Report
	gone   bool
}

// told is how many words there were by then and how many clusters were dropped, which attempt it was, and what the owner had
// stored.
type told struct {
	words, dropped, attempt int
	record                  *status.Record
}

// Explain gives Blocks to the waves at these places, in order, or to all if there is none. Each costs a whole plan,
// unless it has them.
func (t *Trace) Explain(waves ...int) error {
	if t.replay == nil {
		return nil // each was planned
	}
	if len(waves) == 0 {
		for i := range t.Waves {
			waves = append(waves, i)
		}
	}
	waves = slices.DeleteFunc(slices.Clone(waves), func(i int) bool {
		return t.Waves[i].Blocks != nil || t.Waves[i].Counts.Blocked+t.Waves[i].Counts.IgnoredToApply == 0
	})
	if len(waves) == 0 {
		return nil
	}
	workers := runtime.GOMAXPROCS(0)
	parts := slices.Collect(slices.Chunk(waves, (len(waves)+workers-1)/workers))
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() { errs[i] = t.replay.explain(t.Waves, part) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// explain tells another planner the same, and asks it at some of the waves.
func (played *replay) explain(all []Wave, waves []int) error {
	planner, err := played.rollout.planner()
	if err != nil {
		return err
	}
	now := told{}
	for _, i := range waves {
		then, at := played.told[i], played.start.Add(all[i].After)
		for ; now.words < then.words; now.words++ { // one at a time, as several of a cluster in one call are merged
			if err := played.words[now.words].tell(planner); err != nil {
				return err
			}
		}
		if now.dropped != then.dropped {
			planner.Next(at) // which shows it each cluster's group
			planner.SetGroups(without(played.rollout.Groups, played.dropped[:then.dropped]))
		}
		if now.attempt != then.attempt || now.record != then.record {
			if err := planner.SetStrategy(played.rollout.Strategy, played.rollout.options(then.attempt, then.record)); err != nil {
				return err
			}
		}
		now = then
		all[i].Blocks = planner.Result(at).BlockCounts()
	}
	return nil
}

func (w word) tell(p *rollout.Planner) error {
	if w.gone {
		p.Forget(w.report.Cluster)
		return nil
	}
	return p.Report(w.report)
}
