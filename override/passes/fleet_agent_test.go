// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// get is the spec sync: the cluster has the policy.
func (f *fleet) get(a *agent, parts []part, action policyv1.RemediationAction) {
	a.has, a.action = parts, action
	f.syncTemplates(a)
}

// syncTemplates is the template sync: the controllers get the templates that changed, and none that waits for a dependency.
func (f *fleet) syncTemplates(a *agent) {
	there := map[string]bool{}
	for _, p := range a.has {
		there[p.name] = true
		if !a.meets(p) {
			f.pend(a, p)
			continue
		}
		if wants := p.evaluated(a.action); a.objects[p.name] != wants {
			a.objects[p.name], a.done[p.name] = wants, false
			f.after(p.delay, func() {
				if a.objects[p.name] == wants && !a.done[p.name] {
					f.evaluate(a, p, wants)
				}
			})
		}
	}
	maps.DeleteFunc(a.objects, func(name string, _ string) bool { return !there[name] })
}

// meets says whether the dependency of a template is met.
func (a *agent) meets(p part) bool {
	switch p.waitsFor {
	case "":
		return true
	case elsewhere:
		return a.isMet
	}
	i := slices.IndexFunc(a.has, func(other part) bool { return other.name == p.waitsFor })
	return i >= 0 && a.done[p.waitsFor] && strings.HasPrefix(a.events[p.waitsFor][0].Message, string(policyv1.Compliant)+";")
}

const unsatisfied = "; Dependencies were not satisfied: 1 is still pending"

// pend has a template wait: there is no object of it, and the template sync says so once.
func (f *fleet) pend(a *agent, p part) {
	delete(a.objects, p.name)
	a.done[p.name] = false
	message := string(policyv1.Pending) + unsatisfied
	if p.ignores {
		message = string(policyv1.Compliant) + unsatisfied + " but ignorePending is true"
	}
	if before := a.events[p.name]; len(before) == 0 || before[0].Message != message {
		f.send(a, p, message)
	}
}

// meet has the other policy comply on all clusters.
func (f *fleet) meet() {
	for _, cluster := range f.targets {
		a := f.agents[cluster]
		a.isMet = true
		f.syncTemplates(a)
	}
}

// evaluate is what a template's controller says. That of an OperatorPolicy says first that the operator is missing.
func (f *fleet) evaluate(a *agent, p part, wants string) {
	fits := p.fitsUnder(a.action) && !p.bad
	if p.kind == "OperatorPolicy" && fits && !p.fits {
		f.say(a, p, policyv1.NonCompliant)
		f.after(p.delay, func() {
			if a.objects[p.name] == wants && !a.done[p.name] {
				f.conclude(a, p, fits)
			}
		})
		return
	}
	f.conclude(a, p, fits)
}

func (f *fleet) conclude(a *agent, p part, fits bool) {
	compliance := policyv1.NonCompliant
	a.done[p.name], a.complies[p.name] = true, ""
	if fits {
		compliance, a.complies[p.name] = policyv1.Compliant, p.evaluated("")
	}
	f.say(a, p, compliance)
	f.syncTemplates(a)
}

// say makes an event. Controllers that do not repeat say only what is new. A violation names the action of its constraint.
func (f *fleet) say(a *agent, p part, compliance policyv1.ComplianceState) {
	message := string(compliance) + "; it is so"
	if p.kind == constraint && compliance == policyv1.NonCompliant {
		message += " under " + a.objects[p.name]
	}
	if before := a.events[p.name]; !kinds[p.kind].repeats && len(before) > 0 && before[0].Message == message {
		return
	}
	f.send(a, p, message)
}

func (f *fleet) send(a *agent, p part, message string) {
	at := f.now.Add(a.clock)
	event := policyv1.PolicyHistory{Message: message, LastTimestamp: metav1.NewTime(at.Truncate(time.Second)), EventName: fmt.Sprintf("policies.policy.%x", at.UnixNano())}
	a.events[p.name] = append([]policyv1.PolicyHistory{event}, a.events[p.name]...)
	f.sync(a)
}

// sync is the status sync: it writes what it knows now, if that is new, and the hub has it later, or refuses it.
func (f *fleet) sync(a *agent) {
	var details []policyv1.PolicyDetails
	complies, all := true, a.was
	for _, p := range a.has {
		d := policyv1.PolicyDetails{TemplateMeta: metav1.ObjectMeta{Name: p.name}}
		if events := a.events[p.name]; len(events) > 0 {
			d.History = slices.Clone(events[:1])
			d.ComplianceState, _, _ = cutState(events[0].Message)
		}
		details = append(details, d)
		complies = complies && d.ComplianceState == policyv1.Compliant
	}
	for _, d := range details {
		if d.ComplianceState == policyv1.NonCompliant {
			all, complies = policyv1.NonCompliant, false
		}
	}
	if complies {
		all = policyv1.Compliant
	}
	a.was = all
	if a.away || all == a.there.ComplianceState && reflect.DeepEqual(details, a.there.Details) {
		return
	}
	change, about := a.seen, map[string]string{}
	for _, p := range a.has {
		if about[p.name] = a.told[p.name]; a.done[p.name] {
			about[p.name] = a.objects[p.name]
		}
	}
	f.after(a.lag, func() {
		if s := f.hub[a.cluster]; s != nil && s.change == change {
			s.status.Details, s.status.ComplianceState = details, all
			s.ManagedFields = f.managedFields(s.ManagedFields, "status", `{"f:status":{"f:compliant":{},"f:details":{}}}`)
			a.cut, a.told = 0, about
			f.written(a)
			f.soon()
		}
	})
}

func cutState(message string) (policyv1.ComplianceState, string, bool) {
	state, rest, ok := strings.Cut(message, "; ")
	return policyv1.ComplianceState(state), rest, ok
}
