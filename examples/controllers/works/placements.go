package main

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// placement is one of a set's placementRefs with all that a reconcile finds out about it.
type placement struct {
	ref    workv1alpha1.LocalPlacementReference
	groups *grouping.Groups // of the clusters that no placementRef before it selects
	result *rollout.Result

	// The works of its clusters. The last placement also has the works of clusters that nobody selects, so that its
	// plan says that they are removed.
	works   []*workv1.ManifestWork
	reports []status.Report
	moved   []*workv1.ManifestWork // labelled as of another placement
}

// readPlacements are the groups as they were read last. Reading is the dearest part of a reconcile, and most reconciles
// come of a work.
type readPlacements struct {
	each  map[string]readPlacement
	parts []grouping.PlacementGroups // of each placementRef, as read
	apart []*grouping.Groups         // of each placementRef, without the clusters of those before it
}

// readPlacement is what groups were read of. An object in a cache is never changed, but replaced: as long as these are
// the same pointers, nothing has changed.
type readPlacement struct {
	placement *clusterv1beta1.Placement
	decisions []*clusterv1beta1.PlacementDecision
	groups    *grouping.Groups
}

// placements reads the groups of a set's placementRefs. A cluster that several of them select belongs to the first.
func (c *controller) placements(set *workv1alpha1.ManifestWorkReplicaSet, memory *memory) ([]*placement, error) {
	refs, read := set.Spec.PlacementRefs, &memory.read
	path := field.NewPath("spec", "placementRefs")
	if len(refs) == 0 {
		return nil, field.Required(path, "must have a placement")
	}
	each, parts := make(map[string]readPlacement, len(refs)), make([]grouping.PlacementGroups, len(refs))
	for i, ref := range refs {
		if _, twice := each[ref.Name]; twice {
			return nil, field.Duplicate(path.Index(i).Child("name"), ref.Name)
		}
		now, err := c.readGroups(set.Namespace, ref.Name, read.each[ref.Name])
		if err != nil {
			return nil, err
		}
		each[ref.Name], parts[i] = now, grouping.PlacementGroups{Placement: ref.Name, Groups: now.groups}
	}
	if !slices.Equal(parts, read.parts) {
		groups, err := grouping.Apart(parts...)
		if err != nil {
			return nil, err
		}
		read.parts, read.apart = parts, groups
	}
	read.each = each

	placements := make([]*placement, len(refs))
	for i, ref := range refs {
		placements[i] = &placement{ref: ref, groups: read.apart[i]}
	}
	return placements, nil
}

// readGroups reads the groups of a Placement unless they are still those that were read before. They are nil, which is
// incomplete, as long as there is no Placement.
func (c *controller) readGroups(namespace, name string, before readPlacement) (readPlacement, error) {
	now := readPlacement{
		placement: get[clusterv1beta1.Placement](c.caches.placements, namespace, name),
		decisions: list[clusterv1beta1.PlacementDecision](c.caches.decisions, decisionsByPlacement, namespace+"/"+name),
	}
	if now.placement == nil {
		return now, nil
	}
	slices.SortFunc(now.decisions, func(a, b *clusterv1beta1.PlacementDecision) int { return strings.Compare(a.Name, b.Name) })
	if now.placement == before.placement && slices.Equal(now.decisions, before.decisions) {
		return before, nil
	}
	var err error
	now.groups, err = grouping.Read(now.placement, now.decisions)
	return now, err
}
