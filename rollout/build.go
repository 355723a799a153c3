// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// newSchedule arranges the groups in stages, as in the drawing in doc.go. Where names the clusters in these groups that left or
// moved.
func newSchedule(rules *rules, options *options, groups *grouping.Groups, where fleet.FormerGroups) *schedule {
	schedule := &schedule{rules: *rules, options: *options, missing: groups.Incomplete()}
	schedule.Members = fleet.Members{Groups: groups}
	schedule.Layout = stages.Layout{
		Mandatory: stages.NewMandatory(rules.mandatory), Single: rules.typ == clusterv1alpha1.ProgressivePerGroup, Order: options.groupOrder, Reversed: options.rollback != nil,
	}
	schedule.Graph = stages.New(groups, schedule.Layout)
	schedule.FormerMembers = fleet.NewFormerMembers(schedule.Members, where)
	if named := options.named; named != nil {
		schedule.Exceptions = fleet.NewExceptions(schedule.Members, named.ignored, named.failedBefore)
		schedule.Freezes = fleet.NewFreezes(schedule.Members, named.freezes, named.isAllowed())
	}
	schedule.warnings = slices.Clip(rules.warnings)
	schedule.limits, schedule.Budgets = make([]stageLimits, schedule.Graph.Len()), make([]int, schedule.Graph.Len())
	for stage := range schedule.Graph.Len() {
		schedule.limits[stage], schedule.Budgets[stage] = schedule.limitsOf(stage)
	}
	if schedule.maxFailures = schedule.numCounted(); rules.typ == clusterv1alpha1.Progressive && !options.rollback.isTolerant() {
		schedule.maxFailures = rules.maxFailures.Within(schedule.maxFailures-len(schedule.Deselected), schedule.maxFailures)
	}
	schedule.countPlacesKept()
	schedule.countBaseline()
	schedule.waitBetween()
	schedule.Record, schedule.Span = options.entries(), options.starts.Per
	if options.isOrdered() {
		schedule.Compare = schedule.compare
	}
	schedule.Phases = schedule.phasesOf()
	schedule.Timeless = schedule.timelessKinds()
	schedule.check()
	return schedule
}

// phasesOf says how time and attempts make states of what is reported.
func (s *schedule) phasesOf() fleet.Phases {
	return fleet.Phases{
		MinSuccess: s.rules.minSuccessTime, Deadline: s.rules.deadline, DatesSuccess: s.awaited != nil, Attempt: s.options.attempt, Rollback: s.options.rollback != nil,
	}
}

// timelessKinds gives the kinds that time changes nothing of, and that nothing is told or counted of by time.
func (s *schedule) timelessKinds() fleet.Kinds {
	switch {
	case s.options.starts.IsSet():
		return 0
	case s.rules.minSuccessTime != 0 || s.Wait != 0:
		return fleet.KindsOf(fleet.KindToApply, fleet.KindSkipped)
	default:
		return fleet.KindsOf(fleet.KindToApply, fleet.KindSkipped, fleet.KindSucceeded)
	}
}

// limitsOf gives the limits of a stage, and how many failures it tolerates.
func (s *schedule) limitsOf(stage stages.Stage) (limit stageLimits, budget int) {
	clusters, ignored, elsewhere := 0, 0, 0
	for _, group := range s.Graph.Groups(stage) {
		clusters += s.SizeOf(group)
		ignored += s.IgnoredIn(group)
		elsewhere += s.DeselectedIn(group) + s.MovedIn(group)
	}
	all := clusters - ignored
	n := all - elsewhere // percentages are of those that are selected there (R46)
	limit, budget = stageLimits{clusters: clusters, maxConcurrency: all}, all
	mandatory := s.Graph.IsMandatory(stage)
	concurrency, source := s.concurrency()
	switch {
	case mandatory && s.options.groupConcurrency != nil: // R24
		limit.maxConcurrency = s.options.groupConcurrency.Within(n, all)
	case source != "" && !mandatory:
		limit.maxConcurrency = concurrency.Within(n, all)
	}
	switch {
	case mandatory:
		budget = 0
	case s.rules.typ == clusterv1alpha1.ProgressivePerGroup && !s.options.rollback.isTolerant():
		budget = s.rules.maxFailures.Within(n, all)
	}
	return limit, budget
}

// countPlacesKept counts for each stage the clusters that count in it although the current groups have them elsewhere, or nowhere: those
// that left and those that moved. On a rollback those do not matter that left with the failed version (R43).
func (s *schedule) countPlacesKept() {
	if !s.AnyFormer() {
		return
	}
	s.places.kept = make([]int, len(s.limits))
	for group := range s.Graph.NumGroups() {
		s.places.kept[s.Graph.Of(group)] += s.DeselectedIn(group) + s.MovedIn(group)
	}
	for _, position := range s.Deselected {
		s.places.kept[s.StageOf(position)] -= one(s.options.rollback.isDeselected(s.Cluster(position)))
	}
}

// countBaseline counts for each stage the clusters of the baseline that are selected in it.
func (s *schedule) countBaseline() {
	if len(s.Baseline) == 0 {
		return
	}
	s.places.baseline = make([]int, len(s.limits))
	for _, position := range s.Baseline {
		s.places.baseline[s.StageOf(position)] += one(!s.Ignores(position) && !s.IsDeselected(position) && !s.HasMoved(position))
	}
}

// recallCeiling notes what the result before and the record know of that. The former knows the groups when the first of those left.
func (s *schedule) recallCeiling(previous *previousResult) *schedule {
	if s.AnyFormer() && s.isBounded() {
		s.places.exposed = s.exposure(s.freesSlots()).InOrder(s.loads())
		if previous != nil && !previous.Incomplete { // nothing has started by groups that were being written
			s.places.exposed = max(s.places.exposed, previous.ceiling)
		}
		if index := s.options.record; index != nil {
			s.places.exposed = max(s.places.exposed, index.Record.Exposed)
		}
	}
	return s
}

// waitBetween sets the wait between groups, and which stages are awaited, if any group waits for another (R18, R34). The stages are there
// already. Where no group does, the success of a deselected cluster may still be awaited (R46).
func (s *schedule) waitBetween() {
	if s.options.wait <= 0 || !s.ordersGroups() {
		return
	}
	s.Wait = s.options.wait
	awaited := make([]bool, len(s.limits))
	for later := s.Graph.Len() - 1; later >= 0; later-- { // a stage stands behind those that it comes after
		if s.limits[later].clusters == 0 && !awaited[later] {
			continue
		}
		for _, before := range s.Graph.DirectlyBefore(later) {
			awaited[before] = true
		}
	}
	for stage := range s.Graph.Len() {
		if awaited[stage] && s.countsAny(stage) {
			s.awaited = awaited
		}
	}
}

// countsAny says whether any cluster of a stage counts.
func (s *schedule) countsAny(stage stages.Stage) bool {
	return slices.ContainsFunc(s.Graph.Groups(stage), func(group stages.Group) bool { return s.SizeOf(group) > s.IgnoredIn(group) })
}
