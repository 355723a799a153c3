// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// stored is the Placement of w and its PlacementDecisions.
func (w world) stored(tb fataler) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision) {
	tb.Helper()
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
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	if len(f.decisions) > 0 {
		st, err := grouping.Status(f.decisions)
		if err != nil {
			tb.Fatal(err)
		}
		placement.Status = st
	}
	if w.incomplete {
		placement.Status.NumberOfSelectedClusters++
	}
	if w.size != nil {
		placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = *w.size
	}
	return placement, f.decisions
}

// read gives the groups of w, as a controller reads them.
func (w world) read(tb fataler) *grouping.Groups {
	tb.Helper()
	if len(w.groups) == 0 && !w.incomplete { // an empty selection has a PlacementDecision (G3); no group at all can only be made of names
		groups, err := grouping.FromNames(nil)
		if err != nil {
			tb.Fatal(err)
		}
		return w.taken(tb, groups)
	}
	placement, decisions := w.stored(tb)
	groups, err := grouping.Read(placement, decisions)
	if err != nil {
		tb.Fatal(err)
	}
	return w.taken(tb, groups)
}

// taken takes the groups of w apart from those of another placement.
func (w world) taken(tb fataler, groups *grouping.Groups) *grouping.Groups {
	if w.parts == nil {
		return groups
	}
	tb.Helper()
	other, err := grouping.FromNames(map[grouping.Key][]string{{}: w.parts.others})
	if err != nil {
		tb.Fatal(err)
	}
	placements := []grouping.PlacementGroups{{Placement: "p", Groups: groups}, {Placement: "q", Groups: other}}
	if !w.parts.first {
		slices.Reverse(placements)
	}
	apart, err := grouping.Apart(placements...)
	if err != nil {
		tb.Fatal(err)
	}
	if !w.parts.first {
		return apart[1]
	}
	return apart[0]
}

// options gives the options of w for Plan.
func (w world) options() rollout.Options {
	var opts rollout.Options
	opts.Freezes, opts.Allowlist = w.freezes, w.allowlist
	if w.paused {
		opts.Paused = true
	}
	for _, g := range w.gates {
		opts.Gates = append(opts.Gates, rollout.ClosedGate{Group: g.group, Gate: g.gate})
	}
	if w.order != nil {
		opts.Order = w.order
	}
	if w.perGroup != nil {
		opts.MaxConcurrencyPerGroup = *w.perGroup
	}
	if w.failedFrees {
		opts.FailedFreesSlot = true
	}
	if w.ordered != nil {
		opts.GroupOrder = w.ordered
	}
	if w.wait != 0 {
		opts.WaitBetweenGroups = metav1.Duration{Duration: w.wait}
	}
	if w.ramp != 0 {
		opts.Ramp = ptr(w.ramp)
	}
	if w.starts != nil {
		opts.MaxStarts = &rollout.StartLimit{Count: w.starts.n, Per: metav1.Duration{Duration: w.starts.per}}
	}
	opts.Shares = w.shares
	if w.maxRemoved != nil {
		opts.MaxRemoved = ptr(*w.maxRemoved)
	}
	if w.attempt > 0 {
		opts.Attempt = w.attempt
	}
	if w.ignored != nil {
		opts.Ignored = w.named(w.ignored)
	}
	if w.former != nil {
		opts.RemoveAfter = metav1.Duration{Duration: w.grace}
		opts.Previous = w.former.result
	}
	if w.storedRecord != nil {
		opts.StoredRecord = w.storedRecord
	}
	if w.before != nil {
		opts.FailedBefore = w.named(w.before)
	}
	return opts
}

// observe writes into a all that a result says.
func (a *answer) observe(r *rollout.Result) {
	a.InFlight, a.Start, a.TimedOut, a.Removed = r.InFlight, r.Start, r.TimedOut, r.Removed
	a.Breach, a.Warnings, a.RecheckAfter, a.Counts, a.Schedule = r.Breach, r.Warnings, r.RecheckAfter, r.Counts, r.Schedule
	a.Schedule.After = allAfter(r.Schedule) // as the rules say what comes after what, and not what directly
	a.Left, a.Leaving, a.Record = r.Deselected, r.PendingRemoval, r.Record
	a.Settled, a.Blocked = a.Settled[:0], a.Blocked[:0]
	for c := range r.Settled() {
		a.Settled = append(a.Settled, c)
	}
	for c, reason := range r.Blocked() {
		reason.Detail, reason.Many = "", false
		a.Blocked = append(a.Blocked, blockedCluster{c, reason})
	}
	a.Summary = r.Summary()
	a.Aggregate = a.Summary.Aggregate()
	a.BlockCounts = r.BlockCounts()
	// What is said of those that are waited for has an oracle of its own: following the advice works. Here it counts that
	// the summary says the same, but for what another of its sentences says.
	if len(a.BlockCounts) == 0 && len(a.Summary.Waiting) == 1 {
		first, _, _ := strings.Cut(a.Summary.Waiting[0], " ")
		if d, _, _ := r.Find(strings.TrimSuffix(first, ",")); d == rollout.DispositionInFlight || d == rollout.DispositionStarting || d == rollout.DispositionDeselected {
			a.Summary.Waiting[0] = namesThem
		}
	}
	for i := range a.BlockCounts {
		if h := &a.BlockCounts[i].Reason; i < len(a.Summary.Waiting) && strings.HasPrefix(h.String()+"; ", a.Summary.Waiting[i]+"; ") {
			h.Detail, h.Many = "", false
			a.Summary.Waiting[i] = h.String()
		}
	}
}

// namesThem stands for a sentence that begins with the name of a cluster that starts or is in flight.
const namesThem = "names them"

// equal says whether two answers are the same. It is diff without reflection, which costs too much for
// millions of cases.
func (a *answer) equal(b *answer) bool {
	return slices.Equal(a.InFlight, b.InFlight) && slices.Equal(a.Start, b.Start) &&
		slices.Equal(a.TimedOut, b.TimedOut) && slices.Equal(a.Settled, b.Settled) &&
		slices.Equal(a.Blocked, b.Blocked) && slices.Equal(a.Removed, b.Removed) &&
		slices.Equal(a.Left, b.Left) && slices.Equal(a.Leaving, b.Leaving) && sameRecord(a.Record, b.Record) && sameBreach(a.Breach, b.Breach) &&
		slices.Equal(a.Warnings, b.Warnings) && a.RecheckAfter == b.RecheckAfter && a.Counts == b.Counts &&
		sameSchedule(a.Schedule, b.Schedule) && sameSummary(a.Summary, b.Summary) &&
		a.Aggregate == b.Aggregate && slices.Equal(a.BlockCounts, b.BlockCounts)
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func sameRecord(a, b status.Record) bool {
	return a.Version == b.Version && a.Attempt == b.Attempt && a.Exposed == b.Exposed && a.More == b.More && a.Until.Equal(b.Until) && slices.Equal(a.Deselected, b.Deselected) &&
		slices.EqualFunc(a.Breached, b.Breached, func(a, b status.Breached) bool {
			return a.Group == b.Group && a.AllGroups == b.AllGroups && a.Of == b.Of && slices.Equal(a.Clusters, b.Clusters)
		})
}

func sameBreach(a, b *rollout.Breach) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Group == b.Group && a.AllGroups == b.AllGroups && a.Mandatory == b.Mandatory && a.Lasting == b.Lasting &&
		a.Failures == b.Failures && a.MaxFailures == b.MaxFailures && slices.Equal(a.Clusters, b.Clusters) && slices.Equal(a.Deselected, b.Deselected) && a.Lost == b.Lost
}

func sameSchedule(a, b rollout.Schedule) bool {
	return a.Type == b.Type && a.MinSuccessTime == b.MinSuccessTime && a.MaxFailures == b.MaxFailures &&
		same(a.ProgressDeadline, b.ProgressDeadline) && slices.EqualFunc(a.After, b.After, slices.Equal) &&
		slices.EqualFunc(a.Stages, b.Stages, func(a, b rollout.Stage) bool {
			return a.Mandatory == b.Mandatory && a.Clusters == b.Clusters && a.Ignored == b.Ignored && a.Deselected == b.Deselected &&
				a.MaxConcurrency == b.MaxConcurrency && a.MaxFailures == b.MaxFailures && slices.Equal(a.Groups, b.Groups)
		})
}

func sameSummary(a, b status.Summary) bool {
	return a.Counts == b.Counts && a.Version == b.Version && a.Moved == b.Moved && slices.Equal(a.Groups, b.Groups) && a.Removed == b.Removed &&
		a.Incomplete == b.Incomplete && a.Breach == b.Breach && a.Paused == b.Paused &&
		slices.Equal(a.Gates, b.Gates) && slices.Equal(a.Waiting, b.Waiting)
}

// diff shows what two answers differ in.
func diff(want, got *answer) string { return gocmp.Diff(want, got, cmpopts.EquateEmpty()) }

// findFault says what is wrong with Find, given the answer that the lists have; empty if nothing.
func findFault(r *rollout.Result, want *answer) string {
	fault := ""
	check := func(disposition rollout.Disposition, c rollout.Cluster, reason rollout.BlockReason) {
		d, found, ok := r.Find(c.Name)
		found.Detail, found.Many = "", false
		if !ok || d != disposition || found != reason {
			fault = fmt.Sprintf("Find(%q) = %v, %v, %v, want %v, %v", c.Name, d, found, ok, disposition, reason)
		}
	}
	for _, list := range []struct {
		is       rollout.Disposition
		clusters []rollout.Cluster
	}{
		{rollout.DispositionInFlight, want.InFlight},
		{rollout.DispositionStarting, want.Start},
		{rollout.DispositionTimedOut, want.TimedOut},
		{rollout.DispositionSettled, want.Settled},
		{rollout.DispositionDeselected, want.Left},
	} {
		for _, c := range list.clusters {
			check(list.is, c, rollout.BlockReason{})
		}
	}
	for _, h := range want.Blocked {
		check(rollout.DispositionBlocked, h.Cluster, h.Reason)
	}
	for _, name := range want.Removed {
		if slices.ContainsFunc(want.Left, func(c rollout.Cluster) bool { return c.Name == name }) {
			continue
		}
		if d, reason, ok := r.Find(name); ok || d != "" || reason != (rollout.BlockReason{}) {
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
func (j *judge) fault(w world, groups *grouping.Groups) string {
	w.missing = groups.Incomplete()
	if (w.missing != "") != w.incomplete {
		return "the groups of this world say that they lack: " + w.missing
	}
	result, err := w.plan(groups)
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

// reader reads the groups of worlds that differ in nothing else than in what the groups know of their Placement.
type reader struct{ read []readGroups }

type readGroups struct {
	incomplete bool
	size       *intstr.IntOrString
	parts      *parts
	groups     *grouping.Groups
}

func (r *reader) groups(t fataler, w world) *grouping.Groups {
	for _, known := range r.read {
		if known.incomplete == w.incomplete && same(known.size, w.size) && known.parts == w.parts {
			return known.groups
		}
	}
	groups := w.read(t)
	r.read = append(r.read, readGroups{w.incomplete, w.size, w.parts, groups})
	return groups
}
