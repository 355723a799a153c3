package dependency

import (
	"fmt"
	"slices"
)

// Verb says what to do with an object of a template.
type Verb string

const (
	// VerbCreate says that the template is ready and its object is missing.
	VerbCreate Verb = "create"
	// VerbUpdate says that the template is ready and its object is there: bring it to its definition, if it
	// differs.
	VerbUpdate Verb = "update"
	// VerbDelete says that the object must not be there. What it created goes with it.
	VerbDelete Verb = "delete"
	// VerbLeave says that nothing is to be done: the object is missing and may not be created, or it is there and
	// stays as it is. The message says why.
	VerbLeave Verb = "leave"
)

// Action says what to do with one object.
type Action struct {
	Verb Verb
	// Object is the object to create, update, delete or leave. An active object is named as it was given.
	Object Object
	// Template is the template's place in its policy. It is -1 if no template creates the object.
	Template int
	// Message says why. It is empty where the verb says enough.
	Message string
}

// String is like "delete ConfigurationPolicy a: Dependencies were not satisfied: …".
func (a Action) String() string {
	s := fmt.Sprintf("%s %s", a.Verb, a.Object)
	if a.Message != "" {
		s += ": " + a.Message
	}
	return s
}

// Actions compares the evaluation with active: the objects that templates of this policy have on the cluster, in any
// order and version. It gives one action for each template, in their order, then one for each other active object,
// sorted. Don't pass objects of other policies: Actions deletes what no template of this policy creates. A template
// whose object has no namespace has the active object of its kind and name in any namespace.
//
// Nothing is deleted because something is unknown. So a template's object stays while each of its unmet dependencies
// could not be read, was not read, or waits or may wait for the template itself. It also stays while the template is
// invalid. An object that no template creates stays while some template does not say what it creates. The message says so.
func (e Evaluation) Actions(active []Object) []Action {
	left := newActive(active)
	actions := make([]Action, len(e.Templates), len(e.Templates)+len(left.objects))
	has := make([]bool, len(e.Templates)) // Whether the template's object is active.
	unnamed := -1
	for i, template := range e.Templates {
		if template.Object == (Object{}) && template.State != StateDisabled {
			unnamed = i
		}
		var o Object
		o, has[i] = left.take(template.Object.unversioned())
		actions[i] = template.action(i, o, has[i])
	}
	// Only an object that no template names exactly can belong to a template without a namespace.
	for i, template := range e.Templates {
		if has[i] {
			continue
		}
		if o, found := left.takeAnywhere(template.Object.unversioned()); found {
			actions[i] = template.action(i, o, true)
		}
	}
	for _, o := range left.objects {
		a := Action{Verb: VerbDelete, Object: o, Template: -1, Message: "no template of the policy creates it"}
		if unnamed >= 0 {
			a.Verb = VerbLeave
			a.Message = fmt.Sprintf("kept, since template %d does not say what it creates", unnamed)
		}
		actions = append(actions, a)
	}
	slices.SortFunc(actions[len(e.Templates):], func(a, b Action) int { return a.Object.compare(b.Object) })
	return actions
}

// action gives what to do with the template's object. Active says whether it is on the cluster, as the given object.
func (t TemplateEvaluation) action(index int, active Object, isActive bool) Action {
	a := Action{Verb: VerbLeave, Object: active, Template: index, Message: t.Message()}
	unread := func(u Unmet) bool { return u.Reason.keeps() && u.Reason != ReasonOnCycle }
	switch {
	case t.State == StateReady && !isActive:
		a.Verb, a.Object = VerbCreate, t.Object
	case t.State == StateReady:
		a.Verb = VerbUpdate
	case !isActive:
		a.Object = t.Object
	case t.State == StateInvalid:
		a.Message = "kept, since the template is invalid: " + a.Message
	case !t.keeps():
		a.Verb = VerbDelete
	case slices.ContainsFunc(t.Unmet, unread):
		a.Message = "kept, since it is not known what it waits for: " + a.Message
	default:
		a.Message = "kept, since templates that wait for each other may be a change that is under way: " + a.Message
	}
	return a
}

// active holds the active objects that no template has taken yet.
type active struct {
	objects map[Object]Object   // Keyed by the object without its version.
	named   map[Object][]Object // The keys of objects, by the key without its namespace.
}

func newActive(objects []Object) active {
	a := active{make(map[Object]Object, len(objects)), make(map[Object][]Object)}
	for _, o := range slices.SortedFunc(slices.Values(objects), Object.compare) {
		key := o.unversioned()
		if _, twice := a.objects[key]; !twice {
			a.objects[key] = o
			a.named[key.anywhere()] = append(a.named[key.anywhere()], key)
		}
	}
	return a
}

// take gives the active object that a template creates, and forgets it.
func (a active) take(key Object) (Object, bool) {
	o, found := a.objects[key]
	delete(a.objects, key)
	return o, found
}

// takeAnywhere takes an object in any namespace, if the template's definition leaves the namespace open.
func (a active) takeAnywhere(created Object) (Object, bool) {
	for _, key := range a.named[created] {
		if o, found := a.take(key); found {
			return o, true
		}
	}
	return Object{}, false
}

// anywhere gives the object without its namespace.
func (o Object) anywhere() Object {
	o.Namespace = ""
	return o
}
