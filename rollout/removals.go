// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// Removals says which clusters lose the workload next where all of it is to go, as when its owner is deleted. It goes in the reverse order
// of the rollout: first the deselected clusters whose group is unknown, then the groups from the last to the first, the
// mandatory ones at the end. A group begins once the groups that come after it are gone. The argument most bounds
// how many clusters are being removed at a time. The names are in order.
//
// Reports are of the objects that are there, of any version; those that are being deleted have Deleting set. Delete the object of each
// cluster that is named, and call again when one of them is gone. The owner goes last, once there is no report any more: it needs a
// finalizer, set before its first object.
//
// Don't call it while the groups are incomplete ([grouping.Groups.Incomplete]): a cluster that is missing from them would go first. Where the
// Placement is gone, pass nil.
//
// The group of a cluster that is not selected is that of [Options].StoredRecord's record or of [Options].Previous. Clusters in
// [Options].Ignored go with their groups, but no cluster waits for them and they take no place: their agents may be dead. Of the other
// options only GroupOrder counts. To remove a group alone, report its clusters alone. Groups that [grouping.Apart] took apart may all be
// given all reports: each omits the clusters that another removes, and has the bound for itself.
//
// The errors are those of [Plan], and one if most is less than 1. It takes time linear in the clusters and the reports, and sorts the
// names.
func Removals(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, reports []status.Report, most int, opts Options) ([]string, error) {
	rules, options, errs := compile(strategy, &opts)
	errs = append(errs, nameless(reports, field.NewPath("reports"))...)
	if most < 1 {
		errs = append(errs, field.Invalid(field.NewPath("most"), most, "must be at least 1"))
	}
	if len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	schedule := newSchedule(&rules, &options, groups, fleet.FormerGroups{})
	there := make(map[string]bool, len(reports)) // whether an object of the cluster stays
	for i := range reports {
		if other, _ := fleet.Elsewhere(groups, reports[i].Cluster); !other {
			there[reports[i].Cluster] = there[reports[i].Cluster] || !reports[i].Deleting
		}
	}
	const unknown = stages.None
	remaining, going := make(map[stages.Stage]int), 0
	stay := make(map[stages.Stage][]string)
	for cluster, stays := range there {
		stage := schedule.lastStageOf(cluster, unknown)
		counts := !options.ignores(cluster)
		if remaining[stage] += one(counts); stays {
			stay[stage] = append(stay[stage], cluster)
		} else {
			going += one(counts)
		}
	}
	var next []string
	take := func(stage stages.Stage) {
		slices.Sort(stay[stage])
		for _, cluster := range stay[stage] {
			switch counts := !options.ignores(cluster); {
			case !counts:
				next = append(next, cluster)
			case going < most:
				next, going = append(next, cluster), going+1
			}
		}
	}
	take(unknown)
	for stage := schedule.Graph.Len() - 1; stage >= 0 && remaining[unknown] == 0; stage-- {
		if schedule.Graph.IsChain() && remaining[stage+1] > 0 {
			break // nor may those before it go
		}
		if schedule.Graph.IsChain() || !slices.ContainsFunc(schedule.Graph.Behind(stage), func(later stages.Stage) bool { return remaining[later] > 0 }) {
			take(stage)
		}
	}
	slices.Sort(next)
	return next, nil
}

// lastStageOf gives the stage of a cluster, selected or not; unknown if its group is unknown.
func (s *schedule) lastStageOf(cluster string, unknown stages.Stage) stages.Stage {
	if position, selected := s.Position(cluster); selected {
		return s.Graph.Of(s.GroupOf(position))
	}
	key, known := s.KeyBefore(s.options.previous.groups(), cluster)
	if group, there := s.GroupWith(key); known && there {
		return s.Graph.Of(group)
	}
	return unknown
}
