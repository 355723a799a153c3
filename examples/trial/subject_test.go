// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSubjectLacks shows that a subject that lacks what its trial needs is told so by the name of the field.
func TestSubjectLacks(t *testing.T) {
	run := func(context.Context, *Process) error { return nil }
	revision := func(*replicaSet) string { return "" }
	for _, tc := range []struct {
		why     string
		subject *Subject
		needs   need
		want    string // in the error; empty for none
	}{
		{"there is none", nil, 0, "nil"},
		{"nothing runs", &Subject{Says: says}, needSays, "Subject.Run"},
		{"rollouts are judged by the status", &Subject{Run: run}, needSays, "Subject.Says"},
		{"a delivery says by itself how it stands", &Subject{Run: run, Delivery: OfAddOns(), IgnoreAnnotation: "a"}, needDelivery | needIgnoreAnnotation, ""},
		{"trials are of a delivery", &Subject{Run: run, IgnoreAnnotation: "a"}, needDelivery | needIgnoreAnnotation, "Subject.Delivery"},
		{"an operator ignores clusters", &Subject{Run: run, Says: says}, needSays | needIgnoreAnnotation, "Subject.IgnoreAnnotation"},
		{"the rollback has revisions", &Subject{Run: run, Says: says, Revision: revision}, needSays | needRevisions, "Subject.Revisions"},
		{"revisions have names", &Subject{Run: run, Says: says, Revisions: func(*replicaSet, []byte) (r Revisions) { return r }}, needSays, "Subject.Revision is"},
		{"people are heard", &Subject{Run: run, Says: says, People: &People{Freeze: "hold"}}, needSays | needPeople, "Subject.People"},
		{"time does not go back", &Subject{Run: run, Says: says, RemoveAfter: -time.Second}, needSays, "RemoveAfter is -1s"},
		{"all is there", subject, needSays | needIgnoreAnnotation, ""},
		{"all is there for the rollback", aborting, needSays | needRevisions, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			err := tc.subject.check(tc.needs)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestSubjectNeverLooked shows that a subject that forgets Process.Reconcile, or that cannot begin, is told so.
func TestSubjectNeverLooked(t *testing.T) {
	p := &player{}
	if err := p.looked(); err == nil || !strings.Contains(err.Error(), "which must stand around each reconcile") {
		t.Error("it forgot Process.Reconcile:", err)
	}
	p.fault = errors.New("no such flag")
	if err := p.looked(); !errors.Is(err, p.fault) {
		t.Error("it could not begin:", err)
	}
	p.reconciles = append(p.reconciles, &reconcile{})
	if err := p.looked(); err != nil {
		t.Error("it reconciled, and died later:", err)
	}
}
