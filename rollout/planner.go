package rollout

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
)

// Planner gives the same answers as [Plan], but is not given the whole fleet each time: it keeps the groups and the
// reports, and is told what changes. After any sequence of changes, [Planner.Result] equals what Plan gives for the
// same groups, reports, strategy and options.
//
// A report, or time that passes, takes time that hardly grows with the fleet. A change of groups or strategy takes time
// linear in the fleet. A Planner takes about 40 bytes a cluster beside the groups.
//
// The zero Planner is ready to use: it has the type All and no groups until it is told otherwise. All methods may be
// called from several goroutines at a time; each call sees the effects of calls that returned before it. A controller
// whose decisions depend on the effects of earlier ones still has to make one at a time.
type Planner struct {
	mu      sync.Mutex
	tracker *tracker // nil until the first call of the zero Planner

	// By the names of clusters, selected or not:
	several map[string]bool    // clusters that had several reports in the last call with any
	applied map[string]applied // since when clusters have the present version, as Applied was told

	unselected map[string]time.Time // since when clusters have not been selected, by the last answer; nil if unknown
}

// report is what a Planner keeps of a report.
type report struct {
	kind    state
	since   time.Time
	attempt int
	lag     time.Duration // how long before since the version was applied
}

// applied is what Applied said of a write: when it was, and in which attempt.
type applied struct {
	when    time.Time
	attempt int
	again   bool // at the same time as the write known before; only the attempts differ
}

// NewPlanner makes a planner for a rollout without any report yet. Groups may be nil. The planner keeps groups and
// options. The errors are the same as from [Plan].
func NewPlanner(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts ...Option) (*Planner, error) {
	p := &Planner{}
	p.SetGroups(groups)
	if err := p.SetStrategy(strategy, opts...); err != nil {
		return nil, err
	}
	return p, nil
}

// lock gives the tracker, for the caller to unlock.
func (p *Planner) lock() *tracker {
	p.mu.Lock()
	if p.tracker == nil {
		p.several, p.applied = make(map[string]bool), make(map[string]applied)
		all, _ := parse(clusterv1alpha1.RolloutStrategy{}, nil)
		p.tracker = (&tracker{schedule: newSchedule(all, options{}, nil), facts: newFacts(0)}).fill()
	}
	return p.tracker
}

// Report replaces what was reported of clusters before. Several reports of one cluster in a call count as one
// ([status.Merge]). So pass the reports of all objects of a cluster in one call, even if only one of them changed. A
// report that is older than what [Planner.Applied] said has no effect.
//
// It is an error (*field.Error) if a report has no cluster. Then none of the reports has an effect.
func (p *Planner) Report(reports ...status.Report) error {
	var errs field.ErrorList
	for i := range reports {
		if reports[i].Cluster == "" {
			errs = append(errs, withoutCluster(field.NewPath("reports").Index(i)))
		}
	}
	if len(errs) > 0 {
		return fielderrs.Join(errs)
	}
	p.lock()
	defer p.mu.Unlock()
	if len(reports) == 1 {
		p.observe(&reports[0], false)
		return nil
	}
	seen := make(map[string]int, len(reports)) // the index of each cluster's first report
	several := make(map[string]status.Report)  // clusters with more than one, merged
	for i := range reports {
		r := &reports[i]
		first, again := seen[r.Cluster]
		if p.isOutdated(r) {
			continue
		} else if !again {
			seen[r.Cluster] = i
			continue
		}
		merged, ok := several[r.Cluster]
		if !ok {
			merged = p.inAttempt(reports[first])
		}
		several[r.Cluster] = status.Merge(merged, p.inAttempt(*r))
	}
	for cluster, i := range seen {
		if merged, ok := several[cluster]; ok {
			p.observe(&merged, true)
		} else {
			p.observe(&reports[i], false)
		}
	}
	return nil
}

// observe takes in one report, perhaps merged from several.
func (p *Planner) observe(r *status.Report, several bool) {
	if p.isOutdated(r) {
		return
	}
	if several {
		p.several[r.Cluster] = true
	} else {
		delete(p.several, r.Cluster)
	}
	kind, since := read(r)
	p.set(r.Cluster, report{kind, since, p.inAttempt(*r).Attempt, lagOf(r)})
}

// inAttempt gives a report the attempt that it is about. A report without Applied is about the last write, whose attempt it
// need not know; otherwise a cluster that fails for ever would be started again for ever.
func (p *Planner) inAttempt(r status.Report) status.Report {
	if last, ok := p.applied[r.Cluster]; ok && r.Applied.IsZero() {
		r.Attempt = max(r.Attempt, last.attempt)
	}
	return r
}

// isOutdated says whether a report is about a version or an attempt before the last write. A report with exactly the time of
// the write is about that write, whatever its attempt. A report without Applied does not say which write it is about. Only a
// failure that is not after the write and has an earlier number is taken for the failure that is being tried again.
func (p *Planner) isOutdated(r *status.Report) bool {
	if len(p.applied) == 0 {
		return false
	}
	last, ok := p.applied[r.Cluster]
	if !ok {
		return false
	}
	earlier := max(r.Attempt, 0) < last.attempt
	if of := r.LastTransitionTime; r.Applied.IsZero() {
		fails := r.Status == status.Failed || r.Status == status.TimeOut
		return r.Status == status.ToApply || isBefore(of, last.when) || earlier && fails && !of.After(last.when)
	}
	of := r.Applied
	return isBefore(of, last.when) || earlier && (of.Before(last.when) || last.again && of.Equal(last.when))
}

// isBefore compares in whole seconds, since conditions and annotations may keep no more.
func isBefore(t, applied time.Time) bool { return t.Before(applied.Truncate(time.Second)) }

// Applied tells the planner that the present version of the workload was written for a cluster at the time when. From now
// on the cluster is in flight, even if an older observation arrives later. A report whose Applied is older has no effect.
// Neither has a report without Applied that is ToApply or whose LastTransitionTime is older. Call Applied after each
// write that [Planner.Next] asked for or that changed the version, with the time that was noted in the object.
//
// A waiting cluster is in the wanted attempt ([Attempt]) from this write on. Any other cluster stays in its attempt. From
// then on a report of an earlier attempt has no effect where its Applied is older than when, by any fraction of a second. A
// report without Applied counts for the cluster's attempt, whatever its own number. But a failure with an earlier number has
// no effect unless it came after when: it is taken for the failure that is being tried again.
//
// Where the answer to a write was lost, read the object. Call Applied only if the object has the wanted attempt
// ([status.StampOf]); otherwise only Report it.
//
// Applied has the effect of a report of ToApply with that time in Applied, unless a later report is known already. When
// another version is wanted, all clusters begin anew: Forget them, then Report how they stand with that version.
func (p *Planner) Applied(cluster string, when time.Time) {
	when = when.Round(0)
	t := p.lock()
	defer p.mu.Unlock()
	last := p.applied[cluster]
	if cluster == "" || when.IsZero() || when.Before(last.when) {
		return
	}
	known := t.removed[cluster]
	if position, selected := t.schedule.groups.Position(cluster); selected {
		known = t.reported(position)
	}
	waits := t.schedule.state(known.kind, known.since, known.attempt, when).waiting()
	attempt := known.attempt
	if waits {
		attempt = t.schedule.options.attempt
	}
	if when.Equal(last.when) && attempt <= last.attempt {
		return
	}
	again := when.Equal(last.when) || waits && when.Equal(known.since)
	p.applied[cluster] = applied{when, attempt, again}
	if !waits && !isBefore(known.since, when) {
		return
	}
	p.set(cluster, report{silent, when, attempt, 0})
}

// Forget drops what Report and Applied said of clusters: their workload is gone, or was never there. Names without a
// report have no effect. Forget a cluster when its object is deleted, but not because a cache does not show the object
// yet.
func (p *Planner) Forget(clusters ...string) {
	p.lock()
	defer p.mu.Unlock()
	for _, cluster := range clusters {
		delete(p.several, cluster)
		delete(p.applied, cluster)
		p.set(cluster, report{})
	}
}

// set replaces the report of a cluster; the zero report removes it.
func (p *Planner) set(cluster string, r report) {
	if position, selected := p.tracker.schedule.groups.Position(cluster); selected {
		p.tracker.report(position, r)
	} else {
		p.tracker.reportRemoved(cluster, r)
	}
}

// SetGroups replaces the groups, which may be nil. Reports are kept. Clusters that have a report and are no longer
// selected are in Next.Removed until they are selected again or forgotten.
func (p *Planner) SetGroups(groups *grouping.Groups) {
	old := p.lock()
	defer p.mu.Unlock()
	before, facts := old.schedule.groups, newFacts(groups.NumClusters())
	for position, kind := range old.kinds {
		if kind != unreported {
			facts.take(groups, before.Cluster(position), old.reported(position))
		}
	}
	for cluster, r := range old.removed {
		facts.take(groups, cluster, r)
	}
	schedule := newSchedule(old.schedule.rules, old.schedule.options, groups)
	p.tracker = (&tracker{schedule: schedule, facts: facts, now: old.now}).fill()
}

// SetStrategy replaces the strategy and all options. The errors are the same as from [Plan]; nothing changes then.
func (p *Planner) SetStrategy(strategy clusterv1alpha1.RolloutStrategy, opts ...Option) error {
	rules, o, err := compile(*strategy.DeepCopy(), opts)
	if err != nil {
		return err
	}
	old := p.lock()
	defer p.mu.Unlock()
	p.tracker = (&tracker{schedule: newSchedule(rules, o, old.schedule.groups), facts: old.facts, now: old.now}).fill()
	return nil
}

// Next says what may happen at the time now. It takes time in proportion to what it returns and to the clusters whose
// deadline or soak ended since the call before, and also
//
//   - with closed gates, to the groups and the waiting clusters behind them;
//   - with [GroupOrder], to the groups;
//   - with [MaxStarts], to the starts within its span, if these are more than it allows;
//   - with [WaitBetweenGroups], to the clusters of a group's stage, if its last success is no longer reported;
//   - at a breach, to the failed clusters;
//   - while uncounted clusters wait, to all of them.
//
// Now may be before the time of an earlier call; that takes time linear in the fleet.
func (p *Planner) Next(now time.Time) Next {
	p.lock()
	defer p.mu.Unlock()
	p.advance(now)
	t, o := p.tracker, p.observed()
	n, c := t.schedule.next(t, &o, t.now, nil)
	p.remember(&c)
	n.Removed = slices.Clone(n.Removed)
	return n
}

// InFlight gives the clusters in flight at the time now, as in [Result].InFlight. A change of the workload must reach
// them.
func (p *Planner) InFlight(now time.Time) []Cluster {
	p.lock()
	defer p.mu.Unlock()
	p.advance(now)
	t, o := p.tracker, p.observed()
	everyone := o.everyone()
	return t.schedule.list(t, inFlightStates, everyone.inFlight())
}

// Result gives what [Plan] would give at the time now, with reasons and summary. It takes time linear in the fleet.
func (p *Planner) Result(now time.Time) *Result {
	p.lock()
	defer p.mu.Unlock()
	p.advance(now)
	t, o := p.tracker, p.observed()
	r := &Result{
		schedule: t.schedule,
		states:   slices.Clone(t.states),
		ages:     make([]time.Duration, len(t.states)),
		tries:    slices.Clone(t.tries),
		tallies:  slices.Clone(t.totals.groups),
		aside:    slices.Clone(t.totals.aside),
	}
	for position, state := range r.states {
		r.age(position, state, t.since[position], t.now)
	}
	r.complete(t, &o, t.now)
	p.remember(&r.choice)
	r.Removed = slices.Clone(r.Removed)
	return r
}

// advance brings the tracker to the time now.
func (p *Planner) advance(now time.Time) {
	t := p.tracker
	if now = now.Round(0); now.Before(t.now) { // without the monotonic clock, as in Plan
		p.tracker = (&tracker{schedule: t.schedule, ranks: t.ranks, facts: t.facts, now: now}).fill()
	} else {
		t.advance(now)
	}
}

// observed gives what the planner knows, except for the states of the selected clusters.
func (p *Planner) observed() observed {
	o := p.tracker.observed()
	if o.unselected = p.tracker.schedule.options.unselected; p.unselected != nil {
		o.unselected = p.unselected
	}
	for cluster := range p.several {
		o.merged.add(cluster)
	}
	return o
}

// remember keeps since when clusters have not been selected.
func (p *Planner) remember(c *choice) {
	if p.tracker.schedule.options.grace <= 0 {
		p.unselected = nil
	} else if p.unselected = c.unselected; p.unselected == nil {
		p.unselected = map[string]time.Time{} // so that the option is not asked again
	}
}
