// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// result is the plan that the propagation came from, with the clusters that really start.
func (h *Hub) result(p *passes.Propagation) *rollout.Result {
	result, groups := p.Remembered(), h.resolution.Groups()
	h.may, result.Start = result.Start, nil
	for _, name := range p.Start {
		key, _, _ := groups.Find(name)
		result.Start = append(result.Start, rollout.Cluster{Name: name, Group: key, Status: status.ToApply})
	}
	return result
}

// Course is the strategy that the policy is really rolled out by, with the options that apply.
func Course(r *override.Resolution, options rollout.Options) (clusterv1alpha1.RolloutStrategy, rollout.Options) {
	strategy := r.Strategy()
	switch {
	case r.Disabled():
		return clusterv1alpha1.RolloutStrategy{}, rollout.Options{}
	case strategy.Type == clusterv1alpha1.All:
		return strategy, options
	case r.Action() == policyv1.Inform:
		return clusterv1alpha1.RolloutStrategy{}, rollout.Options{}
	case strategy.Type != clusterv1alpha1.Progressive || r.Groups().ClustersPerDecisionGroup() > 0:
		return strategy, options
	}
	var progressive clusterv1alpha1.RolloutProgressive
	if strategy.Progressive != nil {
		progressive = *strategy.Progressive
	}
	if progressive.MaxConcurrency == (intstr.IntOrString{}) {
		progressive.MaxConcurrency = intstr.FromInt32(1) // where no number is given
	}
	strategy.Progressive = &progressive
	return strategy, options
}

// waits says that clusters inform before it is their turn.
func (h *Hub) waits() bool {
	return h.resolution.Strategy().Type != clusterv1alpha1.All && h.resolution.Action() != policyv1.Inform
}

// read is what a replicated policy says, if it is of the version and of a bound cluster. Replicas are as they were when they were read,
// and nothing in them counts only later.
func (h *Hub) read(r *passes.Replica) (status.Report, bool) {
	return r.Report(h.resolution, h.version, time.Time{})
}

// shown is how the policy API shows a status: it has no Validating.
func shown(s status.RolloutStatus) status.RolloutStatus {
	if s == status.Validating {
		return status.Progressing
	}
	return s
}

// carries says whether the replica is of the version with that action.
func (h *Hub) carries(r *passes.Replica, action policyv1.RemediationAction) bool {
	return r.Version == h.version && strings.EqualFold(string(r.Action), string(action))
}
