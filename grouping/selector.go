package grouping

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// selector is a checked groupClusterSelector. The zero selector matches every cluster.
type selector struct {
	labels, claims labels.Requirements
}

// matches says whether the cluster's labels and claims both match (G1).
func (s selector) matches(cluster *clusterv1.ManagedCluster) bool {
	for i := range s.labels {
		if !s.labels[i].Matches(labels.Set(cluster.Labels)) {
			return false
		}
	}
	if len(s.claims) == 0 {
		return true
	}
	claims := claimSet(cluster.Status.ClusterClaims)
	for i := range s.claims {
		if !s.claims[i].Matches(claims) {
			return false
		}
	}
	return true
}

// claimSet is a labels.Labels, so that label requirements can look at cluster claims without a map of them.
type claimSet []clusterv1.ManagedClusterClaim

func (c claimSet) Lookup(name string) (string, bool) {
	for i := range c {
		if c[i].Name == name {
			return c[i].Value, true
		}
	}
	return "", false
}

func (c claimSet) Has(name string) bool {
	_, ok := c.Lookup(name)
	return ok
}

func (c claimSet) Get(name string) string {
	value, _ := c.Lookup(name)
	return value
}

// newSelector checks the selector of a group; path is where its groupClusterSelector stands. Errors name the
// expression by its path and the group in words (G5).
func newSelector(path *field.Path, group clusterv1beta1.DecisionGroup) (selector, field.ErrorList) {
	p := selectorParser{group: group.GroupName}
	byLabel, byClaim := group.ClusterSelector.LabelSelector, group.ClusterSelector.ClaimSelector
	s := selector{
		labels: append(
			p.pairs(path.Child("labelSelector", "matchLabels"), byLabel.MatchLabels),
			p.expressions(path.Child("labelSelector", "matchExpressions"), byLabel.MatchExpressions)...),
		claims: p.expressions(path.Child("claimSelector", "matchExpressions"), byClaim.MatchExpressions),
	}
	return s, p.errs
}

// selectorParser gathers the faults of one group's selector. It hands expressions to apimachinery one by
// one, which says what is wrong but not where.
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
	for i, e := range expressions {
		one := metav1.LabelSelector{MatchExpressions: expressions[i : i+1]}
		all = append(all, p.requirements(path.Index(i), fmt.Sprintf("%s %s %q", e.Key, e.Operator, e.Values), one)...)
	}
	return all
}

func (p *selectorParser) requirements(path *field.Path, found string, one metav1.LabelSelector) labels.Requirements {
	s, err := metav1.LabelSelectorAsSelector(&one)
	if err != nil {
		p.errs = append(p.errs, field.Invalid(path, found, fmt.Sprintf("must be valid in the selector of group %q: %v", p.group, err)))
		return nil
	}
	all, _ := s.Requirements()
	return all
}
