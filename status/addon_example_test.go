package status_test

import (
	"fmt"
	"time"

	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/status"
)

// An add-on is written in two requests, the stamp first. Where the second one fails, the next try stamps it anew.
func ExampleAddOnState() {
	addon := addOn("", reference("addondeploymentconfigs", "default", "old", "old"))
	desired := []addonv1beta1.ConfigReference{reference("addondeploymentconfigs", "default", "new", "")}
	report := func() {
		r, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: desired})
		if r.Applied.IsZero() {
			fmt.Println(r.Status)
		} else {
			fmt.Println(r.Status, "since", r.Applied.Format("15:04"))
		}
	}
	apply := func(now time.Time, fails bool) {
		status.Stamp(addon, now.Format(time.RFC3339Nano), now) // and update the add-on
		if !fails {
			addon.Status.ConfigReferences = desired // and update its status
		}
		report()
	}
	apply(at(1), true)
	apply(at(60), false)
	addon.Status.ConfigReferences = []addonv1beta1.ConfigReference{reference("addondeploymentconfigs", "default", "new", "new")}
	report()
	// Output:
	// ToApply
	// Progressing since 01:00
	// Succeeded since 01:00
}
