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
}

// play plays one strategy through until it finishes, is stopped by a breach, or gets stuck. It is the loop of a
// controller with a Planner, and costs as much as there are events, not as there are clusters.
func play(c Candidate, groups *grouping.Groups, fates func(position int) fate) (o outcome, err error) {
	planner, err := rollout.NewPlanner(c.Strategy, groups, c.Options...)
	if err != nil {
		return o, err
	}
	start := Start()
	var coming events
	succeeded := 0
	for now := start; ; {
		next, err := begin(planner, groups, fates, now, &coming, &o)
		if err != nil {
			return o, err
		}
		o.after, o.wasted = now.Sub(start), o.started-succeeded
		o.peak = max(o.peak, next.Counts.InFlight())
		o.stopped = next.Breach != nil
		o.finished = !o.stopped && next.Counts.ToApply == 0 && next.Counts.InFlight() == 0
		if o.stopped || o.finished {
			return o, nil
		}
		then, found := time.Time{}, false
		if next.RecheckAfter > 0 {
			then, found = now.Add(next.RecheckAfter), true
		}
		if len(coming) > 0 && (!found || coming[0].at.Before(then)) {
			then, found = coming[0].at, true
		}
		if !found || then.Sub(start) > horizon {
			return o, nil
		}
		for now = then; len(coming) > 0 && !coming[0].at.After(now); {
			e := heap.Pop(&coming).(event)
			if e.status == status.Succeeded {
				succeeded++
			}
			if err := planner.Report(status.Report{Cluster: groups.Cluster(e.position), Status: e.status, LastTransitionTime: e.at, Applied: e.started}); err != nil {
				return o, err
			}
		}
	}
}

// begin gives the workload to all that may have it now, until there is nobody.
func begin(planner *rollout.Planner, groups *grouping.Groups, fates func(int) fate, now time.Time, coming *events, o *outcome) (rollout.Next, error) {
	for {
		next := planner.Next(now)
		if len(next.Start) == 0 {
			return next, nil
		}
		for _, cluster := range next.Start {
			o.started++
			if err := planner.Report(status.Report{Cluster: cluster.Name, Status: status.Progressing, LastTransitionTime: now, Applied: now}); err != nil {
				return next, err
			}
			position, _ := groups.Position(cluster.Name)
			if f := fates(position); f.status != "" {
				heap.Push(coming, event{now.Add(f.after), now, position, f.status})
			}
		}
	}
}

// event is what a cluster will report.
type event struct {
	at       time.Time
	started  time.Time
	position int
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
