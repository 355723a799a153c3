// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Names are few, so that objects meet. outside is no policy's, and no policy is called elsewhere.
func drawDependency(t *rapid.T, wants ...policyv1.ComplianceState) policyv1.PolicyDependency {
	word := rapid.SampledFrom([]string{"p", "q", "r", "elsewhere", "#a", "#b", "#c", "#d", "#e", "#outside", "+g", "+h", "=k", "@o", "@a", "%m"}).Draw(t, "object")
	d := dependencyOf(word)
	d.Compliance = rapid.SampledFrom(wants).Draw(t, "want")
	// Few have a mistake, and none where all are wanted Compliant, for the laws of what becomes ready.
	if len(wants) > 1 && rapid.IntRange(0, 19).Draw(t, "mistaken") == 19 {
		rapid.SampledFrom(mistakes()).Draw(t, "mistake").spoil(&d)
	}
	return d
}

func allWants() []policyv1.ComplianceState {
	return []policyv1.ComplianceState{policyv1.Compliant, policyv1.NonCompliant, policyv1.Pending}
}

func drawDependencies(t *rapid.T, most int, wants ...policyv1.ComplianceState) []policyv1.PolicyDependency {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) policyv1.PolicyDependency {
		return drawDependency(t, wants...)
	}), 0, most).Draw(t, "dependencies")
}

// drawPolicy draws one whose templates are mostly alone to create what they do.
func drawPolicy(t *rapid.T, name string, wants ...policyv1.ComplianceState) *policyv1.Policy {
	p := new(policyv1.Policy)
	p.Name, p.Namespace = name, cluster
	p.Spec.Disabled = rapid.IntRange(0, 9).Draw(t, "disabled") == 9
	p.Spec.Dependencies = drawDependencies(t, 1, wants...)
	for range rapid.IntRange(0, 3).Draw(t, "templates") {
		p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, drawPolicyTemplate(t, "", wants...))
	}
	// Few are as large as those of users, with names of their own for most of their templates.
	if rapid.IntRange(0, 7).Draw(t, "large") == 7 {
		for i := range rapid.IntRange(1, 27).Draw(t, "more templates") {
			p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, drawPolicyTemplate(t, fmt.Sprintf("%s-%d", name, i), wants...))
		}
	}
	return p
}

// drawPolicyTemplate draws a template that is called so, or where that is empty, like one of other policies.
func drawPolicyTemplate(t *rapid.T, name string, wants ...policyv1.ComplianceState) policyv1.PolicyTemplate {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "+g", "=k", "@o", "@a", "%m"}).Draw(t, "template")
	if name != "" {
		word = rapid.SampledFrom([]string{"", "+", "=", "@"}).Draw(t, "kind") + name
	}
	return policyv1.PolicyTemplate{
		ObjectDefinition:  definition(word),
		ExtraDependencies: drawDependencies(t, 2, wants...),
		IgnorePending:     rapid.IntRange(0, 3).Draw(t, "ignorePending") == 3,
	}
}

// drawEdit draws what an author makes of a policy: templates are added, removed, renamed, reordered or edited alone.
func drawEdit(t *rapid.T, p *policyv1.Policy, wants ...policyv1.ComplianceState) *policyv1.Policy {
	p = clone([]*policyv1.Policy{p})[0]
	templates := &p.Spec.PolicyTemplates
	if len(*templates) == 0 {
		*templates = append(*templates, drawPolicyTemplate(t, "", wants...))
		return p
	}
	at := rapid.IntRange(0, len(*templates)-1).Draw(t, "which template")
	switch rapid.SampledFrom([]string{"add", "remove", "rename", "reorder", "edit", "ignore"}).Draw(t, "edit") {
	case "add":
		*templates = slices.Insert(*templates, at, drawPolicyTemplate(t, "", wants...))
	case "remove":
		*templates = slices.Delete(*templates, at, at+1)
	case "rename":
		(*templates)[at].ObjectDefinition = definition(rapid.SampledFrom([]string{"a", "b", "@b", "renamed"}).Draw(t, "name"))
	case "reorder":
		*templates = rapid.Permutation(*templates).Draw(t, "order")
	case "edit":
		(*templates)[at].ExtraDependencies = drawDependencies(t, 2, wants...)
	case "ignore":
		(*templates)[at].IgnorePending = !(*templates)[at].IgnorePending
	}
	return p
}

func drawPolicies(t *rapid.T, wants ...policyv1.ComplianceState) []*policyv1.Policy {
	var policies []*policyv1.Policy
	for _, name := range []string{"p", "q", "r"} {
		if rapid.IntRange(0, 5).Draw(t, "has "+name) > 0 {
			policies = append(policies, drawPolicy(t, name, wants...))
		}
	}
	return policies
}

func drawObservation(t *rapid.T) dependency.Observation {
	return rapid.SampledFrom([]dependency.Observation{
		{Compliance: policyv1.Compliant},
		{Compliance: policyv1.Compliant},
		{Compliance: policyv1.NonCompliant},
		{Compliance: policyv1.Pending},
		{Problem: dependency.ReasonNotFound},
		{Problem: dependency.ReasonNoAPI},
		{Problem: dependency.ReasonFieldMissing, Detail: "status.compliant is missing"},
		{Problem: dependency.ReasonUnknownValue, Detail: "x"},
		{Problem: dependency.ReasonReadFailed, Detail: "timeout"},
		{},
	}).Draw(t, "observation")
}

// drawObservations draws what is known of all objects that the policies name.
func drawObservations(t *rapid.T, policies []*policyv1.Policy) known {
	observations := known{}
	for _, o := range watches(policies) {
		if observation := drawObservation(t); observation != (dependency.Observation{}) {
			observations[o] = observation
		}
	}
	return observations
}

func watches(policies []*policyv1.Policy) []dependency.Object {
	changes, err := dependency.NewEvaluator(cluster, nil).Set(policies...)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return changes.Add
}

// clone copies what tests change in policies.
func clone(policies []*policyv1.Policy) []*policyv1.Policy {
	policies = slices.Clone(policies)
	for i := range policies {
		copied := *policies[i]
		policies[i] = &copied
		spec := &copied.Spec
		spec.Dependencies = slices.Clone(spec.Dependencies)
		spec.PolicyTemplates = slices.Clone(spec.PolicyTemplates)
		for j := range spec.PolicyTemplates {
			spec.PolicyTemplates[j].ExtraDependencies = slices.Clone(spec.PolicyTemplates[j].ExtraDependencies)
		}
	}
	return policies
}
