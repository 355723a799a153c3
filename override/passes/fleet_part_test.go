// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// part is a template of a policy, and how its controller takes it.
type part struct {
	name, kind string
	content    int
	own        policyv1.RemediationAction // its own action, such as InformOnly
	note       string                     // an annotation
	delay      time.Duration              // from the template sync's write to the message
	// bad content does not comply, whatever is done.
	bad bool
	// fits says that clusters comply before anything is enforced.
	fits bool
	// waitsFor is the name of a template that has to comply first, or elsewhere for another policy.
	waitsFor string
	// ignores says that the template counts as Compliant while it waits.
	ignores bool
	// spelled says that the text has defaults that the cluster would set anyway.
	spelled bool
}

const elsewhere = "elsewhere"

// behaviour is what the controllers of a kind do.
type behaviour struct {
	apiVersion string
	repeats    bool // they report on each content; others report only what is new
	acts       bool // the policy's action changes what they do
	mends      bool // with enforce they have the cluster comply
}

const constraint = "K8sLabels"

// kinds are those of OCM. The controllers of CertificatePolicies and IamPolicies take enforce and only inform. A constraint that denies
// keeps what violates it from being made, and leaves what is there. A ConstraintTemplate is created whatever the action.
var kinds = map[string]behaviour{
	"ConfigurationPolicy": {"policy.open-cluster-management.io/v1", true, true, true},
	"OperatorPolicy":      {"policy.open-cluster-management.io/v1beta1", true, true, true},
	"CertificatePolicy":   {"policy.open-cluster-management.io/v1", false, false, false},
	"IamPolicy":           {"policy.open-cluster-management.io/v1", false, false, false},
	constraint:            {"constraints.gatekeeper.sh/v1beta1", false, true, false},
	"ConstraintTemplate":  {"templates.gatekeeper.sh/v1", false, false, false},
}

func (p part) object() string {
	own := fmt.Sprintf(`"remediationAction": %q`, p.own)
	if p.kind == constraint {
		own = fmt.Sprintf(`"enforcementAction": %q`, map[policyv1.RemediationAction]string{"inform": "warn", "InformOnly": "dryrun", "enforce": "deny"}[p.own])
	}
	defaults := ""
	if p.spelled {
		defaults = map[string]string{
			"ConfigurationPolicy": `, "pruneObjectBehavior": "None"`, "OperatorPolicy": `, "complianceConfig": {"upgradesAvailable": "Compliant"}`,
		}[p.kind]
	}
	return fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q, "annotations": {"note": %q}}, "spec": {%s, "content": %d%s}}`,
		kinds[p.kind].apiVersion, p.kind, p.name, p.note, own, p.content, defaults)
}

// evaluated is what the cluster's controller evaluates of it under the action of the policy.
func (p part) evaluated(action policyv1.RemediationAction) string {
	switch {
	case !kinds[p.kind].acts:
		return fmt.Sprint(p.kind, p.content)
	case action == "" || p.informsOnly():
		action = p.own
	}
	return fmt.Sprint(p.kind, p.content, action)
}

// informsOnly says that no policy makes it enforce. A constraint has no such action.
func (p part) informsOnly() bool { return p.own == "InformOnly" && p.kind != constraint }

func (p part) enforces(action policyv1.RemediationAction) bool {
	return kinds[p.kind].acts && !p.informsOnly() && (action == policyv1.Enforce || action == "" && p.own == policyv1.Enforce)
}

// fitsUnder says whether clusters comply with it under an action of the policy, unless it is bad.
func (p part) fitsUnder(action policyv1.RemediationAction) bool {
	return p.fits || kinds[p.kind].mends && p.enforces(action)
}

func templatesOf(parts []part) (all []policyv1.PolicyTemplate) {
	for _, p := range parts {
		template := policyv1.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Raw: []byte(p.object())}, IgnorePending: p.ignores}
		if dependency, is := p.dependency(parts); is {
			template.ExtraDependencies = []policyv1.PolicyDependency{dependency}
		}
		all = append(all, template)
	}
	return all
}

// dependency is what the template waits for.
func (p part) dependency(parts []part) (made policyv1.PolicyDependency, is bool) {
	if p.waitsFor == "" {
		return made, false
	}
	made.Name, made.Kind, made.APIVersion, made.Compliance = p.waitsFor, "Policy", kinds["ConfigurationPolicy"].apiVersion, policyv1.Compliant
	if i := slices.IndexFunc(parts, func(other part) bool { return other.name == p.waitsFor }); i >= 0 {
		made.Kind, made.APIVersion = parts[i].kind, kinds[parts[i].kind].apiVersion
	}
	return made, true
}
