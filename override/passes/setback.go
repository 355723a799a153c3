// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// setBack begins what a cluster had before an edit by hand of which it gave no sign. Alone it stands for the content that the stamp's
// version and action had, which the cluster had answered. No digest has this letter.
const setBack = "="

// isUnheard says whether the cluster is known to have written no status since the last write of the spec. Its managed fields have
// whole seconds, so nothing is known of the second of the write.
func isUnheard(policy *policyv1.Policy) bool {
	spec, status := written(policy.ManagedFields, "", "f:spec"), written(policy.ManagedFields, "status", "f:details")
	return status.Before(spec) && !status.IsZero()
}

// unknownNotes gives the annotation of a write of another version over an edit by hand of which the cluster gave no sign, now and once
// earlier messages count. The cluster has the content before the edit, which is not known, or the edit. A template that the version leaves
// as it is passes for one that was not edited.
func unknownNotes(parts []template, said []message, st *policyv1.PolicyStatus, noted notes, applied time.Time) (now, inTheEnd string) {
	return notesOver(parts, parts, said, st, noted, applied, func(note, *template, bool) (had, effect string) { return "", "" })
}

// setBackNotes gives the annotation of a write that sets back an edit by hand of which the cluster gave no sign, now and once earlier
// messages count. Edited are the templates as they are, and stamped as the stamp's action has them: the same where the edit was of
// something else. The cluster may have got the edit, or never get it.
func setBackNotes(edited, stamped []template, said []message, st *policyv1.PolicyStatus, noted notes, applied time.Time) (now, inTheEnd string) {
	had := func(before note, stamped *template, inTheEnd bool) (had, effect string) {
		if inTheEnd || before.had == setBack {
			return setBack, "" // it counts late all the same
		}
		if had, effect = before.lastHad(stamped); had != "" {
			had = setBack + had
		}
		return had, effect
	}
	return notesOver(edited, stamped, said, st, noted, applied, had)
}

// notesOver gives the annotation of a write over an edit by hand. Had says what the cluster had before the edit.
func notesOver(edited, stamped []template, said []message, st *policyv1.PolicyStatus, noted notes, applied time.Time,
	had func(before note, stamped *template, inTheEnd bool) (had, effect string),
) (now, inTheEnd string) {
	silent := isSilent(stamped, said, st, noted)
	var text, endText strings.Builder
	add := func(edited, stamped *template, message message) {
		answered, inTheEnd := true, true
		owed := noted.due(stamped, message, applied)
		if owed != nil {
			answered, inTheEnd = owed.answeredBy(message, silent)
			answered = answered && !message.ignored
		}
		before := noted.of[keyOf(edited.name)]
		next := note{content: edited.content, effect: edited.effect, rest: edited.rest, message: message.id, owed: owed.noted(silent), missed: true}
		next.had, next.hadEffect = had(before, stamped, inTheEnd)
		end := next
		if answered {
			next.owed = nil
		}
		if inTheEnd {
			end.owed = nil
		}
		next.write(&text, edited.name)
		end.write(&endText, edited.name)
	}
	for i := range edited {
		add(&edited[i], &stamped[i], said[i])
	}
	for _, name := range removed(edited, st) {
		gone := template{name: name}
		add(&gone, &gone, messageOf(name, st))
	}
	return text.String(), endText.String()
}
