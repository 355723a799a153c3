// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"strings"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/limit"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// schedule has the part of a rollout that depends only on the strategy, the options and the groups. It never changes
// once it is made.
type schedule struct {
	fleet.Roster
	rules       rules
	options     options
	missing     string        // what the groups lack; empty where they are complete
	limits      []stageLimits // of each stage
	maxFailures int           // of all clusters
	places      places
	awaited     []bool // for each stage whether one with clusters comes after it; only with a wait
	warnings    []Warning
	names       string // what known gave, once it was asked
}

// stageLimits is what a [Stage] has beside its groups. A result has a copy of each stage for its caller, so these are small.
type stageLimits struct {
	clusters       int
	maxConcurrency int
}

// keyOf gives the key of the first group of a stage.
func (s *schedule) keyOf(stage stages.Stage) grouping.Key {
	return s.KeyOf(s.Graph.First(stage))
}

// numCounted gives how many clusters count, the deselected ones included.
func (s *schedule) numCounted() int { return s.NumClusters() - len(s.Ignored) }

// concurrency gives the limit on the clusters in flight in a stage, as a count or a percentage of the stage, and where it comes
// from: nowhere if there is none (R14, R24).
func (s *schedule) concurrency() (limit.Limit, string) {
	switch {
	case s.rules.typ == clusterv1alpha1.Progressive && s.rules.maxConcurrency != nil:
		return *s.rules.maxConcurrency, "maxConcurrency"
	case s.rules.typ == clusterv1alpha1.Progressive && s.ClustersPerDecisionGroup() > 0:
		return limit.Count(s.ClustersPerDecisionGroup()), "clustersPerDecisionGroup"
	case s.rules.typ == clusterv1alpha1.ProgressivePerGroup && s.options.groupConcurrency != nil:
		return *s.options.groupConcurrency, "maxConcurrencyPerGroup"
	default:
		return limit.Limit{}, ""
	}
}

// compare orders the positions of clusters that wait in the same state and stage by their turn (R8).
func (s *schedule) compare(a, b fleet.Position) int {
	if compared := s.options.rollback.compare(a, b); compared != 0 {
		return compared
	}
	if s.options.order == nil {
		return cmp.Compare(a, b) // positions are in the order of the names
	}
	return s.compareNames(s.Cluster(a), s.Cluster(b))
}

// compareNames does what compare does, for the names of clusters.
func (s *schedule) compareNames(a, b string) int {
	if rollback := s.options.rollback; rollback != nil {
		one, _ := s.Position(a)
		other, _ := s.Position(b)
		if compared := rollback.compare(one, other); compared != 0 {
			return compared
		}
	}
	if order := s.options.order; order != nil {
		if compared := order(a, b); compared != 0 {
			return compared
		}
	}
	return strings.Compare(a, b)
}

// places has what clusters keep, and may be exposed, beside those of the current groups.
type places struct {
	kept     []int // how many were deselected or moved and keep a place in each stage (R65); nil where none did
	baseline []int // how many of the baseline are selected in each stage and count; nil where there is no baseline
	// The most clusters that the groups expose, of now and since the first of these counts (R66); 0 where nothing bounds that.
	exposed int
}

// keptIn counts the clusters that count in a stage, are not selected there, and keep a place.
func (counts *places) keptIn(stage stages.Stage) int {
	if counts.kept == nil {
		return 0
	}
	return counts.kept[stage]
}

// baselineIn counts the clusters of the baseline that are selected in a stage and count.
func (counts *places) baselineIn(stage stages.Stage) int {
	if counts.baseline == nil {
		return 0
	}
	return counts.baseline[stage]
}
