// SPDX-License-Identifier: Apache-2.0

package rollback_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// S10, S11: the scenes, whose command stands in testdata/scenes/README.md.
func TestScenes(t *testing.T) {
	scene.Run(t, "testdata/scenes/*.txt", func(t *testing.T) func(scene.Command) string {
		s := &stage{t: t}
		return s.revise
	})
}

// stage is what a scene has from its commands before.
type stage struct {
	t          *testing.T
	conditions []metav1.Condition
	revisions  rollback.Revisions
}

func (s *stage) revise(c scene.Command) string {
	at, err := time.Parse("15:04", c.Args[0])
	if err != nil {
		s.t.Fatal(err)
	}
	now := time.Date(2026, time.November, 21, at.Hour(), at.Minute(), 0, 0, time.UTC)
	var verbs []string
	var sum status.Summary
	for line := range strings.Lines(c.Input) {
		line = strings.TrimSpace(line)
		if verb, _, _ := strings.Cut(line, " "); verb == "want" || verb == "abort" || verb == "complete" {
			verbs = append(verbs, line)
		} else if line != "" {
			s.read(&sum, line)
		}
	}
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
	var b strings.Builder
	if r := &s.revisions; changed {
		fmt.Fprintf(&b, "current %s, update %s", r.CurrentRevision, r.UpdateRevision)
		if r.AbortedTime != nil {
			fmt.Fprintf(&b, ", aborted at %s", r.AbortedTime.UTC().Format("15:04"))
		}
		fmt.Fprintf(&b, "; target %s\n", r.Target())
	}
	if rollback.SetConditions(&s.conditions, s.revisions, sum, 1, now) {
		for _, c := range s.conditions {
			fmt.Fprintf(&b, "%s %s since %s, %s: %s\n", c.Type, c.Status, c.LastTransitionTime.UTC().Format("15:04"), c.Reason, c.Message)
		}
	}
	if b.Len() == 0 {
		return "nothing changed"
	}
	return b.String()
}

// read adds a line to a summary.
func (s *stage) read(sum *status.Summary, line string) {
	switch what, sentence, _ := strings.Cut(line, ": "); what {
	case "incomplete":
		sum.Incomplete, sum.Partial = sentence, true
		return
	case "breach":
		sum.Breach = sentence
		return
	case "paused":
		sum.Paused = sentence
		return
	case "gate":
		sum.Gates = append(sum.Gates, sentence)
		return
	case "waiting":
		sum.Waiting = append(sum.Waiting, sentence)
		return
	}
	for part := range strings.SplitSeq(line, ", ") {
		number, what, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(number)
		field := map[string]*int{
			"toApply": &sum.ToApply, "progressing": &sum.Progressing, "succeeded": &sum.Succeeded, "failed": &sum.Failed,
			"timeOut": &sum.TimeOut, "skip": &sum.Skip, "soaking": &sum.Soaking, "blocked": &sum.Blocked,
			"ignored": &sum.Ignored, "ignoredToApply": &sum.IgnoredToApply,
		}[what]
		if err != nil || field == nil {
			s.t.Fatalf("no count %q", part)
		}
		*field = n
	}
}
