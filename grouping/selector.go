// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// selector is a checked groupClusterSelector. The zero selector matches every cluster.
type selector struct {
	labels, claims labels.Requirements
}

// matches says whether the cluster's labels and claims both match (G1).
func (sel selector) matches(cluster *clusterv1.ManagedCluster) bool {
	for i := range sel.labels {
		if !sel.labels[i].Matches(labels.Set(cluster.Labels)) {
			return false
		}
	}
	if len(sel.claims) == 0 {
		return true
	}
	claims := claimSet(cluster.Status.ClusterClaims)
	for i := range sel.claims {
		if !sel.claims[i].Matches(claims) {
			return false
		}
	}
	return true
}

// claimSet is a labels.Labels over cluster claims, so that label requirements can match them without building a map.
type claimSet []clusterv1.ManagedClusterClaim

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
