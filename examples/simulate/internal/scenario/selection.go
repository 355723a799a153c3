package scenario

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// selection is what a Placement asks of a cluster.
type selection struct {
	spec       clusterv1beta1.PlacementSpec
	sets       []labels.Selector
	predicates []predicate
}

// newSelection checks the Placement's rules.
func (o *objects) newSelection(placement source[clusterv1beta1.Placement]) (selection, error) {
	s := selection{spec: placement.typed.Spec}
	for _, name := range s.spec.ClusterSets {
		members, err := o.setMembers(name)
		if err != nil {
			return s, err
		}
		s.sets = append(s.sets, members)
	}
	spec := field.NewPath("spec")
	errs := validateTolerations(s.spec.Tolerations, spec.Child("tolerations"))
	for i, p := range s.spec.Predicates {
		path := spec.Child("predicates").Index(i).Child("requiredClusterSelector")
		predicate, predicateErrs := newPredicate(p.RequiredClusterSelector, path)
		s.predicates = append(s.predicates, predicate)
		errs = append(errs, predicateErrs...)
	}
	if n := s.spec.NumberOfClusters; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("numberOfClusters"), *n, "must not be negative"))
	}
	return s, placement.Fault(aggregate(errs))
}

// of gives the clusters that are selected, and notes on what is not as OCM would do it.
func (s selection) of(clusters []source[clusterv1.ManagedCluster]) (selected []*clusterv1.ManagedCluster, notes []string) {
	var deleted, unaccepted, tainted int
	for _, c := range clusters {
		switch {
		case !s.matches(c.typed):
		case c.typed.DeletionTimestamp != nil:
			deleted++
		case !c.typed.Spec.HubAcceptsClient:
			unaccepted++
		case repelled(c.typed, s.spec.Tolerations):
			tainted++
		default:
			selected = append(selected, c.typed)
		}
	}
	for _, out := range []struct {
		clusters int
		why      string
	}{
		{deleted, "being deleted (metadata.deletionTimestamp)"},
		{unaccepted, "not accepted by the hub (spec.hubAcceptsClient)"},
		{tainted, "with a taint that the Placement does not tolerate (spec.taints)"},
	} {
		if out.clusters > 0 {
			notes = append(notes, fmt.Sprintf("ManagedCluster: not selected though the Placement's rules fit, %s (%d)", out.why, out.clusters))
		}
	}
	selected, note := s.limit(selected)
	return selected, append(append(notes, note...), s.notes()...)
}

// matches says whether a cluster is in the sets and fits a predicate, of which none fits all.
func (s selection) matches(c *clusterv1.ManagedCluster) bool {
	fits := len(s.predicates) == 0 || slices.ContainsFunc(s.predicates, func(p predicate) bool { return p.matches(c) })
	return fits && inAny(s.sets, c)
}

// limit takes as many clusters as the Placement wants. OCM would choose by the scores of its prioritizers.
func (s selection) limit(selected []*clusterv1.ManagedCluster) ([]*clusterv1.ManagedCluster, []string) {
	if s.spec.NumberOfClusters == nil {
		return selected, nil
	}
	want := int(*s.spec.NumberOfClusters)
	switch {
	case len(selected) < want:
		return selected, []string{fmt.Sprintf("spec.numberOfClusters: only %d of %d clusters fit the Placement", len(selected), want)}
	case len(selected) == want:
		return selected, nil
	}
	slices.SortFunc(selected, func(a, b *clusterv1.ManagedCluster) int { return strings.Compare(a.Name, b.Name) })
	return selected[:want], []string{fmt.Sprintf(
		"spec.numberOfClusters: the first %d of %d clusters by name; OCM would choose them by score", want, len(selected))}
}

// notes says which other rules of the Placement are not followed.
func (s selection) notes() (notes []string) {
	if n := len(s.spec.PrioritizerPolicy.Configurations); n > 0 {
		notes = append(notes, "spec.prioritizerPolicy: not followed, no cluster has a score here")
	}
	if s.spec.SortBy == clusterv1beta1.PlacementSortByScore {
		notes = append(notes, "spec.sortBy: Score sorts by name here, no cluster has a score")
	}
	if len(s.spec.SpreadPolicy.SpreadConstraints) > 0 {
		notes = append(notes, "spec.spreadPolicy: not followed")
	}
	for i, t := range s.spec.Tolerations {
		if t.TolerationSeconds != nil {
			notes = append(notes, fmt.Sprintf("spec.tolerations[%d].tolerationSeconds: taken as tolerated all the time", i))
		}
	}
	return notes
}
