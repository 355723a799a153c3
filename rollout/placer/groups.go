// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
)

// ownerGroups are the groups of an owner's Placements, as they were read last.
type ownerGroups struct {
	each  map[string]placementGroups // by the name of the Placement
	parts []grouping.PlacementGroups // in the order of the owner's Placements
	apart []*grouping.Groups         // each without the clusters of earlier Placements
}

// readAll reads the groups of all Placements of an owner, each without the clusters of earlier ones.
func (r *reconciler) readAll(ctx context.Context, cached *ownerGroups, namespace string, placements []Placement) ([]*grouping.Groups, error) {
	each := make(map[string]placementGroups, len(placements))
	parts := make([]grouping.PlacementGroups, len(placements))
	for i, placement := range placements {
		known := cached.each[placement.Name]
		groups, err := r.readGroups(ctx, &known, types.NamespacedName{Namespace: namespace, Name: placement.Name})
		if err != nil {
			return nil, err
		}
		each[placement.Name] = known
		parts[i] = grouping.PlacementGroups{Placement: placement.Name, Groups: groups}
	}
	cached.each = each
	switch {
	case len(parts) == 1:
		return []*grouping.Groups{parts[0].Groups}, nil
	case slices.Equal(parts, cached.parts):
		return cached.apart, nil
	}
	apart, err := grouping.Apart(parts...)
	if err != nil {
		return nil, fmt.Errorf("dividing the clusters among the Placements: %w", err)
	}
	cached.parts, cached.apart = parts, apart
	return apart, nil
}

// placementGroups are the groups of a Placement, and the states of the objects that they were read from. Reading groups is
// the most expensive part of a reconcile, so it is done only when one of these objects changed.
type placementGroups struct {
	states []string
	groups *grouping.Groups
}

// readGroups reads the groups of a Placement, or returns the cached ones if no object changed. While there is no Placement the groups are incomplete, so that nothing
// starts.
func (r *reconciler) readGroups(ctx context.Context, cached *placementGroups, key types.NamespacedName) (*grouping.Groups, error) {
	placement := &clusterv1beta1.Placement{}
	err := r.client.Get(ctx, key, placement, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		*cached = placementGroups{}
		return cached.groups.Lacking("there is no Placement " + key.String()), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the Placement: %w", err)
	}
	decisions, err := r.decisions(ctx, key)
	if err != nil {
		return nil, err
	}
	states := statesOf(placement, decisions)
	if cached.groups != nil && slices.Equal(states, cached.states) {
		return cached.groups, nil
	}
	groups, err := grouping.Read(placement, decisions)
	if err != nil {
		return nil, fmt.Errorf("the decisions of Placement %s: %w", key, err)
	}
	*cached = placementGroups{states: states, groups: groups}
	return groups, nil
}

// decisions are the PlacementDecisions of a Placement in the cache, by name.
func (r *reconciler) decisions(ctx context.Context, placement types.NamespacedName) ([]*clusterv1beta1.PlacementDecision, error) {
	var list clusterv1beta1.PlacementDecisionList
	of := client.MatchingFields{r.decisionsIndex(): placement.Name}
	if err := r.client.List(ctx, &list, client.InNamespace(placement.Namespace), of, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions: %w", err)
	}
	decisions := make([]*clusterv1beta1.PlacementDecision, len(list.Items))
	for i := range list.Items {
		decisions[i] = &list.Items[i]
	}
	slices.SortFunc(decisions, func(a, b *clusterv1beta1.PlacementDecision) int { return strings.Compare(a.Name, b.Name) })
	return decisions, nil
}

// statesOf identify the states of these objects.
func statesOf(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) []string {
	states := []string{string(placement.UID) + "/" + placement.ResourceVersion}
	for _, decision := range decisions {
		states = append(states, string(decision.UID)+"/"+decision.ResourceVersion)
	}
	return states
}
