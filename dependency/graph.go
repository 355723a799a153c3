// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A policy's templates name objects. An object leads to its target. A target leads to the templates that provide it:
// the templates that create it and, if it is a policy, also the policy's templates.
//
//	template ──named──▶ object ──▶ target ──▶ template
//	    ▲                 │
//	    └───dependents────┘
//
// Templates and targets are the nodes of the graph in which cycles are found. With targets as separate nodes the graph
// is only as large as the policies: n templates that name an object and m templates that create it make n+m edges, not
// n·m.

// policy is a given policy. It keeps only what its templates wait for.
type policy struct {
	name      string
	disabled  bool
	templates []*template
	target    *target
}

// template is a template of a policy, with what it names and creates. It names nothing if the policy is disabled.
type template struct {
	node
	policy        *policy
	index         int
	object        Object
	ignorePending bool
	err           error
	// named is sorted by object.
	named []requirement
	// unnamed says that the template also names something that is no object.
	unnamed bool
	// creates is the target that the template creates, nil if unknown.
	creates *target
}

// requirement is an object that a template names, and the compliance to wait for.
type requirement struct {
	*object
	want policyv1.ComplianceState
}

// reason says why the object is not as wanted. It is empty if it is. A ConstraintTemplate that is wanted NonCompliant
// must not exist (P3).
func (r requirement) reason() Reason {
	if r.want == policyv1.NonCompliant && r.isConstraintTemplate() {
		switch {
		case r.observation.Problem == ReasonNotFound:
			return ""
		case r.observation.exists():
			return ReasonOtherCompliance
		}
	}
	return r.observation.reason(r.want)
}

// object is an object that templates name.
type object struct {
	Object
	observation Observation
	dependents  []*template // Sorted.
	target      *target
}

// target is an object without its version.
type target struct {
	node
	object Object
	// policy is the given policy that the target is, if any.
	policy *policy
	// creators are the templates that create the target, sorted.
	creators []*template
	// objects are those that lead to the target, in any order.
	objects []*object
	// vague says that the target leads to a template with an unnamed dependency, which could mean any object (P1).
	vague bool
}

// alsoIn gives the other policies with a template that creates the same object, in order. Templates that are invalid, or
// of a disabled policy, create nothing.
func (t *template) alsoIn() []string {
	if t.creates == nil {
		return nil
	}
	var others []string
	for _, creator := range t.creates.creators {
		if creator.competesWith(t) {
			others = append(others, creator.policy.name)
		}
	}
	return slices.Compact(others)
}

func (t *template) competesWith(other *template) bool {
	return t.policy != other.policy && t.err == nil && !t.policy.disabled
}

// behind gives the first policy by name that comes before this template's, and has a ready template for the same object. It is
// empty if there is none.
func (t *template) behind() string {
	if t.creates == nil {
		return ""
	}
	for _, creator := range t.creates.creators { // sorted by policy
		if creator.policy.name >= t.policy.name {
			return ""
		}
		if creator.competesWith(t) && creator.isReady() {
			return creator.policy.name
		}
	}
	return ""
}

// loses says whether a policy before this one by name creates the same object without waiting. If the first by name waits, it does
// not follow from the policies which one has the object.
func (t *template) loses() bool {
	if t.creates == nil {
		return false
	}
	return slices.ContainsFunc(t.creates.creators, func(other *template) bool {
		return other.competesWith(t) && len(other.named) == 0 && other.policy.name < t.policy.name
	})
}

// isReady says whether all that the template names is as it must be.
func (t *template) isReady() bool {
	unmet := func(requirement requirement) bool { return t.reason(requirement) != "" }
	return !t.policy.disabled && t.err == nil && !slices.ContainsFunc(t.named, unmet)
}

// andLater gives the templates, sorted, and those that come after them while they are ready (P10).
func andLater(templates []*template) []*template {
	all := slices.Clone(templates)
	for _, template := range templates {
		if template.creates == nil || template.policy.disabled || template.err != nil {
			continue
		}
		for _, creator := range template.creates.creators {
			if creator.policy.name > template.policy.name && creator.competesWith(template) {
				all = append(all, creator)
			}
		}
	}
	slices.SortFunc(all, (*template).compare)
	return slices.CompactFunc(all, func(a, b *template) bool { return a.compare(b) == 0 })
}

func (t *template) ref() TemplateRef { return TemplateRef{t.policy.name, t.index} }

func (t *template) compare(other *template) int { return t.ref().compare(other.ref()) }

// with adds t to sorted templates, and without removes it. A change adds policies in the order of their names and
// removes them in reverse, so that a change of all policies moves no elements.
func with(sorted []*template, t *template) []*template {
	at, _ := slices.BinarySearchFunc(sorted, t, (*template).compare)
	return slices.Insert(sorted, at, t)
}

func without(sorted []*template, t *template) []*template {
	at, _ := slices.BinarySearchFunc(sorted, t, (*template).compare)
	return slices.Delete(sorted, at, at+1)
}

func (o *object) refs() []TemplateRef {
	concerned := andLater(o.dependents)
	refs := make([]TemplateRef, len(concerned))
	for i, template := range concerned {
		refs[i] = template.ref()
	}
	return refs
}

// policyObject gives the name under which the policy is found.
func (e *Evaluator) policyObject(name string) Object {
	return e.cluster.find(Object{APIVersion: policyVersion, Kind: policyKind, Name: name})
}

// object gives the object of this name, and adds it if there is none.
func (e *Evaluator) object(o Object) (named *object, added bool) {
	if named, found := e.objects[o]; found {
		return named, false
	}
	named = &object{Object: o, target: e.target(o)}
	named.target.objects = append(named.target.objects, named)
	e.objects[o] = named
	return named, true
}

// target gives the target of this name, and adds it if there is none.
func (e *Evaluator) target(object Object) *target {
	object = object.unversioned()
	if target, found := e.targets[object]; found {
		return target
	}
	target := &target{object: object}
	target.node.target = target
	e.targets[object] = target
	e.addAlike(target)
	return target
}

// forget removes the target if nothing is connected to it.
func (e *Evaluator) forget(target *target) {
	if target.policy == nil && len(target.creators) == 0 && len(target.objects) == 0 {
		delete(e.targets, target.object)
		e.forgetAlike(target)
	}
}
