// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/limit"
	"github.com/cohort-ocm/cohort/rollout"
)

// Total gives the shares that a strategy has for all hubs together. A percentage is of the clusters that the hubs have reported, so
// it grows while they report for the first time. A maxConcurrency that is unset means all of them.
//
// It is an error (*field.Error, at the path of the strategy's JSON) if shares alone do not hold what the strategy asks for: it must
// be Progressive without mandatory groups. A limit that is not valid is an error, too.
func Total(strategy clusterv1alpha1.RolloutStrategy, hubs []HubShares) (rollout.Shares, error) {
	if err := holdable(strategy); err != nil {
		return rollout.Shares{}, err
	}
	path := field.NewPath("progressive")
	slots, err := limit.ParseConcurrency(path.Child("maxConcurrency"), strategy.Progressive.MaxConcurrency)
	if err != nil {
		return rollout.Shares{}, err
	}
	failures, err := limit.Parse(path.Child("maxFailures"), strategy.Progressive.MaxFailures)
	if err != nil {
		return rollout.Shares{}, err
	}
	clusters := 0
	for i := range hubs {
		clusters += hubs[i].Report.Clusters
	}
	total := rollout.Shares{Concurrency: clusters, Failures: failures.Of(clusters)}
	if slots != nil {
		total.Concurrency = slots.Of(clusters)
	}
	return total, nil
}

// Local gives the strategy by which each hub plans, beside its shares. Under Progressive a percentage is of the clusters of all hubs, and
// so is a maxConcurrency that is unset. Only the coordinator hub can count these, so on a hub such limits are 100%. All else stays as it
// is: a count for all hubs holds on each of them, too.
func Local(strategy clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	if strategy.Type != clusterv1alpha1.Progressive || strategy.Progressive == nil {
		return strategy
	}
	progressive, all := *strategy.Progressive, intstr.FromString("100%")
	if intOrString := progressive.MaxConcurrency; intOrString.Type == intstr.String || intOrString.IntVal == 0 {
		progressive.MaxConcurrency = all
	}
	if progressive.MaxFailures.Type == intstr.String {
		progressive.MaxFailures = all
	}
	strategy.Progressive = &progressive
	return strategy
}

// holdable refuses a strategy that shares alone do not hold (H11).
func holdable(strategy clusterv1alpha1.RolloutStrategy) error {
	switch progressive := strategy.Progressive; {
	case strategy.Type != clusterv1alpha1.Progressive:
		return field.Invalid(field.NewPath("type"), strategy.Type, "must be Progressive: over hubs, shares bound counts, and neither an order of groups nor a rollout without limits")
	case progressive == nil:
		return field.Required(field.NewPath("progressive"), "must have the limits that the hubs share")
	case len(progressive.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0:
		return field.Invalid(field.NewPath("progressive", "mandatoryDecisionGroups"), progressive.MandatoryDecisionGroups.MandatoryDecisionGroups, "must be empty: over hubs, a mandatory group needs a barrier that all hubs report to")
	}
	return nil
}
