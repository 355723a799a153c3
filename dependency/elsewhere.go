// SPDX-License-Identifier: Apache-2.0

package dependency

import "slices"

// kindName is an object's kind and name, whatever its apiVersion and namespace.
type kindName struct{ kind, name string }

func (o Object) kindName() kindName { return kindName{o.Kind, o.Name} }

// forgetKindName removes the target from byKindName.
func (e *Evaluator) forgetKindName(t *target) {
	key := t.object.kindName()
	e.byKindName[key] = slices.DeleteFunc(e.byKindName[key], func(other *target) bool { return other == t })
	if len(e.byKindName[key]) == 0 {
		delete(e.byKindName, key)
	}
}

// elsewhere gives the first other apiVersion in which a policy or a template has an object of the same kind and name, in the
// object's namespace or the cluster's.
func (e *Evaluator) elsewhere(object Object) (first string) {
	for _, target := range e.byKindName[object.kindName()] {
		if target.object.Namespace != object.Namespace && target.object.Namespace != e.cluster.namespace {
			continue
		}
		for _, version := range target.versions() {
			if version != object.APIVersion && (first == "" || version < first) {
				first = version
			}
		}
	}
	return first
}

// versions are the apiVersions in which policies and templates have the target.
func (t *target) versions() (versions []string) {
	if t.policy != nil {
		versions = append(versions, policyVersion)
	}
	for _, creator := range t.creators {
		versions = append(versions, creator.object.APIVersion)
	}
	return versions
}

// targetVersion is a target that was added or removed in an apiVersion.
type targetVersion struct {
	target  *target
	version string
}

// namedInOtherVersion gives the templates that name an object of the target's kind and name in another apiVersion.
func (e *Evaluator) namedInOtherVersion(version targetVersion) (templates []*template) {
	for _, other := range e.byKindName[version.target.object.kindName()] {
		for _, object := range other.objects {
			if object.APIVersion != version.version {
				templates = append(templates, object.dependents...)
			}
		}
	}
	return templates
}
