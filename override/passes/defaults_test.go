// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// definition is a template of OCM's group with that spec.
func definition(kind, spec string) policyv1.PolicyTemplate {
	return template(fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": "a"}, "spec": %s}`, kinds[kind].apiVersion, kind, spec))
}

// O17: a change of the text that makes no difference on the cluster brings no message, in either direction, so none is waited for.
func TestAnExplicitDefaultChangesNothing(t *testing.T) {
	const late, waits = "Progressing [a] [] [] 12:05, then Succeeded", "Progressing [a] [] [], then Progressing [a] [] []"
	const config, operator = "ConfigurationPolicy", "OperatorPolicy"
	for _, test := range []struct{ kind, one, other, want string }{
		{config, `{}`, `{"pruneObjectBehavior": "None"}`, late},
		{config, `{}`, `{"pruneObjectBehavior": ""}`, late},
		{config, `{}`, `{"pruneObjectBehavior": "DeleteAll"}`, waits},
		{config, `{"object-templates": [{"x": 1}, {"x": 2}]}`, `{"object-templates": [{"x": 1}, {"x": 2, "recreateOption": "None"}]}`, late},
		{config, `{"object-templates": [{"x": 1}]}`, `{"object-templates": [{"x": 1, "recreateOption": "Always"}]}`, waits},
		{config, `{"namespaceSelector": {}}`, `{"namespaceSelector": {"terminatingInclusion": "Default"}}`, late},
		{config, `{"namespaceSelector": {}}`, `{"namespaceSelector": {"terminatingInclusion": "Never"}}`, waits},
		{config, `{}`, `{"namespaceSelector": {}}`, waits}, // no default
		{config, `{}`, `{"severity": null}`, late},
		{config, `{}`, `{"severity": "low"}`, waits},
		{config, `{"object-templates": [{"objectDefinition": {}}]}`, `{"object-templates": [{"objectDefinition": {"x": null}}]}`, waits}, // any object
		{config, `{"object-templates": [{"objectDefinition": {}}]}`, `{"object-templates": [{"objectDefinition": {"pruneObjectBehavior": "None"}}]}`, waits},
		{config, `{"object-templates": [null]}`, `{"object-templates": [7]}`, waits},
		{config, `{}`, `{"removalBehavior": {}}`, waits}, // of the other kind
		{operator, `{}`, `{"complianceConfig": {}, "removalBehavior": {}}`, late},
		{operator, `{}`, `{"complianceConfig": {"catalogSourceUnhealthy": "Compliant", "deploymentsUnavailable": "NonCompliant", "upgradesAvailable": "Compliant"}}`, late},
		{operator, `{}`, `{"complianceConfig": {"deprecationsPresent": "Compliant", "minorChannelUpgradeAvailable": "Compliant"}}`, late},
		{operator, `{}`, `{"complianceConfig": {"deploymentsUnavailable": "Compliant"}}`, waits},
		{operator, `{"complianceConfig": {"upgradesAvailable": "NonCompliant"}}`, `{"complianceConfig": {"upgradesAvailable": "NonCompliant", "deprecationsPresent": "Compliant"}}`, late},
		{operator, `{}`, `{"removalBehavior": {"operatorGroups": "DeleteIfUnused", "subscriptions": "Delete", "clusterServiceVersions": "Delete", "customResourceDefinitions": "Keep"}}`, late},
		{operator, `{}`, `{"removalBehavior": {"customResourceDefinitions": "Delete"}}`, waits},
		{operator, `{"subscription": {}}`, `{"subscription": {"channel": null}}`, waits}, // any object
		{operator, `{}`, `{"pruneObjectBehavior": "None"}`, waits},                       // of the other kind
		{"CertificatePolicy", `{}`, `{"pruneObjectBehavior": "None"}`, late},             // is never waited for without a limit
	} {
		for _, specs := range [][2]string{{test.one, test.other}, {test.other, test.one}} {
			from, to := definition(test.kind, specs[0]), definition(test.kind, specs[1])
			s := rewritten(t, []policyv1.PolicyTemplate{from}, []policyv1.PolicyTemplate{to}, detail("a", "Compliant", noon.Add(-time.Hour)))
			if got := s.tells(t, noon.Add(time.Minute)) + ", then " + s.tells(t, noon.Add(5*time.Minute)); got != test.want {
				t.Errorf("%s %s -> %s: %s, want %s", test.kind, specs[0], specs[1], got, test.want)
			}
		}
	}
}

// O17: the template sync takes over the metadata and the spec alone.
func TestWhatIsBesideTheSpecChangesNothing(t *testing.T) {
	for _, kind := range []string{"ConfigurationPolicy", "OperatorPolicy"} {
		for _, beside := range []string{`"status": {"compliant": "Compliant"}`, `"other": 1`} {
			with := template(fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": "a"}, "spec": {}, %s}`, kinds[kind].apiVersion, kind, beside))
			s := rewritten(t, []policyv1.PolicyTemplate{definition(kind, `{}`)}, []policyv1.PolicyTemplate{with}, detail("a", "Compliant", noon.Add(-time.Hour)))
			if got := s.tells(t, noon.Add(5*time.Minute)); got != "Succeeded" {
				t.Errorf("%s with %s: %s", kind, beside, got)
			}
		}
	}
}

// O17: where neither the policy nor a template has an action, the template informs, in words or without. Its object is the same in both
// passes.
func TestWithoutAnyActionATemplateInforms(t *testing.T) {
	said := detail("a", "NonCompliant", noon.Add(-time.Hour))
	for _, kind := range []string{"ConfigurationPolicy", "OperatorPolicy"} {
		none, own := definition(kind, `{}`), definition(kind, `{"remediationAction": "inform"}`)
		for why, test := range map[string]struct {
			before policyv1.RemediationAction
			from   policyv1.PolicyTemplate
			to     policyv1.PolicyTemplate
		}{
			"the second pass":  {policyv1.Inform, none, none},
			"the default":      {"", none, own},
			"without it again": {"", own, none},
		} {
			s := &stored{status: policyv1.PolicyStatus{Details: []policyv1.PolicyDetails{said}}}
			s.Namespace, s.Spec = "a", policyv1.PolicySpec{RemediationAction: test.before, PolicyTemplates: []policyv1.PolicyTemplate{test.from}}
			replica := passes.ReplicaOf(&s.Policy, &s.status)
			s.Annotations = map[string]string{annotationReported: replica.Reported}
			status.Stamp{}.NoteOn(s, "v2 ", 0, noon)
			s.Spec.RemediationAction, s.Spec.PolicyTemplates = "", []policyv1.PolicyTemplate{test.to}
			replica = passes.ReplicaOf(&s.Policy, &s.status).At(noon.Add(5 * time.Minute))
			if report := replica.Started(resolve(t, policy("", naiveLimits{}), to("a")), noon.Add(5*time.Minute)); report.Status != status.Succeeded {
				t.Errorf("%s, %s: %s %s", kind, why, report.Status, report.Message)
			}
		}
	}
}

// O17: a version that only spells defaults out is done on a whole fleet before its deadline, which is the only way to a failure here.
func TestAVersionThatSpellsDefaultsOutDoesNotFail(t *testing.T) {
	for _, typ := range []clusterv1alpha1.RolloutType{clusterv1alpha1.All, clusterv1alpha1.Progressive} {
		f := newFleet(t, naiveLimits{typ: typ, maxConcurrency: 1, deadline: 30 * time.Minute}, policyv1.Enforce, 3)
		f.check = func() {
			if f.status.RolloutStatus == "Failed" {
				t.Fatalf("%s: failed: %s", typ, f.last)
			}
		}
		parts := []part{config("a", 1, time.Second), {name: "o", kind: "OperatorPolicy", content: 1, delay: time.Second}}
		for range 2 {
			f.edit(parts...)
			if !f.settled(3 * time.Hour) {
				t.Errorf("%s: %s, %s", typ, f.status.RolloutStatus, f.last.Explain("c00"))
			}
			for i := range parts {
				parts[i].spelled = true
			}
		}
	}
}
