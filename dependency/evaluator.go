// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Evaluator evaluates the policies of one managed cluster, each time that they or the objects that they wait for change. A
// change takes time in proportion to the templates that name the changed object, not to all templates.
//
// An Evaluator is safe for concurrent use, and must not be copied. The zero value is ready to use, for a cluster with
// an empty namespace, as generators have it. Results are the caller's.
type Evaluator struct {
	cluster cluster
	kinds   kinds

	mu       sync.Mutex
	policies map[string]*policy
	// objects are the objects that templates name, as they name them.
	objects map[Object]*object
	// targets are what templates name or create, and the given policies, without versions.
	targets map[Object]*target
	// byAlike are the targets by kind and name, to find what mistaken dependencies mean.
	byAlike map[alike][]*target
	// unnamed counts the templates with a dependency that names no object.
	unnamed int
	// searches counts the calls of findComponents.
	searches uint32
}

// NewEvaluator makes an evaluator without policies for the cluster with this namespace.
//
// Scope says which kinds are cluster-scoped (meta.RESTScopeNameRoot) and which are namespaced
// (meta.RESTScopeNameNamespace). It gives "" for a kind that it does not know. A RESTMapper knows it:
//
//	func(kind schema.GroupKind) meta.RESTScopeName {
//		mapping, err := mapper.RESTMapping(kind)
//		if err != nil {
//			return ""
//		}
//		return mapping.Scope.Name()
//	}
//
// An object of a cluster-scoped kind has no namespace, whatever a policy says. One of a namespaced kind is in the
// cluster's namespace if a template creates it, or if a dependency names it without a namespace. An object of an
// unknown kind is where the policy says. Where scope is nil, and for kinds that it does not know, those of Gatekeeper's
// groups are cluster-scoped. Policies need no scope: they are always in the cluster's namespace.
//
// Kinds are those that templates may have. Without any, they are those of [Kinds].
func NewEvaluator(clusterNamespace string, scope func(schema.GroupKind) meta.RESTScopeName, kinds ...schema.GroupKind) *Evaluator {
	return &Evaluator{cluster: cluster{clusterNamespace, scope}, kinds: slices.Clone(kinds)}
}

// Watches says what a caller has to do after policies changed.
type Watches struct {
	// Add are the objects to watch that no template named before, sorted. Pass their state to [Evaluator.Observe].
	Add []Object
	// Remove are the objects that no template names any more, sorted. Their observations are forgotten.
	Remove []Object
	// Templates are the templates to evaluate again, sorted: all templates of the policies that were set, and templates
	// of other policies with a cycle that appeared, changed or disappeared, or with the same object as a template that was
	// added or removed. The caller deletes the objects of a deleted policy: see [Evaluation].
	Templates []TemplateRef
}

// Set adds policies, or replaces those with the same name, as one change. It keeps only their names and compliances.
//
// It is an error if a policy is nil, has no name, has a namespace other than the cluster's, or is given twice; then
// nothing changes. The error has a *field.Error for each. The faults of templates are in their evaluations, and no
// errors here. Set takes time linear in the given policies. If other templates wait for these, it searches for cycles,
// in time linear in all that the given policies wait for, directly or through others. While a dependency names no
// object, it looks at all policies.
func (e *Evaluator) Set(policies ...*policyv1.Policy) (Watches, error) {
	if err := e.check(policies); err != nil {
		return Watches{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	templates := 0
	for _, policy := range policies {
		templates += len(policy.Spec.PolicyTemplates)
	}
	change := e.change(len(policies), templates)
	byName := make(map[string]*policyv1.Policy, len(policies))
	for _, policy := range policies {
		byName[policy.Name] = policy
	}
	names := slices.Sorted(maps.Keys(byName))
	change.remove(names)
	for _, name := range names {
		change.add(byName[name])
	}
	return change.finish(), nil
}

// Delete removes the policies with these names, as one change. Unknown names are skipped.
func (e *Evaluator) Delete(names ...string) Watches {
	e.mu.Lock()
	defer e.mu.Unlock()
	change := e.change(0, 0)
	change.remove(slices.Sorted(slices.Values(names)))
	return change.finish()
}

// change begins a change that adds this many policies and templates.
func (e *Evaluator) change(policies, templates int) *change {
	if e.policies == nil {
		e.policies = make(map[string]*policy, policies)
		e.objects = make(map[Object]*object, policies)
		e.targets = make(map[Object]*target, templates)
		e.byAlike = make(map[alike][]*target, templates)
	}
	return &change{Evaluator: e, wasVague: e.unnamed > 0}
}

// Observe tells the evaluator the present state of an object. It gives the templates to evaluate again, sorted: those that
// name the object, and those with the same object as one of these, or none if nothing changed. An object that no template names is not remembered. It takes time in
// proportion to the templates that name the object.
func (e *Evaluator) Observe(object Object, observation Observation) []TemplateRef {
	e.mu.Lock()
	defer e.mu.Unlock()
	named, found := e.objects[object]
	if !found {
		named, found = e.objects[e.cluster.find(object)]
	}
	if !found || named.observation == observation {
		return nil
	}
	named.observation = observation
	return named.refs()
}

// Policy gives the evaluation of the policy with this name on the cluster, and whether there is one. Where there is none, the
// evaluation has no templates: its actions delete the policy's objects.
func (e *Evaluator) Policy(name string) (Evaluation, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	policy, found := e.policies[name]
	if !found {
		return Evaluation{Policy: name}, false
	}
	return e.evaluate(policy), true
}

// all gives the evaluations of all policies, sorted by name.
func (e *Evaluator) all() []Evaluation {
	e.mu.Lock()
	defer e.mu.Unlock()
	evaluations := make([]Evaluation, 0, len(e.policies))
	for _, policy := range e.sorted() {
		evaluations = append(evaluations, e.evaluate(policy))
	}
	return evaluations
}

func (e *Evaluator) sorted() []*policy {
	names := slices.Sorted(maps.Keys(e.policies))
	sorted := make([]*policy, len(names))
	for i, name := range names {
		sorted[i] = e.policies[name]
	}
	return sorted
}

func (e *Evaluator) check(policies []*policyv1.Policy) error {
	var errs field.ErrorList
	given := make(map[string]bool, len(policies))
	for i, policy := range policies {
		path := field.NewPath("policies").Index(i)
		switch {
		case policy == nil:
			errs = append(errs, field.Required(path, "must not be nil"))
			continue
		case policy.Name == "":
			errs = append(errs, field.Required(path.Child("metadata", "name"), "must be given: a policy is known by its name"))
			continue
		}
		path = field.NewPath("policies").Key(policy.Name)
		switch {
		case given[policy.Name]:
			errs = append(errs, field.Duplicate(path.Child("metadata", "name"), policy.Name))
		case policy.Namespace != "" && policy.Namespace != e.cluster.namespace:
			errs = append(errs, field.Invalid(path.Child("metadata", "namespace"), policy.Namespace,
				fmt.Sprintf("must be the cluster's namespace %q, or empty", e.cluster.namespace)))
		}
		given[policy.Name] = true
	}
	return fielderrs.Join(errs)
}
