package rollout

import (
	"cmp"
	"slices"
	"strings"
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
// neither.
func Plan(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, reports []status.Report, now time.Time, opts ...Option) (*Result, error) {
	s, err := compile(strategy, groups, opts)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Schedule: s.Schedule.clone(),
		Warnings: slices.Clone(s.warnings),
		schedule: s,
		states:   make([]state, groups.NumClusters()),
		tallies:  make([]tally, groups.Len()),
	}
	if err := r.observe(reports, now); err != nil {
		return nil, err
	}
	r.choice = s.choose(r.tallies, now)
	if r.choice.breach != nil {
		breach := *r.choice.breach // what the caller does to its copy is not to change our reasons
		r.Breach = &breach
	}
	r.RecheckAfter = sooner(r.RecheckAfter, s.opening(&r.choice, r.tallies, now))
	r.list()
	r.start()
	return r, nil
}

// compile checks everything but the reports.
func compile(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts []Option) (*schedule, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
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
		s, left := r.schedule.rules.read(report, now)
		r.states[position] = s
		r.tallies[groups.GroupAt(position)][s]++
		r.RecheckAfter = sooner(r.RecheckAfter, left)
	}
	for group := range r.tallies {
		t := &r.tallies[group]
		reported := int32(0)
		for _, n := range t[toApply:] {
			reported += n
		}
		t[unreported] = int32(groups.Size(group)) - reported
	}

	r.removed = len(r.Removed)
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
func (r *Result) list() {
	var all tally
	for i := range r.tallies {
		all.add(&r.tallies[i])
	}
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

// String is the result in a line: `start c d; in flight a b; 3 held: waiting for group 1; recheck after 5m0s`.
func (r *Result) String() string {
	var parts []string
	names := func(what string, clusters []Cluster) {
		if len(clusters) > 0 {
			part := what
			for _, c := range clusters {
				part += " " + c.Name
			}
			parts = append(parts, part)
		}
	}
	names("start", r.Start)
	names("in flight", r.InFlight)
	names("timed out", r.TimedOut)
	if len(r.Removed) > 0 {
		parts = append(parts, "removed "+strings.Join(r.Removed, " "))
	}
	stopped := r.Breach != nil
	for _, w := range r.Waiting() {
		parts = append(parts, w.String())
		stopped = stopped && w.Reason != *r.Breach
	}
	if stopped { // and nobody waits, or for another reason
		parts = append(parts, r.Breach.String())
	}
	if r.RecheckAfter > 0 {
		parts = append(parts, "recheck after "+r.RecheckAfter.String())
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, "; ")
}
