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

// placementGroups are the groups of a Placement, and the states of the objects that they were read of. To read groups is the dearest part
// of a look, so they are read where something has changed.
type placementGroups struct {
	states []string
	groups *grouping.Groups
}

// read reads the groups of a Placement into g. They are incomplete while there is no Placement, so that nothing starts.
func (r *reconciler) readGroups(ctx context.Context, g *placementGroups, key types.NamespacedName) (*grouping.Groups, error) {
	placement := &clusterv1beta1.Placement{}
	err := r.client.Get(ctx, key, placement, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		*g = placementGroups{}
		return g.groups.Lacking("there is no Placement " + key.String()), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the Placement: %w", err)
	}
	decisions, err := r.decisions(ctx, key)
	if err != nil {
		return nil, err
	}
	states := statesOf(placement, decisions)
	if g.groups != nil && slices.Equal(states, g.states) {
		return g.groups, nil
	}
	groups, err := grouping.Read(placement, decisions)
	if err != nil {
		return nil, fmt.Errorf("the decisions of Placement %s: %w", key, err)
	}
	*g = placementGroups{states: states, groups: groups}
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

// statesOf tell one state of these objects from another.
func statesOf(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) []string {
	states := []string{string(placement.UID) + "/" + placement.ResourceVersion}
	for _, decision := range decisions {
		states = append(states, string(decision.UID)+"/"+decision.ResourceVersion)
	}
	return states
}
