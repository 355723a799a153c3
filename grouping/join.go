package grouping

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// PlacementGroups is the groups of one of several placements.
type PlacementGroups struct {
	// Placement says which: its name, or namespace and name where they differ in that. It becomes
	// that of the keys.
	Placement string
	// Groups are those of this placement alone; nil is a placement that has none yet.
	Groups *Groups
}

// Join puts the groups of several placements one after the other, in the order given, for a workload that
// follows them all (R26). A cluster that several placements select belongs to the first of them; a group
// that loses clusters so, even all, stays. Indexes stay what they are, so that an index or a name can stand
// for a group of each placement, and Key.Placement tells them apart. The result shares strings with the
// parts, nothing else.
//
// It is an error (one *field.Error per fault) if a placement has no name, comes twice, or has groups that
// were joined already.
//
// It takes as long as reading the groups.
func Join(parts ...PlacementGroups) (*Groups, error) {
	if err := validateJoin(parts); err != nil {
		return nil, err
	}
	var sources []source
	for _, part := range parts {
		for i := range part.Groups.Len() {
			key := part.Groups.Key(i)
			key.Placement = part.Placement
			decisions := make([]clusterv1beta1.ClusterDecision, 0, part.Groups.Size(i))
			sources = append(sources, source{key: key, decisions: slices.AppendSeq(decisions, part.Groups.Clusters(i))})
		}
	}
	return build(sources), nil
}

func validateJoin(parts []PlacementGroups) error {
	var errs field.ErrorList
	seen := make(map[string]bool, len(parts))
	for i, part := range parts {
		path := field.NewPath("placements").Index(i)
		switch {
		case part.Placement == "":
			errs = append(errs, field.Required(path.Child("placement"), "must say which placement the groups are of"))
		case seen[part.Placement]:
			errs = append(errs, field.Duplicate(path.Child("placement"), part.Placement))
		}
		seen[part.Placement] = true
		if err := ofOnePlacement(path.Child("groups"), part.Groups); err != nil {
			errs = append(errs, err)
		}
	}
	return fielderrs.Join(errs)
}

// ofOnePlacement reports groups that Join gave, where only those of one placement mean something.
func ofOnePlacement(path *field.Path, g *Groups) *field.Error {
	for i := range g.Len() {
		if key := g.keys[i]; key.Placement != "" {
			return field.Invalid(path, key.String(), "must be groups of one placement, not joined ones")
		}
	}
	return nil
}
