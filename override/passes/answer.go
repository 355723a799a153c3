// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// patience is how long a message does not count that may be about the content before, or that a template would not repeat.
const patience = 5 * time.Minute

// answers has the reports of a replicated policy's templates on its present content.
type answers struct {
	compliance policyv1.ComplianceState // of those that have answered
	outcome    policyv1.ComplianceState // the same, but a template that only informs counts as compliant
	awaited    []string                 // the names of templates that have not answered, in their order
	pending    []string                 // the names of templates that wait for their dependencies
	unfit      []string                 // the names of templates that enforce and do not comply
	why        string                   // the message of the first of unfit, or else of pending, in a line
}

// late has the answers that count from a time on, if no other message arrives before.
type late struct {
	answers
	from     time.Time
	reported string // the annotation of the next write, from then on
	setBack  string // and of one that sets the policy back
	unknown  string // and of one of another version over an edit
	// shown says that the messages before the write are unknown: a controller without stamps wrote the policy. The answers
	// are shown in the root's status before they count.
	shown bool
}

// message is the last message of a template.
type message struct {
	id         string // tells it from others; empty where there is none
	at         time.Time
	exact      bool // at has fractions of a second
	compliance policyv1.ComplianceState
	text       string
	there      bool // the status has an entry of the template, perhaps without a message
	unrepeated bool // its sender does not send the same text twice
	ignored    bool // the template is Pending, and ignorePending has it count as Compliant
}

// due is the answer that a template owes to a write.
type due struct {
	since  time.Time // of the write
	before string    // the message that was there
	known  bool      // whether before is known
	sure   bool      // whether the template says something, even if nothing is new
	missed bool      // whether it would, were it known that the content is new to the cluster
}

// answeredBy says whether a message is the answer that is due, and whether it counts in the end. Silent says that there is no
// sign that the cluster has got the write: it may be offline.
func (d due) answeredBy(message message, silent bool) (answered, inTheEnd bool) {
	switch {
	case message.id == "":
		return false, false
	case d.known && message.id == d.before:
		return false, !d.sure && !(d.missed && silent)
	case message.at.IsZero() || d.since.IsZero():
		return true, true
	case message.exact:
		return !message.at.Before(d.since), true
	default:
		return !message.at.Before(d.since.Truncate(time.Second)), true
	}
}

// noted gives what to note of an answer that is due. Once there is a sign of the write, the cluster is known to have the content.
func (d *due) noted(silent bool) *due {
	if d == nil || !d.missed || silent {
		return d
	}
	noted := *d
	noted.missed = false
	return &noted
}

// read gives the answers now, the answers that count later, and the annotation of the next write. Heard is when the cluster last
// wrote the status, as far as is known.
func read(parts []template, said []message, st *policyv1.PolicyStatus, noted notes, applied, heard time.Time) (answers, *late, string) {
	var now, end reading
	var from time.Time
	var text, endText strings.Builder
	silent := isSilent(parts, said, st, noted)
	fails := hasFailed(parts, said, noted, applied, silent)
	untimed := noted.isUntimed(applied)
	shown := true
	for i := range parts {
		answered, inTheEnd := true, true
		owed := noted.due(&parts[i], said[i], applied)
		if owed != nil {
			answered, inTheEnd = owed.answeredBy(said[i], silent)
			answered = answered && (fails || !said[i].ignored) // its own answer may follow at once
			if !answered && inTheEnd {
				from = later(from, later(owed.since, heard))
				shown = shown && !owed.known
			}
			if answered && !untimed { // nothing tells it from an earlier one
				owed = nil
			}
		}
		now.add(&parts[i], said[i], answered)
		end.add(&parts[i], said[i], inTheEnd)
		next := note{content: parts[i].content, effect: parts[i].effect, rest: parts[i].rest, message: said[i].id, owed: owed.noted(silent)}
		if silent {
			next.missed = true
			next.had, next.hadEffect = noted.of[keyOf(parts[i].name)].lastHad(&parts[i])
		}
		next.write(&text, parts[i].name)
		if inTheEnd {
			next.owed = nil
		}
		next.write(&endText, parts[i].name)
	}
	dropped := removed(parts, st) // they are in details until the cluster has the content without them
	for _, name := range dropped {
		note{message: messageOf(name, st).id}.write(&text, name)
		note{message: messageOf(name, st).id}.write(&endText, name)
	}
	if noted.stamped {
		now.awaited, end.awaited = append(now.awaited, dropped...), append(end.awaited, dropped...)
	}
	if slices.Equal(now.awaited, end.awaited) {
		return now.result(), nil, text.String()
	}
	return now.result(), &late{answers: end.result(), from: from.Add(patience), reported: endText.String(), shown: shown}, text.String()
}

// hasFailed says whether a template has answered that enforces and does not comply. Whatever others may still say, it is unfit.
func hasFailed(parts []template, said []message, noted notes, applied time.Time, silent bool) bool {
	for i := range parts {
		if parts[i].informs || said[i].compliance != policyv1.NonCompliant {
			continue
		}
		owed := noted.due(&parts[i], said[i], applied)
		if owed == nil {
			return true
		}
		if answered, _ := owed.answeredBy(said[i], silent); answered {
			return true
		}
	}
	return false
}

// isSilent says whether there is no sign that the cluster has got the write: it owes an answer, and its status is unchanged since.
// The hub refuses the status of a cluster that has not got the last write, since the resourceVersion differs. Anything new in the
// status, even about the content before, is therefore a sign that the write has arrived.
func isSilent(parts []template, said []message, st *policyv1.PolicyStatus, noted notes) bool {
	if !noted.stamped || !noted.known {
		return false
	}
	if noted.lacks(st) {
		return false
	}
	owes := len(removed(parts, st)) > 0
	for i := range parts {
		before, is := noted.of[keyOf(parts[i].name)]
		if said[i].id != before.message || !is && said[i].there {
			return false
		}
		owes = owes || noted.due(&parts[i], said[i], time.Time{}) != nil
	}
	return owes
}

// reading collects answers.
type reading struct {
	answers
	parts, outcomes []policyv1.ComplianceState
}

func (r *reading) add(template *template, message message, answered bool) {
	outcome := message.compliance
	switch {
	case !answered:
		r.awaited = append(r.awaited, template.name)
		message.compliance, outcome = "", ""
	case message.compliance != "" && template.informs:
		outcome = policyv1.Compliant
	case message.compliance == policyv1.Pending:
		if r.pending = append(r.pending, template.name); r.why == "" {
			r.why = message.line(template.name)
		}
	case message.compliance == policyv1.NonCompliant && template.name == wholeName:
		r.why = message.line("")
	case message.compliance == policyv1.NonCompliant:
		if r.unfit = append(r.unfit, template.name); len(r.unfit) == 1 {
			r.why = message.line(template.name)
		}
	}
	r.parts, r.outcomes = append(r.parts, message.compliance), append(r.outcomes, outcome)
}

// line gives a template's message in one line, with the template's name; empty where there is none. Agents write the message.
func (m message) line(name string) string {
	if m.text == "" || name == "" {
		return clauses.Line(m.text)
	}
	return clauses.Line(name + ": " + m.text)
}

func (r *reading) result() answers {
	r.compliance, r.outcome = policyv1.Aggregate(r.parts...), policyv1.Aggregate(r.outcomes...)
	return r.answers
}

// removed gives the names in the details that no template has.
func removed(parts []template, st *policyv1.PolicyStatus) (names []string) {
	for i := range st.Details {
		name := st.Details[i].TemplateMeta.Name
		if !slices.ContainsFunc(parts, func(template template) bool { return template.name == name || template.name == wholeName }) {
			names = append(names, name)
		}
	}
	return names
}

// messages gives the last message of each template.
func messages(parts []template, st *policyv1.PolicyStatus) []message {
	said := make([]message, len(parts))
	for i := range parts {
		if parts[i].name == wholeName {
			said[i] = whole(st)
			continue
		}
		said[i] = messageOf(parts[i].name, st)
	}
	return said
}

// messageOf gives the last message of the template of that name.
func messageOf(name string, st *policyv1.PolicyStatus) message {
	at := slices.IndexFunc(st.Details, func(details policyv1.PolicyDetails) bool { return details.TemplateMeta.Name == name })
	if at < 0 {
		return message{}
	}
	policyDetails := &st.Details[at]
	message := message{compliance: policyDetails.ComplianceState, there: true}
	if policyDetails.ComplianceState == "" {
		return message
	}
	if len(policyDetails.History) == 0 {
		message.id = digest(string(policyDetails.ComplianceState))
		return message
	}
	last := &policyDetails.History[0]
	message.id = digest(last.EventName, last.LastTimestamp.UTC().Format(time.RFC3339), last.Message)
	message.at, message.exact = eventTime(last)
	message.text = last.Message
	// The template sync sends these only once, whatever happened to the template meanwhile.
	waits := strings.Contains(last.Message, "Dependencies were not satisfied")
	message.unrepeated = waits || strings.Contains(last.Message, "template-error;")
	message.ignored = waits && policyDetails.ComplianceState == policyv1.Compliant
	return message
}

// whole gives the message of a policy with unknown templates, as one.
func whole(st *policyv1.PolicyStatus) message {
	message := message{compliance: st.ComplianceState}
	if st.ComplianceState == "" {
		return message
	}
	message.id = mark(st)
	for i := range st.Details {
		if history := st.Details[i].History; len(history) > 0 {
			if at, exact := eventTime(&history[0]); at.After(message.at) {
				message.at, message.exact = at, exact
			}
			if message.text == "" && st.Details[i].ComplianceState == policyv1.NonCompliant {
				message.text = history[0].Message
			}
		}
	}
	return message
}

// eventTime gives the time of a message, and whether it has fractions of a second. The name of an event ends with its time in
// nanoseconds, and its timestamp has the whole seconds of that.
func eventTime(history *policyv1.PolicyHistory) (at time.Time, exact bool) {
	at = history.LastTimestamp.Time
	if i := strings.LastIndexByte(history.EventName, '.'); i >= 0 {
		if nanos, err := strconv.ParseInt(history.EventName[i+1:], 16, 64); err == nil {
			if named := time.Unix(0, nanos); named.Truncate(time.Second).Equal(at.Truncate(time.Second)) {
				return named, true
			}
		}
	}
	return at, false
}

// reportTime gives the time of the last message of a template.
func reportTime(st *policyv1.PolicyStatus) (last time.Time) {
	for i := range st.Details {
		if history := st.Details[i].History; len(history) > 0 {
			at, _ := eventTime(&history[0])
			last = later(last, at)
		}
	}
	return last
}

// heard gives the time when the cluster last wrote the status, as far as is known. Without managed fields, as in many caches, it was
// not before the newest message.
func heard(policy *policyv1.Policy, st *policyv1.PolicyStatus) time.Time {
	if at := written(policy.ManagedFields, "status", "f:details"); !at.IsZero() {
		return at
	}
	return reportTime(st)
}

// written gives the newest time at which a manager wrote the field, by its name in managed fields, as far as these tell.
func written(entries []metav1.ManagedFieldsEntry, subresource, name string) (newest time.Time) {
	for i := range entries {
		entry := &entries[i]
		if entry.Subresource == subresource && entry.Time != nil && entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.Raw), `"`+name+`"`) {
			newest = later(newest, entry.Time.Time)
		}
	}
	return newest
}
