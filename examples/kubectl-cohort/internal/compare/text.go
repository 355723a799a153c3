// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/chance"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Report is a comparison to be written.
type Report struct {
	Fleet   string   `json:"fleet"`
	Seed    uint64   `json:"seed"`
	Runs    int      `json:"runs"`
	Good    string   `json:"goodVersion"`
	Bad     string   `json:"badVersion"`
	Notes   []string `json:"notes,omitempty"`
	Answers []Answer `json:"strategies"`
	// Verdict says which strategy is the gentlest with a bad version, and which the fastest with a good one.
	Verdict string `json:"verdict"`
}

// NewReport puts the answers together with what was asked; fleet describes the fleet.
func NewReport(fleet string, q Question, answers []Answer) Report {
	r := Report{Fleet: fleet, Seed: q.Seed, Runs: q.runs(), Good: q.Good.String(), Bad: q.Bad.String(), Answers: answers, Verdict: verdict(answers)}
	if q.Retries > 0 {
		r.Good += fmt.Sprintf(", retried %s after %s", times(q.Retries), short.Duration(q.RetryAfter))
	}
	return r
}

// String is like "takes 5m-20m, 0.3% fail, 0% never answer", and says of validation what there is.
func (c Chances) String() string {
	text := fmt.Sprintf("takes %v, %v fail, %v never answer", c.Takes, c.Fails, c.Never)
	if c.Validates != nil {
		text += fmt.Sprintf(", validated %v after that, %v not good", c.Validates, c.NotGood)
	}
	return text
}

// times is like "twice".
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// Text writes a table with a line for each strategy.
func (report Report) Text(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, seed %d\na good version: %s\na bad version:  %s\n", report.Fleet, report.often(), report.Seed, report.Good, report.Bad)
	for _, note := range report.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	for i, a := range report.Answers {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if a.Strategy != "" {
			fmt.Fprintf(w, "%s: %s\n", a.Name, short.Text(a.Strategy, 160))
		}
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "\tA GOOD VERSION\t\t\t\t\t\tA BAD VERSION\t\t\t\t\t")
	fmt.Fprintln(t, "STRATEGY\tDONE IN (P50)\t(P95)\tIS STOPPED\tGETS STUCK\tIN FLIGHT\tWASTED\tREACHES (P50)\t(P95)\t(WORST)\tBREAKS (P50)\t(WORST)\tSTOPPED AFTER (P50)")
	for _, a := range report.Answers {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%v\t%d\t%.1f\t%d of %d\t%d\t%d\t%d\t%d\t%s\n", a.Name, shown(a.P50), shown(a.P95), a.breach(), a.stuck(), a.Peak, a.Wasted,
			a.Had, a.Clusters, a.HadP95, a.HadMost, a.Broken, a.BrokenMost, shown(a.StoppedAfter))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\n", report.Verdict, "\n\nP50 is what half of all runs keep to, P95 what 95 of 100 do, and WORST the worst of them.\n",
		"DONE IN is the time within which a run finished; a run that is stopped or stuck never does.\n",
		"IS STOPPED is the chance that the rollout stops; GETS STUCK that clusters fail or never answer and no deadline ends that.\n",
		"IN FLIGHT is the most clusters at a time, WASTED the starts without success in a run.\n",
		"REACHES is how many clusters have the bad version when it is stopped, BREAKS on how many of these it does not work.\n")
	return err
}

// verdict names the strategy with which a bad version reaches the fewest clusters, and the one with which a good version is
// done first.
func verdict(answers []Answer) string {
	if len(answers) == 0 {
		return ""
	}
	gentle := slices.MinFunc(answers, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(a.HadMost, b.HadMost), cmp.Compare(a.HadP95, b.HadP95), cmp.Compare(a.P95, b.P95))
	})
	fast := slices.MinFunc(answers, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(a.P95, b.P95), cmp.Compare(a.HadMost, b.HadMost))
	})
	reaches := fmt.Sprintf("a bad version reaches %d of %d clusters at worst", gentle.HadMost, gentle.Clusters)
	done := fmt.Sprintf("a good one is done in %s in 95 of 100 runs", shown(fast.P95))
	switch {
	case fast.P95 == Never && len(answers) == 1:
		return fmt.Sprintf("Verdict: %s; a good one is stopped or stuck in more than 5 of 100 runs.", reaches)
	case fast.P95 == Never:
		return fmt.Sprintf("Verdict: %s is the gentlest: %s. With each strategy a good one is stopped or stuck in more than 5 of 100 runs.", gentle.Name, reaches)
	case len(answers) == 1:
		return fmt.Sprintf("Verdict: %s; %s.", reaches, done)
	case gentle.Name == fast.Name:
		return fmt.Sprintf("Verdict: %s is the gentlest and the fastest: %s; %s.", gentle.Name, reaches, done)
	}
	return fmt.Sprintf("Verdict: %s is the gentlest: %s. %s is the fastest: %s.", gentle.Name, reaches, fast.Name, done)
}

// often is like "1000 runs".
func (report Report) often() string {
	if report.Runs == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", report.Runs)
}

// breach is like "4.1% ± 1.3%".
func (a Answer) breach() string {
	if a.Error == 0 {
		return a.Breach.String()
	}
	return fmt.Sprintf("%.1f%% ± %.1f%%", float64(a.Breach)*100, float64(a.Error)*100)
}

func (a Answer) stuck() chance.Rate { return chance.Rate(float64(a.Stuck) / float64(max(a.Runs, 1))) }

func shown(d time.Duration) string {
	if d == Never {
		return "never"
	}
	return short.Duration(d)
}

// Value is the same as data, with times in words.
func (report Report) Value() (any, error) { return report, nil }

// MarshalJSON writes times as the text does.
func (a Answer) MarshalJSON() ([]byte, error) {
	type plain Answer
	return json.Marshal(struct {
		plain
		P50          string `json:"p50"`
		P95          string `json:"p95"`
		StoppedAfter string `json:"stoppedAfter"`
	}{plain(a), shown(a.P50), shown(a.P95), shown(a.StoppedAfter)})
}

// Picture is what a picture of the comparison shows.
func (report Report) Picture() picture.Comparison {
	c := picture.Comparison{
		Title:    fmt.Sprintf("%s: %d strategies compared", report.Fleet, len(report.Answers)),
		Sentence: fmt.Sprintf("%s. A good version: %s. A bad one: %s.", report.often(), report.Good, report.Bad),
	}
	for _, a := range report.Answers {
		row := picture.Candidate{Name: a.Name, Had: a.Had, Clusters: a.Clusters, Note: "stops a good one: " + a.breach()}
		if a.Stuck > 0 {
			row.Note = fmt.Sprintf("stops a good one: %s, stuck: %v", a.breach(), a.stuck())
		}
		if a.P50 != Never {
			row.P50 = a.P50
		}
		if a.P95 != Never {
			row.P95 = a.P95
		}
		row.Words = shown(a.P50) + ", P95 " + shown(a.P95)
		if a.StoppedAfter == Never {
			row.HadWords = fmt.Sprintf("%d of %d, at worst %d, not stopped", a.Had, a.Clusters, a.HadMost)
		} else {
			row.HadWords = fmt.Sprintf("%d of %d, at worst %d, stopped after %s", a.Had, a.Clusters, a.HadMost, shown(a.StoppedAfter))
		}
		c.Candidates = append(c.Candidates, row)
	}
	return c
}
