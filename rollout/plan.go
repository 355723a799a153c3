package rollout

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status"
)

// Plan says what may happen at the time now, for a rollout by strategy over groups whose clusters were
// reported as in reports; a cluster without a report never got the workload. Neither the order of the
// reports nor an earlier call has a part in the result. Inputs are not changed; the result keeps groups.
//
// It is an error (one *field.Error per fault, found by errors.As) if [Validate] finds fault with the
// strategy, an option is invalid, or a report has no cluster or the same one as another (R1).
//
// It takes time linear in the clusters and the reports, and a number of allocations that depends on
// neither; beside that it sorts the removed clusters, and by [Order] the waiting ones.
func Plan(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, reports []status.Report, now time.Time, opts ...Option) (*Result, error) {
	s, err := compile(strategy, groups, opts)
	if err != nil {
		return nil, err
	}
	r := &Result{
		schedule: s,
		states:   make([]state, groups.NumClusters()),
		tallies:  make([]tally, groups.Len()),
	}
	now = now.Round(0) // by the wall clock, of which the reports speak, also where the caller's reading is a monotonic one
	if err := r.observe(reports, now); err != nil {
		return nil, err
	}
	r.complete(now)
	return r, nil
}

// complete fills in all that follows from the observed states and tallies.
func (r *Result) complete(now time.Time) {
	s := r.schedule
	totals := s.sum(r.tallies)
	r.choice = s.choose(&totals, s.firstIncomplete(&totals), now)
	r.Schedule, r.Warnings, r.Breach = s.Schedule.clone(), slices.Clone(s.warnings), clone(r.choice.breach)
	r.removed = len(r.Removed)
	r.RecheckAfter = sooner(r.RecheckAfter, s.opening(&r.choice, r.tallies, now))
	r.list(&totals.all)
	r.start()
}

// clone is a copy that the caller may change without changing our reasons.
func clone(breach *Reason) *Reason {
	if breach == nil {
		return nil
	}
	c := *breach
	return &c
}

// compile checks everything but the reports.
func compile(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts []Option) (*schedule, error) {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	rules, errs := parse(strategy, nil)
	if errs = append(errs, o.errs...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	return newSchedule(rules, o, groups), nil
}

// observe reads the reports into states and tallies (R1 to R7).
func (r *Result) observe(reports []status.Report, now time.Time) error {
	var errs field.ErrorList
	var twice []string
	groups := r.schedule.groups
	for i := range reports {
		report := &reports[i]
		position, selected := groups.Position(report.Cluster)
		switch {
		case report.Cluster == "":
			errs = append(errs, field.Required(field.NewPath("reports").Index(i).Child("cluster"), "must be the name of a ManagedCluster"))
			continue
		case !selected:
			r.Removed = append(r.Removed, report.Cluster)
			continue
		case r.states[position] != unreported:
			twice = append(twice, report.Cluster)
			continue
		}
		s, left := r.schedule.rules.at(kind(report.Status), report.LastTransitionTime, now)
		r.states[position] = s
		r.RecheckAfter = sooner(r.RecheckAfter, left)
	}
	// Counted in a pass of its own, which walks through memory instead of jumping after the reports.
	for position, s := range r.states {
		r.tallies[groups.GroupAt(position)][s]++
	}

	slices.Sort(r.Removed)
	for i := 1; i < len(r.Removed); i++ {
		if r.Removed[i] == r.Removed[i-1] {
			twice = append(twice, r.Removed[i])
		}
	}
	slices.Sort(twice)
	for _, cluster := range slices.Compact(twice) {
		errs = append(errs, field.Duplicate(field.NewPath("reports").Key(cluster).Child("cluster"), cluster))
	}
	return fielderrs.Join(errs)
}

// list fills InFlight and TimedOut.
func (r *Result) list(all *tally) {
	if n := all.inFlight(); n > 0 {
		r.InFlight = make([]Cluster, 0, n)
	}
	if n := all[timedOutNow]; n > 0 {
		r.TimedOut = make([]Cluster, 0, n)
	}
	if cap(r.InFlight)+cap(r.TimedOut) == 0 {
		return
	}
	for position, s := range r.states {
		switch {
		case s.inFlight():
			r.InFlight = append(r.InFlight, r.cluster(position))
		case s == timedOutNow:
			r.TimedOut = append(r.TimedOut, r.cluster(position))
		}
	}
}

// start fills Start and marks what is in it (R8). The open clusters of the active stage are looked through
// in the order of their names, first those reported ToApply.
func (r *Result) start() {
	c := &r.choice
	if c.slots == 0 {
		return
	}
	r.Start = make([]Cluster, 0, c.slots)
	r.started = make([]int32, len(r.tallies))
	if r.schedule.options.order != nil {
		for _, position := range r.inOrder()[:c.slots] {
			r.add(int(position))
		}
		return
	}
	for _, s := range []state{toApply, unreported} {
		for position := 0; len(r.Start) < c.slots && position < len(r.states); position++ {
			if r.states[position] == s && r.schedule.mayStart(c, r.schedule.groups.GroupAt(position)) {
				r.add(position)
			}
		}
		if len(r.Start) == c.slots {
			return
		}
	}
}

// add starts the cluster at a position.
func (r *Result) add(position int) {
	r.Start = append(r.Start, r.cluster(position))
	r.states[position] |= starting
	r.started[r.schedule.groups.GroupAt(position)]++
}

// inOrder is the open clusters in the caller's order.
func (r *Result) inOrder() []int32 {
	groups, compare := r.schedule.groups, r.schedule.options.order
	open := make([]int32, 0, r.choice.open[unreported]+r.choice.open[toApply])
	for position, s := range r.states {
		if s.waiting() && r.schedule.mayStart(&r.choice, groups.GroupAt(position)) {
			open = append(open, int32(position))
		}
	}
	slices.SortFunc(open, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(r.states[b], r.states[a]), // toApply comes after unreported as a number
			compare(groups.Cluster(int(a)), groups.Cluster(int(b))),
			cmp.Compare(a, b),
		)
	})
	return open
}
