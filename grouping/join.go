package grouping

import (
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
// It takes time linear in the clusters times the logarithm of the number of placements.
func Join(parts ...PlacementGroups) (*Groups, error) {
	if err := validateJoin(parts); err != nil {
		return nil, err
	}
	total := 0
	for _, part := range parts {
		total += part.Groups.NumClusters()
	}
	var keys []Key
	entries := make([]entry, 0, total)
	decisions := make([]clusterv1beta1.ClusterDecision, total)
	ranks := make([]int32, total)
	for _, part := range parts {
		g, start := part.Groups, len(entries)
		for at := range g.NumClusters() {
			ranks[start+int(g.members[at])] = int32(start + at)
		}
		// By position, which is sorted by name as build wants it.
		for position := range g.NumClusters() {
			at := start + position
			decisions[at] = g.decision(int32(position))
			entries = append(entries, entry{g.names[position], int32(len(keys)) + g.groups[position], ranks[at], &decisions[at]})
		}
		for i := range g.Len() {
			keys = append(keys, Key{Index: g.keys[i].Index, Name: g.keys[i].Name, Placement: part.Placement})
		}
	}
	return index(keys, entries, total), nil
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
