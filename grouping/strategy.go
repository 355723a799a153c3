// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// division is a checked decisionStrategy.
type division struct {
	groups           []namedGroup
	clustersPerGroup limit.Limit
	byScore          bool
}

type namedGroup struct {
	name string
	selector
}

// size is the number of clusters that a group may have, at least 1 (G2).
func (d division) size(total int) int {
	if d.clustersPerGroup.IsZero() {
		return max(total, 1)
	}
	return max(d.clustersPerGroup.Of(total), 1)
}

func newDivision(placement *clusterv1beta1.Placement, path *field.Path) (division, field.ErrorList) {
	if placement == nil {
		return division{}, field.ErrorList{nilPlacement()}
	}
	division := division{byScore: placement.Spec.SortBy == clusterv1beta1.PlacementSortByScore}
	var errs field.ErrorList
	switch by := placement.Spec.SortBy; by {
	case "", clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore:
	default:
		errs = append(errs, field.NotSupported(path.Child("spec", "sortBy"), by, []clusterv1beta1.PlacementSortByType{
			clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore}))
	}
	for i, group := range placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups {
		path := groupStrategyPath(path).Child("decisionGroups").Index(i)
		if err := validateGroupName(path.Child("groupName"), group.GroupName); err != nil {
			errs = append(errs, err)
		}
		selector, selectorErrs := newSelector(path.Child("groupClusterSelector"), group)
		errs = append(errs, selectorErrs...)
		division.groups = append(division.groups, namedGroup{group.GroupName, selector})
	}
	size, err := parseSize(placement, path)
	if division.clustersPerGroup = size; err != nil {
		errs = append(errs, err)
	}
	return division, errs
}

// groupStrategyPath is the path of the groupStrategy of a placement that stands at path.
func groupStrategyPath(path *field.Path) *field.Path {
	return path.Child("spec", "decisionStrategy", "groupStrategy")
}

// parseSize reads the placement's clustersPerDecisionGroup by G2. The zero limit means unset: the API holds that as the
// integer 0, and OCM's CRD defaults it to 100%.
func parseSize(placement *clusterv1beta1.Placement, path *field.Path) (limit.Limit, *field.Error) {
	const want = "must be a positive count, or a percentage from 1% to 100% in decimal digits"
	intOrString := placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup
	if intOrString == (intstr.IntOrString{}) {
		return limit.Limit{}, nil
	}
	size, err := limit.Parse(nil, intOrString)
	if err == nil && size.IsZero() {
		err = field.Invalid(nil, intOrString.String(), want)
	}
	if err != nil {
		err.Field, err.Detail = groupStrategyPath(path).Child("clustersPerDecisionGroup").String(), want
	}
	return size, err
}

// validateGroupName reports a name that can't be the value of the group's label.
func validateGroupName(path *field.Path, name string) *field.Error {
	if name == "" {
		return field.Required(path, "must be a name: the clusters that no group selects are those without")
	}
	return labelValue(path, name)
}

// labelValue reports a value that no label can have.
func labelValue(path *field.Path, value string) *field.Error {
	if faults := validation.IsValidLabelValue(value); len(faults) > 0 {
		return field.Invalid(path, value, "must be usable as the value of a label: "+strings.Join(faults, "; "))
	}
	return nil
}

// newSelector checks the selector of a group; path is where its groupClusterSelector stands. Errors name the
// expression by its path and the group in words (G5).
func newSelector(path *field.Path, group clusterv1beta1.DecisionGroup) (selector, field.ErrorList) {
	parser := selectorParser{group: group.GroupName}
	byLabel, byClaim := group.ClusterSelector.LabelSelector, group.ClusterSelector.ClaimSelector
	selector := selector{
		labels: append(
			parser.pairs(path.Child("labelSelector", "matchLabels"), byLabel.MatchLabels),
			parser.expressions(path.Child("labelSelector", "matchExpressions"), byLabel.MatchExpressions)...),
		claims: parser.expressions(path.Child("claimSelector", "matchExpressions"), byClaim.MatchExpressions),
	}
	return selector, parser.errs
}

// selectorParser gathers the faults of one group's selector. It hands expressions to apimachinery one by one, since
// apimachinery says what is wrong but not where.
type selectorParser struct {
	group string
	errs  field.ErrorList
}

func (p *selectorParser) pairs(path *field.Path, pairs map[string]string) (all labels.Requirements) {
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		one := metav1.LabelSelector{MatchLabels: map[string]string{key: pairs[key]}}
		all = append(all, p.requirements(path.Key(key), pairs[key], one)...)
	}
	return all
}

func (p *selectorParser) expressions(path *field.Path, expressions []metav1.LabelSelectorRequirement) (all labels.Requirements) {
	for i, requirement := range expressions {
		one := metav1.LabelSelector{MatchExpressions: expressions[i : i+1]}
		all = append(all, p.requirements(path.Index(i), fmt.Sprintf("%s %s %q", requirement.Key, requirement.Operator, requirement.Values), one)...)
	}
	return all
}

func (p *selectorParser) requirements(path *field.Path, found string, one metav1.LabelSelector) labels.Requirements {
	selector, err := metav1.LabelSelectorAsSelector(&one)
	if err != nil {
		p.errs = append(p.errs, field.Invalid(path, found, fmt.Sprintf("must be valid in the selector of group %q: %v", p.group, err)))
		return nil
	}
	all, _ := selector.Requirements()
	return all
}

// name gives the name of a part. A part is the clusters of one named group or, last, the clusters that no named group
// selects.
func (d division) name(part int) string {
	if part == len(d.groups) {
		return ""
	}
	return d.groups[part].name
}

// match gives the part of a cluster: the first that selects it, or the last (G1).
func (d division) match(cluster *clusterv1.ManagedCluster) int32 {
	part := 0
	for part < len(d.groups) && !d.groups[part].matches(cluster) {
		part++
	}
	return int32(part)
}

// split lists the positions of each part.
func (d division) split(partOf []int32) [][]int32 {
	counts := make([]int, len(d.groups)+1)
	for _, part := range partOf {
		counts[part]++
	}
	parts := make([][]int32, len(counts))
	for part, count := range counts {
		parts[part] = make([]int32, 0, count)
	}
	for position, part := range partOf {
		parts[part] = append(parts[part], int32(position))
	}
	return parts
}
