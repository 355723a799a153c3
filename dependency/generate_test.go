package dependency_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
)

// Names are few, so that objects meet. outside is no policy's, and no policy is called elsewhere.
func drawDependency(t *rapid.T, wants ...dependency.Compliance) dependency.Dependency {
	word := rapid.SampledFrom([]string{"p", "q", "r", "elsewhere", "#a", "#b", "#c", "#d", "#e", "#outside"}).Draw(t, "object")
	d := dependencyOf(word)
	d.Compliance = rapid.SampledFrom(wants).Draw(t, "want")
	return d
}

func allWants() []dependency.Compliance {
	return []dependency.Compliance{dependency.Compliant, dependency.NonCompliant, dependency.Pending}
}

func drawDependencies(t *rapid.T, most int, wants ...dependency.Compliance) []dependency.Dependency {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) dependency.Dependency {
		return drawDependency(t, wants...)
	}), 0, most).Draw(t, "dependencies")
}

// drawPolicy draws one whose templates are mostly alone to create what they do.
func drawPolicy(t *rapid.T, name string, wants ...dependency.Compliance) dependency.Policy {
	var p dependency.Policy
	p.Name, p.Namespace = name, cluster
	p.Spec.Disabled = rapid.IntRange(0, 9).Draw(t, "disabled") == 9
	p.Spec.Dependencies = drawDependencies(t, 1, wants...)
	for range rapid.IntRange(0, 3).Draw(t, "templates") {
		p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, dependency.PolicyTemplate{
			ObjectDefinition:  definition(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "template")),
			ExtraDependencies: drawDependencies(t, 2, wants...),
			IgnorePending:     rapid.IntRange(0, 3).Draw(t, "ignorePending") == 3,
		})
	}
	return p
}

func drawPolicies(t *rapid.T, wants ...dependency.Compliance) []dependency.Policy {
	var policies []dependency.Policy
	for _, name := range []string{"p", "q", "r"} {
		if rapid.IntRange(0, 5).Draw(t, "has "+name) > 0 {
			policies = append(policies, drawPolicy(t, name, wants...))
		}
	}
	return policies
}

func drawObservation(t *rapid.T) dependency.Observation {
	return rapid.SampledFrom([]dependency.Observation{
		{Compliance: dependency.Compliant},
		{Compliance: dependency.Compliant},
		{Compliance: dependency.NonCompliant},
		{Compliance: dependency.Pending},
		{Problem: dependency.NotFound},
		{Problem: dependency.NoAPI},
		{Problem: dependency.FieldMissing, Detail: "status.compliant is missing"},
		{Problem: dependency.UnknownValue, Detail: "x"},
		{Problem: dependency.ReadFailed, Detail: "timeout"},
		{},
	}).Draw(t, "observation")
}

// drawObservations draws what is known of all objects that the policies name.
func drawObservations(t *rapid.T, policies []dependency.Policy) dependency.Observations {
	observations := dependency.Observations{}
	for _, o := range watches(policies) {
		if observation := drawObservation(t); observation != (dependency.Observation{}) {
			observations[o] = observation
		}
	}
	return observations
}

func watches(policies []dependency.Policy) []dependency.Object {
	e := dependency.NewEvaluator(cluster)
	if _, err := e.Set(policies...); err != nil {
		panic(fmt.Sprint(err))
	}
	return e.Watches()
}

// clone copies what tests change in policies.
func clone(policies []dependency.Policy) []dependency.Policy {
	policies = slices.Clone(policies)
	for i := range policies {
		spec := &policies[i].Spec
		spec.Dependencies = slices.Clone(spec.Dependencies)
		spec.PolicyTemplates = slices.Clone(spec.PolicyTemplates)
		for j := range spec.PolicyTemplates {
			spec.PolicyTemplates[j].ExtraDependencies = slices.Clone(spec.PolicyTemplates[j].ExtraDependencies)
		}
	}
	return policies
}
