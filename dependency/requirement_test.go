package dependency_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/dependency"
)

// P1: what a template depends on, and where it contradicts itself.
func TestDependenciesAreTheUnion(t *testing.T) {
	for _, test := range []struct {
		name     string
		policies []dependency.Policy
		observed []string
		want     string
	}{
		{
			"P1 of the policy's and the template's own",
			world("x(y): a(z) b"), nil,
			`Policy x
  [0] ConfigurationPolicy a: Pending: Dependencies were not satisfied: 2 are still pending (Policy y, Policy z)
  [1] ConfigurationPolicy b: Pending: Dependencies were not satisfied: 1 is still pending (Policy y)`,
		}, {
			"P1 the same object with the same compliance is one dependency",
			world("x(y y): a(y)"), nil,
			`Policy x
  [0] ConfigurationPolicy a: Pending: Dependencies were not satisfied: 1 is still pending (Policy y)`,
		}, {
			"P1 a conflict within extraDependencies is an error of that template",
			world("x: a(y y!) b"), nil,
			`Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.policy-templates[0].extraDependencies[0].compliance for the same Policy y
  [1] ConfigurationPolicy b: Ready`,
		}, {
			"P1 a conflict with the policy's is an error of that template, at its own field",
			world("x(y): a(y?) b"), []string{"y"},
			`Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[0].compliance: Invalid value: "Pending": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
  [1] ConfigurationPolicy b: Ready`,
		}, {
			"P1 a conflict within the policy's is an error of all templates, once each",
			world("x(y z y!): a(y) b"), []string{"y"},
			`Policy x
  [0] ConfigurationPolicy a: Invalid: spec.dependencies[2].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
  [1] ConfigurationPolicy b: Invalid: spec.dependencies[2].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y`,
		}, {
			"P1 names that differ are two objects",
			world("x: a(y #y!)"), []string{"y", "#y!"},
			`Policy x
  [0] ConfigurationPolicy a: Ready`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			results := evaluate(test.policies, missing(test.policies, observed(test.observed...)))
			if diff := cmp.Diff(test.want, lines(results)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// missing adds to observations that every other object that the policies name is not found.
func missing(policies []dependency.Policy, observations dependency.Observations) dependency.Observations {
	for _, o := range watches(policies) {
		if _, found := observations[o]; !found {
			observations[o] = dependency.Observation{Problem: dependency.NotFound}
		}
	}
	return observations
}

// P1: on the cluster, policies in two namespaces of the dependencies are one object (P2), and contradict.
func TestConflictsAreAmongWhatIsLookedUp(t *testing.T) {
	policies := world("x: a(y y!)")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[1].Namespace = "elsewhere"
	if got := evaluate(policies, nil)[0].Templates[0].State; got != dependency.StateInvalid {
		t.Errorf("state %s, want Invalid: policies are looked up in the cluster's namespace", got)
	}

	for i := range policies[0].Spec.PolicyTemplates[0].ExtraDependencies {
		d := &policies[0].Spec.PolicyTemplates[0].ExtraDependencies[i]
		d.APIVersion, d.Kind = "example.com/v1", "Widget"
	}
	if got := evaluate(policies, nil)[0].Templates[0].State; got != dependency.StatePending {
		t.Errorf("state %s, want Pending: other kinds are looked up where the dependency says", got)
	}
}

// P1: a dependency that names no object, or no compliance, is an error with the path of each field.
func TestDependenciesThatNameNothingAreErrors(t *testing.T) {
	policies := world("x: a(y)", "z(y): b c")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0] = dependency.Dependency{}
	policies[1].Spec.Dependencies[0].Compliance = "compliant"
	policies[1].Spec.Dependencies[0].APIVersion = "a/b/c"
	results := evaluate(policies, nil)
	want := `Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[0].apiVersion: Required value: a dependency names one object; spec.policy-templates[0].extraDependencies[0].kind: Required value: a dependency names one object; spec.policy-templates[0].extraDependencies[0].name: Required value: a dependency names one object; spec.policy-templates[0].extraDependencies[0].compliance: Unsupported value: "": supported values: "Compliant", "NonCompliant", "Pending"
Policy z
  [0] ConfigurationPolicy b: Invalid: spec.dependencies[0].apiVersion: Invalid value: "a/b/c": want version or group/version; spec.dependencies[0].compliance: Unsupported value: "compliant": supported values: "Compliant", "NonCompliant", "Pending"
  [1] ConfigurationPolicy c: Invalid: spec.dependencies[0].apiVersion: Invalid value: "a/b/c": want version or group/version; spec.dependencies[0].compliance: Unsupported value: "compliant": supported values: "Compliant", "NonCompliant", "Pending"`
	if diff := cmp.Diff(want, lines(results)); diff != "" {
		t.Error(diff)
	}
	if named := watches(policies); len(named) > 0 {
		t.Errorf("what names nothing is to be watched: %v", named)
	}
	var fieldError *field.Error
	if err := results[0].Templates[0].Err; !errors.As(err, &fieldError) ||
		fieldError.Field != "spec.policy-templates[0].extraDependencies[0].apiVersion" {
		t.Errorf("errors.As finds %v in %v", fieldError, err)
	}
}

// P1: templates share the faults of their policy, and have their own beside them.
func TestFaultsOfThePolicyAndOfItsTemplates(t *testing.T) {
	policies := world("x(y y! y? z): a(z z!) b(z z?)")
	results := evaluate(policies, nil)
	common := `spec.dependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
spec.dependencies[2].compliance: Invalid value: "Pending": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
`
	for i, own := range []string{
		`spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[3].compliance for the same Policy z`,
		`spec.policy-templates[1].extraDependencies[1].compliance: Invalid value: "Pending": conflicts with Compliant at spec.dependencies[3].compliance for the same Policy z`,
	} {
		if diff := cmp.Diff(common+own, results[0].Templates[i].Err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}
