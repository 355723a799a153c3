// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Rollout is one that package rollout plans by itself.
type Rollout struct {
	Strategy clusterv1alpha1.RolloutStrategy
	Groups   *grouping.Groups
	Options  rollout.Options
	// StoredRecord is what its owner had stored of clusters deselected before the simulation; nil if nothing.
	StoredRecord *rollout.StoredRecord
	// Forgets says that its controller does not count deselected clusters, as OCM's own does not.
	Forgets bool
	// Ledger keeps what the rollout writes besides; nil if nothing.
	Ledger Ledger
	// Retries try again what failed.
	Retries Retries
	// Abort rolls it back.
	Abort Abort
}

// Ledger stands between clusters and a rollout: it says what their reports mean to it, and writes what follows.
type Ledger interface {
	// Report gives what the rollout is told where a cluster says that; nothing if it is not ok.
	Report(said status.Report) (told status.Report, ok bool)
	// Plan takes in what may happen at a time. It gives the clusters that really start, and what is to be told before
	// the next plan, which is made at once if none starts.
	Plan(next rollout.Next, now time.Time) (start []rollout.Cluster, tell []status.Report)
}

// grace is how long a controller keeps the workload of a deselected cluster (rollout.Options.RemoveAfter).
const grace = time.Minute

// options gives the options of the rollout in an attempt, with what the owner has stored; nil if it stores nothing.
func (sim Rollout) options(attempt int, record *status.Record) rollout.Options {
	options := sim.Options
	options.Attempt = max(attempt, 0)
	if record != nil {
		options.StoredRecord = &rollout.StoredRecord{Version: "simulated", Record: *record}
		if sim.StoredRecord != nil {
			options.StoredRecord.Version = sim.StoredRecord.Version
		}
		options.RemoveAfter.Duration = grace
	}
	return options
}

func (sim Rollout) planner() (*rollout.Planner, error) {
	return rollout.NewPlanner(sim.Strategy, sim.Groups, sim.Options)
}
