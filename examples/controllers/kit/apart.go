// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// Apart are the groups of a set's placementRefs as of the last read, each without the clusters of earlier ones. The zero
// value is ready to use.
type Apart struct {
	each  AllGroups
	parts []grouping.PlacementGroups // of each placementRef, as read
	apart []*grouping.Groups         // of each placementRef, without the clusters of earlier ones
}

// Read reads the groups of a set's placementRefs, in order. A cluster that several of them select belongs to the first. The
// groups are incomplete if there is no Placement. The decisions have the index DecisionsByPlacement.
func (a *Apart) Read(placements, decisions cache.Indexer, set *workv1alpha1.ManifestWorkReplicaSet) ([]*grouping.Groups, error) {
	refs, path := set.Spec.PlacementRefs, field.NewPath("spec", "placementRefs")
	if len(refs) == 0 {
		return nil, field.Required(path, "must have a placement")
	}
	each, parts := make(AllGroups, len(refs)), make([]grouping.PlacementGroups, len(refs))
	for i, ref := range refs {
		if _, twice := each[ref.Name]; twice {
			return nil, field.Duplicate(path.Index(i).Child("name"), ref.Name)
		}
		groups, err := a.each.Read(each, placements, decisions, set.Namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		parts[i] = grouping.PlacementGroups{Placement: ref.Name, Groups: groups}
	}
	if !slices.Equal(parts, a.parts) {
		groups, err := grouping.Apart(parts...)
		if err != nil {
			return nil, err
		}
		a.parts, a.apart = parts, groups
	}
	a.each = each
	return a.apart, nil
}

// RecordsOf are the records of a version that a set stores, by placement. The groups are those of its placementRefs.
func RecordsOf(set *workv1alpha1.ManifestWorkReplicaSet, version string, groups []*grouping.Groups) (status.Records, error) {
	stored, err := status.RecordsOf(set)
	if err != nil {
		return nil, err
	}
	parts := make([]grouping.PlacementGroups, len(groups))
	for i := range groups {
		parts[i] = grouping.PlacementGroups{Placement: set.Spec.PlacementRefs[i].Name, Groups: groups[i]}
	}
	return stored.Of(version, parts...), nil
}
