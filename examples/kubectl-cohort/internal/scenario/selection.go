// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// selection is what a Placement asks of a cluster.
type selection struct {
	spec       clusterv1beta1.PlacementSpec
	sets       clusterSets
	predicates []predicate
}

// Drop is how many ManagedClusters a rule keeps from being selected. Of several rules that do, the first in the order of
// OCM's scheduler counts.
type Drop struct {
	Rule     string `json:"rule"`
	Clusters int    `json:"clusters"`
}

// String is `5 clusters: being deleted (metadata.deletionTimestamp)`. Where the number is not known it is the rule.
func (d Drop) String() string {
	switch d.Clusters {
	case 0:
		return d.Rule
	case 1:
		return "1 cluster: " + d.Rule
	}
	return fmt.Sprintf("%d clusters: %s", d.Clusters, d.Rule)
}

const (
	ruleDeleted    = "being deleted (metadata.deletionTimestamp)"
	rulePredicates = "no predicate fits (spec.predicates)"
	ruleUnaccepted = "not accepted by the hub, which taints it as unreachable (spec.hubAcceptsClient)"
	ruleNumber     = "there are enough others (spec.numberOfClusters)"
)

// newSelection checks the Placement's rules.
func (o *objects) newSelection(placement source[clusterv1beta1.Placement]) (selection, error) {
	s := selection{spec: placement.typed.Spec}
	var err error
	if s.sets, err = o.setsOf(placement); err != nil {
		return s, err
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

// of gives the clusters that are selected, those that are not by the rule that drops them, and notes on what is not as
// OCM would do it.
func (sel selection) of(clusters []source[clusterv1.ManagedCluster]) (selected []*clusterv1.ManagedCluster, drops []Drop, notes []string) {
	dropped := make(map[string]int)
	for _, c := range clusters {
		if rule := sel.drops(c.typed); rule != "" {
			dropped[rule]++
			continue
		}
		selected = append(selected, c.typed)
	}
	notes = append(notes, sel.sets.notes...)
	taints := slices.Sorted(maps.Keys(dropped))
	taints = slices.DeleteFunc(taints, func(rule string) bool { return !strings.HasPrefix(rule, taintRule) })
	for _, rule := range slices.Concat([]string{ruleDeleted}, taints, []string{ruleUnaccepted}) {
		if n := dropped[rule]; n > 0 {
			notes = append(notes, fmt.Sprintf("ManagedCluster: not selected, %s (%d)", rule, n))
		}
	}
	fitting := len(selected)
	selected, note := sel.limit(selected)
	dropped[ruleNumber] = fitting - len(selected)
	for _, rule := range slices.Concat([]string{sel.sets.rule, ruleDeleted, rulePredicates}, taints, []string{ruleUnaccepted, ruleNumber}) {
		if n := dropped[rule]; n > 0 {
			drops = append(drops, Drop{rule, n})
		}
	}
	return selected, drops, append(append(notes, note...), sel.notes()...)
}

// drops gives the rule that drops a cluster from the selection, empty where all fit.
func (sel selection) drops(c *clusterv1.ManagedCluster) string {
	taint, tainted := repelling(c.Spec.Taints, sel.spec.Tolerations)
	switch {
	case !sel.sets.have(c):
		return sel.sets.rule
	case c.DeletionTimestamp != nil:
		return ruleDeleted
	case len(sel.predicates) > 0 && !slices.ContainsFunc(sel.predicates, func(p predicate) bool { return p.matches(c) }):
		return rulePredicates
	case tainted:
		return ruleTaint(taint)
	case repelled(taints(c), sel.spec.Tolerations):
		return ruleUnaccepted
	}
	return ""
}

// limit takes as many clusters as the Placement wants. OCM would choose by the scores of its prioritizers.
func (sel selection) limit(selected []*clusterv1.ManagedCluster) ([]*clusterv1.ManagedCluster, []string) {
	if sel.spec.NumberOfClusters == nil {
		return selected, nil
	}
	want := int(*sel.spec.NumberOfClusters)
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
func (sel selection) notes() (notes []string) {
	if n := len(sel.spec.PrioritizerPolicy.Configurations); n > 0 {
		notes = append(notes, "spec.prioritizerPolicy: not followed, no cluster has a score here")
	}
	if sel.spec.SortBy == clusterv1beta1.PlacementSortByScore {
		notes = append(notes, "spec.sortBy: Score sorts by name here, no cluster has a score")
	}
	if len(sel.spec.SpreadPolicy.SpreadConstraints) > 0 {
		notes = append(notes, "spec.spreadPolicy: not followed")
	}
	for i, t := range sel.spec.Tolerations {
		if t.TolerationSeconds != nil {
			notes = append(notes, fmt.Sprintf("spec.tolerations[%d].tolerationSeconds: taken as tolerated all the time", i))
		}
	}
	return notes
}
