package grouping

import (
	"fmt"

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

// claimSet lets label requirements look at cluster claims without a map of them.
type claimSet []clusterv1.ManagedClusterClaim

var _ labels.Labels = claimSet(nil)

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

// newSelector checks the selector of a group; path is that of its groupClusterSelector. Errors name the
// expression by its path and the group in words (G5).
func newSelector(path *field.Path, group clusterv1beta1.DecisionGroup) (selector, field.ErrorList) {
	byLabel, byClaim := group.ClusterSelector.LabelSelector, group.ClusterSelector.ClaimSelector
	labelPath, claimPath := path.Child("labelSelector"), path.Child("claimSelector")

	var s selector
	var errs field.ErrorList
	for key, value := range byLabel.MatchLabels {
		requirements, err := requirements(metav1.LabelSelector{MatchLabels: map[string]string{key: value}})
		if err != nil {
			errs = append(errs, field.Invalid(labelPath.Child("matchLabels").Key(key), value, inGroup(group, err)))
		}
		s.labels = append(s.labels, requirements...)
	}
	expressions := func(path *field.Path, expressions []metav1.LabelSelectorRequirement) (all labels.Requirements) {
		for i, e := range expressions {
			requirements, err := requirements(metav1.LabelSelector{MatchExpressions: expressions[i : i+1]})
			if err != nil {
				found := fmt.Sprintf("%s %s %q", e.Key, e.Operator, e.Values)
				errs = append(errs, field.Invalid(path.Child("matchExpressions").Index(i), found, inGroup(group, err)))
			}
			all = append(all, requirements...)
		}
		return all
	}
	s.labels = append(s.labels, expressions(labelPath, byLabel.MatchExpressions)...)
	s.claims = expressions(claimPath, byClaim.MatchExpressions)
	return s, errs
}

func inGroup(group clusterv1beta1.DecisionGroup, err error) string {
	return fmt.Sprintf("in the selector of group %q: %v", group.GroupName, err)
}

func requirements(one metav1.LabelSelector) (labels.Requirements, error) {
	s, err := metav1.LabelSelectorAsSelector(&one)
	if err != nil {
		return nil, err
	}
	all, _ := s.Requirements()
	return all, nil
}
