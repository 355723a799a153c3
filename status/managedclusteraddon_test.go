package status_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// reference returns a reference to a configuration of that resource and name with a desired and a last
// applied hash, which are left out where empty.
func reference(resource, name, desired, applied string) addonv1alpha1.ConfigReference {
	referent := addonv1alpha1.ConfigReferent{Namespace: "open-cluster-management", Name: name}
	r := addonv1alpha1.ConfigReference{
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: "addon.open-cluster-management.io", Resource: resource},
	}
	if desired != "" {
		r.DesiredConfig = &addonv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: desired}
	}
	if applied != "" {
		r.LastAppliedConfig = &addonv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: applied}
	}
	return r
}

func addOn(progressing string, references ...addonv1alpha1.ConfigReference) *addonv1alpha1.ManagedClusterAddOn {
	addon := &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "application-manager"},
		Status:     addonv1alpha1.ManagedClusterAddOnStatus{ConfigReferences: references},
	}
	if progressing != "" {
		c := condition("Progressing", metav1.ConditionFalse, 0, 2)
		c.Reason = progressing
		addon.Status.Conditions = []metav1.Condition{condition("Available", metav1.ConditionTrue, 0, 1), c}
	}
	return addon
}

// S2: the status of an add-on follows from its configurations and then from the Progressing condition.
func TestFromManagedClusterAddOn(t *testing.T) {
	list := func(references ...addonv1alpha1.ConfigReference) []addonv1alpha1.ConfigReference { return references }
	deployment := reference("addondeploymentconfigs", "default", "new", "")
	template := reference("addontemplates", "v2", "t", "")
	deprecated := addonv1alpha1.ConfigReference{
		ConfigGroupResource: deployment.ConfigGroupResource,
		ConfigReferent:      addonv1alpha1.ConfigReferent{Name: "plain"},
	}
	wasApplied := deprecated
	wasApplied.LastAppliedConfig = &addonv1alpha1.ConfigSpecHash{ConfigReferent: deprecated.ConfigReferent, SpecHash: "old"}
	other := deprecated
	other.Name = "other"

	for _, test := range []struct {
		reason  string
		addon   *addonv1alpha1.ManagedClusterAddOn
		desired []addonv1alpha1.ConfigReference
		want    status.RolloutStatus
		at      time.Time
	}{
		{"S2 a desired configuration is not there yet", addOn("Completed"), list(deployment), status.ToApply, time.Time{}},
		{"S2 one that is no longer desired is still there", addOn("Completed", reference("addontemplates", "v2", "t", "t")), nil, status.ToApply, time.Time{}},
		{"S2 as many as desired, but of another resource", addOn("Completed", reference("addontemplates", "default", "new", "new")), list(deployment), status.ToApply, time.Time{}},
		{"S2 as many as desired, but another object", addOn("Completed", reference("addontemplates", "v1", "t", "t")), list(template), status.ToApply, time.Time{}},
		{"S2 the desired hash differs", addOn("Completed", reference("addondeploymentconfigs", "default", "old", "old")), list(deployment), status.ToApply, time.Time{}},
		{"S2 a hash differs in the second of two", addOn("Completed", template, reference("addondeploymentconfigs", "default", "old", "old")), list(template, deployment), status.ToApply, time.Time{}},
		{"S2 references without a desired configuration are told apart by their referent", addOn("Completed", deprecated), list(other), status.ToApply, time.Time{}},

		{"S2 what was applied is no longer desired of that reference", addOn("Completed", wasApplied), list(deprecated), status.Progressing, at(2)},

		{"S2 all applied", addOn("Completed", reference("addondeploymentconfigs", "default", "new", "new")), list(deployment), status.Succeeded, at(2)},
		{"S2 all applied, whatever the condition says", addOn("Failed", reference("addondeploymentconfigs", "default", "new", "new")), list(deployment), status.Succeeded, at(2)},
		{"S2 all applied, no condition", addOn("", reference("addondeploymentconfigs", "default", "new", "new")), list(deployment), status.Succeeded, time.Time{}},
		{"S2 in another order", addOn("Completed", reference("addondeploymentconfigs", "default", "new", "new"), reference("addontemplates", "v2", "t", "t")), list(template, deployment), status.Succeeded, at(2)},
		{"S2 two objects of one resource", addOn("Completed", reference("addontemplates", "v2", "t", "t"), reference("addontemplates", "v3", "u", "u")), list(reference("addontemplates", "v3", "u", ""), template), status.Succeeded, at(2)},
		{"S2 no configuration at all", addOn(""), nil, status.Succeeded, time.Time{}},
		{"S2 nothing desired of a reference and nothing applied", addOn("", deprecated), list(deprecated), status.Succeeded, time.Time{}},

		{"S2 not applied, failed", addOn("Failed", deployment), list(deployment), status.Failed, at(2)},
		{"S2 an older version applied, failed", addOn("Failed", reference("addondeploymentconfigs", "default", "new", "old")), list(deployment), status.Failed, at(2)},
		{"S2 one of two not applied, failed", addOn("Failed", reference("addontemplates", "v2", "t", "t"), deployment), list(template, deployment), status.Failed, at(2)},
		{"S2 not applied, progressing", addOn("Progressing", deployment), list(deployment), status.Progressing, at(2)},
		{"S2 the condition is about what came before", addOn("Completed", deployment), list(deployment), status.Progressing, at(2)},
		{"S2 any other reason", addOn("WaitingForCanary", deployment), list(deployment), status.Progressing, at(2)},
		{"S2 no condition", addOn("", deployment), list(deployment), status.Progressing, time.Time{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			before := test.addon.DeepCopy()
			want := status.Report{Cluster: "cluster1", Status: test.want, LastTransitionTime: test.at}
			if diff := cmp.Diff(want, status.FromManagedClusterAddOn(test.addon, test.desired)); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			twice := append(slices.Clone(test.desired), test.desired...)
			if diff := cmp.Diff(want, status.FromManagedClusterAddOn(test.addon, twice)); diff != "" {
				t.Errorf("report with the desired configurations given twice (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.addon); diff != "" {
				t.Errorf("the add-on was changed:\n%s", diff)
			}
		})
	}
	if got, want := status.FromManagedClusterAddOn(nil, nil), (status.Report{Status: status.ToApply}); got != want {
		t.Errorf("no add-on: %v, want %v", got, want)
	}
}

// The desired configurations come from the ClusterManagementAddOn's install progression for the
// placement, or from whatever the controller wants the add-on to have.
func ExampleFromManagedClusterAddOn() {
	template := func(hash string) *addonv1alpha1.ConfigSpecHash {
		return &addonv1alpha1.ConfigSpecHash{ConfigReferent: addonv1alpha1.ConfigReferent{Name: "web"}, SpecHash: hash}
	}
	resource := addonv1alpha1.ConfigGroupResource{Group: "addon.open-cluster-management.io", Resource: "addontemplates"}
	desired := []addonv1alpha1.ConfigReference{{ConfigGroupResource: resource, DesiredConfig: template("b2")}}

	addon := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "web"}}
	for _, hashes := range [][2]string{{"a1", "a1"}, {"b2", "a1"}, {"b2", "b2"}} {
		addon.Status.ConfigReferences = []addonv1alpha1.ConfigReference{
			{ConfigGroupResource: resource, DesiredConfig: template(hashes[0]), LastAppliedConfig: template(hashes[1])},
		}
		fmt.Println("desired", hashes[0], "applied", hashes[1], status.FromManagedClusterAddOn(addon, desired).Status)
	}
	// Output:
	// desired a1 applied a1 ToApply
	// desired b2 applied a1 Progressing
	// desired b2 applied b2 Succeeded
}
