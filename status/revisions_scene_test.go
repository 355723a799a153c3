package status_test

import (
	"strings"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/status"
)

// revise is a step of an owner that keeps revisions: "revisions 12:05", with lines "want v2", "abort" and "complete", then a
// summary. It prints the revisions where they changed, and the conditions where those did.
func (s *stage) revise(c scene.Command) string {
	now := s.clock(c.Args[0])
	var verbs, summary []string
	for _, line := range lines(c.Input) {
		if verb, _, _ := strings.Cut(line, " "); verb == "want" || verb == "abort" || verb == "complete" {
			verbs = append(verbs, line)
		} else {
			summary = append(summary, line)
		}
	}
	sum := s.summaryOf(summary)
	changed := false
	for _, line := range verbs {
		verb, revision, _ := strings.Cut(line, " ")
		switch verb {
		case "want":
			changed = s.revisions.Want(revision) || changed
		case "abort":
			changed = s.revisions.Abort(now) || changed
		default:
			changed = s.revisions.Complete(sum) || changed
		}
	}
	text := ""
	if changed {
		text = s.describeRevisions()
	}
	if status.SetRevisionConditions(&s.conditions, s.revisions, sum, 1, now) {
		text += describe(s.conditions)
	}
	if text == "" {
		return "nothing changed"
	}
	return text
}

func (s *stage) describeRevisions() string {
	r := &s.revisions
	text := "current " + r.CurrentRevision + ", update " + r.UpdateRevision
	if r.AbortedTime != nil {
		text += ", aborted at " + shown(r.AbortedTime.UTC())
	}
	return text + "; target " + r.Target() + "\n"
}
