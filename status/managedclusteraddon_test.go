// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/status"
)

// reference returns a reference to a configuration of that resource and name with a desired and a last
// applied hash, which are left out where empty.
func reference(resource, name, desired, applied string) addonv1beta1.ConfigReference {
	referent := addonv1beta1.ConfigReferent{Namespace: "open-cluster-management", Name: name}
	r := addonv1beta1.ConfigReference{
		ConfigGroupResource: addonv1beta1.ConfigGroupResource{Group: "addon.open-cluster-management.io", Resource: resource},
	}
	if desired != "" {
		r.DesiredConfig = &addonv1beta1.ConfigSpecHash{ConfigReferent: referent, SpecHash: desired}
	}
	if applied != "" {
		r.LastAppliedConfig = &addonv1beta1.ConfigSpecHash{ConfigReferent: referent, SpecHash: applied}
	}
	return r
}

func addOn(progressing string, references ...addonv1beta1.ConfigReference) *addonv1beta1.ManagedClusterAddOn {
	addon := &addonv1beta1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "application-manager"},
		Status:     addonv1beta1.ManagedClusterAddOnStatus{ConfigReferences: references},
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
	list := func(references ...addonv1beta1.ConfigReference) []addonv1beta1.ConfigReference { return references }
	deployment := reference("addondeploymentconfigs", "default", "new", "")
	template := reference("addontemplates", "v2", "t", "")
	nothing := addonv1beta1.ConfigReference{ConfigGroupResource: deployment.ConfigGroupResource}
	wasApplied := nothing
	wasApplied.LastAppliedConfig = &addonv1beta1.ConfigSpecHash{ConfigReferent: deployment.DesiredConfig.ConfigReferent, SpecHash: "old"}

	for _, test := range []struct {
		reason  string
		addon   *addonv1beta1.ManagedClusterAddOn
		desired []addonv1beta1.ConfigReference
		want    status.RolloutStatus
		at      time.Time
	}{
		{"S2 a desired configuration is not there yet", addOn("Completed"), list(deployment), status.ToApply, time.Time{}},
		{"S2 one that is no longer desired is still there", addOn("Completed", reference("addontemplates", "v2", "t", "t")), nil, status.ToApply, time.Time{}},
		{"S2 as many as desired, but of another resource", addOn("Completed", reference("addontemplates", "default", "new", "new")), list(deployment), status.ToApply, time.Time{}},
		{"S2 as many as desired, but another object", addOn("Completed", reference("addontemplates", "v1", "t", "t")), list(template), status.ToApply, time.Time{}},
		{"S2 the desired hash differs", addOn("Completed", reference("addondeploymentconfigs", "default", "old", "old")), list(deployment), status.ToApply, time.Time{}},
		{"S2 a hash differs in the second of two", addOn("Completed", template, reference("addondeploymentconfigs", "default", "old", "old")), list(template, deployment), status.ToApply, time.Time{}},

		{"S2 what was applied is no longer desired of that reference", addOn("Completed", wasApplied), list(nothing), status.Progressing, at(2)},

		{"S2 all applied", addOn("Completed", reference("addondeploymentconfigs", "default", "new", "new")), list(deployment), status.Succeeded, at(2)},
		{"S2 all applied, whatever the condition says", addOn("Failed", reference("addondeploymentconfigs", "default", "new", "new")), list(deployment), status.Succeeded, at(2)},
		{"S2 all applied, no condition", addOn("", reference("addondeploymentconfigs", "default", "new", "new")), list(deployment), status.Succeeded, time.Time{}},
		{"S2 in another order", addOn("Completed", reference("addondeploymentconfigs", "default", "new", "new"), reference("addontemplates", "v2", "t", "t")), list(template, deployment), status.Succeeded, at(2)},
		{"S2 two objects of one resource", addOn("Completed", reference("addontemplates", "v2", "t", "t"), reference("addontemplates", "v3", "u", "u")), list(reference("addontemplates", "v3", "u", ""), template), status.Succeeded, at(2)},
		{"S2 no configuration at all", addOn(""), nil, status.Succeeded, time.Time{}},
		{"S2 nothing desired of a reference and nothing applied", addOn("", nothing), list(nothing), status.Succeeded, time.Time{}},

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
			if test.want != status.ToApply {
				want.Applied = at(1)
			}
			if test.want == status.Progressing && test.at.IsZero() {
				want.Message = "the add-on has no condition Progressing"
			}
			twice := append(slices.Clone(test.desired), test.desired...)
			for _, desired := range [][]addonv1beta1.ConfigReference{test.desired, twice} {
				state := status.AddOnState{AddOn: test.addon, Desired: desired, Applied: at(1)}
				got, ok := status.FromManagedClusterAddOn(state)
				if diff := cmp.Diff(want, got); diff != "" || !ok {
					t.Errorf("report (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(before, test.addon); diff != "" {
				t.Errorf("the add-on was changed:\n%s", diff)
			}
		})
	}
}

// S2: the message of the Progressing condition says why an add-on failed or is not done, as the controllers of OCM write it; a
// success has no message, and neither has an add-on that waits.
func TestFromManagedClusterAddOnMessage(t *testing.T) {
	deployment := reference("addondeploymentconfigs", "default", "new", "")
	applied := reference("addondeploymentconfigs", "default", "new", "new")
	for _, test := range []struct {
		why, reason string
		has         addonv1beta1.ConfigReference
		message     string
		want        string
	}{
		{"the configuration failed", "Failed", deployment, "config.x not found", "Failed: config.x not found"},
		{"no failure by its reason, and still not done", "ConfigurationUnsupported", deployment, "gvr proxy/x is not supported", "Progressing: gvr proxy/x is not supported"},
		{"what an agent writes is one line", "Failed", deployment, "a\n\x1b[31mb\x1b[0m", "Failed: a [31mb [0m"},
		{"a success has none", "Completed", applied, "completed with no errors.", "Succeeded: "},
		{"an add-on that waits has none: it would be about other configurations", "Failed", reference("addondeploymentconfigs", "default", "old", ""), "config.x not found", "ToApply: "},
	} {
		a := addOn(test.reason, test.has)
		a.Status.Conditions[1].Message = test.message
		r, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: a, Desired: []addonv1beta1.ConfigReference{deployment}})
		if got := fmt.Sprintf("%s: %s", r.Status, r.Message); got != test.want || r.Reason != "" {
			t.Errorf("%s: %q, %s, want %q", test.why, got, r.Reason, test.want)
		}
	}
}

// S2: no add-on, and one that is being deleted, is nothing to report.
func TestFromManagedClusterAddOnWithoutOne(t *testing.T) {
	none := status.AddOnState{Applied: at(1)}
	if report, ok := status.FromManagedClusterAddOn(none); ok || report != (status.Report{}) {
		t.Errorf("reported as %+v", report)
	}
}

// S2: an add-on that is being deleted is reported as before, and so.
func TestFromManagedClusterAddOnThatIsBeingDeleted(t *testing.T) {
	state := status.AddOnState{AddOn: addOn("Completed"), Applied: at(1)}
	want, _ := status.FromManagedClusterAddOn(state)
	state.AddOn.DeletionTimestamp = &metav1.Time{Time: at(1)}
	want.Deleting = true
	if report, ok := status.FromManagedClusterAddOn(state); !ok || report != want {
		t.Errorf("reported as %+v, %v, want %+v", report, ok, want)
	}
}

// S2, R27: when the add-on got its configurations is what the caller says, else what was stamped, and is no
// business of a cluster that waits.
func TestFromManagedClusterAddOnApplied(t *testing.T) {
	has := []addonv1beta1.ConfigReference{reference("addontemplates", "v2", "t", "t")}
	addon := addOn("Completed", has...)
	for _, test := range []struct {
		why           string
		desired       []addonv1beta1.ConfigReference
		said, stamped time.Time
		want          time.Time
	}{
		{"no time is told", has, time.Time{}, time.Time{}, time.Time{}},
		{"stamped", has, time.Time{}, at(5), at(5)},
		{"said", has, at(4), at(5), at(4)},
		{"waits", nil, at(4), at(5), time.Time{}},
	} {
		addon.Annotations = nil
		if !test.stamped.IsZero() {
			status.StampOf(addon).NoteOn(addon, "v2", 0, test.stamped)
		}
		got, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: test.desired, Applied: test.said})
		if !got.Applied.Equal(test.want) {
			t.Errorf("%s: applied %v, want %v", test.why, got.Applied, test.want)
		}
	}
}

// S2, R39: whether a failure is older than the write of the references cannot be seen, so it counts for them. It does not
// after the condition was set to True with the write, nor in a later attempt. One after that counts in any attempt.
func TestFromManagedClusterAddOnFailedBefore(t *testing.T) {
	references := []addonv1beta1.ConfigReference{reference("addontemplates", "v2", "t", "")}
	for _, test := range []struct {
		why         string
		attempt     int
		progressing bool      // was set to True with the write
		failed      time.Time // of the condition
		want        status.RolloutStatus
	}{
		{"failed before the write, or Completed then and failed since", 0, false, at(2), status.Failed},
		{"the condition was set with the write", 0, true, at(5), status.Progressing},
		{"failed after that", 0, false, at(6), status.Failed},
		{"failed before the write of an attempt", 1, false, at(2), status.Progressing},
		{"failed in the attempt", 1, false, at(6), status.Failed},
	} {
		addon := addOn("Failed", references...)
		status.StampOf(addon).NoteOn(addon, "v2", test.attempt, at(5))
		c := &addon.Status.Conditions[1]
		c.LastTransitionTime = metav1.NewTime(test.failed)
		if test.progressing {
			c.Status, c.Reason = metav1.ConditionTrue, addonv1beta1.ProgressingReasonProgressing
		}
		got, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: references})
		if got.Status != test.want || got.Attempt != test.attempt || !got.Applied.Equal(at(5)) {
			t.Errorf("%s: got %+v, want %s", test.why, got, test.want)
		}
	}
}

// The desired configurations come from the ClusterManagementAddOn's install progression for the
// placement, or from whatever the controller wants the add-on to have.
func ExampleFromManagedClusterAddOn() {
	template := func(hash string) *addonv1beta1.ConfigSpecHash {
		return &addonv1beta1.ConfigSpecHash{ConfigReferent: addonv1beta1.ConfigReferent{Name: "web"}, SpecHash: hash}
	}
	resource := addonv1beta1.ConfigGroupResource{Group: "addon.open-cluster-management.io", Resource: "addontemplates"}
	desired := []addonv1beta1.ConfigReference{{ConfigGroupResource: resource, DesiredConfig: template("b2")}}

	addon := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "web"}}
	for _, hashes := range [][2]string{{"a1", "a1"}, {"b2", "a1"}, {"b2", "b2"}} {
		addon.Status.ConfigReferences = []addonv1beta1.ConfigReference{
			{ConfigGroupResource: resource, DesiredConfig: template(hashes[0]), LastAppliedConfig: template(hashes[1])},
		}
		report, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon, Desired: desired})
		fmt.Println("desired", hashes[0], "applied", hashes[1], report.Status)
	}
	// Output:
	// desired a1 applied a1 ToApply
	// desired b2 applied a1 Progressing
	// desired b2 applied b2 Succeeded
}
