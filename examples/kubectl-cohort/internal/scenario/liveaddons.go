// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	oldaddon "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/addonv1alpha1"
)

// resumeAddOns reads the add-ons of a ClusterManagementAddOn, which have its name. What they should have stands in its
// status, for each placement.
func (s *Scenario) resumeAddOns(r applier, o *objects) (found int) {
	var reports []status.Report
	add := func(report status.Report, ok bool) {
		switch _, _, here := s.Groups.Find(report.Cluster); {
		case ok && here:
			found++
			reports = append(reports, report)
		case ok && !s.selected(report.Cluster):
			s.Unselected = append(s.Unselected, report)
		}
	}
	for _, addOn := range o.addOns {
		if addOn.GetName() == r.GetName() {
			o.use(addOn.Object)
			state := status.AddOnState{AddOn: addOn.typed, Desired: addOn.typed.Status.ConfigReferences}
			if desired, known := status.DesiredConfigs(r.addOn, addonv1beta1.PlacementRef(s.Placement), addOn.typed); known {
				state.Desired = desired
			}
			add(status.FromManagedClusterAddOn(state))
		}
	}
	for _, addOn := range o.oldAddOns {
		if addOn.GetName() == r.GetName() {
			o.use(addOn.Object)
			state := addonv1alpha1.AddOnState{AddOn: addOn.typed, Desired: addOn.typed.Status.ConfigReferences}
			if desired, known := addonv1alpha1.DesiredConfigs(r.oldAddOn, oldaddon.PlacementRef(s.Placement), addOn.typed); known {
				state.Desired = desired
			}
			add(addonv1alpha1.FromManagedClusterAddOn(state))
		}
	}
	s.Observed = merged(reports)
	return found
}

func readOldAddOn(o *objects, object manifest.Object) error {
	return into(func(o *objects) *[]source[oldaddon.ManagedClusterAddOn] { return &o.oldAddOns })(o, object)
}
