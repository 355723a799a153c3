// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Exposed says which clusters a new version goes to, and under what strategy.
type Exposed struct {
	Strategy clusterv1alpha1.RolloutStrategy
	// Groups are those that get it; nil where a Policy enforces nothing, so that it changes no cluster.
	Groups *grouping.Groups
	// Passes says in words in which passes a Policy goes to its clusters.
	Passes string
}

// Exposed says which clusters the rollout's version goes to, and under what strategy. A Policy changes a cluster only
// where it enforces.
func (s *Scenario) Exposed() (Exposed, error) {
	if s.Policy == nil {
		return Exposed{Strategy: s.Strategy, Groups: s.Groups}, nil
	}
	all := s.Groups.NumClusters()
	enforced := s.Groups.Only(func(_ grouping.Key, cluster string) bool {
		bound, found := s.Policy.Resolution.Find(cluster)
		return found && bound.Action != policyv1.Inform
	})
	course, err := s.Course(s.Strategy)
	if err != nil {
		return Exposed{}, err
	}
	e := Exposed{Strategy: course, Groups: enforced}
	n := enforced.NumClusters()
	switch {
	case all == 0:
		e.Groups, e.Passes = nil, "none: the policy is bound to no cluster"
	case n == 0:
		e.Groups, e.Passes = nil, fmt.Sprintf("one: %s at once, which changes nothing there", clusters(all, "informs", "inform"))
	case s.Policy.AtOnce && n < all:
		e.Passes = fmt.Sprintf("one: %s at once, as below; %s, which changes nothing there", clusters(n, "enforces", "enforce"), clusters(all-n, "informs", "inform"))
	case s.Policy.AtOnce:
		e.Passes = fmt.Sprintf("one: %s at once, as below", clusters(n, "enforces", "enforce"))
	default:
		e.Passes = fmt.Sprintf("two: first all %s at once, which changes nothing there; then %s as below", clusters(all, "informs", "inform"), s.turn())
		s.noteOneAtATime(course)
	}
	return e, nil
}

// turn is what clusters do in the second pass.
func (s *Scenario) turn() string {
	if s.Policy.Resolution.Action() == policyv1.Enforce {
		return "they enforce, one stage after the other,"
	}
	return "they do what the templates say (no remediationAction is set), one stage after the other,"
}

// noteOneAtATime says where a limit is a default.
func (s *Scenario) noteOneAtATime(course clusterv1alpha1.RolloutStrategy) {
	if p := s.Strategy.Progressive; course.Type == clusterv1alpha1.Progressive && (p == nil || p.MaxConcurrency == intstr.IntOrString{}) && s.Groups.ClustersPerDecisionGroup() == 0 {
		s.note("spec.rolloutStrategy.progressive.maxConcurrency: not set, which for a Policy means one cluster at a time")
	}
}

// clusters is like "1 cluster informs" or "all 3 clusters inform".
func clusters(n int, one, many string) string {
	if n == 1 {
		return "1 cluster " + one
	}
	return fmt.Sprintf("%d clusters %s", n, many)
}
