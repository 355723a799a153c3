// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// outOfReach says of a cluster whether its ManagedCluster says that its agent does not report to the hub, or that it is not available, and
// since when, if that is known.
func (s *Scenario) outOfReach(cluster string) (since time.Time, is bool) {
	managed, there := s.managed[cluster]
	if !there {
		return since, false
	}
	if c := meta.FindStatusCondition(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); c != nil && c.Status != metav1.ConditionTrue {
		return c.LastTransitionTime.Time, true
	}
	for _, taint := range managed.Spec.Taints {
		if taint.Key == clusterv1.ManagedClusterTaintUnreachable || taint.Key == clusterv1.ManagedClusterTaintUnavailable {
			return taint.TimeAdded.Time, true
		}
	}
	return since, false
}

// noteOutOfReach notes the selected clusters that are out of reach and not done.
func (s *Scenario) noteOutOfReach(clusters []string) {
	done := make(map[string]bool)
	for _, r := range s.Reports(rollout.Options{}) {
		done[r.Cluster] = r.Status == status.Succeeded || r.Status == status.Skip
	}
	var named []string
	for _, cluster := range clusters {
		if done[cluster] {
			continue
		}
		name := cluster
		if since, _ := s.outOfReach(cluster); !since.IsZero() {
			name = fmt.Sprintf("%s since %s", cluster, since.UTC().Format("2006-01-02 15:04 MST"))
		}
		named = append(named, name)
	}
	s.noteClusters("ManagedCluster: unreachable or not available; in a forecast it never answers", named)
}
