package rollout_test

import (
	"fmt"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// fleet is the groups of w as PlacementDecisions.
func (w world) fleet(tb fataler) *fleet {
	f := newFleet(tb)
	for _, g := range w.groups {
		var names []string
		for _, m := range w.members {
			if m.group == g {
				names = append(names, m.name)
			}
		}
		f.groupAt(int(g.Index), g.Name, names...)
	}
	return f
}

// options are those of w for Plan.
func (w world) options() []rollout.Option {
	var opts []rollout.Option
	if w.paused {
		opts = append(opts, rollout.Paused())
	}
	for _, g := range w.gates {
		opts = append(opts, rollout.Closed(g.group, g.gate))
	}
	if w.order != nil {
		opts = append(opts, rollout.Order(w.order))
	}
	if w.perGroup != nil {
		opts = append(opts, rollout.MaxConcurrencyPerGroup(*w.perGroup))
	}
	if w.failedFrees {
		opts = append(opts, rollout.FailedFreesSlot())
	}
	if w.placement != nil {
		opts = append(opts, rollout.DefaultMaxConcurrency(w.placement))
	}
	return opts
}

// observe writes into a all that a result says.
func (a *answer) observe(r *rollout.Result) {
	a.InFlight, a.Start, a.TimedOut, a.Removed = r.InFlight, r.Start, r.TimedOut, r.Removed
	a.Breach, a.Warnings, a.RecheckAfter, a.Schedule = r.Breach, r.Warnings, r.RecheckAfter, r.Schedule
	a.Settled, a.Held = a.Settled[:0], a.Held[:0]
	for c := range r.Settled() {
		a.Settled = append(a.Settled, c)
	}
	for c, reason := range r.Held() {
		a.Held = append(a.Held, heldCluster{c, reason})
	}
	a.Summary = r.Summary()
	a.Aggregate = a.Summary.Aggregate()
	a.Waiting = r.Waiting()
}

// equal says whether two answers are the same. It is diff without reflection, which costs too much for
// millions of cases.
func (a *answer) equal(b *answer) bool {
	return slices.Equal(a.InFlight, b.InFlight) && slices.Equal(a.Start, b.Start) &&
		slices.Equal(a.TimedOut, b.TimedOut) && slices.Equal(a.Settled, b.Settled) &&
		slices.Equal(a.Held, b.Held) && slices.Equal(a.Removed, b.Removed) && same(a.Breach, b.Breach) &&
		slices.Equal(a.Warnings, b.Warnings) && a.RecheckAfter == b.RecheckAfter &&
		sameSchedule(a.Schedule, b.Schedule) && sameSummary(a.Summary, b.Summary) &&
		a.Aggregate == b.Aggregate && slices.Equal(a.Waiting, b.Waiting)
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func sameSchedule(a, b rollout.Schedule) bool {
	return a.Type == b.Type && a.MinSuccessTime == b.MinSuccessTime && a.MaxFailures == b.MaxFailures &&
		same(a.ProgressDeadline, b.ProgressDeadline) &&
		slices.EqualFunc(a.Stages, b.Stages, func(a, b rollout.Stage) bool {
			return a.Mandatory == b.Mandatory && a.Clusters == b.Clusters &&
				a.MaxConcurrency == b.MaxConcurrency && a.MaxFailures == b.MaxFailures && slices.Equal(a.Groups, b.Groups)
		})
}

func sameSummary(a, b status.Summary) bool {
	return a.Counts == b.Counts && slices.Equal(a.Groups, b.Groups) && a.Removed == b.Removed && a.Breach == b.Breach
}

// diff shows what two answers differ in.
func diff(want, got *answer) string { return gocmp.Diff(want, got, cmpopts.EquateEmpty()) }

// findFault says what is wrong with Find, given the answer that the lists have; empty if nothing.
func findFault(r *rollout.Result, want *answer) string {
	fault := ""
	check := func(disposition rollout.Disposition, c rollout.Cluster, reason rollout.Reason) {
		d, found, ok := r.Find(c.Name)
		if !ok || d != disposition || found != reason {
			fault = fmt.Sprintf("Find(%q) = %v, %v, %v, want %v, %v", c.Name, d, found, ok, disposition, reason)
		}
	}
	for _, list := range []struct {
		is       rollout.Disposition
		clusters []rollout.Cluster
	}{
		{rollout.InFlight, want.InFlight},
		{rollout.Starting, want.Start},
		{rollout.TimedOut, want.TimedOut},
		{rollout.Settled, want.Settled},
	} {
		for _, c := range list.clusters {
			check(list.is, c, rollout.Reason{})
		}
	}
	for _, h := range want.Held {
		check(rollout.Held, h.Cluster, h.Reason)
	}
	for _, name := range want.Removed {
		if d, reason, ok := r.Find(name); ok || d != "" || reason != (rollout.Reason{}) {
			fault = fmt.Sprintf("Find(%q) = %v, %v, %v of a cluster that is not selected", name, d, reason, ok)
		}
	}
	return fault
}

// judge plans a world and compares all that the result says with the oracle.
type judge struct {
	oracle oracle
	got    answer
}

// fault is what is wrong with the plan; empty if nothing.
func (j *judge) fault(w world, groups *grouping.Groups, opts []rollout.Option) string {
	result, err := rollout.Plan(w.strategy, groups, w.reports, w.now, opts...)
	if err != nil {
		return "refused: " + err.Error()
	}
	want := j.oracle.answer(w)
	j.got.observe(result)
	if !j.got.equal(want) {
		if d := diff(want, &j.got); d != "" {
			return "want - got +\n" + d
		}
		return "differs in a way that the diff does not show"
	}
	return findFault(result, want)
}
