// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on reports, groups and budgets: R1 to R7, R10 to R13, R27, R30.

// R1 and R27: a status that is none of the seven counts as Progressing, and so does ToApply with applied. All times
// run from the later of applied and the last transition. R5, R58: those of a success and of its validation not before the answer,
// which counts only beside applied.
func r27(r status.Report) (status.RolloutStatus, time.Time) {
	since, applied := r.LastTransitionTime.Round(0), r.Applied.Round(0) // by the wall clock, as they come from others
	if applied.After(since) {
		since = applied
	}
	if answered := r.Answered.Round(0); (r.Status == status.Succeeded || r.Status == status.Validating) && !applied.IsZero() && answered.After(since) {
		since = answered
	}
	switch r.Status {
	case status.Progressing, status.Validating, status.Succeeded, status.Failed, status.TimeOut, status.Skip:
		return r.Status, since
	case status.ToApply:
		if r.Applied.IsZero() {
			return r.Status, since
		}
	}
	return status.Progressing, since
}

// R1: of the reports of one cluster the one that holds the rollout back most counts, of equals the later one. Among those
// in flight or failed a later attempt comes first. R7: an object that stays counts.
func r1Merged(reports []status.Report, cluster string) (worst status.Report, n int) {
	order := []status.RolloutStatus{status.Failed, status.TimeOut, status.Progressing, status.Validating, status.ToApply, status.Succeeded, status.Skip}
	for _, r := range reports {
		if r.Cluster != cluster {
			continue
		}
		if n++; n == 1 {
			worst = r
			continue
		}
		worst.Deleting, r.Deleting = worst.Deleting && r.Deleting, worst.Deleting && r.Deleting
		is, since := r27(r)
		worstIs, worstSince := r27(worst)
		place, worstPlace := slices.Index(order, is), slices.Index(order, worstIs)
		if place <= 3 && worstPlace <= 3 && r.Attempt != worst.Attempt {
			if r.Attempt > worst.Attempt {
				worst = r
			}
			continue
		}
		later := cmp.Or(since.Compare(worstSince), r.Applied.Round(0).Compare(worst.Applied.Round(0)), cmp.Compare(r.Attempt, worst.Attempt), cmp.Compare(r.Reason, worst.Reason)) > 0
		if place < worstPlace || place == worstPlace && later {
			worst = r
		}
	}
	return worst, n
}

// R1: the fault of reports is one without a name.
func r1Faulty(reports []status.Report) bool {
	return slices.ContainsFunc(reports, func(r status.Report) bool { return r.Cluster == "" })
}

// R2: failures.
func r2(s *subject) bool { return s.status == status.Failed || s.status == status.TimeOut }

// R3, R58: in flight.
func (o *oracle) r3(s *subject) bool {
	return s.status == status.Progressing || s.status == status.Validating || s.status == status.Failed || o.r5(s)
}

// R4: timed out at or past the deadline; never without one, and never without a time.
func (o *oracle) r4(s *subject) bool {
	if s.status != status.Progressing && s.status != status.Validating && s.status != status.Failed {
		return false
	}
	if o.deadline == nil || s.since.IsZero() {
		return false
	}
	return !o.now.Before(s.since.Add(*o.deadline))
}

// R5: soaking until MinSuccessTime has passed; without a time still soaking. Reading: MinSuccessTime 0 is
// no soak at all, whatever the clocks say.
func (o *oracle) r5(s *subject) bool {
	if s.status != status.Succeeded || o.soak == 0 {
		return false
	}
	return s.since.IsZero() || o.now.Before(s.since.Add(o.soak))
}

// R4, R5: whether a cluster lacks the time from which its deadline or soak would run. Reading: only where there is one.
func (o *oracle) r4Timeless(s *subject) bool {
	if !s.since.IsZero() {
		return false
	}
	switch s.status {
	case status.Progressing, status.Validating, status.Failed:
		return o.deadline != nil
	case status.Succeeded:
		return o.soak > 0
	}
	return false
}

// R6: settled. Reading: a Failed cluster within its deadline is settled and in flight.
func (o *oracle) r6(s *subject) bool {
	return s.status == status.Succeeded && !o.r5(s) || s.status == status.Skip || r2(s)
}

// R6: a group is complete when all are settled and the failures within the budget. R37: all that count.
func (o *oracle) r6Complete(group grouping.Key, budget int) bool {
	for i := range o.all {
		if o.all[i].group == group && !o.all[i].ignored && !o.r6(&o.all[i]) && !o.r59Passed(&o.all[i]) {
			return false
		}
	}
	return o.failuresIn(group) <= budget
}

// R7: a report for a cluster that is not selected lands in removed, but not where groups are incomplete, and not what is
// being deleted. R32: not before its time. R48: not before the record has it. R30: nor where there are more than the bound,
// of all clusters that were reported.
func (o *oracle) r7() {
	removed, reported := o.reportedClusters()
	if o.incomplete {
		return
	}
	for _, name := range removed {
		switch {
		case o.grace > 0 || o.storedRecord != nil && !o.isStored(name):
			o.out.Leaving = append(o.out.Leaving, name)
		default:
			o.out.Removed = append(o.out.Removed, name)
		}
	}
	if o.maxRemoved != nil && o.grace == 0 {
		if most, _ := r16(*o.maxRemoved, reported); len(removed) > most {
			o.out.Removed = o.out.Removed[:0]
		}
	}
}

// reportedClusters gives the names that are reported, not selected and not being deleted, and how many are reported at all. An
// entry that stands in for the report of a selected cluster is one. R50: another part sees to its own.
func (o *oracle) reportedClusters() (removed []string, reported int) {
	var names []string
	for i := range o.reports {
		names = append(names, o.reports[i].Cluster)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if o.selects(name) {
			continue
		}
		if o.parts != nil && (o.parts.first || slices.Contains(o.parts.others, name)) {
			continue
		}
		reported++
		if slices.ContainsFunc(o.reports, func(r status.Report) bool { return r.Cluster == name && !r.Deleting }) {
			removed = append(removed, name)
		}
	}
	for i := range o.all {
		if s := &o.all[i]; !s.left && (s.recorded || slices.Contains(names, s.name)) {
			reported++
		}
	}
	return removed, reported
}

// R37, R38: whether a cluster counts as a failure in a budget.
func r38(s *subject) bool { return r2(s) && !s.ignored && !s.before }

func waiting(s *subject) bool { return s.status == status.ToApply }

func (o *oracle) failuresIn(group grouping.Key) (n int) {
	for i := range o.all {
		if o.all[i].group == group && r38(&o.all[i]) {
			n++
		}
	}
	return n
}

// sizeOf is how many clusters of a group count (R37).
func (o *oracle) sizeOf(group grouping.Key) (n int) {
	for i := range o.all {
		if o.all[i].group == group && !o.all[i].ignored {
			n++
		}
	}
	return n
}

// budgetOfAll is the budget of R11.
func (o *oracle) budgetOfAll() int {
	return r46Share(o.maxFailures, o.total()-o.leftIn(func(grouping.Key) bool { return true }), o.total())
}

// total is how many clusters count (R37).
func (o *oracle) total() (n int) {
	for _, g := range o.groups {
		n += o.sizeOf(g)
	}
	return n
}

// R8: those reported ToApply come before those never reported; then the caller's order, then names.
func (o *oracle) r8(a, b *subject) int {
	if a.reported != b.reported {
		if a.reported {
			return -1
		}
		return 1
	}
	if o.order != nil {
		if c := o.order(a.name, b.name); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.name, b.name)
}

// R12: whether an entry of the strategy names a group.
func r12Names(entry clusterv1alpha1.MandatoryDecisionGroup, group grouping.Key) bool {
	if entry.GroupName != "" {
		return group.Name == entry.GroupName
	}
	return group.Index == entry.GroupIndex
}

// R12: whether a group is mandatory.
func (o *oracle) r12(group grouping.Key) bool {
	if o.back != nil { // R44
		return false
	}
	if group == unknown && !o.isPooled() { // R47
		return true
	}
	for _, entry := range o.mandatory {
		if r12Names(entry, group) {
			return true
		}
	}
	return false
}

// budget of one group: R12 none for a mandatory group, R10 MaxFailures of the group's size.
func (o *oracle) budget(group grouping.Key) int {
	if o.r12(group) {
		return 0
	}
	return r46Share(o.maxFailures, o.sizeOf(group)-o.elsewhereIn(func(g grouping.Key) bool { return g == group }), o.sizeOf(group))
}

// breach: by R10 and R12 in any group of the sequence, by R11 over all. Reading: the first of these is named.
func (o *oracle) breach() *rollout.Breach {
	of := func(budget int, in func(grouping.Key) bool) *rollout.Breach {
		b := &rollout.Breach{MaxFailures: budget}
		for i := range o.all {
			s := &o.all[i]
			if !in(s.group) || !r38(s) {
				continue
			}
			if s.recorded && s.unseen { // R29
				b.Lost++
			}
			if b.Failures++; b.Failures <= 3 {
				b.Clusters = append(b.Clusters, s.name)
				if s.left {
					b.Deselected = append(b.Deselected, s.name)
				}
			}
		}
		if b.Failures <= budget {
			return nil
		}
		return b
	}
	for _, g := range o.sequence() {
		if b := of(o.budget(g), func(other grouping.Key) bool { return other == g }); b != nil {
			b.Group, b.Mandatory = g, o.r12(g)
			return b
		}
	}
	if o.kind == clusterv1alpha1.Progressive {
		if b := of(o.budgetOfAll(), func(grouping.Key) bool { return true }); b != nil {
			b.AllGroups = true
			return b
		}
	}
	_, b := o.lasts()
	return b
}
