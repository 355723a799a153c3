// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// exposed is what kubectl cohort exposure says of a rollout.
type exposed struct {
	Rollout   string `json:"rollout"`
	Placement string `json:"placement"`
	// Passes says in words in which passes a Policy goes to its clusters; empty for other rollouts.
	Passes string `json:"passes,omitempty"`
	// Exposure is not there where a Policy enforces nothing.
	Exposure *exposure.Exposure `json:"exposure,omitempty"`
	// Now is there where the rollout is under way. The numbers above are for one that begins anew.
	Now *here `json:"now,omitempty"`
	// Limits are those that keep within the bounds; None says why there are none.
	Limits *exposure.Limits `json:"limits,omitempty"`
	None   string           `json:"noLimits,omitempty"`
	Notes  []string         `json:"notes,omitempty"`
}

// here is where a rollout stands, and how far its version can get from there.
type here struct {
	// Done clusters succeeded and soaked, or are skipped. Exposed ones have the version and are not done.
	Clusters int `json:"clusters"`
	Done     int `json:"done"`
	Exposed  int `json:"exposed"`
	Waiting  int `json:"waiting"`
	// AtMost is how many are exposed from here on, at most at the same time.
	AtMost int `json:"atMost"`
}

func (h here) String() string {
	return fmt.Sprintf("Now: %d of %d clusters done, %d with the version and not done, %d waiting.\n"+
		"From here on, clusters with a version that does not work on them: at most %d.", h.Done, h.Clusters, h.Exposed, h.Waiting, h.AtMost)
}

func (load *exposed) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s to placement %s\n", load.Rollout, load.Placement)
	if load.Passes != "" {
		fmt.Fprintf(&b, "passes: %s\n", load.Passes)
	}
	for _, note := range load.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if load.Exposure != nil {
		load.numbers(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// numbers are what is exposed, and which limits suffice.
func (load *exposed) numbers(b *strings.Builder) {
	if load.Now != nil {
		fmt.Fprintf(b, "\n%v\n\nA rollout that begins anew:", load.Now)
	}
	fmt.Fprintf(b, "\n%s\n\n", sentence(*load.Exposure))
	load.stages(b)
	for _, warning := range load.Exposure.Warnings {
		if !output.AboutAnOption(warning) {
			fmt.Fprintf(b, "warning: %v\n", warning)
		}
	}
	for _, weakness := range load.Exposure.Weaknesses {
		fmt.Fprintf(b, "warning: %v\n", weakness)
	}
	switch {
	case load.Limits != nil:
		fmt.Fprintf(b, "\nWith %v in place of the strategy's:\n%s\n", load.Limits, sentence(load.Limits.Exposure))
	case load.None != "":
		fmt.Fprintf(b, "\nNo limits hold: %s\n", load.None)
	}
}

// sentence says what an exposure comes to.
func sentence(e exposure.Exposure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "At most %d of %d clusters get a version that does not work on them", e.Exposed, e.Clusters)
	if e.ExposedIfAllFail != e.Exposed {
		fmt.Fprintf(&b, ", %d if it works on none", e.ExposedIfAllFail)
	}
	fmt.Fprintf(&b, ".\nAt most %d are in flight at a time. Done after %s if all goes well.", e.InFlight, span(e.Finish))
	ignored := 0
	for _, stage := range e.Stages {
		ignored += stage.Ignored
	}
	if ignored > 0 {
		fmt.Fprintf(&b, "\nNot counted (--ignore), and in none of these numbers: %d.", ignored)
	}
	return b.String()
}

// mostStages is how many stages a table has at most.
const mostStages = 60

func (load *exposed) stages(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "STAGE\tCLUSTERS\tIT FAILS ON\tIN FLIGHT\tDONE AFTER")
	for i, stage := range load.Exposure.Stages {
		if i == mostStages {
			fmt.Fprintf(t, "and %d more\n", len(load.Exposure.Stages)-mostStages)
			break
		}
		name := strings.NewReplacer("[", "", "]", "").Replace(stage.Stage.String())
		fmt.Fprintf(t, "%s\t%d\tat most %d\tat most %d\t%s\n", name, stage.Clusters-stage.Ignored, stage.Exposed, stage.InFlight, span(stage.Finish))
	}
	t.Flush()
}

// span is like "5m to 20m", or "5m or more" where the end is unknown.
func span(s exposure.Span) string {
	switch {
	case s.Longest == s.Shortest:
		return short.Duration(s.Shortest)
	case s.Longest == math.MaxInt64:
		return short.Duration(s.Shortest) + " or more"
	}
	return short.Duration(s.Shortest) + " to " + short.Duration(s.Longest)
}

func (load *exposed) Value() (any, error) { return load, nil }
