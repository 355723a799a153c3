// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/limit"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// rules is a checked RolloutStrategy.
type rules struct {
	typ            clusterv1alpha1.RolloutType
	minSuccessTime time.Duration
	deadline       *time.Duration // nil: none
	maxConcurrency *limit.Limit   // nil: unset
	maxFailures    limit.Limit
	mandatory      []clusterv1alpha1.MandatoryDecisionGroup
	warnings       []Warning // about fields that have no effect
}

// options are checked Options.
type options struct {
	paused           bool
	freeFailed       bool
	groupConcurrency *limit.Limit // nil: all
	maxRemoved       *limit.Limit // nil: all
	grace            time.Duration
	unselected       map[string]time.Time // in the previous result
	previous         *previousResult      // of the previous result; nil if there is none
	record           *recordIndex         // nil: the owner keeps no record
	order            func(a, b string) int
	gates            limits.Gates
	named            *named        // nil: they name no cluster
	groupOrder       *stages.Order // nil: by index
	ramp             int           // 0: none
	starts           limits.Starts // zero: none
	shares           *Shares       // nil: the hub shares no limits
	wait             time.Duration
	rollback         *rollback // nil: the rollout goes on
	attempt          int       // the wanted attempt
}

// named are the clusters that options name.
type named struct {
	freezes      []fleet.Freeze // one for each cluster, in the order of the names
	allowlist    nameSet
	hasAllowlist bool // only the allowed clusters start
	ignored      nameSet
	failedBefore nameSet
}

// nameSet is a set of clusters, in order; nil where there are none.
type nameSet []string

func newNameSet(names []string) nameSet {
	if len(names) == 0 {
		return nil
	}
	set := slices.Clone(names)
	slices.Sort(set)
	return slices.Compact(set)
}

func (names nameSet) has(name string) bool {
	_, is := slices.BinarySearch(names, name)
	return is
}

// isAllowed says whether the allowlist has a cluster; nil where there is no allowlist.
func (sets *named) isAllowed() func(cluster string) bool {
	if !sets.hasAllowlist {
		return nil
	}
	return sets.allowlist.has
}

// ignores says whether options name a cluster in Ignored.
func (compiled *options) ignores(cluster string) bool {
	return compiled.named != nil && compiled.named.ignored.has(cluster)
}

// entries gives what the stored record says of clusters.
func (compiled *options) entries() fleet.Record {
	if compiled.record == nil {
		return nil
	}
	return compiled.record.entries
}

// isOrdered says whether clusters start in another order than by name.
func (compiled *options) isOrdered() bool { return compiled.order != nil || compiled.rollback != nil }

// previousResult is what a result before knew of the groups of clusters.
type previousResult struct {
	fleet.Previous
	lasting []status.Breached // the breaches that last
	ceiling int               // the most clusters that its groups exposed
}

// groups gives what it knew of the groups alone; nil where there is no result.
func (previous *previousResult) groups() *fleet.Previous {
	if previous == nil {
		return nil
	}
	return &previous.Previous
}
