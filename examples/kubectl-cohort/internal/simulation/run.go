// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Planner says what may happen at the time now when the clusters report what they do. It is rollout.Plan
// with a strategy and groups, or a wrapper around it. One that remembers is good for one run.
type Planner func(reports []status.Report, now time.Time) (*rollout.Result, error)

// Horizon is how long a rollout is watched in virtual time: 100 years.
const Horizon = 100 * 365 * 24 * time.Hour

// Run plays the rollout that plan decides, from start until nothing will change any more. lives is asked
// once for each cluster, when it starts. The start must not be the zero time, which reports read as unknown.
//
// It ends for every plan, since each wave uses up one of finitely many events: a step of a cluster's life, the end of a
// deadline or a soak, or the opening of a gate. A planner that wants more waves than that, or starts a cluster twice,
// is wrong; both are errors, as are the planner's own.
//
// Watchers are called after each wave with its last plan.
func Run(plan Planner, lives func(cluster string) Life, start time.Time, watch ...func(after time.Duration, result *rollout.Result)) (*Trace, error) {
	return Resume(plan, nil, lives, start, watch...)
}

// Resume does what Run does for a rollout under way, with what was observed at the start. A cluster that has the workload
// goes on from there: its life counts from when it got it. One that succeeded, is skipped or has timed out stays so. One that failed recovers if its life says
// so. One that is being validated has been so since its success. Any other begins its life at the start, unless its deadline is over.
func Resume(plan Planner, observed []status.Report, lives func(cluster string) Life, start time.Time, watch ...func(after time.Duration, result *rollout.Result)) (*Trace, error) {
	r := run{plan: plan, watch: watch, lives: lives, start: start, now: start, started: make(map[string]int)}
	r.resume(observed)
	for {
		if err := r.wave(); err != nil {
			return nil, fmt.Errorf("%v after the start: %w", r.now.Sub(start), err)
		}
		next, found := r.next()
		switch {
		case !found || next.Sub(start) > Horizon:
			r.trace.Outcome = outcome(r.trace.Final)
			r.trace.Stopped = r.trace.stopped()
			return &r.trace, nil
		case len(r.trace.Waves) > r.mostWaves():
			return nil, fmt.Errorf("no end after %d waves", len(r.trace.Waves))
		}
		r.now = next
	}
}

// run is a rollout under way.
type run struct {
	plan    Planner
	lives   func(cluster string) Life
	start   time.Time
	now     time.Time
	members []member                 // in the order of their start
	started map[string]int           // the place in members by name
	waiting map[string]status.Report // observed, and not started since
	trace   Trace
	watch   []func(time.Duration, *rollout.Result)
	frozen  int // frozen clusters at the start
}

// resume takes in what was observed. Clusters that don't have the workload, or another version, wait.
func (r *run) resume(observed []status.Report) {
	r.waiting = make(map[string]status.Report)
	for _, report := range observed {
		if report.Status == status.ToApply && report.Applied.IsZero() {
			r.waiting[report.Cluster] = report
			continue
		}
		m := member{name: report.Cluster, started: r.start, observed: &report, attempt: report.Attempt, shown: report.Status}
		switch life := r.lives(report.Cluster); report.Status {
		case status.Succeeded, status.Skip, status.TimeOut:
		case status.Failed:
			m.life = life.recovery()
			m.started = r.began(report.LastTransitionTime, m.life)
		default:
			m.life, m.shown = life, status.Progressing
			since := report.Applied
			if since.IsZero() {
				since = report.LastTransitionTime
			}
			if report.Status == status.Validating {
				m.shown = status.Validating
				if rest, ok := life.validation(); ok {
					m.life, since = rest, latest(report.Applied, report.LastTransitionTime, report.Answered)
				}
			}
			m.started = r.began(since, m.life)
		}
		r.started[m.name] = len(r.members)
		r.members = append(r.members, m)
	}
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// began is when a life began that is under way since a time: then, if its first step is still to come. A cluster that should
// have taken it already needs a tenth more than the time that it has had. Where it is unknown the time, and where the cluster
// is yet to lose its agent, the life begins at the start.
func (r *run) began(since time.Time, life Life) time.Time {
	if since.IsZero() || since.After(r.start) || len(life) == 0 || life[0].Drops {
		return r.start
	}
	had := r.start.Sub(since)
	if life[0].After > had {
		return since
	}
	more := max((had / 10).Round(time.Second), time.Second)
	return r.start.Add(more - life[0].After)
}

// lateForEver has the clusters that were late before the simulation stay so: nothing says that they will answer now.
func (r *run) lateForEver(result *rollout.Result) {
	for _, cluster := range result.TimedOut {
		if i, found := r.started[cluster.Name]; found && r.members[i].observed != nil {
			r.members[i].life = nil
		}
	}
}

// wave does all that happens now. A start may permit the next at once, where a cluster answers without
// delay, so it plans until nothing starts. The last plan is the one that knows what was started.
func (r *run) wave() error {
	w := Wave{After: r.now.Sub(r.start)}
	for i := range r.members {
		if m := &r.members[i]; !m.deselected && m.leaves(r.now) {
			m.deselected = true
			w.Deselected = append(w.Deselected, m.name)
		}
	}
	for {
		result, err := r.plan(r.reports(), r.now)
		if err != nil {
			return err
		}
		r.trace.Final = result
		if len(r.trace.Waves) == 0 {
			r.lateForEver(result)
			for _, block := range result.Blocked() {
				if block.Type == rollout.BlockFrozen {
					r.frozen++
				}
			}
		}
		if len(r.remove(result.Removed, &w)) > 0 {
			continue
		}
		if len(result.Start) == 0 {
			break
		}
		for _, cluster := range result.Start {
			if err := r.begin(cluster.Name, &w); err != nil {
				return err
			}
		}
	}
	r.note(&w)
	for _, watch := range r.watch {
		watch(w.After, r.trace.Final)
	}
	r.trace.Waves = append(r.trace.Waves, w)
	return nil
}

// remove deletes the objects of clusters, and gives the members with objects that were not being deleted yet. An object stays where
// no agent lets go of it, and is gone where an agent does.
func (r *run) remove(clusters []string, w *Wave) (removed []int) {
	for _, cluster := range clusters {
		i, has := r.started[cluster]
		if !has || r.members[i].deleting || r.members[i].gone {
			continue
		}
		m := &r.members[i]
		if m.deleting, m.gone = m.deselected, !m.deselected; m.deleting {
			w.Deleted = append(w.Deleted, cluster)
		}
		removed = append(removed, i)
	}
	return removed
}

func (r *run) begin(cluster string, w *Wave) error {
	if i, twice := r.started[cluster]; twice && r.members[i].onItsWayOut() {
		r.members[i] = member{name: cluster, started: r.now, life: r.lives(cluster), shown: status.Progressing}
		w.Started = append(w.Started, cluster)
		return nil
	} else if twice {
		return fmt.Errorf("cluster %q started a second time", cluster)
	}
	r.started[cluster] = len(r.members)
	delete(r.waiting, cluster)
	r.members = append(r.members, member{name: cluster, started: r.now, life: r.lives(cluster), shown: status.Progressing})
	w.Started = append(w.Started, cluster)
	return nil
}

// note writes down how things stand now and what is new, as the plan has it: to a planner, a report may mean
// something else than it says.
func (r *run) note(w *Wave) {
	result := r.trace.Final
	w.Counts, w.Blocks, w.Breached = result.Next.Counts, result.BlockCounts(), result.Breach != nil
	statuses := make([]status.RolloutStatus, len(r.members))
	stand := func(cluster rollout.Cluster) {
		if i, found := r.started[cluster.Name]; found {
			statuses[i] = cluster.Status
		}
	}
	for _, cluster := range result.InFlight {
		stand(cluster)
	}
	for _, cluster := range slices.Concat(result.TimedOut, result.Deselected) {
		stand(cluster)
	}
	for cluster := range result.Settled() {
		stand(cluster)
	}
	for i := range r.members {
		r.members[i].show(statuses[i], w)
	}
}

func (r *run) reports() []status.Report {
	reports := make([]status.Report, 0, len(r.members)+len(r.waiting))
	for i := range r.members {
		if !r.members[i].gone {
			reports = append(reports, r.members[i].report(r.now))
		}
	}
	for _, report := range r.waiting {
		reports = append(reports, report)
	}
	return reports
}

// next is the time of the next event, if there is one.
func (r *run) next() (next time.Time, found bool) {
	if after := r.trace.Final.RecheckAfter; after > 0 {
		next, found = r.now.Add(after), true
	}
	for i := range r.members {
		if at, ok := r.members[i].next(r.now); ok && (!found || at.Before(next)) {
			next, found = at, true
		}
	}
	return next, found
}

// mostWaves gives how many waves there can be by now: the first, and one for each gate and each freeze. For each status that a cluster
// may have there is one when it comes, one at its deadline and one after its soak.
func (r *run) mostWaves() int {
	most := 1 + len(r.trace.Final.Summary().Groups) + r.frozen
	for i := range r.members {
		most += 3 * (1 + len(r.members[i].life))
	}
	return most
}
