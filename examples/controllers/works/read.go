// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// placement is one of a set's placementRefs, with what a reconcile reads and plans for it.
type placement struct {
	ref    workv1alpha1.LocalPlacementReference
	groups *grouping.Groups // without the clusters of earlier placementRefs
	result *rollout.Result
	asks   plugins.Rollout // what plugins get

	works    []*work         // of its clusters; the last placement also has those of deselected clusters
	reports  []status.Report // of all clusters
	moved    []*work         // of its clusters, with the label of another placement
	answered []*work         // whose first answer is not recorded yet; without those in moved
}

func (c *controller) groups(set *replicaSet, memory *memory) ([]*grouping.Groups, error) {
	return memory.read.Read(c.caches.placements, c.caches.decisions, set)
}

func (c *controller) placements(set *replicaSet, memory *memory) ([]*placement, error) {
	groups, err := c.groups(set, memory)
	placements := make([]*placement, len(groups))
	for i := range groups {
		placements[i] = &placement{ref: set.Spec.PlacementRefs[i], groups: groups[i]}
	}
	return placements, err
}

// placementLabel is the label of a work with its cluster's placement, as OCM's controller sets it.
const placementLabel = workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey

// readWorks finds the works of a set, and makes a report of each at the time now, even of those that are being deleted.
// Others are works with the set's label that belong to another owner.
func (c *controller) readWorks(owner writes.Owner, set *replicaSet, labelled []*work, placements []*placement, version string, now time.Time) (works, others []*work) {
	all := make([]status.Report, 0, len(labelled))
	for _, work := range labelled {
		if work = kit.Known(owner, work); !owner.Has(work) {
			others = append(others, work)
			continue
		}
		work = status.Adopt(work, set.Spec.ManifestWorkTemplate, version)
		works = append(works, work)
		placed := placementOf(work.Namespace, placements)
		placed.works = append(placed.works, work)
		state := status.WorkState{Work: work, Version: version, AvailableSucceeds: kit.AvailableSucceeds(set), Now: now}
		report, ok := status.FromManifestWork(state)
		if ok {
			all = append(all, report)
		}
		switch {
		case work.DeletionTimestamp == nil && work.Labels[placementLabel] != placed.ref.Name && placed.selects(work.Namespace):
			placed.moved = append(placed.moved, work)
		case ok && report.Answered.Equal(now): // even of a work that hangs in deletion: otherwise its soak never ends
			placed.answered = append(placed.answered, work)
		}
	}
	for _, placed := range placements {
		placed.reports = all // a cluster that moved to another placement may count in both
	}
	return works, others
}

// placementOf is the placement that selects a cluster, or the last one.
func placementOf(cluster string, placements []*placement) *placement {
	for _, placed := range placements {
		if placed.selects(cluster) {
			return placed
		}
	}
	return placements[len(placements)-1]
}

func (p *placement) selects(cluster string) bool {
	_, is := p.groups.Position(cluster)
	return is
}
