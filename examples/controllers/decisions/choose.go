// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/cohort-ocm/cohort/grouping"
)

// choice is the clusters that a Placement selects.
type choice struct {
	clusters []*clusterv1.ManagedCluster
	bound    bool // a cluster set is bound
	missing  int  // how many more clusters the Placement wants
}

// choose is the scheduler, which is not the subject of this controller: put your own here. It follows cluster sets,
// predicates, taints and numberOfClusters. It has no scores. Of clusters that fit equally it takes selected ones first, and
// then the first by name. Prioritizers and spread policies are ignored; CEL is refused. Before are the stored groups.
func (cached *caches) choose(placement *clusterv1beta1.Placement, before *grouping.Groups) (choice, error) {
	predicates, err := newPredicates(placement.Spec.Predicates)
	if err != nil {
		return choice{}, err
	}
	selected := func(cluster *clusterv1.ManagedCluster) bool { _, had := before.Position(cluster.Name); return had }
	members, bound := cached.members(placement)
	chosen := choice{bound: bound}
	for _, cluster := range members {
		if cluster.DeletionTimestamp.IsZero() && fits(cluster, predicates) && !repelled(cluster, placement.Spec.Tolerations, selected) {
			chosen.clusters = append(chosen.clusters, cluster)
		}
	}
	if placement.Spec.NumberOfClusters == nil {
		return chosen, nil
	}
	want := max(0, int(*placement.Spec.NumberOfClusters))
	chosen.missing = max(0, want-len(chosen.clusters))
	if len(chosen.clusters) > want {
		slices.SortFunc(chosen.clusters, func(a, b *clusterv1.ManagedCluster) int {
			if x := selected(a); x != selected(b) {
				return map[bool]int{true: -1, false: 1}[x]
			}
			return strings.Compare(a.Name, b.Name)
		})
		chosen.clusters = chosen.clusters[:want]
	}
	return chosen, nil
}

// members are the clusters of the cluster sets that are bound to the Placement's namespace, or of those of them that the
// Placement names. Bound is false if there is no such set.
func (cached *caches) members(placement *clusterv1beta1.Placement) (members []*clusterv1.ManagedCluster, bound bool) {
	var sets []*clusterv1beta2.ManagedClusterSet
	for _, set := range cached.setsBoundTo(placement.Namespace) {
		if named := placement.Spec.ClusterSets; len(named) == 0 || slices.Contains(named, set.Name) {
			sets = append(sets, set)
			members = append(members, cached.clustersOf(set)...)
		}
	}
	if len(sets) > 1 { // a cluster may be in several
		slices.SortFunc(members, func(a, b *clusterv1.ManagedCluster) int { return strings.Compare(a.Name, b.Name) })
		members = slices.CompactFunc(members, func(a, b *clusterv1.ManagedCluster) bool { return a.Name == b.Name })
	}
	return members, len(sets) > 0
}

// clusterPredicate is a requirement on a cluster's labels and claims.
type clusterPredicate struct {
	labels, claims labels.Selector
}

func newPredicates(from []clusterv1beta1.ClusterPredicate) (predicates []clusterPredicate, err error) {
	for i, p := range from {
		path := field.NewPath("spec", "predicates").Index(i).Child("requiredClusterSelector")
		selector := p.RequiredClusterSelector
		if len(selector.CelSelector.CelExpressions) > 0 {
			return nil, field.Forbidden(path.Child("celSelector"), "must be empty: this scheduler has no CEL")
		}
		var p clusterPredicate
		if p.labels, err = metav1.LabelSelectorAsSelector(&selector.LabelSelector); err != nil {
			return nil, field.Invalid(path.Child("labelSelector"), metav1.FormatLabelSelector(&selector.LabelSelector), err.Error())
		}
		claims := metav1.LabelSelector{MatchExpressions: selector.ClaimSelector.MatchExpressions}
		if p.claims, err = metav1.LabelSelectorAsSelector(&claims); err != nil {
			return nil, field.Invalid(path.Child("claimSelector"), metav1.FormatLabelSelector(&claims), err.Error())
		}
		predicates = append(predicates, p)
	}
	return predicates, nil
}

// fits says whether a cluster meets one of the predicates, if there are any.
func fits(cluster *clusterv1.ManagedCluster, predicates []clusterPredicate) bool {
	return len(predicates) == 0 || slices.ContainsFunc(predicates, func(p clusterPredicate) bool {
		return p.labels.Matches(labels.Set(cluster.Labels)) && (p.claims.Empty() || p.claims.Matches(claimsOf(cluster)))
	})
}

func claimsOf(cluster *clusterv1.ManagedCluster) labels.Set {
	claims := make(labels.Set, len(cluster.Status.ClusterClaims))
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	return claims
}

// repelled says whether a taint keeps a cluster out. NoSelectIfNew keeps only clusters out that are not selected yet.
func repelled(cluster *clusterv1.ManagedCluster, tolerations []clusterv1beta1.Toleration, selected func(*clusterv1.ManagedCluster) bool) bool {
	return slices.ContainsFunc(cluster.Spec.Taints, func(taint clusterv1.Taint) bool {
		switch {
		case slices.ContainsFunc(tolerations, func(t clusterv1beta1.Toleration) bool { return tolerates(t, taint) }):
			return false
		case taint.Effect == clusterv1.TaintEffectNoSelectIfNew:
			return !selected(cluster)
		default:
			return taint.Effect == clusterv1.TaintEffectNoSelect
		}
	})
}

// tolerates ignores tolerationSeconds: a tolerated taint is tolerated for ever.
func tolerates(t clusterv1beta1.Toleration, taint clusterv1.Taint) bool {
	return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) &&
		(t.Operator == clusterv1beta1.TolerationOpExists || t.Value == taint.Value)
}
