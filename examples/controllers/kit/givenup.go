package kit

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// GivenUp remembers which clusters have no ManagedCluster, and when that was asked. The zero value is ready to use.
type GivenUp struct{ seen map[string]seen }

type seen struct {
	gone bool
	at   time.Time
}

// Gone are the clusters that had no ManagedCluster when they were asked for.
func (g *GivenUp) Gone() (clusters []string) {
	for cluster, seen := range g.seen {
		if seen.gone {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// Left are the clusters that left and count, by the records of an owner or by results.
func Left(records status.Records, results map[string]*rollout.Result) (clusters []string) {
	for _, record := range records {
		for i := range record.Left {
			clusters = append(clusters, record.Left[i].Cluster)
		}
	}
	for _, result := range results {
		for _, left := range result.Left {
			clusters = append(clusters, left.Name)
		}
	}
	return clusters
}

// Soon says when to come back, where results say after a while. Nobody tells that the ManagedCluster of a cluster that left is
// deleted: it has to be asked for.
func Soon(recheck time.Duration, results map[string]*rollout.Result) time.Duration {
	for _, r := range results {
		if waits := len(r.Left)+len(r.Record.Left) > 0; waits && (recheck == 0 || recheck > writes.Patience) {
			recheck = writes.Patience
		}
	}
	return recheck
}

// Of says which clusters a person gave up: by name, or by deleting the ManagedCluster. Clusters are those for which it is asked
// whether there is one, now and then.
func (g *GivenUp) Of(names, clusters []string, isGone func(cluster string) (bool, error), now time.Time) ([]string, error) {
	is := make(map[string]bool)
	for _, name := range names {
		is[name] = true
	}
	all := make(map[string]seen, len(clusters))
	for _, cluster := range clusters {
		known, asked := g.seen[cluster]
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
	g.seen = all
	return slices.Sorted(maps.Keys(is)), nil
}
