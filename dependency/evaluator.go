package dependency

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Evaluator evaluates the policies of one managed cluster, and evaluates them again as they or what they wait for
// change. The cost of a change grows with the templates that name what changed, not with all there are (P8). The
// zero value serves a cluster whose namespace is empty, as a generator has it.
//
// Methods that change an evaluator (Set, Delete, Observe) must not run at the same time as any other of its
// methods; the others may run at the same time. What methods return is the caller's, but for cycles, which
// must not be changed.
type Evaluator struct {
	clusterNamespace string

	policies map[string]*policy
	// objects are those that templates name, as they name them.
	objects map[Object]*object
	// targets are those that templates name or that are given, in whichever version.
	targets map[Object]*target
}

// NewEvaluator returns an evaluator without policies for the cluster with this namespace.
func NewEvaluator(clusterNamespace string) *Evaluator {
	return &Evaluator{clusterNamespace: clusterNamespace}
}

// Changes is what a caller has to do after policies changed.
type Changes struct {
	// Templates are to be evaluated again, sorted: those of the policies that were set, and those of others
	// that came onto a cycle, left one or are on one that changed. Everything of a deleted policy is left to
	// the caller: see the zero PolicyResult.
	Templates []TemplateRef
	// Watch are the objects that templates name and none named before, sorted. They are not known until Observe
	// is told of them.
	Watch []Object
	// Unwatch are the objects that no template names any more, sorted. What was observed of them is forgotten.
	Unwatch []Object
}

// Set adds policies, each in place of the one of its name if there is one, as one change. Nothing of them is kept
// but names and compliances.
//
// It returns an error and changes nothing if a policy has no name, has a namespace other than the cluster's, or
// is given twice; it holds a *field.Error for each. Faults of a template are no error here, but the template's
// result. The cost is linear in what is given and, if others wait for that, in all that it waits for itself, over
// any number of steps: cycles are searched for there only.
func (e *Evaluator) Set(policies ...Policy) (Changes, error) {
	if err := e.check(policies); err != nil {
		return Changes{}, err
	}
	templates := 0
	for i := range policies {
		templates += len(policies[i].Spec.PolicyTemplates)
	}
	c := e.change(len(policies), templates)
	byName := make(map[string]*Policy, len(policies))
	for i := range policies {
		byName[policies[i].Name] = &policies[i]
	}
	names := slices.Sorted(maps.Keys(byName))
	c.remove(names)
	for _, name := range names {
		c.add(byName[name])
	}
	return c.finish(), nil
}

// Delete removes the policies of these names, as one change. Names of no policy are passed over.
func (e *Evaluator) Delete(names ...string) Changes {
	c := e.change(0, 0)
	c.remove(slices.Sorted(slices.Values(names)))
	return c.finish()
}

// change begins a change that adds this many policies and templates.
func (e *Evaluator) change(policies, templates int) *change {
	if e.policies == nil {
		e.policies = make(map[string]*policy, policies)
		e.objects = make(map[Object]*object, policies)
		e.targets = make(map[Object]*target, policies+templates)
	}
	return &change{Evaluator: e}
}

// Observe tells what is known of an object now, and returns the templates to evaluate again, sorted: those that
// name the object, or none if that was known before. An object that no template names is not remembered. The
// cost grows with the templates that name the object.
func (e *Evaluator) Observe(o Object, observation Observation) []TemplateRef {
	named, found := e.objects[o]
	if !found || named.observation == observation {
		return nil
	}
	named.observation = observation
	return named.refs()
}

// Dependents returns the templates that name the object, sorted. An object is named as [Dependency.Object]
// returns it. Templates of disabled policies name none.
func (e *Evaluator) Dependents(o Object) []TemplateRef {
	if named, found := e.objects[o]; found {
		return named.refs()
	}
	return nil
}

// Watches returns the objects to watch: all that templates name, sorted.
func (e *Evaluator) Watches() []Object {
	return slices.SortedFunc(maps.Keys(e.objects), Object.Compare)
}

// Policy returns the result of the policy of this name on the cluster, and whether there is one.
func (e *Evaluator) Policy(name string) (PolicyResult, bool) {
	p, found := e.policies[name]
	if !found {
		return PolicyResult{}, false
	}
	return p.result(), true
}

// Template returns the result of one template, and whether there is one, without looking at the others of its
// policy.
func (e *Evaluator) Template(ref TemplateRef) (TemplateResult, bool) {
	p, found := e.policies[ref.Policy]
	if !found || ref.Index < 0 || ref.Index >= len(p.templates) {
		return TemplateResult{}, false
	}
	return p.templates[ref.Index].result(), true
}

// Policies returns the results of all policies, sorted by name.
func (e *Evaluator) Policies() []PolicyResult {
	results := make([]PolicyResult, 0, len(e.policies))
	for _, p := range e.sorted() {
		results = append(results, p.result())
	}
	return results
}

// Evaluate returns the results of policies on the cluster with this namespace, sorted by name: what an
// [Evaluator] returns that was given the policies and the observations. Its errors are those of
// [Evaluator.Set].
func Evaluate(clusterNamespace string, policies []Policy, observations Observations) ([]PolicyResult, error) {
	e := NewEvaluator(clusterNamespace)
	if _, err := e.Set(policies...); err != nil {
		return nil, err
	}
	for _, named := range e.objects {
		named.observation = observations[named.Object]
	}
	return e.Policies(), nil
}

func (e *Evaluator) sorted() []*policy {
	names := slices.Sorted(maps.Keys(e.policies))
	sorted := make([]*policy, len(names))
	for i, name := range names {
		sorted[i] = e.policies[name]
	}
	return sorted
}

func (e *Evaluator) check(policies []Policy) error {
	var errs field.ErrorList
	given := make(map[string]bool, len(policies))
	for _, p := range policies {
		path := field.NewPath("metadata")
		switch {
		case p.Name == "":
			errs = append(errs, field.Required(path.Child("name"), "a policy is known by its name"))
		case given[p.Name]:
			errs = append(errs, field.Duplicate(path.Child("name"), p.Name))
		case p.Namespace != "" && p.Namespace != e.clusterNamespace:
			errs = append(errs, field.Invalid(path.Child("namespace"), p.Namespace, fmt.Sprintf(
				"policy %s is evaluated on the cluster: want its namespace %q, or none", p.Name, e.clusterNamespace)))
		}
		given[p.Name] = true
	}
	return fielderrs.Join(errs)
}
