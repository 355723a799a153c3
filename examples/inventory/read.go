package inventory

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Read returns the groups in the slices of one decision, and in one line what they lack to be whole: empty if nothing that can be known
// from slices is missing. While it is not empty, nobody may be removed.
//
// Slices that OCM's groups were written to have these groups. Slices of other schedulers are one group. What can be known: there is at
// least one; the indexes are 0, 1, 2 and so on, where all have one; no cluster is in two; and if they have a seal (see
// grouping.Sealed), it is of these. Without a seal, the last slice may be missing and nobody can see it.
//
// It is an error if a slice is nil, comes twice, has more than 100 clusters or a reference without a name, or is of another
// decision key or namespace than the others.
func Read(c Convention, decisions []*sig.PlacementDecision) (*grouping.Groups, string, error) {
	var errs field.ErrorList
	decisions = slices.Clone(decisions)
	for i, s := range decisions {
		if s == nil {
			return nil, "", field.Required(field.NewPath("slices").Index(i), "must not be nil")
		}
	}
	slices.SortFunc(decisions, func(a, b *sig.PlacementDecision) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range decisions {
		path := field.NewPath("slices").Key(s.Namespace + "/" + s.Name)
		first := decisions[0]
		if key, want := s.Labels[sig.DecisionKeyLabel], first.Labels[sig.DecisionKeyLabel]; key != want || key == "" && len(decisions) > 1 {
			errs = append(errs, field.Invalid(path.Child("metadata", "labels").Key(sig.DecisionKeyLabel), key, fmt.Sprintf(
				"must be the decision key of the other slices, %q as of %s", want, first.Name)))
		}
		if n := len(s.Decisions); n > grouping.MaxDecisions {
			errs = append(errs, field.TooMany(path.Child("decisions"), n, grouping.MaxDecisions))
		}
		for j, d := range s.Decisions {
			if d.ClusterProfileRef.Name == "" {
				errs = append(errs, field.Required(path.Child("decisions").Index(j).Child("clusterProfileRef", "name"), "must be the name of a ClusterProfile"))
			}
		}
	}
	if len(errs) > 0 {
		return nil, "", errors.Join(errs.ToAggregate().Errors()...)
	}
	objects := ToOCM(c, decisions...)
	if len(objects) == 1 && objects[0].Labels[sig.DecisionKeyLabel] == "" { // the key is optional for a single slice
		objects[0].Labels = map[string]string{"cluster.open-cluster-management.io/placement": objects[0].Name}
	}
	groups, err := grouping.Read(nil, objects)
	if err != nil {
		return nil, "", err
	}
	missing := groups.Incomplete()
	if missing == "" {
		missing = oddIndexes(decisions)
	}
	if missing == "" {
		missing = twice(decisions)
	}
	return groups, missing, nil
}

// oddIndexes says what is wrong with the indexes of slices. They are optional, so none at all is nothing wrong.
func oddIndexes(decisions []*sig.PlacementDecision) string {
	owner := make(map[int]string)
	for _, s := range decisions {
		label, labelled := s.Labels[sig.DecisionIndexLabel]
		if !labelled {
			continue
		}
		index, err := strconv.ParseUint(label, 10, 31)
		if err != nil {
			return fmt.Sprintf("slice %s has %q for its index", s.Name, label)
		}
		if other, twice := owner[int(index)]; twice {
			return fmt.Sprintf("slices %s and %s both have the index %d", other, s.Name, index)
		}
		owner[int(index)] = s.Name
	}
	if len(owner) == 0 {
		return ""
	}
	for i := range len(decisions) {
		if _, ok := owner[i]; !ok {
			return fmt.Sprintf("no slice has the index %d", i)
		}
	}
	return ""
}

// twice looks for a cluster in two slices, as in the midst of a move.
func twice(decisions []*sig.PlacementDecision) string {
	first := make(map[sig.ClusterProfileReference]string)
	for _, s := range decisions {
		for _, d := range s.Decisions {
			ref := d.ClusterProfileRef
			if ref.Namespace == "" {
				ref.Namespace = s.Namespace
			}
			if other, again := first[ref]; again {
				return fmt.Sprintf("cluster %s/%s is in %s and again in %s", ref.Namespace, ref.Name, other, s.Name)
			}
			first[ref] = s.Name
		}
	}
	return ""
}
