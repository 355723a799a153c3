package rollout

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
)

// Planner answers like [Plan] without being given the whole fleet each time: it keeps the groups and the
// reports, and is told what changes. After any sequence of changes [Planner.Result] equals what Plan says
// of the same groups, reports, strategy and options.
//
// A report, or time that passes, costs time that hardly grows with the fleet; a change of groups or
// strategy costs time linear in it. A Planner takes about 40 bytes a cluster beside the groups.
//
// A Planner must come from [NewPlanner]; the methods of the zero Planner return an error. All methods may be called
// from several goroutines at a time; each call sees those that returned before it. A controller whose
// decisions must not interleave, each taken on the effects of the one before, still has to take one at a time.
type Planner struct {
	mu       sync.Mutex
	strategy clusterv1alpha1.RolloutStrategy
	options  []Option
	tracker  *tracker
	removed  map[string]report // what was reported of clusters that are not selected
	gone     []string          // the names in removed, in order; nil if not known
}

// report is what a Planner keeps of a report.
type report struct {
	kind  state
	since time.Time
}

// Step is what a [Planner] says may happen now: the parts of a [Result] that a controller acts upon each
// time, with the same meaning and order.
type Step struct {
	Start        []Cluster     `json:"start,omitempty"`
	TimedOut     []Cluster     `json:"timedOut,omitempty"`
	Removed      []string      `json:"removed,omitempty"`
	Breach       *Reason       `json:"breach,omitempty"`
	RecheckAfter time.Duration `json:"recheckAfter,omitempty"`
	// Counts are those over all selected clusters.
	Counts status.Counts `json:"counts"`
}

// String is the step in a line: `start c; timed out a; 1 of 3 clusters done, 1 waiting; recheck after 9m0s`.
func (s Step) String() string {
	parts := changes(s.Start, nil, s.TimedOut, s.Removed)
	if s.Breach != nil {
		parts = append(parts, s.Breach.String())
	}
	parts = append(parts, s.Counts.String())
	return strings.Join(appendRecheck(parts, s.RecheckAfter), "; ")
}

// NewPlanner makes a planner for a rollout of which nothing has been reported yet. Errors are those of
// [Plan]. The planner keeps groups, which may be nil, and the options.
func NewPlanner(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts ...Option) (*Planner, error) {
	s, err := compile(strategy, groups, opts)
	if err != nil {
		return nil, err
	}
	n := groups.NumClusters()
	return &Planner{
		strategy: *strategy.DeepCopy(),
		options:  slices.Clone(opts),
		tracker:  newTracker(s, make([]state, n), make([]time.Time, n), time.Time{}),
		removed:  make(map[string]report),
	}, nil
}

// notMade is what all methods of a Planner return that NewPlanner has not made.
func notMade() error { return errors.New("rollout: the Planner does not come from NewPlanner") }

// Report takes in what was observed of clusters, in place of what was reported of them before. Of a
// cluster that is named twice the later report counts. It is an error (*field.Error) if a report has no
// cluster; none of the reports has an effect then.
func (p *Planner) Report(reports ...status.Report) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return notMade()
	}
	var errs field.ErrorList
	for i := range reports {
		if reports[i].Cluster == "" {
			errs = append(errs, field.Required(field.NewPath("reports").Index(i).Child("cluster"), "must be the name of a ManagedCluster"))
		}
	}
	if len(errs) > 0 {
		return fielderrs.Join(errs)
	}
	for i := range reports {
		since := reports[i].LastTransitionTime.Round(0) // so that all of them can be compared
		p.set(reports[i].Cluster, report{kind(reports[i].Status), since})
	}
	return nil
}

// Forget drops what was reported of clusters: their workload is gone, or was never there. Names without a
// report have no effect.
func (p *Planner) Forget(clusters ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return notMade()
	}
	for _, cluster := range clusters {
		p.set(cluster, report{})
	}
	return nil
}

// set changes what was reported of a cluster; the zero report is none.
func (p *Planner) set(cluster string, r report) {
	if position, selected := p.tracker.schedule.groups.Position(cluster); selected {
		p.tracker.report(position, r.kind, r.since)
		return
	}
	if _, known := p.removed[cluster]; known != (r.kind != unreported) {
		p.gone = nil
	}
	if r.kind == unreported {
		delete(p.removed, cluster)
	} else {
		p.removed[cluster] = r
	}
}

// SetGroups replaces the groups. Reports are kept, also those of clusters that are no longer selected,
// which are Removed until they are selected again or forgotten.
func (p *Planner) SetGroups(groups *grouping.Groups) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return notMade()
	}
	s, err := compile(p.strategy, groups, p.options)
	if err != nil {
		return err
	}
	old, before := p.tracker, p.tracker.schedule.groups
	n := groups.NumClusters()
	kinds, since := make([]state, n), make([]time.Time, n)
	for position, kind := range old.kinds {
		if kind == unreported {
			continue
		}
		if now, selected := groups.Position(before.Cluster(position)); selected {
			kinds[now], since[now] = kind, old.since[position]
		} else {
			p.removed[before.Cluster(position)] = report{kind, old.since[position]}
		}
	}
	for cluster, r := range p.removed {
		if now, selected := groups.Position(cluster); selected {
			kinds[now], since[now] = r.kind, r.since
			delete(p.removed, cluster)
		}
	}
	p.gone = nil
	p.tracker = newTracker(s, kinds, since, old.now)
	return nil
}

// SetStrategy replaces the strategy and all options. Errors are those of [Plan]; nothing changes then.
func (p *Planner) SetStrategy(strategy clusterv1alpha1.RolloutStrategy, opts ...Option) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return notMade()
	}
	old := p.tracker
	s, err := compile(strategy, old.schedule.groups, opts)
	if err != nil {
		return err
	}
	p.strategy, p.options = *strategy.DeepCopy(), slices.Clone(opts)
	p.tracker = newTracker(s, old.kinds, old.since, old.now)
	return nil
}

// Next says what may happen at the time now. It costs time in proportion to what it returns and to the
// clusters whose deadline or soak ended since the call before; with closed gates also to the groups and the
// waiting clusters behind them. A time before that of an earlier call is answered as well, in time linear
// in the fleet.
func (p *Planner) Next(now time.Time) (Step, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return Step{}, notMade()
	}
	t := p.at(now)
	c := t.choose()
	step := Step{
		Start:        t.start(&c),
		TimedOut:     t.list(&t.timedOut, int(t.totals.all[timedOutNow])),
		Removed:      p.removedNames(),
		Breach:       clone(c.breach),
		RecheckAfter: sooner(t.recheck(), t.schedule.opening(&c, t.totals.groups, now)),
	}
	step.Counts = t.totals.all.counts(t.totals.all.waiting() - len(step.Start))
	return step, nil
}

// InFlight gives the clusters in flight at the time of the last call of Next or Result, as
// [Result].InFlight has them: those that a change of the workload must reach.
func (p *Planner) InFlight() ([]Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return nil, notMade()
	}
	t := p.tracker
	return t.list(&t.inFlight, t.totals.all.inFlight()), nil
}

// Result says at the time now all that [Plan] would, reasons and summary included. It takes time linear in
// the fleet.
func (p *Planner) Result(now time.Time) (*Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tracker == nil {
		return nil, notMade()
	}
	t := p.at(now)
	r := &Result{
		schedule:     t.schedule,
		states:       slices.Clone(t.states),
		tallies:      slices.Clone(t.totals.groups),
		Removed:      p.removedNames(),
		RecheckAfter: t.recheck(),
	}
	r.complete(now)
	return r, nil
}

// at is the tracker at the time now.
func (p *Planner) at(now time.Time) *tracker {
	t := p.tracker
	now = now.Round(0) // as Plan
	if now.Before(t.now) {
		p.tracker = newTracker(t.schedule, t.kinds, t.since, now)
	} else {
		t.advance(now)
	}
	return p.tracker
}

// removedNames are those of Result.Removed, for the caller to keep.
func (p *Planner) removedNames() []string {
	if len(p.removed) == 0 {
		return nil
	}
	if p.gone == nil {
		for cluster := range p.removed {
			p.gone = append(p.gone, cluster)
		}
		slices.Sort(p.gone)
	}
	return slices.Clone(p.gone)
}
