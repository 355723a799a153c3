// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// predicate is a checked predicate of a Placement: both of its selectors must match.
type predicate struct {
	labels, claims labels.Selector
}

// newPredicate reads a requiredClusterSelector, whose path is given.
func newPredicate(selector clusterv1beta1.ClusterSelector, path *field.Path) (p predicate, errs field.ErrorList) {
	if len(selector.CelSelector.CelExpressions) > 0 {
		errs = append(errs, field.Forbidden(path.Child("celSelector"), "CEL is not supported here; give the PlacementDecisions that OCM made instead"))
	}
	byLabel, labelErrs := newSelector(selector.LabelSelector, path.Child("labelSelector"))
	claims := metav1.LabelSelector{MatchExpressions: selector.ClaimSelector.MatchExpressions}
	byClaim, claimErrs := newSelector(claims, path.Child("claimSelector"))
	return predicate{byLabel, byClaim}, append(append(errs, labelErrs...), claimErrs...)
}

func newSelector(selector metav1.LabelSelector, path *field.Path) (labels.Selector, field.ErrorList) {
	if errs := metavalidation.ValidateLabelSelector(&selector, metavalidation.LabelSelectorValidationOptions{}, path); len(errs) > 0 {
		return nil, errs
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return nil, field.ErrorList{field.Invalid(path, metav1.FormatLabelSelector(&selector), err.Error())}
	}
	return s, nil
}

func (pred predicate) matches(c *clusterv1.ManagedCluster) bool {
	return pred.labels.Matches(labels.Set(c.Labels)) && (pred.claims.Empty() || pred.claims.Matches(claimsOf(c)))
}

func claimsOf(c *clusterv1.ManagedCluster) labels.Set {
	claims := make(labels.Set, len(c.Status.ClusterClaims))
	for _, claim := range c.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	return claims
}
