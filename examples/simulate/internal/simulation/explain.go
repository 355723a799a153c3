package simulation

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// replay is what a planner was told.
type replay struct {
	rollout Rollout
	start   time.Time
	reports []status.Report
	told    []told // by the end of each wave
}

// told is how many reports there were by then, and which attempt it was.
type told struct{ reports, attempt int }

// Explain gives Holds to the waves at these places, in order, or to all if there is none. Each costs a whole plan,
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
		return t.Waves[i].Holds != nil || t.Waves[i].Counts.Held+t.Waves[i].Counts.UncountedToApply == 0
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
func (r *replay) explain(all []Wave, waves []int) error {
	planner, err := r.rollout.planner()
	if err != nil {
		return err
	}
	now := told{}
	for _, i := range waves {
		for ; now.reports < r.told[i].reports; now.reports++ { // one at a time, as several of a cluster in one call are merged
			if err := planner.Report(r.reports[now.reports]); err != nil {
				return err
			}
		}
		if now.attempt != r.told[i].attempt {
			now.attempt = r.told[i].attempt
			if err := planner.SetStrategy(r.rollout.Strategy, r.rollout.options(now.attempt)...); err != nil {
				return err
			}
		}
		all[i].Holds = planner.Result(r.start.Add(all[i].After)).Holds()
	}
	return nil
}
