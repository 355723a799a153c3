// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

type addOn = addonv1beta1.ManagedClusterAddOn

// addOnWriter brings configurations to add-ons in two requests: first the stamp, and then the references and the condition,
// which are in the status. (A controller passes the answers to its writes.Own, which keeps the objects: therefore next is
// copied.)
type addOnWriter struct {
	desired              []addonv1beta1.ConfigReference
	update, updateStatus func(*addOn) error // update also creates
}

func (w addOnWriter) report(a *addOn) status.Report {
	report, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: a, Desired: w.desired})
	return report
}

// write makes the write of a step. Stored is nil if there is no add-on.
func (w addOnWriter) write(stored *addOn, cluster string, attempt int, now time.Time) error {
	wanted := &addOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "logs"}}
	version := now.Format(time.RFC3339Nano) // one that it never had
	if stored != nil {
		wanted.Spec = stored.Spec // the user's
		if w.report(stored).Status != status.ToApply {
			version = status.StampOf(stored).Version
		}
	}
	spec := func(a *addOn) *addonv1beta1.ManagedClusterAddOnSpec { return &a.Spec }
	next, changed := writes.Object(stored, wanted, spec, version, attempt, now)
	if changed {
		if err := w.update(next); err != nil {
			return err
		}
	}
	next = next.DeepCopy()
	condition := meta.FindStatusCondition(next.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing)
	failed := condition != nil && condition.Reason == addonv1beta1.ProgressingReasonFailed
	switch report := w.report(next); {
	case report.Status == status.ToApply:
		next.Status.ConfigReferences = w.desired
	case report.Status == status.Progressing && failed: // a retry
	default:
		return nil
	}
	meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{
		Type: addonv1beta1.ManagedClusterAddOnConditionProgressing, Status: metav1.ConditionTrue,
		Reason: addonv1beta1.ProgressingReasonProgressing, LastTransitionTime: metav1.NewTime(now),
	})
	return w.updateStatus(next)
}

// An add-on whose configuration failed gets another one. The second request fails at first, so the next reconcile makes
// both again. The new configuration fails, and is retried as attempt 1.
func ExampleObject() {
	references := func(config addonv1beta1.ConfigSpecHash) []addonv1beta1.ConfigReference {
		kind := addonv1beta1.ConfigGroupResource{Group: addonv1beta1.GroupName, Resource: "addondeploymentconfigs"}
		return []addonv1beta1.ConfigReference{{ConfigGroupResource: kind, DesiredConfig: &config}}
	}
	referent := addonv1beta1.ConfigReferent{Namespace: "default", Name: "logs"}
	stored := &addOn{ObjectMeta: metav1.ObjectMeta{Namespace: "oslo", Name: "logs"}} // in the API server
	stored.Status.ConfigReferences = references(addonv1beta1.ConfigSpecHash{ConfigReferent: referent, SpecHash: "old"})
	config := addonv1beta1.ConfigSpecHash{ConfigReferent: referent, SpecHash: "new"}

	refuses := true
	store := func(a *addOn) error { stored = a.DeepCopy(); return nil }
	w := addOnWriter{
		desired: references(config),
		update:  store,
		updateStatus: func(a *addOn) error {
			if refuses {
				return errors.New("no answer")
			}
			return store(a)
		},
	}
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	show := func(err error) {
		report := w.report(stored)
		fmt.Println(report.Status, report.Applied.Format("15:04"), "attempt", report.Attempt, err)
	}
	answer := func(reason string, at time.Time) { // of the add-on manager
		meta.SetStatusCondition(&stored.Status.Conditions, metav1.Condition{
			Type: addonv1beta1.ManagedClusterAddOnConditionProgressing, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(at),
		})
		show(nil)
	}

	answer(addonv1beta1.ProgressingReasonFailed, noon.Add(-time.Minute))
	show(w.write(stored, "oslo", 0, noon))
	refuses = false
	show(w.write(stored, "oslo", 0, noon.Add(time.Hour)))
	answer(addonv1beta1.ProgressingReasonFailed, noon.Add(61*time.Minute))
	show(w.write(stored, "oslo", 1, noon.Add(2*time.Hour)))
	stored.Status.ConfigReferences[0].LastAppliedConfig = &config
	answer(addonv1beta1.ProgressingReasonCompleted, noon.Add(121*time.Minute))
	// Output:
	// ToApply 00:00 attempt 0 <nil>
	// ToApply 00:00 attempt 0 no answer
	// Progressing 13:00 attempt 0 <nil>
	// Failed 13:00 attempt 0 <nil>
	// Progressing 14:00 attempt 1 <nil>
	// Succeeded 14:00 attempt 1 <nil>
}
