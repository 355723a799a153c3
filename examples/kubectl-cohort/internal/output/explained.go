// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/clusterevents"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// Explained is a simulated rollout as one cluster sees it.
type Explained struct {
	Cluster string `json:"cluster"`
	// Rollout is the object that rolls out.
	Rollout  string `json:"rollout"`
	Selected bool   `json:"selected"`
	// Group is there where the cluster is selected.
	Group *grouping.Key `json:"group,omitempty"`
	// Why says why it is in its group, or why it is not selected.
	Why []string `json:"why"`
	// Notes say what is not as the files have it, and what was learned from them.
	Notes []string `json:"notes,omitempty"`
	// Start is the time from which the times below count, which are negative before it.
	Start time.Time `json:"start"`
	// Started and Ended are the times of its start and of the last event after that; empty where there is none.
	Started string  `json:"started,omitempty"`
	Ended   string  `json:"ended,omitempty"`
	Events  []Event `json:"events,omitempty"`
	// Outcome is the outcome of the whole rollout.
	Outcome simulation.Outcome `json:"outcome"`

	// Clock shows the times in the sentences of the text.
	Clock Clock `json:"-"`
}

// Event is what happens to the cluster at a time after the start of the simulation, or before it.
type Event struct {
	// After is empty where it was before, and the time is unknown.
	After string             `json:"after,omitempty"`
	What  clusterevents.What `json:"what"`
	// Until is when a wait ends; empty where it never does.
	Until       string              `json:"until,omitempty"`
	Explanation rollout.Explanation `json:"explanation,omitempty"`
	// Changes say how the explanation of a wait changes until its end. Where there are many, MoreChanges are left out
	// after the first three.
	Changes     []ExplanationChange `json:"changes,omitempty"`
	MoreChanges int                 `json:"moreChanges,omitempty"`
	// Released says what ended the wait before a start.
	Released string `json:"released,omitempty"`
	// BlocksOthersUntil says until when a deselected cluster blocks others; empty where it blocks none.
	BlocksOthersUntil string `json:"blocksOthersUntil,omitempty"`
	// Standing says what a cluster in flight does, and until when, as the simulation begins.
	Standing string `json:"standing,omitempty"`
	// Remedies say what a person can do about a failure.
	Remedies []rollout.Remedy `json:"remedies,omitempty"`
}

// ExplanationChange is why a cluster waits from a time on.
type ExplanationChange struct {
	After       string              `json:"after"`
	Explanation rollout.Explanation `json:"explanation"`
}

// Explain gathers what there is to show of a cluster, in the rollout of a policy or of something else. Group is nil if it is
// not selected.
func Explain(cluster, object string, policy bool, group *grouping.Key, why []string, events []clusterevents.Event, outcome simulation.Outcome) Explained {
	e := Explained{Cluster: cluster, Rollout: object, Selected: group != nil, Group: group, Why: why, Outcome: outcome}
	for _, event := range events {
		shown := Event{After: event.After.String(), What: event.What, Explanation: event.Explanation, Released: event.Released, BlocksOthersUntil: event.BlocksOthersUntil, Remedies: event.Remedies, Standing: event.Standing}
		if event.Unknown {
			shown.After = ""
		}
		for _, later := range event.Later {
			shown.Changes = append(shown.Changes, ExplanationChange{later.After.String(), later.Explanation})
		}
		shown.MoreChanges = event.More
		if policy {
			ofPolicy(shown.Explanation)
			shown.Remedies = forPolicy(shown.Remedies)
			for _, change := range shown.Changes {
				ofPolicy(change.Explanation)
			}
		}
		switch {
		case event.What.Waits() && event.Until > 0:
			shown.Until = event.Until.String()
		case event.What == clusterevents.Starts:
			e.Started = shown.After
		case event.What == clusterevents.Stands || event.What == clusterevents.Progressing || event.What == clusterevents.Validates || event.What == clusterevents.Deselected:
		case !event.What.Waits():
			e.Ended = shown.After
		}
		e.Events = append(e.Events, shown)
	}
	return e
}

// words are what the text calls the events.
var words = map[clusterevents.What]string{
	clusterevents.Waits: "waits", clusterevents.Starts: "starts", clusterevents.Progressing: "is progressing again", clusterevents.Succeeds: "succeeds",
	clusterevents.Validates: "succeeds, and waits for validation", clusterevents.Fails: "fails", clusterevents.TimesOut: "times out", clusterevents.Done: "is done",
	clusterevents.Deselected: "is deselected",
	clusterevents.Aborted:    "the rollout is aborted", clusterevents.WaitsToRollBack: "waits to roll back", clusterevents.RollsBack: "rolls back to the previous version",
	clusterevents.RolledBack: "is rolled back", clusterevents.StaysBehind: "stays as it is: it never had the version",
}

// past are what the text calls the events whose times are unknown.
var past = map[clusterevents.What]string{
	clusterevents.Starts: "started", clusterevents.Succeeds: "succeeded", clusterevents.Validates: "succeeded, and waits for its validation",
	clusterevents.Fails: "failed", clusterevents.TimesOut: "timed out", clusterevents.Done: "is done",
}

// notRecorded follows an event whose time is unknown.
const notRecorded = " (time not recorded)"

// Text writes it for a terminal.
func (e Explained) Text(w io.Writer) error {
	var b bytes.Buffer
	if e.Selected {
		fmt.Fprintf(&b, "%s is in %v of %s\n", e.Cluster, *e.Group, e.Rollout)
	} else {
		fmt.Fprintf(&b, "%s is not selected by %s\n", e.Cluster, e.Rollout)
	}
	for _, why := range e.Why {
		fmt.Fprintf(&b, "  %s\n", why)
	}
	b.WriteString(e.Clock.Head())
	for _, note := range e.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if len(e.Events) > 0 {
		fmt.Fprintln(&b)
	}
	width := 7
	for _, event := range e.Events {
		width = max(width, len(e.column(event.After)))
		for _, change := range event.Changes {
			width = max(width, len(e.column(change.After)))
		}
	}
	for i, event := range e.Events {
		if i+1 < len(e.Events) && e.Events[i+1].What == clusterevents.Done && e.Events[i+1].After == event.After {
			continue // the next line says so: it does not soak
		}
		what := words[event.What] + event.Standing
		both := i > 0 && event.What == clusterevents.Done && e.Events[i-1].After == event.After
		switch {
		case event.After == "" && both:
			what = "succeeded and is done" + notRecorded
		case event.After == "" && past[event.What] != "":
			what = past[event.What] + notRecorded
		case both:
			what = "succeeds and is done"
		}
		fmt.Fprintf(&b, "%-*s %s", width, e.column(event.After), what)
		switch {
		case !event.What.Waits():
		case event.Until != "":
			fmt.Fprintf(&b, " until %s", e.Clock.Column(event.Until))
		case event.mayEnd():
			fmt.Fprint(&b, " until a user acts")
		default:
			fmt.Fprint(&b, ", and nothing ends that")
		}
		if event.Released != "" {
			fmt.Fprintf(&b, ": %s", event.Released)
		}
		if event.BlocksOthersUntil != "" {
			fmt.Fprintf(&b, ", and holds others up: %s", event.BlocksOthersUntil)
		}
		if len(event.Remedies) == 1 {
			fmt.Fprintf(&b, "; to do: %v", event.Remedies[0])
		} else {
			for i, remedy := range event.Remedies {
				fmt.Fprintf(&b, "; %s(%d) %v", []string{"to do, one of: ", ""}[min(i, 1)], i+1, remedy)
			}
		}
		fmt.Fprintln(&b)
		if len(event.Explanation) > 0 {
			because(&b, width, "", event.Explanation)
		}
		for i, change := range event.Changes {
			if i == clusterevents.FirstLater && event.MoreChanges > 0 {
				fmt.Fprintf(&b, "%*s … %d more changes …\n", width+2, "", event.MoreChanges)
			}
			because(&b, width, e.Clock.Column(change.After), change.Explanation)
		}
	}
	_, err := io.WriteString(w, e.Clock.Read(b.String()))
	return err
}

// mayEnd says whether a user can end a wait that does not end by itself.
func (event Event) mayEnd() bool {
	why := event.Explanation
	if n := len(event.Changes); n > 0 {
		why = event.Changes[n-1].Explanation
	}
	return slices.ContainsFunc(why, func(l rollout.Link) bool {
		return slices.ContainsFunc(l.Remedies, func(r rollout.Remedy) bool { return r.Type != rollout.RemedyWait && r.Type != rollout.RemedyAnswer })
	})
}

// column is what stands before an event.
func (e Explained) column(after string) string {
	if after == "" {
		return "earlier"
	}
	return e.Clock.Column(after)
}

// because writes why the cluster waits from a time on, which is empty where a line above has it.
func because(b *bytes.Buffer, width int, time string, why rollout.Explanation) {
	fmt.Fprintf(b, "%-*s %s\n", width+2, time, strings.ReplaceAll(why.String(), "\n", "\n"+strings.Repeat(" ", width+3)))
}

// Value is all of it, as data.
func (e Explained) Value() (any, error) { return e, nil }
