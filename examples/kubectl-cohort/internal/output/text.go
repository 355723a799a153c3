// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Text writes the report for a terminal: the input, a table of the groups, a table of the waves, the summary.
func (r Report) Text(w io.Writer) error {
	var b bytes.Buffer
	r.head(&b)
	r.groupTable(&b)
	if r.Policy != nil {
		r.Policy.text(&b)
	}
	if r.End.Outcome != simulation.NothingSelected {
		if err := r.waveTable(&b); err != nil {
			return err
		}
	}
	r.end(&b)
	if r.Rollback != nil {
		if err := r.Rollback.text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, r.Clock.Read(b.String()))
	return err
}

func (r Report) head(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s: %d", r.Placement.Name, r.Placement.Clusters)
	if r.Placement.Fleet > 0 {
		fmt.Fprintf(b, " of %d", r.Placement.Fleet)
	}
	if r.Policy != nil {
		fmt.Fprint(b, " clusters bound")
	} else {
		fmt.Fprint(b, " clusters selected")
	}
	if r.Placement.Stored {
		fmt.Fprint(b, ", as stored in its PlacementDecisions")
	}
	how := rules(r.Rollout.Schedule)
	if r.Policy != nil {
		how = append([]string{"remediationAction " + cmp.Or(r.Policy.Action, unset)}, how...)
	}
	fmt.Fprintln(b)
	for _, drop := range r.Placement.Dropped {
		if drop.Clusters > 0 && r.End.Outcome != simulation.NothingSelected {
			fmt.Fprintf(b, "  not selected: %v\n", drop)
		}
	}
	fmt.Fprintf(b, "%s: %s\n", r.Rollout.Object, strings.Join(how, ", "))
	if len(r.Rollout.Schedule.Stages) > 0 {
		fmt.Fprintf(b, "  %s\n", short.Text(r.Rollout.Schedule.String(), mostScheduleWidth))
	}
	b.WriteString(r.Clock.Head())
	for _, note := range r.Notes {
		fmt.Fprintf(b, "note: %s\n", note)
	}
	for _, warning := range r.Rollout.Warnings {
		fmt.Fprintf(b, "warning: %s\n", warning)
	}
}

// Strategy is a schedule in a line.
func Strategy(s rollout.Schedule) string { return strings.Join(rules(s), ", ") + ": " + s.String() }

// rules are the rules of the strategy that the stages don't show, in the words of the API.
func rules(s rollout.Schedule) []string {
	all := []string{string(s.Type)}
	if s.MinSuccessTime > 0 {
		all = append(all, "minSuccessTime "+short.Duration(s.MinSuccessTime))
	}
	if s.ProgressDeadline != nil {
		all = append(all, "progressDeadline "+short.Duration(*s.ProgressDeadline))
	}
	switch s.Type {
	case clusterv1alpha1.Progressive:
		all = append(all, fmt.Sprintf("maxFailures %d", s.MaxFailures))
	case clusterv1alpha1.ProgressivePerGroup:
		all = append(all, budgets(s.Stages)...)
	}
	return all
}

// budgets says how many clusters of a group may fail; nothing if all groups are mandatory. They differ where
// maxFailures is a percentage and the groups have not the same size.
func budgets(stages []rollout.Stage) []string {
	var budgets []int
	for _, stage := range stages {
		if !stage.Mandatory {
			budgets = append(budgets, stage.MaxFailures)
		}
	}
	if len(budgets) == 0 {
		return nil
	}
	least, most := slices.Min(budgets), slices.Max(budgets)
	if least == most {
		return []string{fmt.Sprintf("maxFailures %d in a group", most)}
	}
	return []string{fmt.Sprintf("maxFailures %d to %d in a group", least, most)}
}

func (r Report) groupTable(b *bytes.Buffer) {
	if r.Policy != nil {
		r.boundGroupTable(b)
		return
	}
	decisions := 0
	for _, g := range r.Groups {
		decisions += len(g.Decisions)
	}
	t := table(b, "GROUP", "NAME", "CLUSTERS", "PLACEMENTDECISIONS")
	for _, g := range groupRows(r.Groups, r.rows(DefaultRows)) {
		row(t, g.index(), g.name(), g.size(), g.names())
	}
	t.Flush()
	fmt.Fprintf(b, "%s, %s\n", several(len(r.Groups), "group"), several(decisions, "PlacementDecision"))
}

// boundGroupTable shows the groups of a policy, which may be of several bindings.
func (r Report) boundGroupTable(b *bytes.Buffer) {
	t := table(b, "GROUP", "NAME", "BINDING", "BOUND CLUSTERS")
	for _, g := range groupRows(r.Groups, r.rows(DefaultRows)) {
		row(t, g.index(), g.name(), orDash(g.first.Placement), g.size())
	}
	t.Flush()
}

// waveTable has a line for each wave, or for some together, and below it, indented, what was written to replicated
// policies.
func (r Report) waveTable(b *bytes.Buffer) error {
	var text bytes.Buffer
	all, err := r.waveRows(DefaultRows)
	if err != nil {
		return err
	}
	columns := r.columns()
	why, titles, last := -1, []any(nil), ""
	for i, c := range columns {
		if titles = append(titles, c.title); c.title == reasons {
			why = i
		}
	}
	t := table(&text, titles...)
	for _, w := range all {
		var cells []any
		for _, c := range columns {
			cells = append(cells, c.cell(w))
		}
		if text := fmt.Sprint(cells[why]); text == last && text != "-" {
			cells[why] = "as above"
		} else {
			last = text
		}
		row(t, cells...)
	}
	t.Flush()
	if legend := r.legend(); legend != "" {
		defer fmt.Fprintf(b, "(in flight are also those that %s)\n", legend)
	}
	const head = 2 // an empty line and the columns
	for i, line := range slices.Collect(strings.Lines(text.String())) {
		if line = strings.TrimSuffix(line, "\n"); r.Width > 0 {
			line = short.Text(line, r.Width)
		}
		fmt.Fprintln(b, line)
		if i < head {
			continue
		}
		for _, attempt := range all[i-head].attempts {
			fmt.Fprintf(b, "      %s\n", attempt)
		}
		var changes []string
		for _, pass := range all[i-head].passes {
			for _, change := range pass.Changes {
				changes = append(changes, fmt.Sprint(change))
			}
		}
		if all[i-head].waves > 1 {
			changes = lines(changes, mostChanges)
		}
		for _, change := range changes {
			fmt.Fprintf(b, "      %s\n", change)
		}
	}
	return nil
}

// legend names clusters in flight that a reader may not take for it.
func (r Report) legend() string {
	var also []string
	if slices.ContainsFunc(r.Waves, func(w Wave) bool { return w.Counts.Validating > 0 }) {
		also = append(also, "wait for validation")
	}
	if slices.ContainsFunc(r.Waves, func(w Wave) bool { return w.Counts.Soaking > 0 }) {
		also = append(also, "succeeded and have to stay so (minSuccessTime)")
	}
	if slices.ContainsFunc(r.Waves, func(w Wave) bool { return w.Counts.Failed > 0 }) {
		if r.Rollout.Schedule.ProgressDeadline == nil {
			also = append(also, "failed, as there is no deadline")
		} else {
			also = append(also, "failed, until their deadline")
		}
	}
	if slices.ContainsFunc(r.Waves, func(w Wave) bool { return w.Counts.Deselected > 0 }) {
		also = append(also, "were deselected with the version, until their deadline")
		if r.Rollout.Schedule.ProgressDeadline == nil {
			also[len(also)-1] = "were deselected with the version, as there is no deadline"
		}
	}
	return strings.Join(also, ", and those that ")
}

// waveRows are the rows of the table of waves, the last wave of each saying why the rest waits. There are at most so
// many by default.
func (r Report) waveRows(most int) ([]waveRow, error) {
	rows := waveRows(r.Waves, r.End.After, r.rows(most))
	var last []int
	waves := 0
	for _, row := range rows {
		waves += row.waves
		last = append(last, waves-1)
	}
	if err := r.explain(last...); err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].last = r.Waves[last[i]]
	}
	return rows, nil
}

// mostChanges is how many changes there are below the line of several waves.
const mostChanges = 4

// column is one of the table of waves.
type column struct {
	title string
	cell  func(waveRow) any
}

// reasons is the title of the column that says why clusters wait.
const reasons = "WHY THE REST WAITS"

// columns are those in which there is something.
func (r Report) columns() []column {
	all := []column{
		{"TIME", func(w waveRow) any { return w.time(r.Clock) }},
		{"STARTED", func(w waveRow) any { return w.started }},
		{"IN FLIGHT", func(w waveRow) any { return w.last.InFlight }},
		{"VALIDATING", func(w waveRow) any { return w.last.Counts.Validating }},
		{"SOAKING", func(w waveRow) any { return w.last.Counts.Soaking }},
		{"DONE", func(w waveRow) any { return w.last.Done }},
		{"FAILED", func(w waveRow) any { return w.last.Counts.Failed }},
		{"TIMED OUT", func(w waveRow) any { return w.last.Counts.TimeOut }},
		{"DESELECTED", func(w waveRow) any { return w.last.Counts.Deselected }},
		{"IGNORED", func(w waveRow) any {
			return fmt.Sprintf("%d of %d have it", w.last.Counts.Ignored-w.last.Counts.IgnoredToApply, w.last.Counts.Ignored)
		}},
		{reasons, func(w waveRow) any { return r.why(w.last.Waiting) }},
	}
	if r.back {
		all = r.backColumns()
	}
	return slices.DeleteFunc(all, func(c column) bool {
		there, sometimes := map[string]func(status.Counts) bool{
			"VALIDATING": func(n status.Counts) bool { return n.Validating > 0 },
			"SOAKING":    func(n status.Counts) bool { return n.Soaking > 0 },
			"TIMED OUT":  func(n status.Counts) bool { return n.TimeOut > 0 },
			"DESELECTED": func(n status.Counts) bool { return n.Deselected > 0 },
			"IGNORED":    func(n status.Counts) bool { return n.Ignored > 0 },
		}[c.title]
		return sometimes && !slices.ContainsFunc(r.Waves, func(w Wave) bool { return there(w.Counts) })
	})
}

// why is the first reason, as the others mostly follow from it, and how many wait for those.
func (r Report) why(waiting []Waiting) string {
	if len(waiting) == 0 {
		return "-"
	}
	rest, others, apart := 0, "", r.Rollout.Schedule.After != nil
	for _, w := range waiting[1:] {
		rest += w.Clusters
	}
	for _, w := range waiting { // none is behind frozen ones
		apart = apart || w.Reason.Type == rollout.BlockFrozen || w.Reason.Type == rollout.BlockNotAllowed
	}
	switch {
	case rest == 0:
	case apart:
		others = fmt.Sprintf(" (and %d for other reasons)", rest)
	default:
		others = fmt.Sprintf(" (and %d behind them)", rest)
	}
	return fmt.Sprintf("%d blocked%s: %s", waiting[0].Clusters, others, r.Clock.Read(waiting[0].Reason.String()))
}

// mostNamed is how many clusters the text names; JSON has all.
const mostNamed = 10

func (r Report) end(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n%s: %s: %s\n", r.Clock.End(r.End.After), r.End.Outcome, r.End.Message)
	if r.End.Outcome == simulation.NothingSelected {
		for _, drop := range r.Placement.Dropped {
			fmt.Fprintf(b, "  %v\n", drop)
		}
	}
	if r.End.LastChange != "" {
		fmt.Fprintf(b, "  the last change after that: %s\n", r.Clock.Column(r.End.LastChange))
	}
	if r.End.Outcome == simulation.NothingSelected {
		return // the rest would say that all went well
	}
	r.unsuccessful(b)
	r.otherReasons(b)
	switch r.End.Outcome {
	case simulation.Breached, simulation.Stuck, simulation.AtGate, simulation.Blocked:
		if r.End.Have > r.Placement.Clusters {
			fmt.Fprintf(b, "  %d clusters have the version then, where %d are selected\n", r.End.Have, r.Placement.Clusters)
		} else {
			fmt.Fprintf(b, "  %d of %d clusters have the version then\n", r.End.Have, r.Placement.Clusters)
		}
	}
	fmt.Fprintf(b, "%v (%d%%), aggregate status %s\n", r.Summary.Counts, r.Summary.Percent, r.Summary.Aggregate)
	var groups []string
	for _, g := range r.Summary.Groups {
		groups = append(groups, fmt.Sprintf("%v: %v", g.Group, g.Counts))
	}
	for _, line := range lines(groups, r.rows(DefaultRows)) {
		fmt.Fprintf(b, "  %s\n", line)
	}
	if r.Policy != nil {
		fmt.Fprintln(b, r.Policy.root())
	}
}

// mostReasons is how many reasons to wait the text has besides the first.
const mostReasons = 5

// otherReasons are the reasons of clusters that wait for something else than the first.
func (r Report) otherReasons(b *bytes.Buffer) {
	for i, w := range r.End.Waiting {
		switch {
		case i == 0 || r.End.Outcome == simulation.Breached: // the message has it, and a breach holds all
		case i > mostReasons:
			fmt.Fprintf(b, "  and %d more reasons\n", len(r.End.Waiting)-i)
			return
		default:
			fmt.Fprintf(b, "  also %s\n", w.Message)
		}
	}
}

// table begins a table after an empty line.
func table(w io.Writer, columns ...any) *tabwriter.Writer {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row(t, columns...)
	return t
}

func row(t *tabwriter.Writer, cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprint(t, cell)
	}
	fmt.Fprintln(t)
}

// several is like "1 group" or "3 groups".
func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
