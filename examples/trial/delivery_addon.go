// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// placementName is the name of the placement of a trial.
const placementName = "fleet"

// OfAddOns is the delivery of the configurations of an add-on, of the install strategy Placements. The owner is named after the
// trial, and has the config's name as the version. The add-on of a cluster has the owner's name.
func OfAddOns() *Delivery {
	return &Delivery{
		owner: AddOns, object: OnClusters,
		isOwner: func(o object) bool { _, is := o.(*addonv1beta1.ClusterManagementAddOn); return is },
		put:     putAddOn,
		wanted: func(owner object) (string, clusterv1alpha1.RolloutStrategy) {
			p := owner.(*addonv1beta1.ClusterManagementAddOn).Spec.InstallStrategy.Placements[0]
			return p.Configs[0].Name, p.RolloutStrategy
		},
		read:   readAddOn,
		claims: claimOfAddOn,
		report: reportOfAddOn,
		patch: func(ctx context.Context, c clients, k Kind, o object, body []byte, sub ...string) (err error) {
			if k == AddOns {
				_, err = c.addOn.AddonV1beta1().ClusterManagementAddOns().Patch(ctx, o.GetName(), mergePatch, body, metav1.PatchOptions{}, sub...)
			} else {
				_, err = c.addOn.AddonV1beta1().ManagedClusterAddOns(o.GetNamespace()).Patch(ctx, o.GetName(), mergePatch, body, metav1.PatchOptions{}, sub...)
			}
			return err
		},
		remove: func(ctx context.Context, c clients, k Kind, o object) error {
			if k == AddOns {
				return c.addOn.AddonV1beta1().ClusterManagementAddOns().Delete(ctx, o.GetName(), metav1.DeleteOptions{})
			}
			return c.addOn.AddonV1beta1().ManagedClusterAddOns(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{})
		},
	}
}

// finalizerOfAgents is on the add-ons of a trial, unless its owner has the annotation atOnceAnnotation. Agents that live remove
// it.
const (
	finalizerOfAgents = addonv1beta1.AddonPreDeleteHookFinalizer
	atOnceAnnotation  = "hub.test/at-once"
)

// goesAtOnce says whether the add-ons of an owner are gone as soon as they are deleted.
func goesAtOnce(owner object) bool { return owner.GetAnnotations()[atOnceAnnotation] != "" }

func configOf(version string) addonv1beta1.AddOnConfig {
	return addonv1beta1.AddOnConfig{
		ConfigGroupResource: addonv1beta1.ConfigGroupResource{Group: addonv1beta1.GroupName, Resource: "addondeploymentconfigs"},
		ConfigReferent:      addonv1beta1.ConfigReferent{Namespace: "default", Name: version},
	}
}

func putAddOn(ctx context.Context, r *runner, version string, first bool) error {
	api := r.user.addOn.AddonV1beta1().ClusterManagementAddOns()
	configs := []addonv1beta1.AddOnConfig{configOf(version)}
	if first {
		owner := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: r.name}}
		if r.trial.atOnce {
			owner.Annotations = map[string]string{atOnceAnnotation: "true"}
		}
		owner.Spec.InstallStrategy = addonv1beta1.InstallStrategy{Type: addonv1beta1.AddonInstallStrategyPlacements, Placements: []addonv1beta1.PlacementStrategy{{
			PlacementRef: addonv1beta1.PlacementRef{Namespace: r.name, Name: placementName}, Configs: configs, RolloutStrategy: r.strategy,
		}}}
		_, err := api.Create(ctx, owner, metav1.CreateOptions{})
		return err
	}
	for {
		owner, err := api.Get(ctx, r.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		owner.Spec.InstallStrategy.Placements[0].Configs = configs
		if _, err = api.Update(ctx, owner, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}

func readAddOn(o object) observed {
	addOn := o.(*addonv1beta1.ManagedClusterAddOn)
	h := observed{dying: addOn.DeletionTimestamp != nil, finalizer: len(addOn.Finalizers) > 0}
	if len(addOn.Status.ConfigReferences) == 0 || addOn.Status.ConfigReferences[0].DesiredConfig == nil {
		return h
	}
	ref := addOn.Status.ConfigReferences[0]
	h.version, h.started = ref.DesiredConfig.Name, true
	c := meta.FindStatusCondition(addOn.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing)
	if c != nil {
		h.at = c.LastTransitionTime.Time
	}
	switch {
	case ref.LastAppliedConfig != nil && *ref.LastAppliedConfig == *ref.DesiredConfig:
		h.answer = does
	case c != nil && c.Reason == addonv1beta1.ProgressingReasonFailed:
		h.answer = doesNot
	}
	return h
}

func claimOfAddOn(o object) *Claim {
	progressions := o.(*addonv1beta1.ClusterManagementAddOn).Status.InstallProgressions
	if len(progressions) == 0 {
		return nil
	}
	p, claim := &progressions[0], &Claim{}
	for _, ref := range p.ConfigReferences {
		if ref.DesiredConfig != nil {
			claim.Version = ref.DesiredConfig.Name
			claim.good = ref.LastKnownGoodConfig != nil && *ref.LastKnownGoodConfig == *ref.DesiredConfig
		}
	}
	if c := meta.FindStatusCondition(p.Conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing); c != nil {
		claim.Message = c.Message
		claim.Complete = c.Reason == addonv1beta1.ProgressingReasonCompleted
	}
	return claim
}

func reportOfAddOn(o object, a answer, _ int) map[string]any {
	addOn := o.(*addonv1beta1.ManagedClusterAddOn).DeepCopy()
	c := metav1.Condition{
		Type: addonv1beta1.ManagedClusterAddOnConditionProgressing, Status: metav1.ConditionFalse, Reason: addonv1beta1.ProgressingReasonFailed,
		Message: "played", LastTransitionTime: second(time.Now()),
	}
	switch a {
	case awaited:
		c.Status, c.Reason = metav1.ConditionTrue, addonv1beta1.ProgressingReasonProgressing
	case does:
		c.Reason = addonv1beta1.ProgressingReasonCompleted
		for i := range addOn.Status.ConfigReferences {
			addOn.Status.ConfigReferences[i].LastAppliedConfig = addOn.Status.ConfigReferences[i].DesiredConfig
		}
	}
	meta.SetStatusCondition(&addOn.Status.Conditions, c)
	return map[string]any{"status": map[string]any{"conditions": addOn.Status.Conditions, "configReferences": addOn.Status.ConfigReferences}}
}
