// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"container/heap"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// horizon is how long a rollout is watched, in virtual time.
const horizon = 10 * 365 * 24 * time.Hour

// Start is when each run begins.
func Start() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

// outcome is what became of a run.
type outcome struct {
	finished, stopped bool
	after             time.Duration // until it finished or was stopped, or got stuck
	started, wasted   int           // starts, and those without success by then
	peak              int           // in flight at a time
	broken            int           // clusters that got it and on which it does not work
}

// running is a run of one strategy.
type running struct {
	candidate  Candidate
	groups     *grouping.Groups
	fates      func(position, again int) fate
	retries    int
	retryAfter time.Duration

	planner   *rollout.Planner
	now       time.Time
	coming    events
	attempt   int
	starts    []int     // by position; nil where nothing is tried again
	retryAt   time.Time // zero unless there was a breach, or it is over
	succeeded int
	outcome
}

// play plays the strategy through until it finishes, is stopped by a breach, or gets stuck. It is the loop of a
// controller with a Planner, and costs as much as there are events, not as there are clusters.
func (r *running) play() (err error) {
	if r.planner, err = rollout.NewPlanner(r.candidate.Strategy, r.groups, r.candidate.Options); err != nil {
		return err
	}
	if r.retries > 0 {
		r.starts = make([]int, r.groups.NumClusters())
	}
	for r.now = Start(); ; {
		next, err := r.begin()
		if err != nil {
			return err
		}
		r.after, r.wasted = r.now.Sub(Start()), r.started-r.succeeded
		r.peak = max(r.peak, next.Counts.InFlight())
		r.stopped = next.Breach != nil
		r.finished = !r.stopped && next.Counts.ToApply == 0 && next.Counts.InFlight() == 0
		then, found := r.next(next)
		if !found {
			return nil
		}
		if r.now = then; r.now.Equal(r.retryAt) {
			if err := r.retry(); err != nil {
				return err
			}
		}
		if err := r.report(); err != nil {
			return err
		}
	}
}

// next is when something happens, if anything does before the run is over.
func (r *running) next(next rollout.Next) (then time.Time, found bool) {
	if next.RecheckAfter > 0 {
		then, found = r.now.Add(next.RecheckAfter), true
	}
	if len(r.coming) > 0 && (!found || r.coming[0].at.Before(then)) {
		then, found = r.coming[0].at, true
	}
	found = found && then.Sub(Start()) <= horizon
	switch again := r.attempt < r.retries && next.Counts.Failures() > 0; {
	case !again && (r.stopped || r.finished):
		return then, false
	case !again || !r.stopped && !r.finished && found:
		r.retryAt = time.Time{}
	case r.retryAt.IsZero():
		r.retryAt = r.now.Add(r.retryAfter)
	}
	if !r.retryAt.IsZero() && (!found || !then.Before(r.retryAt)) {
		return r.retryAt, true
	}
	return then, found
}

// retry begins the next attempt.
func (r *running) retry() error {
	r.attempt++
	r.retryAt = time.Time{}
	options := r.candidate.Options
	options.Attempt = r.attempt
	return r.planner.SetStrategy(r.candidate.Strategy, options)
}

// report tells what happens now.
func (r *running) report() error {
	for len(r.coming) > 0 && !r.coming[0].at.After(r.now) {
		e := heap.Pop(&r.coming).(event)
		if r.starts != nil && e.again+1 < r.starts[e.position] {
			continue // it timed out and started again since
		}
		if e.status == status.Succeeded {
			r.succeeded++
		}
		report := status.Report{Cluster: r.groups.Cluster(e.position), Status: e.status, LastTransitionTime: e.at, Applied: e.started, Attempt: e.attempt}
		if err := r.planner.Report(report); err != nil {
			return err
		}
	}
	return nil
}

// begin gives the workload to all clusters that may have it now, until there is none.
func (r *running) begin() (rollout.Next, error) {
	for {
		next := r.planner.Next(r.now)
		if len(next.Start) == 0 {
			return next, nil
		}
		for _, cluster := range next.Start {
			r.started++
			if err := r.planner.Report(status.Report{Cluster: cluster.Name, Status: status.Progressing, LastTransitionTime: r.now, Applied: r.now, Attempt: r.attempt}); err != nil {
				return next, err
			}
			position, _ := r.groups.Position(cluster.Name)
			again := 0
			if r.starts != nil {
				again = r.starts[position]
				r.starts[position]++
			}
			f := r.fates(position, again)
			if again == 0 && f.status != status.Succeeded {
				r.broken++
			}
			if success := f.after - f.validated; f.validated > 0 {
				heap.Push(&r.coming, event{r.now.Add(success), r.now, position, again, r.attempt, status.Validating})
			}
			if f.status != "" {
				heap.Push(&r.coming, event{r.now.Add(f.after), r.now, position, again, r.attempt, f.status})
			}
		}
	}
}

// event is what a cluster will report.
type event struct {
	at       time.Time
	started  time.Time
	position int
	again    int // how often it started before
	attempt  int
	status   status.RolloutStatus
}

// events are a heap in the order of time, and of clusters at the same time.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].position < e[j].position
	}
	return e[i].at.Before(e[j].at)
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
