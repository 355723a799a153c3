// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

// Reader reads files for Load. There may be a hundred thousand ManagedClusters; it drops what has no part in a
// selection.
func Reader() manifest.Reader {
	return manifest.Reader{Kinds: map[string]manifest.Kind{
		"cluster.open-cluster-management.io/v1/ManagedCluster": {
			New: func() any { return new(clusterv1.ManagedCluster) },
			Drop: []string{
				"metadata.managedFields", "metadata.annotations", "metadata.finalizers",
				"status.allocatable", "status.capacity", "status.version",
			},
		},
	}}
}
