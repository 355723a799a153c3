package dependency_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/dependency"
)

// P3, P4: each reason why a dependency is unmet, and what it adds to the message.
func TestReasonsAndMessages(t *testing.T) {
	const pending = "Dependencies were not satisfied: 1 is still pending (FooPolicy foo)"
	foo := dependency.Object{APIVersion: policyVersion, Kind: "FooPolicy", Namespace: cluster, Name: "foo"}
	policies := world("x: a(foo)")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0].Kind = "FooPolicy"
	for _, test := range []struct {
		name          string
		observation   dependency.Observation
		reason        dependency.Reason
		message, says string
	}{
		{
			"P3 another compliance", dependency.Observation{Compliance: dependency.NonCompliant},
			dependency.OtherCompliance, pending, "FooPolicy foo is NonCompliant, want Compliant",
		}, {
			"P3 a missing object", dependency.Observation{Problem: dependency.NotFound},
			dependency.NotFound, pending, "FooPolicy foo is not found, want Compliant",
		}, {
			"P3 a missing field, as the message says",
			dependency.Observation{Problem: dependency.FieldMissing, Detail: "status.compliant is missing"},
			dependency.FieldMissing, pending + "; FooPolicy foo has no compliance: status.compliant is missing",
			"FooPolicy foo has no compliance: status.compliant is missing",
		}, {
			"P3 no API", dependency.Observation{Problem: dependency.NoAPI},
			dependency.NoAPI, pending + "; FooPolicy foo can't be read: the cluster has no API for " + policyVersion + " FooPolicy",
			"FooPolicy foo can't be read: the cluster has no API for " + policyVersion + " FooPolicy",
		}, {
			"P3 a failed read, in one line", dependency.Observation{Problem: dependency.ReadFailed, Detail: "connection\nrefused"},
			dependency.ReadFailed, pending + "; FooPolicy foo can't be read: connection refused",
			"FooPolicy foo can't be read: connection refused",
		}, {
			"P3 another value", dependency.Observation{Compliance: "Weird"},
			dependency.UnknownValue,
			pending + `; FooPolicy foo has a compliance that is none of Compliant, NonCompliant and Pending: "Weird"`,
			`FooPolicy foo has a compliance that is none of Compliant, NonCompliant and Pending: "Weird"`,
		}, {
			"P3 not read so far", dependency.Observation{},
			dependency.NotRead, pending + "; FooPolicy foo was not read so far", "FooPolicy foo was not read so far",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := evaluate(policies, dependency.Observations{foo: test.observation})[0].Templates[0]
			want := []dependency.Unmet{{Object: foo, Want: dependency.Compliant, Reason: test.reason, Observation: test.observation}}
			if diff := cmp.Diff(want, result.Unmet); diff != "" {
				t.Error(diff)
			}
			if got := result.Message(); got != test.message {
				t.Errorf("message %q, want %q", got, test.message)
			}
			if got := result.Unmet[0].String(); got != test.says {
				t.Errorf("unmet %q, want %q", got, test.says)
			}
			if strings.Contains(result.Message(), "\n") {
				t.Errorf("more than a line: %q", result.Message())
			}
		})
	}
}

// P4: names are not validated here, and may hold anything.
func TestMessagesAreOneLine(t *testing.T) {
	policies := world("x: a(y #a)", "z: b(c)")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0].Name = "y\ny"
	policies[1].Spec.PolicyTemplates[0].ExtraDependencies = append(policies[1].Spec.PolicyTemplates[0].ExtraDependencies,
		dependency.Dependency{APIVersion: "v1", Kind: "A\r\nB", Compliance: "C\nD"})
	for _, r := range evaluate(policies, nil) {
		for _, template := range r.Templates {
			if strings.ContainsAny(template.Message(), "\r\n") {
				t.Errorf("more than a line: %q", template.Message())
			}
		}
	}
}

// P4: ready with every dependency met, whichever compliance it waits for; the unmet are sorted by kind and name.
func TestTemplatesAreReadyOrPending(t *testing.T) {
	policies := world("x: a(p #q! r?)")
	results := evaluate(policies, observed("p", "#q!", "r?"))
	if got := results[0].Templates[0]; got.State != dependency.StateReady || got.Message() != "" || len(got.Unmet) > 0 {
		t.Errorf("got %s, want ready and no message", got)
	}
	policies = world("x: a(z #z y #b)")
	want := "Dependencies were not satisfied: 4 are still pending (ConfigurationPolicy b, ConfigurationPolicy z, Policy y, Policy z)"
	if got := evaluate(policies, missing(policies, dependency.Observations{}))[0].Templates[0].Message(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// P5: a pending template with ignorePending counts as compliant, and says so.
func TestIgnorePending(t *testing.T) {
	policies := world("x: a(y)~ b", "z: c(y) d")
	results := evaluate(policies, missing(policies, dependency.Observations{}))
	observations := observed("#b", "#d")
	ignored, pending := results[0], results[1]
	if got := ignored.Compliance(observations); got != dependency.Compliant {
		t.Errorf("with ignorePending %q, want Compliant", got)
	}
	if got := pending.Compliance(observations); got != dependency.Pending {
		t.Errorf("without ignorePending %q, want Pending", got)
	}
	want := "Dependencies were not satisfied: 1 is still pending (Policy y); it counts as compliant because of ignorePending"
	if got := ignored.Templates[0].Message(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := ignored.Templates[0].State; got != dependency.StatePending {
		t.Errorf("state %s: ignorePending makes nothing ready", got)
	}
}

// P7: what each template counts as, and what they make together.
func TestComplianceOfAPolicy(t *testing.T) {
	for _, test := range []struct {
		name     string
		policy   string
		observed []string
		want     dependency.Compliance
	}{
		{"P7 NonCompliant if a template is, whatever else is pending", "x: a b(y) c", []string{"#a", "#c!"}, dependency.NonCompliant},
		{"P7 Pending if one is", "x: a b(y)", []string{"#a"}, dependency.Pending},
		{"P7 Pending if the template's object says so", "x: a", []string{"#a?"}, dependency.Pending},
		{"P7 Pending before unknown", "x: a b(y)", nil, dependency.Pending},
		{"P7 unknown if one is", "x: a b", []string{"#a"}, ""},
		{"P7 Compliant if all are", "x: a b", []string{"#a", "#b"}, dependency.Compliant},
		{"P7 over nothing unknown", "x:", nil, ""},
		{"P7 an invalid template is not compliant", "x: a b(y y!)", []string{"#a", "#b"}, dependency.NonCompliant},
		{"P7 what a pending template's object said before does not count", "x: a(y)", []string{"#a!"}, dependency.Pending},
		{"P5 ignorePending of a ready template hides nothing", "x: a~", []string{"#a!"}, dependency.NonCompliant},
		{"P5 nor of one that was not seen", "x: a~", nil, ""},
		{"P5 nor of an invalid one", "x: a(y y!)~", []string{"#a"}, dependency.NonCompliant},
		{"P7 a disabled policy says nothing", "-x: a", []string{"#a"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := evaluate(world(test.policy), nil)[0]
			if got := result.Compliance(observed(test.observed...)); got != test.want {
				t.Errorf("got %q, want %q of\n%s", got, test.want, result)
			}
		})
	}
	result := evaluate(world("x: a"), nil)[0]
	for _, observation := range []dependency.Observation{{Compliance: "Weird"}, {Problem: dependency.ReadFailed}, {}} {
		if got := result.Compliance(dependency.Observations{object("#a"): observation}); got != "" {
			t.Errorf("P7 with %v it is %q, want unknown", observation, got)
		}
	}
}
