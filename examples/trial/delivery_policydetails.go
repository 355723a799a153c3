// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// about ends a message, and names the content that the cluster evaluated: the generation of the policy that it came with, or where no pass
// changes it, the content alone.
func (t *policyTemplate) about(u *unstructured.Unstructured) string {
	if t.isSame() {
		return fmt.Sprintf("; %s %s %s %s %t, as it is", t.kind, t.content, t.note, t.waitsFor, t.ignorePending)
	}
	return fmt.Sprintf("; %s %s, %s of generation %d", t.kind, t.content, strings.ToLower(actionOfPolicy(u)), u.GetGeneration())
}

// templateDetails is what a policy's status says of a template.
type templateDetails struct {
	Compliant    string            `json:"compliant,omitempty"`
	TemplateMeta map[string]string `json:"templateMeta"`
	History      []templateMessage `json:"history,omitempty"`
}

type templateMessage struct {
	LastTimestamp metav1.Time `json:"lastTimestamp"`
	Message       string      `json:"message"`
	EventName     string      `json:"eventName"`
}

// hasAnswered says whether the newest message is about what the template is now.
func (d *templateDetails) hasAnswered(t *policyTemplate, u *unstructured.Unstructured) bool {
	return len(d.History) > 0 && strings.HasSuffix(d.History[0].Message, t.about(u))
}

// hasAnsweredIn says whether the newest message is about what the template is now, in one of these states: it is what the cluster said last, so
// the cluster has done nothing else with the template since. One that was edited by hand has to answer for what was set back. A cluster that never
// got what was written in between has the content still, of whichever version. One that said anything of what was in between has got it. What
// it said with other dependencies or annotations, or with another ignorePending, is not about what the template is now (O17).
func (d *templateDetails) hasAnsweredIn(t *policyTemplate, states []object) bool {
	now := states[len(states)-1].(*unstructured.Unstructured)
	for i, o := range slices.Backward(states) {
		u := o.(*unstructured.Unstructured)
		all, same := templatesIn(u), versionOfPolicy(u) == versionOfPolicy(now)
		has, acts := slices.Contains(all, *t), actionOfPolicy(u) == actionOfPolicy(now)
		if same && !has {
			return false
		}
		if acts && d.hasAnswered(t, u) {
			return has
		}
		if !(has && acts) && i > 0 && isHeard(u, states[i-1].(*unstructured.Unstructured)) {
			return false
		}
	}
	return false
}

// isHeard says whether a cluster said something of a state, after the state before: a report of one that it has not read is refused.
func isHeard(u, before *unstructured.Unstructured) bool {
	was := detailsOf(before)
	for name, d := range detailsOf(u) {
		if len(d.History) > 0 && (len(was[name].History) == 0 || was[name].History[0] != d.History[0]) {
			return true
		}
	}
	return false
}

// detailsOf reads the details of a policy's status, by the name of the template.
func detailsOf(u *unstructured.Unstructured) map[string]templateDetails {
	var st struct {
		Details []templateDetails `json:"details"`
	}
	if status, ok := u.Object["status"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &st); err != nil {
			panic(err)
		}
	}
	all := map[string]templateDetails{}
	for _, d := range st.Details {
		all[d.TemplateMeta["name"]] = d
	}
	return all
}

// repeats says whether a message says nothing new after another one: all that matters is the same, and the template is quiet about another
// action. The template sync says only what is new of dependencies.
func (t *policyTemplate) repeats(before, message, why string) bool {
	cut := func(text string) (said, action string) {
		said, rest, _ := strings.Cut(text, ", ")
		action, _, _ = strings.Cut(rest, " ")
		return said, action
	}
	said, action := cut(before)
	says, next := cut(message)
	return before == message || (t.isQuiet() || why != "") && said == says && action != next
}

// statusOf makes the status of a replica from its details.
func statusOf(u *unstructured.Unstructured, templates []policyTemplate, details map[string]templateDetails) map[string]any {
	list, counts := make([]any, len(templates)), map[string]int{}
	for i := range templates {
		d := details[templates[i].name]
		d.TemplateMeta = map[string]string{"name": templates[i].name}
		list[i], _ = plain(d)
		counts[d.Compliant]++
	}
	had, _, _ := unstructured.NestedString(u.Object, "status", "compliant")
	status := map[string]any{"details": list}
	for _, known := range []struct {
		is   bool
		says string
	}{{counts[nonCompliant] > 0, nonCompliant}, {counts[pending] > 0, pending}, {counts[compliant] == len(templates), compliant}, {had != "", had}} {
		if known.is {
			status["compliant"] = known.says
			break
		}
	}
	return status
}
