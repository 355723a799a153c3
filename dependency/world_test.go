// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	cluster       = "managed"
	policyVersion = "policy.open-cluster-management.io/v1"
	gatekeeper    = "templates.gatekeeper.sh/v1"
)

// known is what is known of each object.
type known = map[dependency.Object]dependency.Observation

// world reads policies from lines like
//
//	x(z): a(y #b!)~ b
//
// which is the policy x with the dependency Policy z, and with the templates a and b, ConfigurationPolicies. a
// has ignorePending and waits for Policy y to be Compliant and for ConfigurationPolicy b to be NonCompliant. A
// question mark stands for Pending, and an asterisk for a mistaken compliance. # alone names no object. A name
// that begins with + is a ConstraintTemplate's, with = a constraint's, with @ an OperatorPolicy's, and with % a
// ConfigMap's, of which there must be no template. A policy with a name that begins with - is disabled.
func world(lines ...string) []*policyv1.Policy {
	policies := make([]*policyv1.Policy, len(lines))
	for i, line := range lines {
		head, rest, found := strings.Cut(line, ":")
		if !found {
			panic("no colon in " + line)
		}
		p := new(policyv1.Policy)
		policies[i] = p
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
			p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, policyv1.PolicyTemplate{
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
func item(s string) (name string, dependencies []policyv1.PolicyDependency, ignorePending bool) {
	s = strings.TrimSpace(s)
	ignorePending = strings.HasSuffix(s, "~")
	name, list, _ := strings.Cut(strings.TrimSuffix(s, "~"), "(")
	for _, word := range strings.Fields(strings.TrimSuffix(list, ")")) {
		dependencies = append(dependencies, dependencyOf(word))
	}
	return name, dependencies, ignorePending
}

func dependencyOf(word string) policyv1.PolicyDependency {
	var d policyv1.PolicyDependency
	d.APIVersion, d.Kind, d.Compliance = policyVersion, "Policy", policyv1.Compliant
	d.APIVersion, d.Kind, word = kindOf(word, "Policy")
	switch {
	case strings.HasSuffix(word, "!"):
		d.Compliance = policyv1.NonCompliant
	case strings.HasSuffix(word, "?"):
		d.Compliance = policyv1.Pending
	case strings.HasSuffix(word, "*"):
		d.Compliance = "compliant"
	}
	d.Name = strings.TrimRight(word, "!?*")
	return d
}

// kindOf reads the sign before a name.
func kindOf(word, unsigned string) (apiVersion, kind, name string) {
	for sign, of := range map[string][2]string{
		"#": {policyVersion, "ConfigurationPolicy"}, "@": {"policy.open-cluster-management.io/v1beta1", "OperatorPolicy"},
		"+": {gatekeeper, "ConstraintTemplate"}, "=": {"constraints.gatekeeper.sh/v1beta1", "K8sThing"}, "%": {"v1", "ConfigMap"},
	} {
		if strings.HasPrefix(word, sign) {
			return of[0], of[1], word[1:]
		}
	}
	return policyVersion, unsigned, word
}

// found is what a dependency names, on the cluster: policies in its namespace, all else in none (P2).
func found(d policyv1.PolicyDependency) dependency.Object {
	o := dependency.Object{APIVersion: d.APIVersion, Kind: d.Kind, Name: d.Name}
	if strings.HasPrefix(d.APIVersion, "policy.open-cluster-management.io/") && strings.HasSuffix(d.Kind, "Policy") {
		o.Namespace = cluster
	}
	return o
}

// created is what a template creates, on the cluster.
func created(template policyv1.PolicyTemplate) dependency.Object {
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(template.ObjectDefinition.Raw); err != nil {
		panic(err)
	}
	return found(policyv1.PolicyDependency{TypeMeta: metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()}, Name: u.GetName()})
}

// objectOf names an object that was read.
func objectOf(u *unstructured.Unstructured) dependency.Object {
	return dependency.Object{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// compareObjects orders objects as the package does.
func compareObjects(a, b dependency.Object) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name),
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.APIVersion, b.APIVersion))
}

// compareRefs orders templates as the package does.
func compareRefs(a, b dependency.TemplateRef) int {
	return cmp.Or(strings.Compare(a.Policy, b.Policy), cmp.Compare(a.Index, b.Index))
}

// object is what a word of a world names.
func object(word string) dependency.Object {
	return found(dependencyOf(word))
}

func definition(name string) runtime.RawExtension {
	apiVersion, kind, name := kindOf(name, "ConfigurationPolicy")
	return runtime.RawExtension{Raw: fmt.Appendf(nil,
		`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":{"remediationAction":"inform"}}`, apiVersion, kind, name)}
}

// observed reads words like "y", "#b!" or "#c?": the object and the compliance it has.
func observed(words ...string) known {
	observations := make(known, len(words))
	for _, word := range words {
		d := dependencyOf(word)
		observations[found(d)] = dependency.Observation{Compliance: d.Compliance}
	}
	return observations
}

// having observes objects that the policy has.
func having(policy string, objects ...dependency.Object) known {
	observations := make(known, len(objects))
	for _, o := range objects {
		observations[o] = dependency.Observation{Policy: policy}
	}
	return observations
}

// of makes the policy the owner of the observed objects that belong to no policy.
func of(policy string, observations known) known {
	own := make(known, len(observations))
	for o, observation := range observations {
		if observation.Policy == "" && observation.Problem == "" && observation.Compliance != "" {
			observation.Policy = policy
		}
		own[o] = observation
	}
	return own
}

// lines is the results as text.
func lines(results []dependency.Evaluation) string {
	texts := make([]string, len(results))
	for i, r := range results {
		texts[i] = r.String()
	}
	return strings.Join(texts, "\n")
}

// evaluate is Evaluate for worlds. Their policies are never refused.
func evaluate(policies []*policyv1.Policy, observations known) []dependency.Evaluation {
	results, err := dependency.Evaluate(cluster, policies, observations, nil)
	if err != nil {
		panic(err)
	}
	return results
}
