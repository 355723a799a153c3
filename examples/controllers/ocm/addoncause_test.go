// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// recordedAddons are the recordings of OCM's add-on manager, by name.
var recordedAddons = map[string]recording{
	"addon-breach-behind":                    {grade: judge.Broken, kind: judge.Budget},
	"addon-breach-unseen":                    {grade: judge.Broken, kind: judge.Budget},
	"addon-breached-group-started":           {grade: judge.Broken, kind: judge.Budget},
	"addon-decisions-incomplete":             {grade: judge.Broken, kind: judge.PartiallyObserved},
	"addon-deselected-not-counted":           {grade: judge.Broken, kind: judge.Leavers},
	"addon-generous-budget-read-as-none":     {grade: judge.Broken, kind: judge.Stuck},
	"addon-group-half-started":               {grade: judge.Broken, kind: judge.Stuck},
	"addon-next-group-too-early":             {grade: judge.Broken, kind: judge.Soak},
	"addon-over-concurrency":                 {grade: judge.Broken, kind: judge.Concurrency},
	"addon-removed-while-partially-observed": {grade: judge.Broken, kind: judge.Kept},
	"addon-time-out-holds-the-rest":          {grade: judge.Broken, kind: judge.Stuck},
	"addon-waves-behind-mandatory-groups":    {grade: judge.Broken, kind: judge.Stuck},
}

// decideAddons asks sdk-go's helper as OCM's add-on manager does, for the add-ons of an owner. Starts are the add-ons that get the
// configuration now, and those that the install reconciler creates; it removes what is in no decision.
func (h *hub) decideAddons(owner *addonv1beta1.ClusterManagementAddOn) (*decision, error) {
	was := sdkv1alpha1.RolloutClock
	sdkv1alpha1.RolloutClock = clocktesting.NewFakeClock(h.now)
	defer func() { sdkv1alpha1.RolloutClock = was }()
	d := &decision{map[string]bool{}, map[string]bool{}}
	selected, installed := map[string]bool{}, map[string]bool{}
	for _, placed := range owner.Spec.InstallStrategy.Placements {
		ref := placed.PlacementRef
		placement, is := h.objects["Placement "+ref.Namespace+"/"+ref.Name].(*clusterv1beta1.Placement)
		if !is {
			return nil, fmt.Errorf("there is no Placement %s/%s", ref.Namespace, ref.Name)
		}
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, h, nil)
		if err := tracker.Refresh(); err != nil {
			return nil, err
		}
		for cluster := range tracker.ExistingClusterGroupsBesides().GetClusters() {
			selected[cluster] = true
		}
		var existing []sdkv1alpha1.ClusterRolloutStatus
		for _, addon := range of[*addonv1beta1.ManagedClusterAddOn](h) {
			if addon.Name == owner.Name && selected[addon.Namespace] {
				existing = append(existing, statusOfAddon(placed, addon))
			}
		}
		handler, err := sdkv1alpha1.NewRolloutHandler(tracker, func(_ string, addon *addonv1beta1.ManagedClusterAddOn) (sdkv1alpha1.ClusterRolloutStatus, error) {
			return statusOfAddon(placed, addon), nil
		})
		if err != nil {
			return nil, err
		}
		strategy := *placed.RolloutStrategy.DeepCopy()
		if p := strategy.Progressive; strategy.Type == clusterv1alpha1.Progressive && p != nil && p.MaxConcurrency.StrVal == "" && p.MaxConcurrency.IntVal == 0 {
			p.MaxConcurrency = placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup // which this controller reads
		}
		_, result, err := handler.GetRolloutCluster(strategy, existing)
		if err != nil {
			return nil, err
		}
		for _, c := range result.ClustersToRollout {
			if c.Status == sdkv1alpha1.ToApply {
				d.starts[c.ClusterName] = true
			}
		}
	}
	for _, addon := range of[*addonv1beta1.ManagedClusterAddOn](h) {
		if addon.Name == owner.Name {
			installed[addon.Namespace] = true
			if !selected[addon.Namespace] {
				d.removes[addon.Namespace] = true
			}
		}
	}
	return d, nil
}

// statusOfAddon is what OCM's add-on manager takes an add-on for: nothing counts before it has the configuration, which is what its
// status names as desired; then it is done once that was applied.
func statusOfAddon(placed addonv1beta1.PlacementStrategy, addon *addonv1beta1.ManagedClusterAddOn) sdkv1alpha1.ClusterRolloutStatus {
	is := sdkv1alpha1.ClusterRolloutStatus{ClusterName: addon.Namespace, Status: sdkv1alpha1.ToApply}
	progressing := meta.FindStatusCondition(addon.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing)
	if len(addon.Status.ConfigReferences) != len(placed.Configs) {
		return is
	}
	for i, actual := range addon.Status.ConfigReferences {
		if actual.DesiredConfig == nil || actual.DesiredConfig.ConfigReferent != placed.Configs[i].ConfigReferent {
			return is
		}
		if actual.LastAppliedConfig == nil || *actual.LastAppliedConfig != *actual.DesiredConfig {
			is.Status = sdkv1alpha1.Progressing
			if progressing != nil {
				is.LastTransitionTime = &progressing.LastTransitionTime
				if progressing.Reason == addonv1beta1.ProgressingReasonFailed {
					is.Status = sdkv1alpha1.Failed
				}
			}
			return is
		}
	}
	is.Status = sdkv1alpha1.Succeeded
	if progressing != nil && progressing.Reason == addonv1beta1.ProgressingReasonCompleted {
		is.LastTransitionTime = &progressing.LastTransitionTime
	}
	return is
}

// withoutCause are the recordings of 2026-11-24 whose excerpt lacks what made the add-on manager decide: which it is.
var withoutCause = map[string]string{
	"addon-decisions-incomplete":             "the Placement, without which the controller decides nothing",
	"addon-next-group-too-early":             "how the clusters of the first group failed",
	"addon-removed-while-partially-observed": "the add-on that is removed",
}

// created puts what was there before into the lines: an add-on that a line modifies, and that no line before has, was created without a
// configuration. The install reconciler creates it so, and the controller of configurations writes its status after that.
func created(lines []line) (all []line) {
	known := map[string]bool{}
	for _, l := range lines {
		if addon, is := l.object.(*addonv1beta1.ManagedClusterAddOn); is && !known[l.id] && !l.gone {
			before := addon.DeepCopy()
			before.Status = addonv1beta1.ManagedClusterAddOnStatus{}
			all = append(all, line{at: l.at, rv: l.rv - 1, id: l.id, object: before})
		}
		if l.object != nil {
			known[l.id] = true
		}
		all = append(all, l)
	}
	return all
}

// A recording of OCM's add-on manager has what made it decide, as sdk-go's helper says.
func TestEachRecordingOfAddonsHasItsCause(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "addon-*.jsonl"))
	if err != nil || len(files) != len(recordedAddons) {
		t.Errorf("%d recordings, expected %d: %v", len(files), len(recordedAddons), err)
	}
	for _, name := range slices.Sorted(maps.Keys(recordedAddons)) {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(recordings, name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			of, lacks := recordedAddons[name], withoutCause[name]
			switch problem := of.problem(t, text); {
			case lacks == "" && problem != "":
				t.Error(problem)
			case lacks != "" && problem == "":
				t.Errorf("it has its cause, and is said to lack %s", lacks)
			}
		})
	}
}
