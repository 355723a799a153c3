// SPDX-License-Identifier: Apache-2.0

package dependencies

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	policyGroup   = "policy.open-cluster-management.io"
	policyVersion = policyGroup + "/v1"
)

// kinds are those that policies consist of and depend on.
func kinds() (all []string) {
	for _, kind := range []string{"Policy", "PolicySet", "ConfigurationPolicy", "CertificatePolicy", "IamPolicy", "OperatorPolicy"} {
		all = append(all, policyGroup+"/"+kind)
	}
	return all
}

// input holds what the files say of one cluster.
type input struct {
	namespace string
	policies  []*policyv1.Policy
	// from is where each policy was read, by name.
	from         map[string]manifest.Object
	observations map[dependency.Object]dependency.Observation
	// kinds are those that templates may have beside OCM's.
	kinds []schema.GroupKind
}

// read sorts out objects. An empty namespace stands for the namespace of the first policy that has one.
func read(objects []manifest.Object, namespace string) (*input, error) {
	in := &input{
		namespace:    namespace,
		from:         map[string]manifest.Object{},
		observations: map[dependency.Object]dependency.Observation{},
	}
	for _, o := range objects {
		if in.namespace == "" && isPolicy(o) {
			in.namespace = o.GetNamespace()
		}
	}
	first := map[dependency.Object]manifest.Object{}
	matters := mattering(objects)
	for _, o := range objects {
		if err := o.Mistyped(kinds()...); err != nil {
			return nil, err
		}
		if !matters(o) {
			continue
		}
		name := in.name(o)
		if name.Name == "" {
			return nil, o.Fault(field.Required(field.NewPath("metadata", "name"), "must be given: an object of the cluster has one"))
		}
		if err := in.add(o, name); err != nil {
			return nil, o.Fault(err)
		}
		if other, found := first[name]; found {
			err := field.Duplicate(field.NewPath("metadata", "name"), name.Name)
			err.Detail = "must not be given twice: it stands at " + other.At.String()
			return nil, o.Fault(err)
		}
		first[name] = o
	}
	return in, nil
}

// mattering tells the objects of which something may be said: policies, what they create and what they wait for. A collection of policies
// has others beside them, which may lack a name or stand twice.
func mattering(objects []manifest.Object) func(manifest.Object) bool {
	named := make(map[schema.GroupKind]bool)
	var find func(value any)
	find = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			kind, _ := value["kind"].(string)
			version, _ := value["apiVersion"].(string)
			gv, _ := schema.ParseGroupVersion(version)
			named[schema.GroupKind{Group: gv.Group, Kind: kind}] = true
			for _, below := range value {
				find(below)
			}
		case []any:
			for _, element := range value {
				find(element)
			}
		}
	}
	policies := slices.DeleteFunc(slices.Clone(objects), func(o manifest.Object) bool { return !isPolicy(o) })
	for _, o := range policies {
		spec, _ := o.Object["spec"].(map[string]any)
		find(spec["dependencies"])
		templates, _ := spec["policy-templates"].([]any)
		for _, template := range templates {
			fields, _ := template.(map[string]any)
			find(fields["extraDependencies"])
			definition, _ := fields["objectDefinition"].(map[string]any)
			find(map[string]any{"kind": definition["kind"], "apiVersion": definition["apiVersion"]})
		}
	}
	return func(o manifest.Object) bool {
		gvk := o.GroupVersionKind()
		return len(policies) == 0 || gvk.Group == policyGroup || gvk.Kind == "CustomResourceDefinition" || named[gvk.GroupKind()]
	}
}

// namespacesOf are those of the policies to evaluate, by name.
func namespacesOf(objects []manifest.Object) (all []string) {
	for _, o := range objects {
		if isPolicy(o) && o.GetNamespace() != "" {
			all = append(all, o.GetNamespace())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// without leaves out the policies, and what has their group, of the other namespaces.
func without(objects []manifest.Object, namespaces []string, namespace string) []manifest.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o manifest.Object) bool {
		other := o.GetNamespace()
		return o.GroupVersionKind().Group == policyGroup && other != namespace && slices.Contains(namespaces, other)
	})
}

// name gives the name of the object on the cluster. Policies, and all that have their group and a kind that ends like
// theirs, are in the cluster's namespace, whatever files say.
func (in *input) name(o manifest.Object) dependency.Object {
	name := dependency.Object{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	if o.GroupVersionKind().Group == policyGroup && strings.HasSuffix(name.Kind, "Policy") {
		name.Namespace = in.namespace
	}
	return name
}

func isPolicy(o manifest.Object) bool {
	return o.GroupVersionKind().Group == policyGroup && o.GetKind() == "Policy" && o.Object["spec"] != nil
}

func (in *input) add(o manifest.Object, name dependency.Object) error {
	in.observations[name] = dependency.ObservationOf(&o.Unstructured, nil)
	if o.GetKind() == "CustomResourceDefinition" && o.GetLabels()[policyGroup+"/policy-type"] == "template" {
		kind := schema.GroupKind{}
		kind.Group, _, _ = unstructured.NestedString(o.Object, "spec", "group")
		kind.Kind, _, _ = unstructured.NestedString(o.Object, "spec", "names", "kind")
		in.kinds = append(in.kinds, kind)
	}
	if o.GroupVersionKind().Group != policyGroup || o.GetKind() != "Policy" {
		return nil
	}
	if v := o.GetAPIVersion(); v != policyVersion {
		return field.NotSupported(field.NewPath("apiVersion"), v, []string{policyVersion})
	}
	if errs := policyFields().refuse(o.Object, nil); len(errs) > 0 {
		return errors.Join(errs...)
	}
	if !isPolicy(o) {
		return nil
	}
	p, err := dependency.PolicyOf(&o.Unstructured)
	if err != nil {
		return err
	}
	if p.Namespace != "" && p.Namespace != in.namespace {
		return field.Invalid(field.NewPath("metadata", "namespace"), p.Namespace,
			fmt.Sprintf("must be the cluster's namespace %q, or empty", in.namespace))
	}
	in.policies = append(in.policies, p)
	in.from[p.Name] = o
	return nil
}

// cluster has the results of the policies in its namespace.
type cluster struct {
	namespace string
	results   []result
}

// result says where a policy stands.
type result struct {
	dependency.Evaluation
	compliance policyv1.ComplianceState
	actions    []dependency.Action
}

// evaluate gives the result of each policy, sorted by name.
func (in *input) evaluate() ([]result, error) {
	evaluator := dependency.NewEvaluator(in.namespace, nil, in.allKinds()...)
	watches, err := evaluator.Set(in.policies...)
	if err != nil {
		return nil, err
	}
	for _, o := range watches.Add {
		observation, found := in.observations[o]
		if !found {
			observation.Problem = dependency.ReasonNotFound
		}
		evaluator.Observe(o, observation)
	}
	// What the input does not hold does not exist.
	own := maps.Clone(in.observations)
	for _, given := range in.policies {
		p, _ := evaluator.Policy(given.Name)
		for _, template := range p.Templates {
			if _, found := own[template.Object]; !found {
				own[template.Object] = dependency.Observation{Problem: dependency.ReasonNotFound}
			}
		}
	}
	var results []result
	slices.SortFunc(in.policies, func(a, b *policyv1.Policy) int { return cmp.Compare(a.Name, b.Name) })
	for _, given := range in.policies {
		p, _ := evaluator.Policy(given.Name)
		results = append(results, result{p, p.Compliance(own, ""), p.Actions(own)})
	}
	return results, nil
}

// allKinds are those that templates may have.
func (in *input) allKinds() []schema.GroupKind { return append(dependency.Kinds(), in.kinds...) }

// faults gives an error of one line that names the faults of all templates, each once.
func (in *input) faults(results []result) error {
	var all []string
	for _, r := range results {
		var faults []string
		for _, template := range r.Templates {
			if template.Err == nil {
				continue
			}
			for _, fault := range strings.Split(template.Err.Error(), "\n") {
				if !slices.Contains(faults, fault) { // all templates may share it
					faults = append(faults, fault)
				}
			}
		}
		if len(faults) > 0 {
			all = append(all, in.from[r.Policy].Fault(errors.New(strings.Join(faults, "\n"))).Error())
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}
