// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/internal/clauses"
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
	// stays as it is, or it is not the policy's. The message says why.
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

// String is like "delete ConfigurationPolicy a; reason: Dependencies were not satisfied: …".
func (a Action) String() string {
	text := fmt.Sprintf("%s %s", a.Verb, a.Object)
	if a.Verb == VerbLeave {
		text += " as it is"
	}
	if a.Message != "" {
		if a.Verb == VerbDelete { // what it says is why, and no consequence
			return text + "; reason: " + a.Message
		}
		text += ": " + a.Message
	}
	return text
}

// Actions compares the evaluation with observations: what was read of the objects that templates of the cluster's policies
// may have, under the names that they have there, in any version. An object without an observation is missing. Objects of
// other policies may be among them. The result has one action for each template, in their order, then one for each other
// object that this policy has, sorted. A template with an object without a namespace has the policy's object of its kind and name
// in any namespace.
//
// An existing object that belongs to another policy, or to none, is not touched: the verb is VerbLeave, and the message names
// the policy. If the object does not exist and templates of several policies are ready to create it, the first policy by name
// does.
//
// Nothing is deleted because something is unknown. A template's object stays while each of its unmet dependencies could
// not be read, was not read, or waits or may wait for the template itself. It also stays while the template is invalid, and
// while the object itself could not be read. An object that no template creates stays while some template does not say what
// it creates. The message says so.
func (e Evaluation) Actions(observations map[Object]Observation) []Action {
	untaken := newActive(e.Policy, observations)
	actions := make([]Action, len(e.Templates), len(e.Templates)+len(untaken.objects))
	has := make([]bool, len(e.Templates)) // Whether the template's object is active.
	unnamed := -1
	for i, template := range e.Templates {
		if template.Object == (Object{}) && template.State != StateDisabled {
			unnamed = i
		}
		var object Object
		object, has[i] = untaken.take(template.Object.unversioned())
		actions[i] = template.action(e.Policy, i, object, observations)
	}
	// Only an object that no template names exactly can belong to a template without a namespace.
	for i, template := range e.Templates {
		if has[i] {
			continue
		}
		if object, found := untaken.takeAnywhere(template.Object.unversioned()); found {
			actions[i] = template.action(e.Policy, i, object, observations)
		}
	}
	for _, object := range untaken.own() {
		action := Action{Verb: VerbDelete, Object: object, Template: -1, Message: "no template of the policy creates it"}
		if unnamed >= 0 {
			action.Verb = VerbLeave
			action.Message = fmt.Sprintf("template %d does not say what it creates", unnamed)
		}
		actions = append(actions, action)
	}
	slices.SortFunc(actions[len(e.Templates):], func(a, b Action) int { return a.Object.compare(b.Object) })
	return actions
}

// action gives what to do with the template's object. Active is the object as it was observed, zero where it was not.
func (t TemplateEvaluation) action(policy string, index int, active Object, observations map[Object]Observation) Action {
	action := Action{Verb: VerbLeave, Object: active, Template: index, Message: t.Message()}
	own := observations[active]
	if active == (Object{}) {
		action.Object, own = t.Object, Observation{Problem: ReasonNotFound}
	}
	unread := func(unmet Unmet) bool { return unmet.Reason.keeps() && unmet.Reason != ReasonOnCycle }
	mine := own.exists() && own.Policy == policy
	obstacle := t.obstacle(policy, own)
	switch {
	case t.State == StateReady && own.Problem == ReasonReadFailed:
		action.Message = "it cannot be read: " + clauses.Shorten(oneLine(own.Detail), 300)
	case t.State == StateReady && !own.exists() && own.reason(own.Compliance) == ReasonNotRead:
		action.Message = "it has not been read yet"
	case t.State == StateReady && obstacle != "":
		action.Message = obstacle
	case t.State == StateReady && !mine:
		action.Verb = VerbCreate
	case t.State == StateReady:
		action.Verb = VerbUpdate
	case !mine:
	case t.State == StateInvalid:
		action.Message = "the template is invalid: " + action.Message
	case !t.keeps():
		action.Verb = VerbDelete
	case slices.ContainsFunc(t.Unmet, unread):
		action.Message = "it is unknown whether its dependencies are satisfied: " + strings.TrimPrefix(action.Message, notSatisfied)
	default:
		action.Message = "templates that wait for each other may be a change that is under way: " + action.Message
	}
	return action
}

// active holds the objects on the cluster that no template has taken yet.
type active struct {
	policy       string
	observations map[Object]Observation
	objects      map[Object]Object   // Keyed by the object without its version.
	named        map[Object][]Object // The keys of the policy's own objects, by the key without its namespace.
}

// newActive takes the observed objects, except those known to be missing. If an object was observed in several versions, the
// one that belongs to the policy counts.
func newActive(policy string, observations map[Object]Observation) active {
	active := active{policy, observations, make(map[Object]Object, len(observations)), make(map[Object][]Object)}
	isOwn := func(object Object) bool {
		return observations[object].exists() && observations[object].Policy == policy
	}
	for _, object := range slices.SortedFunc(maps.Keys(observations), Object.compare) {
		if problem := observations[object].Problem; problem == ReasonNotFound {
			continue
		}
		key := object.unversioned()
		other, twice := active.objects[key]
		if twice && (isOwn(other) || !isOwn(object)) {
			continue
		}
		active.objects[key] = object
		if isOwn(object) {
			active.named[key.anywhere()] = append(active.named[key.anywhere()], key)
		}
	}
	return active
}

// own gives the policy's objects that no template has taken.
func (a active) own() (own []Object) {
	for _, object := range a.objects {
		if observation := a.observations[object]; observation.exists() && a.policy != "" && observation.Policy == a.policy {
			own = append(own, object)
		}
	}
	return own
}

// take removes the active object that a template creates, and gives it.
func (a active) take(key Object) (Object, bool) {
	object, found := a.objects[key]
	delete(a.objects, key)
	return object, found
}

// takeAnywhere takes an object in any namespace, if the template's definition leaves the namespace open.
func (a active) takeAnywhere(created Object) (Object, bool) {
	for _, key := range a.named[created] {
		if object, found := a.take(key); found {
			return object, true
		}
	}
	return Object{}, false
}

// anywhere gives the object without its namespace.
func (o Object) anywhere() Object {
	o.Namespace = ""
	return o
}
