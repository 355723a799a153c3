// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// Ignored remembers which clusters have no ManagedCluster, and when that was read. The zero value is ready to use.
type Ignored struct{ seen map[string]seen }

type seen struct {
	gone bool
	at   time.Time
}

// Gone are the clusters that had no ManagedCluster when it was last read.
func (i *Ignored) Gone() (clusters []string) {
	for cluster, seen := range i.seen {
		if seen.gone {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// Left are the deselected clusters that count, by the records of an owner or by results.
func Left(records status.Records, results map[string]*rollout.Result) (clusters []string) {
	for _, record := range records {
		for at := range record.Deselected {
			clusters = append(clusters, record.Deselected[at].Cluster)
		}
	}
	for _, result := range results {
		for _, left := range result.Deselected {
			clusters = append(clusters, left.Name)
		}
	}
	return clusters
}

// Soon returns when to requeue, with the times of the results. No event tells that the ManagedCluster of a deselected
// cluster is deleted, so it must be read at intervals.
func Soon(recheck time.Duration, results map[string]*rollout.Result) time.Duration {
	for _, r := range results {
		if waits := len(r.Deselected)+len(r.Record.Deselected) > 0; waits && (recheck == 0 || recheck > writes.Patience) {
			recheck = writes.Patience
		}
	}
	return recheck
}

// Of are the ignored clusters: by name, or because the ManagedCluster was deleted. For the given clusters the
// ManagedCluster is read at intervals.
func (i *Ignored) Of(names, clusters []string, isGone func(cluster string) (bool, error), now time.Time) ([]string, error) {
	is := make(map[string]bool)
	for _, name := range names {
		is[name] = true
	}
	all := make(map[string]seen, len(clusters))
	for _, cluster := range clusters {
		known, asked := i.seen[cluster]
		if !asked || now.Sub(known.at) >= writes.Patience {
			gone, err := isGone(cluster)
			if err != nil {
				return nil, err
			}
			known = seen{gone, now}
		}
		if all[cluster] = known; known.gone {
			is[cluster] = true
		}
	}
	i.seen = all
	return slices.Sorted(maps.Keys(is)), nil
}
