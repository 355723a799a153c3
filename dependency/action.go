package dependency

import (
	"fmt"
	"slices"
)

// Verb is what to do with an object of a template.
type Verb string

const (
	// Create: the template is ready and its object is missing.
	Create Verb = "Create"
	// Keep: leave the object as it is; bring it to its definition if the template is ready.
	Keep Verb = "Keep"
	// Delete: the object is not to be there. What it created goes with it.
	Delete Verb = "Delete"
	// Wait: the object is missing, and may not be created.
	Wait Verb = "Wait"
)

// Action is what to do with one object (P6).
type Action struct {
	Verb Verb
	// Object is what to create, keep or delete: the latter two as it was given as active.
	Object Object
	// Template is the template's place in its policy, or -1 if no template creates the object.
	Template int
	// Message is why, empty where the verb says it.
	Message string
}

// String is like "Delete ConfigurationPolicy a: Dependencies were not satisfied: …".
func (a Action) String() string {
	s := fmt.Sprintf("%s %s", a.Verb, a.Object)
	if a.Message != "" {
		s += ": " + a.Message
	}
	return s
}

// Actions compares the result with active, the objects that templates of this policy have on the cluster, in
// any order and whichever version (P6). Don't pass objects of other policies: what no template of this one
// creates is deleted. A template whose definition has no namespace creates the object of its kind and name
// in whichever namespace it is active. It returns one action for each template, in their order, then one
// for each other active object, sorted.
//
// Nothing is deleted because of what could not be read: not while every unmet dependency is ReadFailed or
// NotRead, not while the template is invalid, and not an object that no template creates while a template
// doesn't say what it creates. The message says so.
func (r PolicyResult) Actions(active []Object) []Action {
	left := newActive(active)
	actions := make([]Action, len(r.Templates), len(r.Templates)+len(left.objects))
	unnamed := -1
	for i, template := range r.Templates {
		if template.Object == (Object{}) && template.State != StateDisabled {
			unnamed = i
		}
		actions[i] = template.action(left.take(template.Object.unversioned()))
		actions[i].Template = i
	}
	// Only what no template names exactly can be that of one without a namespace.
	for i, template := range r.Templates {
		if actions[i].Verb != Create && actions[i].Verb != Wait {
			continue
		}
		if o, found := left.takeAnywhere(template.Object.unversioned()); found {
			actions[i] = template.action(o, true)
			actions[i].Template = i
		}
	}
	for _, o := range left.objects {
		a := Action{Verb: Delete, Object: o, Template: -1, Message: "no template of the policy creates it"}
		if unnamed >= 0 {
			a.Verb = Keep
			a.Message = fmt.Sprintf("kept, since template %d does not say what it creates", unnamed)
		}
		actions = append(actions, a)
	}
	slices.SortFunc(actions[len(r.Templates):], func(a, b Action) int { return a.Object.Compare(b.Object) })
	return actions
}

// action is what to do with the template's object, which is active as the one given.
func (r TemplateResult) action(active Object, isActive bool) Action {
	switch {
	case r.State == StateReady && !isActive:
		return Action{Verb: Create, Object: r.Object}
	case !isActive:
		return Action{Verb: Wait, Object: r.Object, Message: r.Message()}
	case r.State == StateReady:
		return Action{Verb: Keep, Object: active}
	case r.State == StateInvalid:
		return Action{Verb: Keep, Object: active, Message: "kept, since the template is invalid: " + r.Message()}
	}
	read := func(unmet Unmet) bool { return !unmet.Reason.unknown() }
	if len(r.Unmet) > 0 && !slices.ContainsFunc(r.Unmet, read) {
		return Action{Verb: Keep, Object: active, Message: "kept, since it could not be read what it waits for: " + r.Message()}
	}
	return Action{Verb: Delete, Object: active, Message: r.Message()}
}

// active is the active objects that no template has taken yet.
type active struct {
	objects map[Object]Object   // by what they are but for the version
	named   map[Object][]Object // the keys of objects, by what they are but for the namespace, too
}

func newActive(objects []Object) active {
	a := active{make(map[Object]Object, len(objects)), make(map[Object][]Object)}
	for _, o := range slices.SortedFunc(slices.Values(objects), Object.Compare) {
		key := o.unversioned()
		if _, twice := a.objects[key]; !twice {
			a.objects[key] = o
			a.named[key.anywhere()] = append(a.named[key.anywhere()], key)
		}
	}
	return a
}

// take gives the active object that a template creates, and no longer has it afterwards.
func (a active) take(key Object) (Object, bool) {
	o, found := a.objects[key]
	delete(a.objects, key)
	return o, found
}

// takeAnywhere is take where the object may have got a namespace that the template's definition leaves open;
// where it leaves none open, nothing is found.
func (a active) takeAnywhere(created Object) (Object, bool) {
	for _, key := range a.named[created] {
		if o, found := a.take(key); found {
			return o, true
		}
	}
	return Object{}, false
}

// anywhere is the object without its namespace.
func (o Object) anywhere() Object {
	o.Namespace = ""
	return o
}
