package rollout_test

import (
	"cmp"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on reports, groups and budgets: R1 to R6, R10 to R13.

// R1: a status that is none of the six counts as Progressing.
func r1(s status.RolloutStatus) status.RolloutStatus {
	switch s {
	case status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip:
		return s
	}
	return status.Progressing
}

// R1: the faults of reports; two for one cluster, or one without a name.
func r1Faulty(reports []status.Report) bool {
	for i := range reports {
		if reports[i].Cluster == "" {
			return true
		}
		for j := range reports[:i] {
			if reports[i].Cluster == reports[j].Cluster {
				return true
			}
		}
	}
	return false
}

// R2: failures.
func r2(s *subject) bool { return s.status == status.Failed || s.status == status.TimeOut }

// R3: in flight.
func (o *oracle) r3(s *subject) bool {
	return s.status == status.Progressing || s.status == status.Failed || o.r5(s)
}

// R4: timed out at or past transition + deadline; never without one of them.
func (o *oracle) r4(s *subject) bool {
	if s.status != status.Progressing && s.status != status.Failed {
		return false
	}
	if o.deadline == nil || s.since.IsZero() {
		return false
	}
	return !o.now.Before(s.since.Add(*o.deadline))
}

// R5: soaking until transition + MinSuccessTime; without a time still soaking. Reading: MinSuccessTime 0 is
// no soak at all, whatever the clocks say.
func (o *oracle) r5(s *subject) bool {
	if s.status != status.Succeeded || o.soak == 0 {
		return false
	}
	return s.since.IsZero() || o.now.Before(s.since.Add(o.soak))
}

// R6: settled. Reading: a Failed cluster within its deadline is settled and in flight.
func (o *oracle) r6(s *subject) bool {
	return s.status == status.Succeeded && !o.r5(s) || s.status == status.Skip || r2(s)
}

// R6: a group is complete when all are settled and the failures within the budget.
func (o *oracle) r6Complete(group grouping.Key, budget int) bool {
	for i := range o.all {
		if o.all[i].group == group && !o.r6(&o.all[i]) {
			return false
		}
	}
	return o.failuresIn(group) <= budget
}

func waiting(s *subject) bool { return s.status == status.ToApply }

func (o *oracle) failuresIn(group grouping.Key) (n int) {
	for i := range o.all {
		if o.all[i].group == group && r2(&o.all[i]) {
			n++
		}
	}
	return n
}

func (o *oracle) sizeOf(group grouping.Key) (n int) {
	for i := range o.all {
		if o.all[i].group == group {
			n++
		}
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
	for _, entry := range o.mandatory {
		if r12Names(entry, group) {
			return true
		}
	}
	return false
}

// R12: an entry that selects no cluster is warned of. Reading: once, however often it stands there.
func (o *oracle) r12Warnings() []rollout.Warning {
	warnings := o.out.Warnings
	for _, entry := range o.mandatory {
		selects := false
		for i := range o.all {
			selects = selects || r12Names(entry, o.all[i].group)
		}
		if !selects && !slices.Contains(warnings, rollout.Warning{Type: rollout.MandatoryGroupEmpty, Mandatory: entry}) {
			warnings = append(warnings, rollout.Warning{Type: rollout.MandatoryGroupEmpty, Mandatory: entry})
		}
	}
	return warnings
}

// R23: a gate before a group that does not exist holds nothing, of which there is a warning.
func (o *oracle) r23Warnings() (warnings []rollout.Warning) {
	for _, g := range o.gates {
		if !slices.Contains(o.groups, g.group) {
			warnings = append(warnings, rollout.Warning{Type: rollout.GateWithoutGroup, Group: g.group})
		}
	}
	slices.SortFunc(warnings, func(a, b rollout.Warning) int { return a.Group.Compare(b.Group) })
	return warnings
}

// budget of one group: R12 none for a mandatory group, R10 MaxFailures of the group's size.
func (o *oracle) budget(group grouping.Key) int {
	if o.r12(group) {
		return 0
	}
	return r15(o.maxFailures, o.sizeOf(group))
}

// breach: R10 and R12 that of the first incomplete group, R11 that of all. R13: failures in a later group
// count only once it is the first incomplete one. Reading: the group's is named before the fleet's.
func (o *oracle) breach() *rollout.Reason {
	if first, ok := o.firstIncomplete(); ok {
		if n, budget := o.failuresIn(first), o.budget(first); n > budget {
			return &rollout.Reason{Type: rollout.BudgetBreached, Group: first, Failures: n, MaxFailures: budget}
		}
	}
	if o.kind != clusterv1alpha1.Progressive {
		return nil
	}
	n, budget := 0, r15(o.maxFailures, len(o.all))
	for i := range o.all {
		if r2(&o.all[i]) {
			n++
		}
	}
	if n > budget {
		return &rollout.Reason{Type: rollout.BudgetBreached, AllGroups: true, Failures: n, MaxFailures: budget}
	}
	return nil
}

// firstIncomplete of the groups that go one by one: the mandatory ones (R12), then under
// ProgressivePerGroup the others (R10).
func (o *oracle) firstIncomplete() (grouping.Key, bool) {
	if o.kind == clusterv1alpha1.All {
		return grouping.Key{}, false
	}
	for _, g := range o.groups {
		if o.r12(g) && !o.r6Complete(g, o.budget(g)) {
			return g, true
		}
	}
	if o.kind == clusterv1alpha1.ProgressivePerGroup {
		for _, g := range o.groups {
			if !o.r12(g) && !o.r6Complete(g, o.budget(g)) {
				return g, true
			}
		}
	}
	return grouping.Key{}, false
}
