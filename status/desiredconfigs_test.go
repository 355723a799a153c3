// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"
	"testing"

	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/status"
)

// S2, desired configs: of each type the add-on's own count, before the placement's, before the defaults.
func TestDesiredConfigs(t *testing.T) {
	here, elsewhere := addonv1beta1.PlacementRef{Namespace: "default", Name: "here"}, addonv1beta1.PlacementRef{Namespace: "default", Name: "elsewhere"}
	owner := &addonv1beta1.ClusterManagementAddOn{}
	for _, d := range []addonv1beta1.ConfigReference{reference("deploys", "d", "1", ""), reference("templates", "t", "1", ""), reference("proxies", "p", "1", "")} {
		owner.Status.DefaultConfigReferences = append(owner.Status.DefaultConfigReferences, addonv1beta1.DefaultConfigReference{ConfigGroupResource: d.ConfigGroupResource, DesiredConfig: d.DesiredConfig})
	}
	placed := func(p addonv1beta1.PlacementRef, all ...addonv1beta1.ConfigReference) {
		entry := addonv1beta1.InstallProgression{PlacementRef: p}
		for _, c := range all {
			entry.ConfigReferences = append(entry.ConfigReferences, addonv1beta1.InstallConfigReference{ConfigGroupResource: c.ConfigGroupResource, DesiredConfig: c.DesiredConfig})
		}
		owner.Status.InstallProgressions = append(owner.Status.InstallProgressions, entry)
	}
	placed(elsewhere, reference("deploys", "other", "9", ""))
	placed(here, reference("deploys", "here", "2", ""), reference("proxies", "here", "2", ""), reference("deploys", "", "", ""))

	own := func(resource, name string) addonv1beta1.AddOnConfig {
		r := reference(resource, name, "x", "")
		return addonv1beta1.AddOnConfig{ConfigGroupResource: r.ConfigGroupResource, ConfigReferent: r.DesiredConfig.ConfigReferent}
	}
	for _, test := range []struct {
		why  string
		own  []addonv1beta1.AddOnConfig
		has  []addonv1beta1.ConfigReference
		want string
	}{
		{"without its own, the placement's and the defaults of other types", nil, nil, "templates/t:1 deploys/here:2 proxies/here:2"},
		{"its own replace the type", []addonv1beta1.AddOnConfig{own("deploys", "mine")}, []addonv1beta1.ConfigReference{reference("deploys", "mine", "5", "5")}, "templates/t:1 proxies/here:2 deploys/mine:5"},
		{"of a type that is named nowhere else", []addonv1beta1.AddOnConfig{own("others", "mine")}, []addonv1beta1.ConfigReference{reference("others", "mine", "5", "")}, "templates/t:1 deploys/here:2 proxies/here:2 others/mine:5"},
		{"two of one type", []addonv1beta1.AddOnConfig{own("deploys", "a"), own("deploys", "b")}, []addonv1beta1.ConfigReference{reference("deploys", "b", "6", "")}, "templates/t:1 proxies/here:2 deploys/a: deploys/b:6"},
		{"the hash of another configuration is not its own", []addonv1beta1.AddOnConfig{own("deploys", "mine")}, []addonv1beta1.ConfigReference{reference("deploys", "d", "1", "1"), reference("templates", "mine", "7", "")}, "templates/t:1 proxies/here:2 deploys/mine:"},
	} {
		addOn := addOn("", test.has...)
		addOn.Spec.Configs = test.own
		desired, found := status.DesiredConfigs(owner, here, addOn)
		var names []string
		for _, c := range desired {
			names = append(names, c.Resource+"/"+c.DesiredConfig.Name+":"+c.DesiredConfig.SpecHash)
		}
		if got := strings.Join(names, " "); !found || got != test.want {
			t.Errorf("%s: %q, found %v, want %q", test.why, got, found, test.want)
		}
	}
	if desired, found := status.DesiredConfigs(owner, addonv1beta1.PlacementRef{Namespace: "another", Name: "here"}, addOn("")); found || desired != nil {
		t.Errorf("a placement that the status does not have: %v", desired)
	}
	desired, _ := status.DesiredConfigs(owner, here, addOn(""))
	for i := range desired {
		desired[i].DesiredConfig.SpecHash = "changed"
	}
	if again, _ := status.DesiredConfigs(owner, here, addOn("")); again[0].DesiredConfig.SpecHash != "1" {
		t.Error("the result shares a hash with the owner")
	}
}
