package policy

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// result is the plan that the propagation came from, with the clusters that really start. A Propagation says why a
// cluster waits, but has neither the chain of who waits for whom nor the schedule, so they are planned again by the
// rules that package passes documents.
func (h *Hub) result(p *passes.Propagation, now time.Time) (*rollout.Result, error) {
	strategy, options := h.course()
	groups := h.resolution.Groups()
	result, err := rollout.Plan(strategy, groups, h.reports(strategy.Type), now, options...)
	if err != nil {
		return nil, err
	}
	result.Start = nil
	for _, name := range p.Start {
		key, _, _ := groups.Find(name)
		result.Start = append(result.Start, rollout.Cluster{Name: name, Group: key, Status: status.ToApply})
	}
	return result, nil
}

// course is the strategy by which the policy is really rolled out, and the options that have a part in it.
func (h *Hub) course() (clusterv1alpha1.RolloutStrategy, []rollout.Option) {
	strategy := h.resolution.Strategy()
	switch {
	case h.resolution.Disabled():
		return clusterv1alpha1.RolloutStrategy{}, nil
	case strategy.Type == clusterv1alpha1.All:
		return strategy, h.options
	case h.resolution.Action() == policyv1.Inform:
		return clusterv1alpha1.RolloutStrategy{}, nil
	case strategy.Type != clusterv1alpha1.Progressive || h.resolution.Groups().ClustersPerDecisionGroup() > 0:
		return strategy, h.options
	}
	var progressive clusterv1alpha1.RolloutProgressive
	if strategy.Progressive != nil {
		progressive = *strategy.Progressive
	}
	if progressive.MaxConcurrency == (intstr.IntOrString{}) {
		progressive.MaxConcurrency = intstr.FromInt32(1) // where nobody says how many
	}
	strategy.Progressive = &progressive
	return strategy, h.options
}

// waits says that clusters inform before it is their turn.
func (h *Hub) waits() bool {
	return h.resolution.Strategy().Type != clusterv1alpha1.All && h.resolution.Action() != policyv1.Inform
}

// reports are what the replicated policies of the version say.
func (h *Hub) reports(strategy clusterv1alpha1.RolloutType) (reports []status.Report) {
	for _, r := range h.replicas {
		bound, found := h.resolution.Find(r.Cluster)
		started := strings.EqualFold(string(r.Action), string(bound.Action))
		if !found || r.Version != h.version || !started && !h.waits() {
			continue
		}
		compliance := r.Compliance
		if r.Generation != r.LastEvaluatedGeneration {
			compliance = ""
		}
		reports = append(reports, status.FromPolicy(status.PolicyState{
			Cluster:                 r.Cluster,
			Strategy:                strategy,
			RemediationAction:       bound.Action,
			Selected:                started,
			Compliance:              compliance,
			Generation:              r.Generation,
			LastEvaluatedGeneration: r.LastEvaluatedGeneration,
			StartTime:               r.WriteTime,
			ComplianceTime:          r.ComplianceTime,
		}))
	}
	return reports
}
