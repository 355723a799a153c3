// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
)

// Rollback is how the clusters that have the version get the one before again. Times are those since the start of the rollout.
type Rollback struct {
	// After is when the rollout was aborted, and Clusters is how many had the version then.
	After    string           `json:"after"`
	Clusters int              `json:"clusters"`
	Schedule rollout.Schedule `json:"schedule"`
	// Started are in a wave those that get the version before again.
	Waves   []Wave  `json:"waves"`
	End     End     `json:"end"`
	Summary Summary `json:"summary"`

	report Report // of these waves
}

// Back adds the rollback of an aborted rollout. Nothing is ignored if that is nil.
func (r *Report) Back(aborted *simulation.Aborted, trace *simulation.Trace, ignored func(cluster string) bool) {
	summary := trace.Final.Summary()
	summary.Version = "" // only the play has it
	back := Report{
		trace: trace, Rows: r.Rows, Width: r.Width, Clock: r.Clock, back: true,
		Rollout: Rollout{Object: r.Rollout.Object, Start: r.Rollout.Start, Schedule: trace.Final.Schedule},
		Summary: Summary{summary.Aggregate(), summary.Percent(), summary},
		Waves:   waves(trace, aborted.After),
	}
	back.End = end(trace, back.Waves, ignored, false)
	has := aborted.HaveVersion()
	stands := fmt.Sprintf("%d of %d clusters rolled back", summary.Succeeded-summary.Soaking, has-summary.Ignored)
	if summary.Skip > 0 {
		stands += fmt.Sprintf(", %d never had the version", summary.Skip)
	}
	if len(trace.Final.BlockCounts()) == 0 {
		back.End.Message = stands
	}
	r.Rollback = &Rollback{After: aborted.After.String(), Clusters: has, Schedule: trace.Final.Schedule,
		Waves: back.Waves, End: back.End, Summary: back.Summary, report: back}
}

// waves gives the waves of a trace that begins so long after the start.
func waves(trace *simulation.Trace, begin time.Duration) (all []Wave) {
	for _, w := range trace.Waves {
		all = append(all, Wave{
			After: (begin + w.After).String(), Started: w.Started, Validating: w.Validating, Succeeded: w.Succeeded, Failed: w.Failed, TimedOut: w.TimedOut, Deselected: w.Deselected, Deleted: w.Deleted,
			Attempt: w.Attempt, Again: w.Again,
			InFlight: w.Counts.InFlight(), Done: w.Counts.Done(), Failures: w.Counts.Failures(),
			Counts: w.Counts, Waiting: waiting(w.Blocks),
		})
	}
	return all
}

// text writes the rollback below the end of the rollout.
func (w *Rollback) text(b *bytes.Buffer) error {
	fmt.Fprintf(b, "\nRollback, from %s: %d clusters have the version; %s\n", w.report.Clock.Column(w.After), w.Clusters, w.how())
	if err := w.report.waveTable(b); err != nil {
		return err
	}
	fmt.Fprintf(b, "\n%s: %s: %s\n", w.report.Clock.End(w.End.After), w.End.Outcome, w.End.Message)
	w.report.unsuccessful(b)
	return nil
}

// how names the strategy of the rollback.
func (w *Rollback) how() string {
	if w.Schedule.Type == "All" {
		return "all roll back at once"
	}
	return fmt.Sprintf("they roll back within the limits of the strategy: %s", short.Text(w.Schedule.String(), mostScheduleWidth))
}

// backColumns are the columns for the waves of a rollback.
func (r Report) backColumns() []column {
	return []column{
		{"TIME", func(w waveRow) any { return w.time(r.Clock) }},
		{"GO BACK", func(w waveRow) any { return w.started }},
		{"IN FLIGHT", func(w waveRow) any { return w.last.InFlight }},
		{"SOAKING", func(w waveRow) any { return w.last.Counts.Soaking }},
		{"BACK", func(w waveRow) any { return w.last.Counts.Succeeded - w.last.Counts.Soaking }},
		{"FAILED", func(w waveRow) any { return w.last.Counts.Failed }},
		{"TIMED OUT", func(w waveRow) any { return w.last.Counts.TimeOut }},
		{"DESELECTED", func(w waveRow) any { return w.last.Counts.Deselected }},
		{"NEVER HAD IT", func(w waveRow) any { return w.last.Counts.Skip }},
		{reasons, func(w waveRow) any { return r.why(w.last.Waiting) }},
	}
}
