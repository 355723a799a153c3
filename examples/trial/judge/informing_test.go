// SPDX-License-Identifier: Apache-2.0

package judge

import "testing"

// A template that no policy makes enforce has done what it should, whatever it says.
func TestTemplatesThatOnlyInform(t *testing.T) {
	for template, want := range map[string]bool{
		`{"kind": "ConfigurationPolicy", "metadata": {"name": "x"}, "spec": {"remediationAction": "inform"}}`:     false,
		`{"kind": "ConfigurationPolicy", "metadata": {"name": "x"}, "spec": {"remediationAction": "InformOnly"}}`: true,
		`{"kind": "OperatorPolicy", "metadata": {"name": "x"}, "spec": {"remediationAction": "inform"}}`:          false,
		`{"kind": "CertificatePolicy", "metadata": {"name": "x"}, "spec": {"remediationAction": "enforce"}}`:      true,
		`{"kind": "IamPolicy", "metadata": {"name": "x"}}`:                                                        true,
		`{"kind": "K8sLabels", "metadata": {"name": "x"}, "spec": {"enforcementAction": "deny"}}`:                 false,
	} {
		got, err := informing([]byte(`{"policy-templates": [{"objectDefinition": ` + template + `}]}`))
		if err != nil || got["x"] != want {
			t.Errorf("%s: %v, %v", template, got, err)
		}
	}
}
