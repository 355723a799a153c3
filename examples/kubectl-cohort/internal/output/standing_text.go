// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

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
