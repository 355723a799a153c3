// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"
	"strings"
)

// alike is what a mistaken dependency has in common with the object that it means: the kind in lower case, and the name. A
// policy is also alike by its name on the hub, since a dependency is renamed only where it is on a Policy.
type alike struct{ kind, name string }

func (o Object) alike() []alike {
	kind := strings.ToLower(o.Kind)
	keys := []alike{{kind, o.Name}}
	if _, name, found := strings.Cut(o.Name, "."); found && strings.EqualFold(kind, policyKind) {
		keys = append(keys, alike{kind, name})
	}
	return keys
}

func (e *Evaluator) addAlike(t *target) {
	for _, key := range t.object.alike() {
		e.byAlike[key] = append(e.byAlike[key], t)
	}
}

func (e *Evaluator) forgetAlike(t *target) {
	for _, key := range t.object.alike() {
		e.byAlike[key] = slices.DeleteFunc(e.byAlike[key], func(other *target) bool { return other == t })
		if len(e.byAlike[key]) == 0 {
			delete(e.byAlike, key)
		}
	}
}

// elsewhere gives the first object of a policy or a template that a dependency of this policy would name if its apiVersion and
// its kind were those of the object. Exact says whether there is also one as the dependency says.
func (e *Evaluator) elsewhere(policy string, dependency Object) (first Object, exact bool) {
	for _, key := range dependency.alike() {
		for _, target := range e.byAlike[key] {
			for _, object := range target.given() {
				switch {
				case object == dependency:
					exact = true
				case e.means(policy, dependency, object) && (first == (Object{}) || object.compare(first) < 0):
					first = object
				}
			}
		}
	}
	return first, exact
}

// given are the objects that the target is, as policies and templates have them.
func (t *target) given() (objects []Object) {
	if t.policy != nil {
		object := t.object
		object.APIVersion = policyVersion
		objects = append(objects, object)
	}
	for _, creator := range t.creators {
		objects = append(objects, creator.object)
	}
	return objects
}

// means says whether a dependency of the policy would name the object if its apiVersion and its kind were those of the object.
func (e *Evaluator) means(policy string, dependency, object Object) bool {
	if !strings.EqualFold(dependency.Kind, object.Kind) {
		return false
	}
	corrected := dependency
	corrected.APIVersion, corrected.Kind = object.APIVersion, object.Kind
	if e.cluster.find(corrected) == object {
		return true
	}
	if dependency.isPolicy() || object.group() != policyGroup || object.Kind != policyKind {
		return false
	}
	// It was on no Policy, so it was not renamed on the hub. Without a namespace it got the cluster's where its kind is namespaced.
	hubNamespace, _, _ := strings.Cut(policy, ".")
	return object.Name == replicatedName(hubNamespace, dependency.Namespace, dependency.Name) ||
		dependency.Namespace == e.cluster.namespace && object.Name == replicatedName(hubNamespace, "", dependency.Name)
}

// told gives the templates with a message that may name another object once this one appears or disappears: they mean it, or
// name it where they may also mean another.
func (e *Evaluator) told(given Object) (templates []*template) {
	concerns := func(policy string, dependency Object) bool {
		if dependency != given {
			return e.means(policy, dependency, given)
		}
		other, _ := e.elsewhere(policy, dependency)
		return other != (Object{})
	}
	for _, key := range given.alike() {
		for _, other := range e.byAlike[key] {
			for _, object := range other.objects {
				for _, dependent := range object.dependents {
					if concerns(dependent.policy.name, object.Object) {
						templates = append(templates, dependent)
					}
				}
			}
		}
	}
	return templates
}
