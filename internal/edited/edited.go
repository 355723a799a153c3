// SPDX-License-Identifier: Apache-2.0

// Package edited keeps a record stable while objects that were edited by hand are written again.
package edited

import (
	"slices"

	"github.com/cohort-ocm/cohort/status"
)

// Keep gives a record in which each cluster with an edited object, which is about to be written again, keeps the time of the stored record.
// The report of such a cluster begins again at each call until the write is made. Without Keep the record would differ at each call, and a
// controller that stores the record first would never make the write. The records are not changed.
func Keep(record, stored status.Record, isEdited func(cluster string) bool) status.Record {
	if record.Version != stored.Version {
		return record
	}
	left := slices.Clone(record.Deselected)
	for i := range left {
		now := &left[i]
		at := slices.IndexFunc(stored.Deselected, func(cluster status.DeselectedCluster) bool {
			return cluster.Cluster == now.Cluster && cluster.Status == now.Status
		})
		if at >= 0 && isEdited(now.Cluster) {
			now.Applied = stored.Deselected[at].Applied
		}
	}
	record.Deselected = left
	return record
}
