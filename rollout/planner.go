// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"sync"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
)

// Planner gives the same answers as [Plan], but is not given the whole fleet each time: it keeps the groups and the
// reports, and is told what changes. After any sequence of changes, [Planner.Result] equals what Plan gives for the
// same groups, reports, strategy and options.
//
// A report, or time that passes, takes time that hardly grows with the fleet. A change of groups or strategy takes time
// linear in the fleet. A Planner takes about 50 bytes a cluster beside the groups.
//
// The zero Planner is ready to use: it has the type All and no groups until it is told otherwise. All methods may be
// called from several goroutines at a time; each call sees the effects of calls that returned before it. A controller
// whose decisions depend on the effects of earlier ones still has to make one at a time.
//
// When another version is wanted, all clusters start over. It is simplest to make a Planner for each version: call
// [NewPlanner], with the Result of the planner before as [Options].Previous; Report how every cluster stands with the version;
// only then let the new planner take the place of the one before. What is observed in the meantime must be reported to the
// new one. The old planner can be kept instead: Forget all clusters, then Report. These are two calls, and a Next of
// another goroutine between them would take every cluster for one that was never reported, and start it. Hold a lock of your
// own over both calls and around every use of the planner.
type Planner struct {
	mu      sync.Mutex
	tracker *tracker // nil until the first call of the zero Planner

	// By the names of clusters, selected or not:
	several map[string]bool      // clusters that had several reports in the last call with any
	writes  map[string]write     // the last write of each cluster, as Applied was told
	tried   map[string]time.Time // when the clusters failed that were tried again; nil if there are none

	says     map[string]fleet.Message // the messages of what was reported; nil where there are none
	deleting map[string]bool          // clusters whose object is being deleted, by the last report
	others   map[string]fleet.Report  // what was reported of clusters that are not selected, or that the record has
	names    []string                 // the names of those to remove, in order; nil if not known

	unselected map[string]time.Time // when clusters were first found unselected, by the last answer; nil if unknown
	groups     *grouping.Groups     // the selected clusters
	previous   *previousResult      // of the last answer; nil if there is none
	answered   *schedule            // of the last answer
	stale      bool                 // the deselected clusters have to be found again
}

// tracker is the index of a schedule.
type tracker struct {
	*fleet.Index
	schedule *schedule
}

// NewPlanner makes a planner for a rollout without any report yet. Groups may be nil. The planner keeps groups and
// options. The errors are the same as from [Plan].
func NewPlanner(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts Options) (*Planner, error) {
	planner := &Planner{}
	planner.SetGroups(groups)
	if err := planner.SetStrategy(strategy, opts); err != nil {
		return nil, err
	}
	return planner, nil
}

// lock gives the tracker, for the caller to unlock.
func (p *Planner) lock() *tracker {
	p.mu.Lock()
	if p.tracker == nil {
		p.several, p.writes = make(map[string]bool), make(map[string]write)
		p.deleting, p.others = make(map[string]bool), make(map[string]fleet.Report)
		all, _ := parse(clusterv1alpha1.RolloutStrategy{}, nil)
		schedule := newSchedule(&all, &options{}, nil, fleet.FormerGroups{})
		p.tracker = &tracker{fleet.NewIndex(&schedule.Roster, fleet.NewReports(0), nil, time.Time{}), schedule}
	}
	return p.tracker
}

// SetGroups replaces the groups, which may be nil. Reports are kept. Clusters that have a report and are no longer
// selected are in Next.Removed until they are selected again or forgotten.
func (p *Planner) SetGroups(groups *grouping.Groups) {
	old := p.lock()
	defer p.mu.Unlock()
	p.groups = groups
	p.build(&old.schedule.rules, &old.schedule.options, old.Now)
}

// SetStrategy replaces the strategy and all options. What a planner remembers stays, also where Previous is nil. The
// errors are the same as from [Plan]; nothing changes then.
func (p *Planner) SetStrategy(strategy clusterv1alpha1.RolloutStrategy, opts Options) error {
	rules, options, errs := compile(*strategy.DeepCopy(), &opts)
	if len(errs) > 0 {
		return fielderrs.Join(errs)
	}
	old := p.lock()
	defer p.mu.Unlock()
	p.build(&rules, &options, old.Now)
	return nil
}

// Next says what may happen at the time now. It takes time in proportion to what it returns and to the clusters whose
// deadline or soak ended since the call before, and also
//
//   - with closed gates, to the groups and the waiting clusters behind them;
//   - with [GroupOrder], to the groups;
//   - with [Options].MaxStarts, to the starts within its span, if these are more than it allows;
//   - with [Options].WaitBetweenGroups, to the clusters of a group's stage, if its last success is no longer reported;
//   - at a breach, to the failed clusters;
//   - while ignored clusters wait, to all of them.
//
// Now may be before the time of an earlier call; that takes time linear in the fleet.
func (p *Planner) Next(now time.Time) (next Next) {
	p.lock()
	defer p.mu.Unlock()
	p.advance(now)
	var observed observed
	var choice choice
	p.tell(&observed)
	tracker := p.tracker
	tracker.schedule.next(&next, &choice, tracker, &observed, tracker.Now, nil)
	p.remember(&choice)
	next.Removed = slices.Clone(next.Removed)
	return next
}

// InFlight gives the clusters in flight at the time now, as in [Result].InFlight. A change of the workload must reach
// them.
func (p *Planner) InFlight(now time.Time) []Cluster {
	p.lock()
	defer p.mu.Unlock()
	p.advance(now)
	var observed observed
	p.tell(&observed)
	tracker := p.tracker
	return tracker.schedule.list(tracker, fleet.InFlightStates, observed.InFlight())
}

// Result gives what [Plan] would give at the time now, with reasons and summary. It takes time linear in the fleet.
func (p *Planner) Result(now time.Time) *Result {
	p.lock()
	defer p.mu.Unlock()
	p.advance(now)
	var observed observed
	p.tell(&observed)
	tracker := p.tracker
	result := &Result{schedule: p.remembering(tracker.schedule), table: tracker.Snapshot(p.says), waitSets: &waitSets{}}
	result.table.Deleting, observed.Totals = observed.deleting, result.table.Totals // of which the result keeps that of the active stage
	result.complete(tracker, &observed)
	p.remember(&result.choice)
	result.Removed = slices.Clone(result.Removed)
	return result
}

// remembering gives a schedule as [Plan] makes it, for a result that is the previous one of a plan: where the groups are incomplete, it has
// the result before, from which the plan knows where clusters counted that were deselected or moved.
func (p *Planner) remembering(schedule *schedule) *schedule {
	if schedule.missing == "" {
		return schedule
	}
	knows := *schedule
	knows.options.previous = p.previousGroups(&knows.options)
	return &knows
}

// advance brings the tracker to the time now.
func (p *Planner) advance(now time.Time) {
	tracked := p.tracker
	now = now.Round(0) // without the monotonic clock, as in Plan
	switch back := now.Before(tracked.Now); {
	case p.stale, back && !p.isPlain(&tracked.schedule.options):
		p.build(&tracked.schedule.rules, &tracked.schedule.options, now)
		return
	case back:
		p.tracker = &tracker{tracked.At(now), tracked.schedule}
		return
	}
	tracked.Advance(now)
	for _, position := range tracked.schedule.Deselected {
		if !tracked.schedule.StillCounts(tracked.Of(position), now) {
			p.build(&tracked.schedule.rules, &tracked.schedule.options, now)
			return
		}
	}
	for _, position := range tracked.schedule.Moved {
		if p.isSettled(position) {
			p.build(&tracked.schedule.rules, &tracked.schedule.options, now)
			return
		}
	}
}

// tell puts into observed what the planner knows, except for the states of the selected clusters.
func (p *Planner) tell(observed *observed) {
	observed.departed = p.once(p.tracker.Now)
	p.tracker.Departed = observed.departed
	tracker := p.tracker
	observed.Totals, observed.recheck, observed.recent = tracker.Totals, tracker.Recheck(), tracker.recentStarts()
	observed.active, observed.breached = tracker.Firsts()
	observed.before = tracker.schedule.told(p.previousGroups(&tracker.schedule.options))
	p.pendingRemoval(observed)
	if observed.unselected = p.tracker.schedule.options.unselected; p.unselected != nil {
		observed.unselected = p.unselected
	}
	for cluster := range p.several {
		if other, _ := fleet.Elsewhere(p.groups, cluster); !other {
			observed.merged.Add(cluster)
		}
	}
}

// recentStarts looks at the starts within the span of MaxStarts (R36).
func (t *tracker) recentStarts() limits.Recent {
	starts := t.schedule.options.starts
	if !starts.IsSet() {
		return limits.Recent{}
	}
	if n, unknown, leaves := t.NumStarts(); !leaves.IsZero() && n <= starts.Most { // the usual case, unless more started than may
		return limits.Recent{N: n, Unknown: unknown, Next: leaves.UTC()}
	}
	return starts.Recent(t.Starts())
}

// remember keeps when clusters were first found unselected, and the groups.
func (p *Planner) remember(choice *choice) {
	schedule := p.tracker.schedule
	if departed := p.tracker.Departed; p.answered != schedule || p.previous.Departed != nil || departed != nil || len(p.previous.lasting)+len(choice.last) > 0 {
		p.previous, p.answered = schedule.knows(p.previousGroups(&schedule.options), departed, choice.last), schedule
	}
	if p.tracker.schedule.options.grace <= 0 {
		p.unselected = nil
	} else if p.unselected = choice.unselected; p.unselected == nil {
		p.unselected = map[string]time.Time{} // so that the option is not asked again
	}
}
