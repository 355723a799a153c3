package rights

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// Total gives the rights that a strategy has for all hubs together. A percentage is of the clusters that the hubs have reported, so
// it grows while they report for the first time. A maxConcurrency that is unset means all of them.
//
// It is an error (*field.Error, at the path of the strategy's JSON) if rights alone do not hold what the strategy asks for: it must
// be Progressive without mandatory groups. So is a limit that is not valid.
func Total(strategy clusterv1alpha1.RolloutStrategy, accounts []Account) (Rights, error) {
	if err := holdable(strategy); err != nil {
		return Rights{}, err
	}
	path := field.NewPath("progressive")
	slots, err := limit.ParseConcurrency(path.Child("maxConcurrency"), strategy.Progressive.MaxConcurrency)
	if err != nil {
		return Rights{}, err
	}
	failures, err := limit.Parse(path.Child("maxFailures"), strategy.Progressive.MaxFailures)
	if err != nil {
		return Rights{}, err
	}
	clusters := 0
	for i := range accounts {
		clusters += accounts[i].Report.Clusters
	}
	total := Rights{Start: clusters, Fail: failures.Of(clusters)}
	if slots != nil {
		total.Start = slots.Of(clusters)
	}
	return total, nil
}

// holdable refuses a strategy that rights alone do not hold (H11).
func holdable(strategy clusterv1alpha1.RolloutStrategy) error {
	switch p := strategy.Progressive; {
	case strategy.Type != clusterv1alpha1.Progressive:
		return field.Invalid(field.NewPath("type"), strategy.Type, "must be Progressive: over hubs, rights hold counts, and neither an order of groups nor a rollout without limits")
	case p == nil:
		return field.Required(field.NewPath("progressive"), "must have the limits that the hubs share")
	case len(p.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0:
		return field.Invalid(field.NewPath("progressive", "mandatoryDecisionGroups"), p.MandatoryDecisionGroups.MandatoryDecisionGroups, "must be empty: over hubs, a mandatory group needs a barrier that all hubs report to")
	}
	return nil
}
