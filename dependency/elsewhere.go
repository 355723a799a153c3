package dependency

import "slices"

// call is what people call an object.
type call struct{ kind, name string }

func (o Object) call() call { return call{o.Kind, o.Name} }

// uncall forgets what the target is called.
func (e *Evaluator) uncall(t *target) {
	key := t.object.call()
	e.called[key] = slices.DeleteFunc(e.called[key], func(other *target) bool { return other == t })
	if len(e.called[key]) == 0 {
		delete(e.called, key)
	}
}

// elsewhere gives the first apiVersion other than the object's in which a policy or a template has an object that is called
// the same, in its namespace or the cluster's.
func (e *Evaluator) elsewhere(o Object) (first string) {
	for _, t := range e.called[o.call()] {
		if t.object.Namespace != o.Namespace && t.object.Namespace != e.cluster.namespace {
			continue
		}
		for _, version := range t.versions() {
			if version != o.APIVersion && (first == "" || version < first) {
				first = version
			}
		}
	}
	return first
}

// versions are those in which the target is known to be there.
func (t *target) versions() (versions []string) {
	if t.policy != nil {
		versions = append(versions, policyVersion)
	}
	for _, creator := range t.creators {
		versions = append(versions, creator.object.APIVersion)
	}
	return versions
}

// moved is a target that came or went in a version.
type moved struct {
	target  *target
	version string
}

// mistaken gives the templates that name something which is called like what moved, in another apiVersion.
func (e *Evaluator) mistaken(m moved) (mistaken []*template) {
	for _, other := range e.called[m.target.object.call()] {
		for _, o := range other.objects {
			if o.APIVersion != m.version {
				mistaken = append(mistaken, o.dependents...)
			}
		}
	}
	return mistaken
}
