// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// Plan plans a placement like rollout.Plan. During a rollback of the update revision, it plans like rollout.Revert: all
// clusters that have the revision roll back at once. When no cluster has it any more, clusters that joined get the revision
// before, by the strategy of the placement. Works are those of the set, in all clusters. Reports are about the version of
// this turn's Set.
func (t *Turn) Plan(
	ref workv1alpha1.LocalPlacementReference, groups *grouping.Groups, works []*workv1.ManifestWork, reports []status.Report,
	now time.Time, opts rollout.Options,
) (*rollout.Result, error) {
	if t.keeper == nil || t.stored.Status.AbortedTime == nil {
		result, err := rollout.Plan(ref.RolloutStrategy, groups, reports, now, opts)
		if err == nil {
			if told, some := t.Refused.In(reports, result); some {
				result, err = rollout.Plan(ref.RolloutStrategy, groups, told, now, opts)
			}
		}
		if err == nil && exceeded(result) {
			t.exceeded, t.aborts = true, t.aborts || t.abortsAll(ref.Name)
		}
		return result, err
	}
	opts.Gates, opts.Attempt, opts.Allowlist = nil, 0, nil // these belong to the rollout
	abort := rollout.Abort{Time: t.stored.Status.AbortedTime.Time, Failed: t.failed(works, now), Before: reports}
	back, err := rollout.Revert(atOnce(ref.RolloutStrategy), groups, abort, now, opts)
	if err != nil {
		return nil, err
	}
	t.results = append(t.results, back)
	if len(back.Start)+len(back.BlockCounts()) > 0 {
		return back, nil
	}
	return rollout.Plan(ref.RolloutStrategy, groups, reports, now, opts)
}

// exceeded says whether more clusters than maxFailures reached the deadline, of all or of the group that counts. A failure
// within the deadline also stops a rollout, but the cluster may recover.
func exceeded(result *rollout.Result) bool {
	breach, summary := result.Breach, result.Summary()
	if breach == nil {
		return false
	}
	timedOut := summary.TimeOut
	if !breach.AllGroups {
		timedOut = 0
		for _, group := range summary.Groups {
			if group.Group == breach.Group {
				timedOut += group.TimeOut
			}
		}
	}
	return timedOut > breach.MaxFailures
}

// abortsAll says whether a placement aborts all when it is stopped.
func (t *Turn) abortsAll(placement string) bool {
	return t.keeper != nil && slices.ContainsFunc(t.stored.Spec.PlacementRefs, func(ref LocalPlacementReference) bool {
		return ref.Name == placement && ref.RolloutStrategy.FailureStrategy == FailureStrategyAbortAll
	})
}

// failed are the reports of the works about the revision that is rolled back.
func (t *Turn) failed(works []*workv1.ManifestWork, now time.Time) (reports []status.Report) {
	template := t.stored.Spec.ManifestWorkTemplate
	version := writes.VersionOf(template)
	for _, work := range works {
		state := status.WorkState{Work: status.Adopt(work, template, version), Version: version, AvailableSucceeds: kit.AvailableSucceeds(t.stored), Now: now}
		if report, ok := status.FromManifestWork(state); ok {
			reports = append(reports, report)
		}
	}
	return reports
}

// atOnce is a strategy for the rollback: all at once, with the times of the placement's own.
func atOnce(of clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	var config clusterv1alpha1.RolloutConfig
	switch {
	case of.Type == clusterv1alpha1.Progressive && of.Progressive != nil:
		config = of.Progressive.RolloutConfig
	case of.Type == clusterv1alpha1.ProgressivePerGroup && of.ProgressivePerGroup != nil:
		config = of.ProgressivePerGroup.RolloutConfig
	case of.Type == clusterv1alpha1.All && of.All != nil:
		config = of.All.RolloutConfig
	}
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config}}
}
