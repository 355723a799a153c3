// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/clusterevents"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Standing is how a rollout stands at a time, and why the rest waits.
type Standing struct {
	Rollout   string    `json:"rollout"`
	Placement string    `json:"placement"`
	Now       time.Time `json:"now"`
	// Strategy is the one that took effect, in words.
	Strategy string `json:"strategy"`
	// Summary counts the clusters. A cluster that may start now waits still.
	Summary  Summary  `json:"summary"`
	MayStart []string `json:"mayStart,omitempty"`
	// StartOnceGone are those that may start too, once their object is gone, which is being deleted.
	StartOnceGone []string          `json:"startOnceGone,omitempty"`
	Blockers      []StandingBlocker `json:"blockers,omitempty"`
	Waiting       []Reason          `json:"waiting,omitempty"`
	// Stopped is why the rollout is stopped, where no waiting cluster says that: none waits, or a pause comes first.
	Stopped *Reason        `json:"stopped,omitempty"`
	Gates   []StandingGate `json:"gates,omitempty"`
	// Commands are those with which a user can end a wait.
	Commands []string `json:"commands,omitempty"`
	// Validating are those that are being validated.
	Validating []string `json:"validating,omitempty"`
	// Failed are the clusters that failed or timed out, deselected ones last.
	Failed []string `json:"failed,omitempty"`
	// Says is what the reports of clusters say that failed or are in flight.
	Says []Said `json:"says,omitempty"`
	// Forecast is there where it was asked for.
	Forecast *Forecast `json:"forecast,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	Notes    []string  `json:"notes,omitempty"`

	// Clock shows the times in the sentences of the text, and Wide has it name all clusters.
	Clock Clock `json:"-"`
	Wide  bool  `json:"-"`
	// Plan is what all of it was read from.
	Plan *rollout.Result `json:"-"`
}

// StandingHolder is a cluster that others wait for, as data and as a sentence.
type StandingBlocker struct {
	rollout.Blocker
	Message string `json:"message"`
}

// Reason is why some clusters wait, down to what holds everything up.
type Reason struct {
	Clusters    []string            `json:"clusters"`
	Block       rollout.BlockReason `json:"reason"`
	Explanation rollout.Explanation `json:"explanation"`
	Message     string              `json:"message"`
}

// Said is what some clusters, or the hub about them, say of how they stand. The text quotes it, as its author is not trusted.
type Said struct {
	Clusters []string `json:"clusters"`
	Message  string   `json:"message"`
}

// saidBy has the messages of clusters that failed or are in flight, those of most clusters first.
func saidBy(reports []status.Report, plan *rollout.Result) (all []Said) {
	of := make(map[string][]string)
	for i := range reports {
		r := &reports[i]
		is := clusterevents.StatusOf(plan, r.Cluster)
		if r.Message != "" && is != status.ToApply && is != status.Succeeded && is != status.Skip && !slices.Contains(of[r.Message], r.Cluster) {
			of[r.Message] = append(of[r.Message], r.Cluster)
		}
	}
	for _, message := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[message])
		all = append(all, Said{of[message], message})
	}
	slices.SortStableFunc(all, func(a, b Said) int { return len(b.Clusters) - len(a.Clusters) })
	return all
}

// Forecast is how the rollout ends if its clusters go on like those that are done.
type Forecast struct {
	// Outcome is the one that most plays have, and Ends when half of these have ended, Earliest and Latest the first and the
	// last.
	Outcome  simulation.Outcome `json:"outcome"`
	Ends     time.Time          `json:"ends"`
	Earliest time.Time          `json:"earliest"`
	Latest   time.Time          `json:"latest"`
	// Plays is how many there are, each with other luck, and Outcomes how many end in which way.
	Plays    int                        `json:"plays"`
	Outcomes map[simulation.Outcome]int `json:"outcomes"`
	// Guess says that the times are a guess: no cluster says how long it took.
	Guess bool `json:"guess,omitempty"`
}

// NewForecast is that of plays which ended so.
func NewForecast(ends map[simulation.Outcome][]time.Time, guess bool) *Forecast {
	f := Forecast{Outcomes: make(map[simulation.Outcome]int), Guess: guess}
	for _, outcome := range slices.Sorted(maps.Keys(ends)) {
		times := ends[outcome]
		f.Plays += len(times)
		f.Outcomes[outcome] = len(times)
		if len(times) > f.Outcomes[f.Outcome] || f.Outcome == "" {
			slices.SortFunc(times, time.Time.Compare)
			f.Outcome, f.Earliest, f.Ends, f.Latest = outcome, times[0], times[len(times)/2], times[len(times)-1]
		}
	}
	return &f
}

// NewStanding is how the rollout stands by a plan of now.
func NewStanding(s *scenario.Scenario, plan *rollout.Result, clock Clock) Standing {
	summary := plan.Summary()
	st := Standing{Rollout: s.Rollout, Placement: s.Placements(), Now: clock.Start, Strategy: Strategy(plan.Schedule),
		Summary: Summary{summary.Aggregate(), summary.Percent(), summary}, Notes: s.Notes, Clock: clock, Plan: plan}
	for _, c := range plan.Start {
		if s.Deleting(c.Name) {
			st.StartOnceGone = append(st.StartOnceGone, c.Name)
			continue
		}
		st.MayStart = append(st.MayStart, c.Name)
	}
	for _, b := range plan.Blockers() {
		st.Blockers = append(st.Blockers, StandingBlocker{b, b.String()})
	}
	for _, c := range unsuccessful(plan, s.Ignored) {
		if c.Status == status.Failed || c.Status == status.TimeOut {
			st.Failed = append(st.Failed, c.Name)
		}
	}
	for _, c := range plan.InFlight {
		if c.Status == status.Validating {
			st.Validating = append(st.Validating, c.Name)
		}
	}
	for _, c := range plan.Deselected { // a deselected cluster counts, so it is named
		if c.Status == status.Failed || c.Status == status.TimeOut {
			st.Failed = append(st.Failed, c.Name)
		}
	}
	for _, w := range plan.Warnings {
		if !AboutAnOption(w) {
			st.Warnings = append(st.Warnings, w.String())
		}
	}
	of := make(map[rollout.BlockReason]int)
	for c, block := range plan.Blocked() {
		i, found := of[block]
		if !found {
			e := plan.Explain(c.Name)
			ofAll(e, block)
			if s.Policy != nil {
				ofPolicy(e)
			}
			i = len(st.Waiting)
			of[block], st.Waiting = i, append(st.Waiting, Reason{Block: block, Explanation: e, Message: strings.ReplaceAll(e.String(), "\n", "; ")})
		}
		st.Waiting[i].Clusters = append(st.Waiting[i].Clusters, c.Name)
	}
	slices.SortStableFunc(st.Waiting, func(a, b Reason) int { return len(b.Clusters) - len(a.Clusters) })
	if e := plan.ExplainBreach(); len(e) > 0 && !slices.ContainsFunc(st.Waiting, func(r Reason) bool { return r.Block.Type == rollout.BlockBreached }) {
		if s.Policy != nil {
			ofPolicy(e)
		}
		st.Stopped = &Reason{Clusters: plan.Breach.Clusters, Block: e[0].Reason, Explanation: e, Message: e.String()}
	}
	st.Says = saidBy(s.Reports(rollout.Options{}), plan)
	st.Gates = gatesOf(s, plan, clock.Start)
	waits := st.Waiting
	if st.Stopped != nil {
		waits = append(slices.Clone(waits), *st.Stopped)
	}
	st.Commands = commands(s, waits, st.Validating)
	return st
}

// ofAll has the remedies of frozen clusters, or of those that are not allowed, name all of them.
func ofAll(e rollout.Explanation, block rollout.BlockReason) {
	for i := range e {
		for j := range e[i].Remedies {
			if is := e[i].Remedies[j].Type; e[i].Reason == block && (is == rollout.RemedyUnfreeze || is == rollout.RemedyAllow) {
				e[i].Remedies[j].Clusters = block.Detail
			}
		}
	}
}

// Text writes all that there is of one rollout.
func (s Standing) Text(w io.Writer) error {
	var b bytes.Buffer
	s.head(&b)
	s.ofGroups(&b)
	s.blockers(&b)
	s.reasons(&b)
	s.names(&b, "waiting for validation", s.Validating)
	s.names(&b, "failed", s.Failed)
	s.says(&b)
	s.names(&b, "may start now", s.MayStart)
	s.names(&b, "start once their object is gone, which is being deleted", s.StartOnceGone)
	if s.Forecast != nil {
		fmt.Fprintf(&b, "\n%s\n", s.Outlook())
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Waits writes which clusters wait, and why.
func (s Standing) Waits(w io.Writer) error {
	var b bytes.Buffer
	s.head(&b)
	s.reasons(&b)
	if len(s.Waiting) == 0 {
		fmt.Fprintln(&b, "\nno cluster waits")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (s Standing) head(b *bytes.Buffer) {
	fmt.Fprintf(b, "%s: %s\n  to %s, %s\n%s", s.Rollout, s.Summary.Aggregate, s.Placement, s.Strategy, s.Clock.Head())
	for _, warning := range s.Warnings {
		fmt.Fprintf(b, "warning: %s\n", s.Clock.Read(warning))
	}
	for _, note := range s.Notes {
		fmt.Fprintf(b, "note: %s\n", note)
	}
	fmt.Fprintf(b, "\n%v\n", s.Summary.Counts)
}

func (s Standing) ofGroups(b *bytes.Buffer) {
	const most = 60
	t := table(b, "GROUP", "CLUSTERS", "DONE", "IN FLIGHT", "FAILED", "WAITING", "PROGRESS")
	for i, g := range s.Summary.Groups {
		if i == most {
			row(t, fmt.Sprintf("and %d more", len(s.Summary.Groups)-most))
			break
		}
		c := g.Counts
		row(t, strings.TrimPrefix(g.Group.String(), "group "), c.Total(), c.Done(), c.InFlight(), c.Failures(), c.ToApply, bar(c))
	}
	t.Flush()
}

// bar draws the clusters of a group in 20 characters: done, failed, in flight and waiting. A number above 0 has at least one.
func bar(c status.Counts) string {
	const length = 20
	if c.Total() == 0 {
		return ""
	}
	left, text := length, ""
	parts := []struct {
		sign string
		n    int
	}{{"█", c.Done()}, {"x", c.Failures()}, {"▒", c.Progressing + c.Soaking}, {"·", c.ToApply}}
	for i, p := range parts {
		others := 0 // that need one yet
		for _, later := range parts[i+1:] {
			others += min(later.n, 1)
		}
		n := min(max(p.n*length/c.Total(), min(p.n, 1)), left-others)
		if others == 0 && p.n > 0 {
			n = left
		}
		text, left = text+strings.Repeat(p.sign, n), left-n
	}
	return text
}

func (s Standing) blockers(b *bytes.Buffer) {
	if len(s.Blockers) == 0 {
		return
	}
	fmt.Fprintln(b, "\nblocked by:")
	var rows []string
	of := make(map[string][]string) // the clusters of a row
	for _, h := range s.Blockers {
		what := fmt.Sprintf("%s; %s", strings.TrimPrefix(s.Clock.Read(h.Message), h.Name+" "), waits(h.Waiting))
		if of[what] == nil {
			rows = append(rows, what)
		}
		of[what] = append(of[what], h.Name)
	}
	for i, what := range rows {
		slices.Sort(of[what])
		if i == mostNamed {
			fmt.Fprintf(b, "  and %d more\n", len(rows)-i)
			break
		}
		fmt.Fprintf(b, "  %s: %s\n", Named(of[what]), what)
	}
}

func (s Standing) reasons(b *bytes.Buffer) {
	if len(s.Waiting) > 0 {
		fmt.Fprintln(b, "\nwaiting:")
	}
	for _, r := range s.Waiting {
		fmt.Fprintf(b, "  %s: %s\n", several(len(r.Clusters), "cluster"), s.Clock.Read(r.Message))
		fmt.Fprintf(b, "    %s\n", s.named(r.Clusters))
	}
	if s.Stopped != nil {
		fmt.Fprintf(b, "\n%s\n", s.Clock.Read(s.Stopped.Message))
	}
	s.gates(b)
	for i, command := range s.Commands {
		fmt.Fprintf(b, "  %-8s%s\n", []string{"to do:", "or:"}[min(i, 1)], command)
	}
}

// says quotes the reports.
func (s Standing) says(b *bytes.Buffer) {
	if len(s.Says) > 0 {
		fmt.Fprintln(b, "\nas reported:")
	}
	for i, said := range s.Says {
		if i == mostNamed {
			fmt.Fprintf(b, "  and %d more messages\n", len(s.Says)-i)
			return
		}
		fmt.Fprintf(b, "  %s: %q\n", s.named(said.Clusters), said.Message)
	}
}

func (s Standing) names(b *bytes.Buffer, title string, clusters []string) {
	if len(clusters) > 0 {
		fmt.Fprintf(b, "\n%s (%d): %s\n", title, len(clusters), Named(clusters))
	}
}

// Outlook says when the rollout ends, and how sure that is.
func (s Standing) Outlook() string {
	f := s.Forecast
	at := func(t time.Time) string {
		if t.Equal(s.Now) {
			return "now"
		}
		return s.Clock.Read(t.UTC().Format(time.RFC3339))
	}
	if s.Plan != nil && s.Plan.Summary().Incomplete != "" { // the scheduler writes the rest at a time that nothing here tells
		return "forecast: unknown, as the PlacementDecisions are only partially observed"
	}
	text := fmt.Sprintf("forecast: %s", f.Outcome)
	switch {
	case f.Ends.Equal(s.Now):
		text += ", and nothing changes that by itself"
	case f.Earliest.Equal(f.Latest):
		text += " at " + at(f.Ends)
	default:
		text += fmt.Sprintf(" at %s, from %s to %s", at(f.Ends), at(f.Earliest), at(f.Latest))
	}
	if f.Guess && !f.Ends.Equal(s.Now) {
		text += ", a guess (no cluster says how long it took)"
	}
	if f.Plays > 1 {
		text += fmt.Sprintf(", in %d of %d plays", f.Outcomes[f.Outcome], f.Plays)
	}
	for _, outcome := range slices.Sorted(maps.Keys(f.Outcomes)) {
		if outcome != f.Outcome {
			text += fmt.Sprintf("; %s in %d", outcome, f.Outcomes[outcome])
		}
	}
	return text
}

// Value is all of it, as data.
func (s Standing) Value() (any, error) { return s, nil }

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

func waits(n int) string {
	if n == 1 {
		return "1 cluster waits for that"
	}
	return fmt.Sprintf("%d clusters wait for that", n)
}

func (s Standing) named(clusters []string) string {
	if s.Wide {
		return strings.Join(clusters, " ")
	}
	return Named(clusters)
}

// Named are the first of many names.
func Named(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], " "), more)
	}
	return strings.Join(names, " ")
}
