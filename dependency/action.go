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

// done says in a sentence what happens to the object.
func (v Verb) done() string {
	if v == VerbLeave {
		return "left as it is"
	}
	return string(v) + "d"
}

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

// String is like "ConfigurationPolicy a is deleted: Dependencies were not satisfied: …".
func (a Action) String() string {
	s := fmt.Sprintf("%s is %s", a.Object, a.Verb.done())
	if a.Message != "" {
		s += ": " + a.Message
	}
	return s
}

// Actions compares the evaluation with observations: what was read of the objects that templates of the cluster's policies
// may have, under the names that they have there, in any version. An object without an observation is missing. Objects of
// other policies may be among them. The result has one action for each template, in their order, then one for each other
// object that this policy has, sorted. A template with an object without a namespace has the policy's object of its kind and name
// in any namespace.
//
// An existing object that belongs to another policy, or to none, is not touched: the verb is VerbLeave, and the message names
// the policy. If the object does not exist and several policies create it, the first by name does.
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
		var o Object
		o, has[i] = untaken.take(template.Object.unversioned())
		actions[i] = template.action(e.Policy, i, o, observations)
	}
	// Only an object that no template names exactly can belong to a template without a namespace.
	for i, template := range e.Templates {
		if has[i] {
			continue
		}
		if o, found := untaken.takeAnywhere(template.Object.unversioned()); found {
			actions[i] = template.action(e.Policy, i, o, observations)
		}
	}
	for _, o := range untaken.own() {
		a := Action{Verb: VerbDelete, Object: o, Template: -1, Message: "no template of the policy creates it"}
		if unnamed >= 0 {
			a.Verb = VerbLeave
			a.Message = fmt.Sprintf("template %d does not say what it creates", unnamed)
		}
		actions = append(actions, a)
	}
	slices.SortFunc(actions[len(e.Templates):], func(a, b Action) int { return a.Object.compare(b.Object) })
	return actions
}

// action gives what to do with the template's object. Active is the object as it was observed, zero where it was not.
func (t TemplateEvaluation) action(policy string, index int, active Object, observations map[Object]Observation) Action {
	a := Action{Verb: VerbLeave, Object: active, Template: index, Message: t.Message()}
	own := observations[active]
	if active == (Object{}) {
		a.Object, own = t.Object, Observation{Problem: ReasonNotFound}
	}
	unread := func(u Unmet) bool { return u.Reason.keeps() && u.Reason != ReasonOnCycle }
	mine := own.exists() && own.Policy == policy
	obstacle := t.obstacle(policy, own)
	switch {
	case t.State == StateReady && own.Problem == ReasonReadFailed:
		a.Message = "it cannot be read: " + clauses.Shorten(oneLine(own.Detail), 300)
	case t.State == StateReady && !own.exists() && own.reason(own.Compliance) == ReasonNotRead:
		a.Message = "it has not been read yet"
	case t.State == StateReady && obstacle != "":
		a.Message = obstacle
	case t.State == StateReady && !mine:
		a.Verb = VerbCreate
	case t.State == StateReady:
		a.Verb = VerbUpdate
	case !mine:
	case t.State == StateInvalid:
		a.Message = "the template is invalid: " + a.Message
	case !t.keeps():
		a.Verb = VerbDelete
	case slices.ContainsFunc(t.Unmet, unread):
		a.Message = "it is unknown whether its dependencies are satisfied: " + strings.TrimPrefix(a.Message, notSatisfied)
	default:
		a.Message = "templates that wait for each other may be a change that is under way: " + a.Message
	}
	return a
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
	a := active{policy, observations, make(map[Object]Object, len(observations)), make(map[Object][]Object)}
	isOwn := func(o Object) bool { return observations[o].exists() && observations[o].Policy == policy }
	for _, o := range slices.SortedFunc(maps.Keys(observations), Object.compare) {
		if problem := observations[o].Problem; problem == ReasonNotFound {
			continue
		}
		key := o.unversioned()
		other, twice := a.objects[key]
		if twice && (isOwn(other) || !isOwn(o)) {
			continue
		}
		a.objects[key] = o
		if isOwn(o) {
			a.named[key.anywhere()] = append(a.named[key.anywhere()], key)
		}
	}
	return a
}

// own gives the policy's objects that no template has taken.
func (a active) own() (own []Object) {
	for _, o := range a.objects {
		if observation := a.observations[o]; observation.exists() && a.policy != "" && observation.Policy == a.policy {
			own = append(own, o)
		}
	}
	return own
}

// take removes the active object that a template creates, and gives it.
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
