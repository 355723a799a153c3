// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// maxHistory is how many messages OCM keeps of a template.
const maxHistory = 10

// Status gives the status of the policy at the time now: its compliance, as [Evaluation.Compliance] gives it, and details with an
// element for each template, in their order. Observations and previous are as for Compliance; all else of the previous status
// stays, and is not changed. Write it where it differs.
//
// A detail has the name of the template's object, or template-<index> where it is unknown, and what the template counts as.
// Its history has at most ten messages, the newest first. A message that is there already is not added again. A ready
// template has the newest message of its object ([Observation.Event]). Another event counts as new even with the same text,
// since it may be about another content. A template that waits or is in error has its own message.
//
// Details of removed templates are dropped. Where an object could not be read, its template's detail stays as it was.
func (e Evaluation) Status(observations map[Object]Observation, previous policyv1.PolicyStatus, now time.Time) policyv1.PolicyStatus {
	next := previous
	next.ComplianceState = e.Compliance(observations, previous.ComplianceState)
	next.Details = make([]policyv1.PolicyDetails, len(e.Templates))
	before := make(map[string][]policyv1.PolicyDetails, len(previous.Details)) // several of a name only by mistake
	for _, detail := range previous.Details {
		name := detail.TemplateMeta.Name
		before[name] = append(before[name], detail)
	}
	for i, template := range e.Templates {
		name := template.Object.Name
		if name == "" {
			name = fmt.Sprintf("template-%d", i)
		}
		detail := policyv1.PolicyDetails{TemplateMeta: metav1.ObjectMeta{Name: name}}
		if same := before[name]; len(same) > 0 {
			detail, before[name] = same[0], same[1:]
		}
		next.Details[i] = template.detail(e.Policy, observations[template.Object], detail, now)
	}
	return next
}

// detail gives the template's detail in the policy's status, from the observation of its object and the detail before.
func (t TemplateEvaluation) detail(policy string, own Observation, before policyv1.PolicyDetails, now time.Time) policyv1.PolicyDetails {
	if t.counts() && own.reason(own.Compliance).keeps() && before.ComplianceState != "" {
		return before
	}
	next := before
	next.ComplianceState = t.compliance(policy, own)
	message, isObjects := t.says(policy, own, next.ComplianceState)
	if message == "" {
		return next
	}
	newest := policyv1.PolicyHistory{}
	if len(before.History) > 0 {
		newest = before.History[0]
	}
	entry := policyv1.PolicyHistory{LastTimestamp: metav1.NewTime(now), Message: message}
	if isObjects && isNews(policy, own.Event, before.History) {
		entry = own.Event
	} else if newest.Message == message {
		return next
	}
	if entry.EventName == "" {
		entry.EventName = eventName(policy, entry.LastTimestamp)
	}
	entry.LastTimestamp = entry.LastTimestamp.Rfc3339Copy() // as it is stored
	next.History = slices.Insert(slices.Clone(before.History), 0, entry)
	next.History = next.History[:min(len(next.History), maxHistory)]
	return next
}

// isNews says whether the object's newest message is in the history neither itself nor with anything later.
func isNews(policy string, event policyv1.PolicyHistory, history []policyv1.PolicyHistory) bool {
	if event.EventName == "" {
		event.EventName = eventName(policy, event.LastTimestamp)
	}
	if len(history) > 0 && event.LastTimestamp.Rfc3339Copy().Time.Before(history[0].LastTimestamp.Time) {
		return false
	}
	return !slices.ContainsFunc(history, func(history policyv1.PolicyHistory) bool { return history.EventName == event.EventName })
}

// eventName is what OCM calls the event of a message: the time with all its digits is in it.
func eventName(policy string, at metav1.Time) string {
	return fmt.Sprintf("%s.%x", policy, at.UnixNano())
}

// says gives the message of a template that counts as c, and whether it is the one of its object.
func (t TemplateEvaluation) says(policy string, own Observation, compliance policyv1.ComplianceState) (message string, isObjects bool) {
	obstacle := ""
	if t.State == StateReady {
		obstacle = t.obstacle(policy, own)
	}
	observed := t.counts() && own.reason(own.Compliance) == "" && own.Policy == policy
	switch {
	case t.State == StateInvalid:
		return string(compliance) + "; template-error; " + t.Message(), false
	case obstacle != "":
		return string(compliance) + "; template-error; " + obstacle, false
	case observed && own.Event.Message != "":
		return own.Event.Message, true
	case observed:
		text := fmt.Sprintf("%s; %s is %s", compliance, t.Object, compliance)
		if own.Detail != "" {
			text += ": " + oneLine(own.Detail)
		}
		return text, false
	case t.State == StatePending:
		return string(compliance) + "; " + t.Message(), false
	default: // it is to be created, has not reported, or is disabled
		return "", false
	}
}
