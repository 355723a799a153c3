// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// Cluster is a cluster in a [Result]: a selected one, or a deselected one that still counts.
type Cluster struct {
	// Name is the name of the ManagedCluster.
	Name string `json:"name"`
	// Group is the decision group that it is in.
	Group grouping.Key `json:"group"`
	// Status is the reported status, which may be Validating, with these exceptions: TimeOut where the deadline has passed, ToApply where
	// nothing was reported, and Progressing where the reported status is unknown, or the cluster has the workload and
	// has not answered. A Succeeded cluster in Result.InFlight is soaking.
	Status status.RolloutStatus `json:"status"`
	// Attempt is the attempt that the cluster's object is to have ([status.Stamp]): for a cluster that starts the one that
	// [Options].Attempt wants, for any other the one that it has.
	Attempt int `json:"attempt,omitempty"`
}

// addCluster appends the cluster at a position, in the given state and attempt, to clusters that have room.
func (s *schedule) addCluster(clusters []Cluster, position fleet.Position, st fleet.State, attempt int) []Cluster {
	clusters = clusters[:len(clusters)+1]
	cluster := &clusters[len(clusters)-1] // in place, since a Cluster is large
	cluster.Name, cluster.Group = s.Cluster(position), s.KeyOf(s.GroupOf(position))
	cluster.Status, cluster.Attempt = st.Status(), max(attempt, 0)
	return clusters
}
