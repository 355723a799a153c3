package passes

import (
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// triesAgain says whether the options want a later attempt (O18). An option does not say which one it is. So a rollout to
// one failed cluster is planned with the options: where they want a later attempt, and only there, the cluster is not in
// flight. The functions of the caller are not asked about it.
//
// Where an option is invalid, it is false: then Propagate fails anyway.
func triesAgain(opts []rollout.Option) bool {
	if len(opts) == 0 {
		return false
	}
	const failed = "failed"
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {failed}})
	if err != nil {
		return false
	}
	opts = append(slices.Clone(opts), rollout.Order(nil), rollout.Uncounted(nil), rollout.FailedBefore(nil))
	reports := []status.Report{{Cluster: failed, Status: status.Failed}}
	result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, groups, reports, time.Time{}, opts...)
	if err != nil {
		return false
	}
	disposition, _, _ := result.Find(failed)
	return disposition != rollout.DispositionInFlight
}
