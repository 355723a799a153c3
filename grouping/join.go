// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/internal/limit"
)

// PlacementGroups holds the groups of one of several placements.
type PlacementGroups struct {
	// Placement names the placement: by its name, or by namespace and name where the placements are in several
	// namespaces. It becomes the Placement of the keys.
	Placement string
	// Groups are the groups of this placement alone. Nil stands for a placement that was not read yet.
	Groups *Groups
}

// Join puts the groups of several placements one after the other, in the order given, for a workload that follows them all. A
// cluster that several placements select belongs to the first of them. A group that loses clusters to another stays, even if
// it loses all. Indexes stay as they are, so an index or a name may occur in each placement; Key.Placement tells them apart.
// The result shares strings with the parts, nothing else.
//
// It is an error (one *field.Error per fault, joined as by [Divide]) if a placement has no name, comes twice, or has groups that
// were joined already.
//
// It takes as long as reading the groups.
func Join(parts ...PlacementGroups) (*Groups, error) {
	if err := validateJoin(parts); err != nil {
		return nil, err
	}
	var sources []source
	var found findings
	size, known := 0, true
	for _, part := range parts {
		if missing := part.Groups.withoutPlacement(); missing != "" {
			found.add("%s", ofPlacement(part.Placement, missing))
		}
		if of := part.Groups.ClustersPerDecisionGroup(); part.Groups.NumClusters() > 0 {
			size, known = smaller(size, of), known && of > 0
		}
		for i := range part.Groups.Len() {
			key := part.Groups.Key(i)
			key.Placement = part.Placement
			decisions := make([]clusterv1beta1.ClusterDecision, 0, part.Groups.Size(i))
			sources = append(sources, source{key: key, decisions: slices.AppendSeq(decisions, part.Groups.Clusters(i))})
		}
	}
	groups := build(sources)
	if groups.completeness = (completeness{checked: true, missing: found.String()}); known {
		groups.size = limit.Count(size)
	}
	return groups, nil
}

// smaller gives the smaller of two sizes, where 0 means none.
func smaller(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func validateJoin(parts []PlacementGroups) error {
	var errs field.ErrorList
	path := field.NewPath("placements")
	var names []string
	for i, part := range parts {
		if part.Placement == "" {
			errs = append(errs, field.Required(path.Index(i).Child("placement"), "must be the name of the placement that the groups are of"))
			continue
		}
		names = append(names, part.Placement)
		if err := ofOnePlacement(path.Key(part.Placement).Child("groups"), part.Groups); err != nil {
			errs = append(errs, err)
		}
	}
	slices.Sort(names)
	return fielderrs.Join(append(errs, fielderrs.Duplicates(names, strings.Compare, func(name string) *field.Error {
		return field.Duplicate(path.Key(name), name)
	})...))
}

// ofOnePlacement reports groups from Join, where only groups of one placement are allowed.
func ofOnePlacement(path *field.Path, groups *Groups) *field.Error {
	for i := range groups.Len() {
		if key := groups.keys[i]; key.Placement != "" {
			return field.Invalid(path, key.String(), "must be groups of one placement, not joined ones")
		}
	}
	return nil
}
