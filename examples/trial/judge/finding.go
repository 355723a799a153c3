// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"time"
)

// Kind is what was broken.
type Kind string

const (
	PartiallyObserved Kind = "started while partially observed" // a start while no complete decisions could be seen
	NotSelected       Kind = "not selected"                     // a start on a cluster that was not selected
	Mandatory         Kind = "mandatory groups"                 // a start before they were done
	Order             Kind = "order"                            // a start before the groups in front were complete
	Concurrency       Kind = "concurrency"                      // more in flight than MaxConcurrency
	Budget            Kind = "budget"                           // a start past more failures than MaxFailures
	Soak              Kind = "soak"                             // a start that only a soak forbade
	Deadline          Kind = "deadline"                         // a start that only a deadline that had not passed forbade
	Version           Kind = "version"                          // a start of what was not wanted
	Leavers           Kind = "deselected"                       // a start that only clusters forbade that left with the version
	Once              Kind = "once"                             // a second object for a cluster
	Kept              Kind = "kept"                             // an object deleted though its cluster was selected
	Stuck             Kind = "stuck"                            // a cluster could start for too long, and nothing did
	Left              Kind = "left behind"                      // an object stayed though its cluster was not selected
	Status            Kind = "status"                           // the owner says nothing
	Complete          Kind = "called complete"                  // the owner calls its rollout complete while a cluster is not done
	FirstPass         Kind = "first pass"                       // a policy enforced where it was not informed first
	TakenBack         Kind = "taken back"                       // a policy enforced while another cluster is enforced with another version
	Vanished          Kind = "vanished"                         // a cluster was in no decision for a moment though it stayed selected
	Misnamed          Kind = "misnamed"                         // a cluster was under the name or index of a group that it is in neither before nor afterwards
	Unfinished        Kind = "unfinished"                       // decisions stayed partially observed
)

// Kinds are all of them.
var Kinds = []Kind{PartiallyObserved, NotSelected, Mandatory, Order, Concurrency, Budget, Soak, Deadline, Version, Leavers, Once, Kept, Stuck, Left, Status, Complete, FirstPass, TakenBack, Vanished, Misnamed, Unfinished}

// OfDecisions says whether it is a fault of the writer of the decisions, and not of the rollout.
func (k Kind) OfDecisions() bool { return k == Vanished || k == Misnamed || k == Unfinished }

// Grade is how certain a finding is.
type Grade string

const (
	Broken     Grade = "broken"     // wrong for every view that is at most the lag behind
	Suspicious Grade = "suspicious" // wrong in truth, and right in some such view
)

// Finding is a write, or its absence, that was wrong.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Grade   Grade  `json:"grade"`
	Owner   string `json:"owner"` // kind and namespace/name of what is rolled out, or the Placement
	Cluster string `json:"cluster,omitempty"`
	// Line is the number of the line of the write, or of the last line before it was found that one was missing.
	Line int       `json:"line"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// By is the user and the user agent of the write, and Source the line of the audit log, where the recording has them.
	By     string `json:"by,omitempty"`
	Source string `json:"source,omitempty"`
	// Also are the other kinds that were broken by the same write.
	Also []Kind `json:"also,omitempty"`
	// Explained is the least lag of a view that was right. It is zero where none was found.
	Explained Duration `json:"explainedByLag,omitzero"`
	// Should is what should have happened instead, as the library explains it.
	Should string `json:"should,omitempty"`
	// Excerpt are the numbers of lines that show it: a recording by themselves, with the same verdict.
	Excerpt []int `json:"excerpt,omitempty"`

	version string
	holder  string // id of the object that was written
}

// String is one line: grade, kind, line, time, owner and text.
func (f *Finding) String() string {
	return fmt.Sprintf("%s: %s: line %d, %s: %s: %s", f.Grade, f.Kind, f.Line, f.At.UTC().Format("15:04:05.000"), f.Owner, f.Text)
}

// Duration is one that JSON has as text.
type Duration time.Duration

// String is the duration in whole milliseconds.
func (d Duration) String() string { return time.Duration(d).Round(time.Millisecond).String() }

// MarshalText writes it as a duration of Go.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads one.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Hole is a time of which the recording does not know everything.
type Hole struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Reason string    `json:"reason"`
}

// String is one line: from when to when, how long, and why.
func (h Hole) String() string {
	return fmt.Sprintf("%s to %s (%s): %s", h.From.UTC().Format("15:04:05.000"), h.To.UTC().Format("15:04:05.000"), h.To.Sub(h.From).Round(time.Millisecond), h.Reason)
}
