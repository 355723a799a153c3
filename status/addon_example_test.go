package status_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/status"
)

// An add-on is written in two requests, the stamp first. Where the second one fails, the next try stamps it anew. The
// second one sets the condition, too: here the old configuration had failed, and that must not count for the new one.
// When the new one fails, it is tried again as attempt 1.
func ExampleAddOnState() {
	addon := addOn("Failed", reference("addondeploymentconfigs", "default", "old", ""))
	desired := []addonv1beta1.ConfigReference{reference("addondeploymentconfigs", "default", "new", "")}
	report := func() {
		r, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: desired})
		if r.Applied.IsZero() {
			fmt.Println(r.Status)
		} else {
			fmt.Printf("%s, written %s in attempt %d\n", r.Status, r.Applied.Format("15:04"), r.Attempt)
		}
	}
	progressing := func(value metav1.ConditionStatus, reason string, now time.Time) {
		meta.SetStatusCondition(&addon.Status.Conditions, metav1.Condition{
			Type: addonv1beta1.ManagedClusterAddOnConditionProgressing, Status: value, Reason: reason, LastTransitionTime: metav1.NewTime(now),
		})
	}
	apply := func(now time.Time, attempt int, fails bool) { // for a cluster that starts
		version := status.StampOf(addon).Version
		if r, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: desired}); r.Status == status.ToApply {
			version = now.Format(time.RFC3339Nano) // that it never had
		}
		status.StampOf(addon).NoteOn(addon, version, attempt, now) // and update the add-on
		if !fails {
			addon.Status.ConfigReferences = desired
			progressing(metav1.ConditionTrue, addonv1beta1.ProgressingReasonProgressing, now) // and update its status
		}
		report()
	}

	apply(at(1), 0, true)
	apply(at(60), 0, false)
	progressing(metav1.ConditionFalse, addonv1beta1.ProgressingReasonFailed, at(65)) // the add-on manager
	report()
	apply(at(90), 1, false)
	addon.Status.ConfigReferences = []addonv1beta1.ConfigReference{reference("addondeploymentconfigs", "default", "new", "new")}
	progressing(metav1.ConditionFalse, addonv1beta1.ProgressingReasonCompleted, at(95))
	report()
	// Output:
	// ToApply
	// Progressing, written 01:00 in attempt 0
	// Failed, written 01:00 in attempt 0
	// Progressing, written 01:30 in attempt 1
	// Succeeded, written 01:30 in attempt 1
}
