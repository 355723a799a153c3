// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// Plan says what may happen at the time now in a rollout by strategy over groups. Reports say how the clusters stand,
// in any order; a cluster without a report never got the workload. The result does not depend on earlier calls, except
// by [Options].Previous. Inputs are not changed; the result keeps groups.
//
// Several reports of one cluster count as one ([status.Merge]), and the result warns of it.
//
// It is an error if [Validate] finds fault with the strategy, [Options.Validate] with the options, or a report has no
// cluster. The error joins one *field.Error per fault by [errors.Join]: errors.As finds the first, and the error's
// Unwrap() []error gives all.
//
// It takes time linear in the clusters and the reports, and a number of allocations that depends on neither. In
// addition it sorts the removed clusters and, with [Options].Order, the waiting ones, and keeps clusters with several reports
// in a map.
func Plan(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, reports []status.Report, now time.Time, opts Options) (*Result, error) {
	rules, options, errs := compile(strategy, &opts)
	if len(errs) > 0 {
		return nil, fielderrs.Join(append(errs, nameless(reports, field.NewPath("reports"))...))
	}
	return newSchedule(&rules, &options, groups, fleet.FormerGroups{}).plan(reports, now)
}

// plan makes the result of a schedule and the reports. The schedule is that of the selected clusters. Where others left and
// still count, or some moved, the reports are observed once more, with the schedule of all of them.
func (s *schedule) plan(reports []status.Report, now time.Time) (*Result, error) {
	now = now.Round(0) // reports have wall clock times, so a monotonic reading of the caller is dropped
	s.options.rollback.rank(&s.Phases, s.options.order, now)
	plan := new(struct { // one allocation for all
		result Result
		scan   fleet.Scan
		fronts waitSets
	})
	result, previous := &plan.result, s.options.previous.groups()
	table, reading, named := s.Read(reports, previous, now)
	if !named {
		return nil, fielderrs.Join(nameless(reports, field.NewPath("reports")))
	}
	if where := s.former(&table, &reading, previous); !where.None() {
		with, options := where.In(s.Groups), s.options
		options.rollback = options.rollback.in(with, s.Groups)
		s = newSchedule(&s.rules, &options, with, where).recallCeiling(options.previous)
		s.options.rollback.rank(&s.Phases, s.options.order, now)
		table, reading, _ = s.Read(reports, previous, now)
	}
	result.schedule, result.table, result.waitSets = s, table, &plan.fronts
	plan.scan.Table = &result.table
	observed := observed{unselected: s.options.unselected, before: s.told(s.options.previous), recheck: result.table.Sum()}
	observed.Totals, observed.departed, observed.deleting = result.table.Totals, result.table.Departed, result.table.Deleting
	observed.active, observed.breached = s.Firsts(&observed.Totals)
	observed.removed, observed.there, observed.merged = s.Unselected(&reading)
	if s.options.starts.IsSet() {
		observed.recent = s.options.starts.Recent(result.table.Starts())
	}
	result.complete(&plan.scan, &observed)
	return result, nil
}

// former gives the clusters that count in another group than the one that selects them now.
func (s *schedule) former(table *fleet.Table, reading *fleet.Reading, previous *fleet.Previous) fleet.FormerGroups {
	return fleet.FormerGroups{Deselected: reading.Deselected, Moved: s.FindMoved(previous, table)}
}

// complete fills in what follows from the observations.
func (r *Result) complete(view view, observed *observed) {
	schedule := r.schedule
	r.Schedule = schedule.show()
	r.InFlight = schedule.list(view, fleet.InFlightStates, observed.InFlight())
	r.warnings = schedule.next(&r.Next, &r.choice, view, observed, r.table.Now, &r.marks)
	r.removed = len(r.Removed)
	if r.kept = without(observed.removed, r.Removed); schedule.Deselected != nil { // how these stand is known
		r.kept = slices.DeleteFunc(slices.Clone(r.kept), func(cluster string) bool {
			_, counts := schedule.Position(cluster)
			return counts
		})
	}
}
