package dependency_test

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/dependency"
)

const (
	cluster       = "managed"
	policyVersion = "policy.open-cluster-management.io/v1"
)

// world reads policies from lines like
//
//	x(z): a(y #b!)~ b
//
// which is the policy x with the dependency Policy z, and with the templates a and b, ConfigurationPolicies. a
// has ignorePending and waits for Policy y to be Compliant and for ConfigurationPolicy b to be NonCompliant. A
// question mark stands for Pending. A policy whose name begins with - is disabled.
func world(lines ...string) []dependency.Policy {
	policies := make([]dependency.Policy, len(lines))
	for i, line := range lines {
		head, rest, found := strings.Cut(line, ":")
		if !found {
			panic("no colon in " + line)
		}
		p := &policies[i]
		p.APIVersion, p.Kind, p.Namespace = policyVersion, "Policy", cluster
		p.Name, p.Spec.Dependencies, _ = item(head)
		p.Name, p.Spec.Disabled = strings.TrimPrefix(p.Name, "-"), strings.HasPrefix(p.Name, "-")
		for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
			end := strings.IndexByte(rest, ' ')
			if open := strings.IndexByte(rest, '('); open >= 0 && (end < 0 || open < end) {
				end = strings.IndexByte(rest, ')') + 1
				end += len(rest[end:]) - len(strings.TrimLeft(rest[end:], "~"))
			}
			if end < 0 {
				end = len(rest)
			}
			name, extra, ignorePending := item(rest[:end])
			p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, dependency.PolicyTemplate{
				ObjectDefinition:  definition(name),
				ExtraDependencies: extra,
				IgnorePending:     ignorePending,
			})
			rest = rest[end:]
		}
	}
	return policies
}

// item reads "name(dependencies)~".
func item(s string) (name string, dependencies []dependency.Dependency, ignorePending bool) {
	s = strings.TrimSpace(s)
	ignorePending = strings.HasSuffix(s, "~")
	name, list, _ := strings.Cut(strings.TrimSuffix(s, "~"), "(")
	for _, word := range strings.Fields(strings.TrimSuffix(list, ")")) {
		dependencies = append(dependencies, dependencyOf(word))
	}
	return name, dependencies, ignorePending
}

func dependencyOf(word string) dependency.Dependency {
	d := dependency.Dependency{APIVersion: policyVersion, Kind: "Policy", Compliance: dependency.Compliant}
	if strings.HasPrefix(word, "#") {
		d.Kind, word = "ConfigurationPolicy", word[1:]
	}
	switch {
	case strings.HasSuffix(word, "!"):
		d.Compliance = dependency.NonCompliant
	case strings.HasSuffix(word, "?"):
		d.Compliance = dependency.Pending
	}
	d.Name = strings.TrimRight(word, "!?")
	return d
}

// object is what a word of a world names.
func object(word string) dependency.Object {
	return dependencyOf(word).Object(cluster)
}

func definition(name string) runtime.RawExtension {
	return runtime.RawExtension{Raw: fmt.Appendf(nil,
		`{"apiVersion":%q,"kind":"ConfigurationPolicy","metadata":{"name":%q},"spec":{"remediationAction":"inform"}}`,
		policyVersion, name)}
}

// observed reads words like "y", "#b!" or "#c?": the object and the compliance it has.
func observed(words ...string) dependency.Observations {
	observations := make(dependency.Observations, len(words))
	for _, word := range words {
		d := dependencyOf(word)
		observations[d.Object(cluster)] = dependency.Observation{Compliance: d.Compliance}
	}
	return observations
}

// lines is the results as text.
func lines(results []dependency.PolicyResult) string {
	texts := make([]string, len(results))
	for i, r := range results {
		texts[i] = r.String()
	}
	return strings.Join(texts, "\n")
}

// evaluate is Evaluate for worlds, whose policies are never refused.
func evaluate(policies []dependency.Policy, observations dependency.Observations) []dependency.PolicyResult {
	results, err := dependency.Evaluate(cluster, policies, observations)
	if err != nil {
		panic(err)
	}
	return results
}
