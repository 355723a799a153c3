// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/internal/clauses"
)

// maxMessage limits the bytes of a message. It leaves room for what an action's message adds, up to 1 kB.
const maxMessage = 920

// Message says in one line, for the policy's status, why the template is not ready. For a ready template it says which other
// policies create the same object, and is empty if there are none. It has at most 1 kB: it shows the beginning of long lists,
// and the beginning and the end of a long cycle.
//
// For a waiting template it says how many of its dependencies are pending:
//
//	Dependencies were not satisfied: 1 is still pending (FooPolicy foo)
//
// For each other unmet dependency it says what it is and what it must be:
//
//	Dependencies were not satisfied: Policy default.b is NonCompliant, must be Compliant
//
// The cycle follows, if the template is on one, and with ignorePending, that the template counts as compliant.
func (t TemplateEvaluation) Message() string {
	switch {
	case t.State == StatePending:
		if message := t.pendingMessage(maxMessage, maxMessage); len(message) <= maxMessage {
			return message
		}
		return clauses.Shorten(t.pendingMessage(90, 210), maxMessage)
	case t.State == StateInvalid && t.Err != nil:
		return joinFitting(strings.Split(t.Err.Error(), "\n"), "; ", maxMessage-20)
	case t.State == StateDisabled:
		return "the policy is disabled"
	case len(t.AlsoIn) > 0:
		return fmt.Sprintf("this %s is also in a template of %s, and only one policy applies it: the one that owns the object, else the first by name; rename one of the templates", t.Object.Kind, t.rivals())
	default:
		return ""
	}
}

// notSatisfied begins the message of a waiting template, as the framework's addon writes it.
const notSatisfied = "Dependencies were not satisfied: "

// pendingMessage gives the message of a waiting template. A list of names has at most short bytes, and a list of
// sentences or a cycle at most long.
func (t TemplateEvaluation) pendingMessage(short, long int) string {
	objects := make([]Object, len(t.Unmet))
	for i, unmet := range t.Unmet {
		objects[i] = unmet.Object
	}
	var pending, waiting, others []string
	for i, name := range names(objects) {
		switch unmet := t.Unmet[i]; {
		case unmet.Reason == ReasonOnCycle:
			waiting = append(waiting, name)
		case unmet.isPending():
			pending = append(pending, name)
		default:
			others = append(others, unmet.sentence(name))
		}
	}
	var clauses []string
	count := func(names []string, one, many string) {
		if len(names) == 1 {
			many = one
		}
		if len(names) > 0 {
			clauses = append(clauses, fmt.Sprintf("%d %s (%s)", len(names), many, joinFitting(names, ", ", short)))
		}
	}
	count(pending, "is still pending", "are still pending")
	count(waiting, "waits for this template", "wait for this template")
	if len(others) > 0 {
		clauses = append(clauses, joinFitting(others, "; ", long))
	}
	if len(t.Cycle) > 0 {
		clauses = append(clauses, "dependency cycle: "+t.Cycle.text(long))
	}
	if t.IgnorePending {
		clause := "it counts as compliant because of ignorePending"
		if t.keeps() {
			clause = "where its object is missing " + clause
		}
		clauses = append(clauses, clause)
	}
	return oneLine(notSatisfied + strings.Join(clauses, "; "))
}

// names gives a name for each object, with as much of namespace, group and version as tells it from others of its kind
// and name: "Thing x", "Thing a/x", "Thing.example.com x", "Thing.v1.example.com x".
func names(objects []Object) []string {
	type called struct{ kind, name string }
	alike := make(map[called][]Object, len(objects))
	for _, object := range objects {
		key := called{object.Kind, object.Name}
		alike[key] = append(alike[key], object)
	}
	names := make([]string, len(objects))
	for i, object := range objects {
		var byNamespace, byGroup, byVersion bool
		for _, other := range alike[called{object.Kind, object.Name}] {
			byNamespace = byNamespace || object.Namespace != other.Namespace
			byGroup = byGroup || object.group() != other.group()
			byVersion = byVersion || object.APIVersion != other.APIVersion && object.unversioned() == other.unversioned()
		}
		names[i] = object.String()
		if !byNamespace && !byGroup && !byVersion {
			continue
		}
		kind, name := object.Kind, object.Name
		group, version := object.group(), strings.TrimPrefix(object.APIVersion, object.group()+"/")
		if byVersion {
			kind += "." + version
		}
		if (byGroup || byVersion) && group != "" {
			kind += "." + group
		}
		if byNamespace && object.Namespace != "" {
			name = object.Namespace + "/" + name
		}
		names[i] = kind + " " + name
	}
	return names
}

// joinFitting joins as many items as fit limit bytes, and says how many more there are. It always has the first, cut if need
// be.
func joinFitting(items []string, separator string, limit int) string {
	if len(items) == 0 {
		return ""
	}
	items[0] = clauses.Shorten(items[0], limit)
	shown := items[0]
	for i, item := range items[1:] {
		if len(shown)+len(separator)+len(item) > limit {
			shown += fmt.Sprintf("%sand %d more", separator, len(items)-1-i)
			break
		}
		shown += separator + item
	}
	return oneLine(shown)
}

// oneLine joins the lines of a text, since names and errors from outside may have several.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
