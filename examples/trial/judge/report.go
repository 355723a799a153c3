// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what came of a recording.
type Report struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Judged   Duration  `json:"judged"` // of that, what is whole
	Lag      Duration  `json:"lag"`
	Patience Duration  `json:"patience"`
	// Seen is by how much the recording itself saw an event late, at most.
	Seen Duration `json:"recordedLate"`
	// Explained is the greatest lag that the starts show which are right in some view: with a smaller Lag one of them is broken.
	Explained Duration       `json:"lagShown"`
	Owners    int            `json:"owners"`
	Starts    int            `json:"starts"`
	Removals  int            `json:"removals"`
	Writers   map[string]int `json:"writers,omitempty"` // how many of both by user and user agent, where the recording has them
	Unclear   int            `json:"unclear"`           // starts and removals with too many views
	Repeated  int            `json:"repeated"`          // lines that said nothing new
	Lines     map[string]int `json:"lines"`
	Ignored   map[string]int `json:"ignored,omitempty"` // lines of other kinds
	Holes     []Hole         `json:"holes,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	Findings  []Finding      `json:"findings"`
}

// Count is how many findings have a grade.
func (r *Report) Count(g Grade) (n int) {
	for i := range r.Findings {
		if r.Findings[i].Grade == g {
			n++
		}
	}
	return n
}

// shown is how many lines of each part stand on the screen at most.
const shown = 8

// Print writes a summary that fits on a screen. Findings of the same kind, grade and owner stand together, with the first of them.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s to %s (%s), judged: %s\n", r.From.UTC().Format(time.RFC3339), r.To.UTC().Format(time.RFC3339), r.To.Sub(r.From).Round(time.Second), r.Judged)
	fmt.Fprintf(&b, "%d rollouts, %d starts, %d removals; lines: %s", r.Owners, r.Starts, r.Removals, counts(r.Lines))
	if len(r.Ignored) > 0 {
		fmt.Fprintf(&b, "; not judged: %s", counts(r.Ignored))
	}
	if r.Repeated > 0 {
		fmt.Fprintf(&b, "; %d repeated", r.Repeated)
	}
	if len(r.Writers) > 0 {
		fmt.Fprintf(&b, "\nstarted or removed by: %s", counts(r.Writers))
	}
	fmt.Fprintf(&b, "\nlag: %s allowed; the starts show %s, the recording itself is up to %s late\n", r.Lag, r.Explained, r.Seen)
	for i, h := range r.Holes {
		if i == shown {
			fmt.Fprintf(&b, "hole: and %d more\n", len(r.Holes)-shown)
			break
		}
		fmt.Fprintf(&b, "hole: %s\n", h)
	}
	for i, n := range r.Notes {
		if i == shown {
			fmt.Fprintf(&b, "note: and %d more\n", len(r.Notes)-shown)
			break
		}
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, g := range []Grade{Broken, Suspicious} {
		fmt.Fprintf(&b, "\n%s: %d\n", g, r.Count(g))
		groups, order := map[string][]*Finding{}, []string{}
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Grade == g {
				key := f.Owner + " " + string(f.Kind)
				if groups[key] == nil {
					order = append(order, key)
				}
				groups[key] = append(groups[key], f)
			}
		}
		for i, key := range order {
			if i == shown {
				fmt.Fprintf(&b, "  and of %d more kinds and owners: see -json\n", len(order)-shown)
				break
			}
			first := groups[key][0]
			fmt.Fprintf(&b, "  %s, %s: %d, first in line %d at %s\n", first.Owner, first.Kind, len(groups[key]), first.Line, first.At.UTC().Format("15:04:05.000"))
			fmt.Fprintf(&b, "    %s\n", cut(first.Text, 300))
			if first.By != "" || first.Source != "" {
				fmt.Fprintf(&b, "    written by %s, %s\n", cmp.Or(first.By, "an unknown writer"), first.Source)
			}
			if first.Explained > 0 {
				fmt.Fprintf(&b, "    a view %s behind would have been right\n", first.Explained)
			}
			if first.Should != "" {
				fmt.Fprintf(&b, "    instead: %s\n", cut(first.Should, 300))
			}
			if len(first.Excerpt) > 0 {
				fmt.Fprintf(&b, "    shown by lines %s\n", cut(strings.Trim(fmt.Sprint(first.Excerpt), "[]"), 120))
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func counts(of map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[k], k))
	}
	return strings.Join(parts, ", ")
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}
