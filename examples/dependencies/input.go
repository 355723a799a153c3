package main

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/examples/internal/manifest"
)

const policyGroup = "policy.open-cluster-management.io"

// input is what the files say of one cluster.
type input struct {
	namespace string
	policies  []dependency.Policy
	// from is where each policy was read, by name.
	from         map[string]manifest.Object
	observations dependency.Observations
	// owned are the objects that have the policy of this name for their owner.
	owned map[string][]dependency.Object
}

// read sorts out objects. An empty namespace stands for that of the first policy that has one.
func read(objects []manifest.Object, namespace string) (*input, error) {
	in := &input{
		namespace:    namespace,
		from:         map[string]manifest.Object{},
		observations: dependency.Observations{},
		owned:        map[string][]dependency.Object{},
	}
	for _, o := range objects {
		if in.namespace == "" && isPolicy(o) {
			in.namespace = o.GetNamespace()
		}
	}
	first := map[dependency.Object]manifest.Object{}
	for _, o := range objects {
		name := dependency.ObjectOf(&o.Unstructured).Lookup(in.namespace)
		if name.Name == "" {
			return nil, o.Fault(field.Required(field.NewPath("metadata", "name"), "an object of the cluster has one"))
		}
		if err := in.add(o, name); err != nil {
			return nil, o.Fault(err)
		}
		if other, found := first[name]; found {
			err := field.Duplicate(field.NewPath("metadata", "name"), name.Name)
			err.Detail = "given before at " + other.At.String()
			return nil, o.Fault(err)
		}
		first[name] = o
	}
	return in, nil
}

// isPolicy says whether o is a policy to evaluate.
func isPolicy(o manifest.Object) bool {
	return o.GroupVersionKind().Group == policyGroup && o.GetKind() == "Policy" && o.Object["spec"] != nil
}

func (in *input) add(o manifest.Object, name dependency.Object) error {
	in.observations[name] = dependency.ObservationOf(&o.Unstructured, nil)
	for _, owner := range o.GetOwnerReferences() {
		if owner.Kind == "Policy" && strings.HasPrefix(owner.APIVersion, policyGroup+"/") {
			in.owned[owner.Name] = append(in.owned[owner.Name], name)
		}
	}
	if !isPolicy(o) {
		return nil
	}
	p, err := dependency.PolicyOf(&o.Unstructured)
	if err != nil {
		return err
	}
	// All policies are evaluated together. Alone, one that is refused is known by its place.
	if _, err := dependency.Evaluate(in.namespace, []dependency.Policy{p}, nil); err != nil {
		return err
	}
	in.policies = append(in.policies, p)
	in.from[p.Name] = o
	return nil
}

// result is where a policy stands.
type result struct {
	dependency.PolicyResult
	compliance dependency.Compliance
	actions    []dependency.Action
}

// evaluate returns the result of each policy, sorted by name.
func (in *input) evaluate() ([]result, error) {
	evaluator := dependency.NewEvaluator(in.namespace)
	changes, err := evaluator.Set(in.policies...)
	if err != nil {
		return nil, err
	}
	for _, o := range changes.Watch {
		observation, found := in.observations[o]
		if !found {
			observation.Problem = dependency.NotFound
		}
		evaluator.Observe(o, observation)
	}
	var results []result
	for _, p := range evaluator.Policies() {
		active := in.owned[p.Policy]
		for _, template := range p.Templates {
			if _, found := in.observations[template.Object]; found {
				active = append(active, template.Object)
			}
		}
		results = append(results, result{p, p.Compliance(in.observations), p.Actions(active)})
	}
	return results, nil
}

// faults returns an error of one line that names the faults of all templates, each once.
func (in *input) faults(results []result) error {
	var all []string
	for _, r := range results {
		said := map[string]bool{}
		var faults []error
		for _, template := range r.Templates {
			for _, fault := range each(template.Err) {
				if !said[fault.Error()] {
					said[fault.Error()] = true
					faults = append(faults, fault)
				}
			}
		}
		if len(faults) > 0 {
			all = append(all, in.from[r.Policy].Fault(errors.Join(faults...)).Error())
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(all, "; "))
}

// each returns the errors that err joins.
func each(err error) []error {
	switch err := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	default:
		return []error{err}
	}
}
