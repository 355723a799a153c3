// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Standings are those of several rollouts, as a table.
type Standings struct {
	All  []Standing
	Wide bool
}

// Text writes a row for each.
func (standings Standings) Text(w io.Writer) error {
	var b bytes.Buffer
	columns := []any{"ROLLOUT", "STATUS", "CLUSTERS", "DONE", "IN FLIGHT", "FAILED", "WAITING", "FORECAST", "IN"}
	if standings.Wide {
		columns = append(columns, "PLACEMENT", "BLOCKED BY", "STRATEGY")
	}
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	row(t, columns...)
	var notes []string
	for _, one := range standings.All {
		c := one.Summary.Counts
		cells := []any{one.Rollout, one.Summary.Aggregate, c.Total(), c.Done(), c.InFlight(), c.Failures(), c.ToApply, "-", "-"}
		if f := one.Forecast; f != nil {
			cells[7] = f.Outcome
			if d := f.Ends.Sub(one.Now); d > 0 {
				if cells[8] = short.Duration(d); f.Guess {
					cells[8] = short.Duration(d) + ", a guess"
				}
			}
		}
		if standings.Wide {
			blocker := "-"
			if len(one.Blockers) > 0 {
				blocker = one.Clock.Read(one.Blockers[0].Message)
			}
			cells = append(cells, one.Placement, blocker, one.Strategy)
		}
		row(t, cells...)
		for _, note := range one.Notes {
			tells := strings.HasPrefix(note, "left out: ") || strings.Contains(note, "may not be listed") || strings.Contains(note, scenario.RolledBack)
			if line := "note: " + one.Clock.Read(note) + "\n"; tells && !slices.Contains(notes, line) {
				notes = append(notes, line)
			}
		}
	}
	t.Flush()
	_, err := io.WriteString(w, b.String()+strings.Join(notes, ""))
	return err
}
