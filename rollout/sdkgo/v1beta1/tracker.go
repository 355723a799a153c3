// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// PlacementDecisionGetter lists the PlacementDecisions of a namespace. A method of three lines makes one from an informer's
// lister.
type PlacementDecisionGetter interface {
	List(selector labels.Selector, namespace string) (ret []*clusterv1beta1.PlacementDecision, err error)
}

// PlacementDecisionClustersTracker has the decision groups of a Placement as of the last
// [PlacementDecisionClustersTracker.Refresh]. It compares them with the status of the Placement that it was made with, so
// make one in each reconcile. It is safe for concurrent use.
type PlacementDecisionClustersTracker struct {
	placement *clusterv1beta1.Placement
	getter    PlacementDecisionGetter

	mu     sync.RWMutex
	groups *grouping.Groups
	err    error // of the next plan
}

// NewPlacementDecisionClustersTracker makes a tracker. Until it is refreshed, the given clusters, possibly none, are all in
// the nameless group 0.
func NewPlacementDecisionClustersTracker(placement *clusterv1beta1.Placement, pdl PlacementDecisionGetter, existingScheduledClusters sets.Set[string]) *PlacementDecisionClustersTracker {
	return NewPlacementDecisionClustersTrackerWithGroups(placement, pdl, ClusterGroupsMap{{}: existingScheduledClusters})
}

// NewPlacementDecisionClustersTrackerWithGroups makes a tracker with a copy of these groups, possibly none, until it is
// refreshed. Groups with a negative index are an error of the next plan.
func NewPlacementDecisionClustersTrackerWithGroups(placement *clusterv1beta1.Placement, pdl PlacementDecisionGetter, existingScheduledClusterGroups ClusterGroupsMap) *PlacementDecisionClustersTracker {
	tracker := &PlacementDecisionClustersTracker{placement: placement, getter: pdl}
	tracker.groups, tracker.err = existingScheduledClusterGroups.groups()
	return tracker
}

// Refresh reads the PlacementDecisions of the Placement. Without a Placement or a getter it does nothing. On an error the
// groups stay as they are.
func (pdct *PlacementDecisionClustersTracker) Refresh() error {
	_, _, err := pdct.refresh()
	return err
}

// GetClusterChanges refreshes, and returns the added and the removed clusters, even while PlacementDecisions are
// incomplete. Do not remove workloads because of it: [v1alpha1.RolloutResult] says which to remove.
//
// [v1alpha1.RolloutResult]: https://pkg.go.dev/github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1#RolloutResult
func (pdct *PlacementDecisionClustersTracker) GetClusterChanges() (sets.Set[string], sets.Set[string], error) {
	before, after, err := pdct.refresh()
	if err != nil {
		return nil, nil, err
	}
	changes := after.Changes(before)
	return sets.New(changes.Added...), sets.New(changes.Removed...), nil
}

// refresh reads the groups, and returns those before and after.
func (pdct *PlacementDecisionClustersTracker) refresh() (before, after *grouping.Groups, err error) {
	pdct.mu.Lock()
	defer pdct.mu.Unlock()
	before = pdct.groups
	if pdct.placement == nil || pdct.getter == nil {
		return before, before, nil
	}
	selector := labels.SelectorFromSet(labels.Set{clusterv1beta1.PlacementLabel: pdct.placement.Name})
	decisions, err := pdct.getter.List(selector, pdct.placement.Namespace)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to list PlacementDecisions: %w", err)
	}
	after, err = grouping.Read(pdct.compared(), decisions)
	if err != nil {
		return nil, nil, err
	}
	pdct.groups, pdct.err = after, pdct.unwritten(len(decisions))
	return before, after, nil
}

// unwritten is an error if there are decisions, but the Placement has no status. On a hub that lasts for a moment, and a
// retry follows. In a test without a scheduler it lasts for ever, and the controller shows only the error.
func (pdct *PlacementDecisionClustersTracker) unwritten(decisions int) error {
	placement := pdct.placement
	if decisions == 0 || placement.UID == "" || !isUnwritten(&placement.Status) || placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true" {
		return nil
	}
	return fmt.Errorf("placement %s/%s: its status is not written yet, so its PlacementDecisions may be incomplete", placement.Namespace, placement.Name)
}

func isUnwritten(written *clusterv1beta1.PlacementStatus) bool {
	return written.NumberOfSelectedClusters == 0 && len(written.DecisionGroups) == 0 && len(written.Conditions) == 0
}

// compared is the Placement whose status the decisions are compared with. A Placement without UID and status comes from a
// unit test of sdk-go, and is not compared.
func (pdct *PlacementDecisionClustersTracker) compared() *clusterv1beta1.Placement {
	if pdct.placement.UID == "" && isUnwritten(&pdct.placement.Status) {
		return nil
	}
	return pdct.placement
}

// Groups returns the groups as a value of package grouping. It returns an error if the groups that the tracker was made
// with are invalid, or if there are PlacementDecisions and the Placement has no status.
func (pdct *PlacementDecisionClustersTracker) Groups() (*grouping.Groups, error) {
	pdct.mu.RLock()
	defer pdct.mu.RUnlock()
	return pdct.groups, pdct.err
}

// ExistingClusterGroups returns the groups that one of the keys names: by its name, or by its index if the name is empty.
func (pdct *PlacementDecisionClustersTracker) ExistingClusterGroups(groupKeys ...GroupKey) ClusterGroupsMap {
	return pdct.existing(func(key grouping.Key) bool { return meant(groupKeys, key) })
}

// ExistingClusterGroupsBesides returns the groups that none of the keys names.
func (pdct *PlacementDecisionClustersTracker) ExistingClusterGroupsBesides(groupKeys ...GroupKey) ClusterGroupsMap {
	return pdct.existing(func(key grouping.Key) bool { return !meant(groupKeys, key) })
}

func (pdct *PlacementDecisionClustersTracker) existing(keep func(grouping.Key) bool) ClusterGroupsMap {
	pdct.mu.RLock()
	defer pdct.mu.RUnlock()
	return mapOf(pdct.groups, keep)
}

func meant(keys []GroupKey, group grouping.Key) bool {
	return slices.ContainsFunc(keys, func(key GroupKey) bool {
		if key.GroupName != "" {
			return key.GroupName == group.Name
		}
		return key.GroupIndex == group.Index
	})
}
