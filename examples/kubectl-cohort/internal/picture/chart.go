// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Size of a chart in a terminal.
const (
	chartHeight = 12
	chartWidth  = 80
	chartTicks  = 5
)

// curve is a line of a chart: some states together, drawn with a character or a colour of its own.
type curve struct {
	word   string
	states []State
	char   string
	colour asciigraph.AnsiColor
}

// curves are drawn one over the other, what failed last.
var curves = []curve{
	{"succeeded", []State{Succeeded, Soaking}, "*", asciigraph.Green},
	{"in flight", []State{InFlight}, "o", asciigraph.Blue},
	{"failed", []State{Failed, TimedOut}, "x", asciigraph.Red},
	{"left", []State{Deselected}, "#", asciigraph.Yellow},
	{"rolled back", []State{RolledBack}, "<", asciigraph.Magenta},
}

// curves are the curves of this rollout: few are rolled back, and in few a cluster is deselected.
func (t Timeline) curves() []curve {
	return slices.DeleteFunc(slices.Clone(curves), func(c curve) bool {
		state := c.states[0]
		return (state == RolledBack || state == Deselected) && !slices.ContainsFunc(t.Points, func(p Point) bool { return p.Counts[state] > 0 })
	})
}

// Chart draws the number of clusters that succeeded, are in flight and failed against time, in text of at most 80
// columns. Every curve has a character of its own, and a colour if colour is set.
func (t Timeline) Chart(w io.Writer, colour bool) error {
	total := max(t.final().Total(), 1)
	end := max(t.End(), time.Second)
	width := chartWidth - len(fmt.Sprint(total)) - 5 // the axis, and half of the last time
	var before Counts
	before[Waiting] = total
	columns, most := sample(t.Points, before, end, width), 1.0
	var series [][]float64
	curves := t.curves()
	for _, c := range curves {
		values := c.values(columns)
		for _, v := range values {
			if v > most { // NaN never is
				most = v
			}
		}
		series = append(series, values)
	}
	options := []asciigraph.Option{
		asciigraph.Height(min(chartHeight, int(most))), asciigraph.Precision(0),
		asciigraph.LowerBound(0), asciigraph.UpperBound(most),
		asciigraph.XAxisRange(0, float64(end)), asciigraph.XAxisTickCount(chartTicks),
		asciigraph.XAxisValueFormatter(func(v float64) string { return short.Duration(time.Duration(v).Round(round(end))) }),
	}
	chars, colours := make([]asciigraph.CharSet, len(curves)), make([]asciigraph.AnsiColor, len(curves))
	for i, c := range curves {
		chars[i], colours[i] = asciigraph.CreateCharSet(c.char), c.colour
	}
	options = append(options, asciigraph.SeriesChars(chars...))
	if colour {
		options = append(options, asciigraph.SeriesColors(colours...))
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", trimmed(asciigraph.PlotMany(series, options...)), t.legend(colour))
	return err
}

// legend says what the characters are, and the instant.
func (t Timeline) legend(colour bool) string {
	var words []string
	final := t.final()
	for _, c := range t.curves() {
		n := 0
		for _, state := range c.states {
			n += final[state]
		}
		char := c.char
		if colour {
			char = c.colour.String() + char + asciigraph.Default.String()
		}
		words = append(words, fmt.Sprintf("%s %s %d", char, c.word, n))
	}
	if t.Mark.Label != "" {
		words = append(words, t.Mark.String())
	}
	return "  " + strings.Join(words, "   ")
}

// values is what a curve has in each column: nothing where there is no cluster,
// as it would hide the others at 0.
func (line curve) values(columns []Counts) []float64 {
	values := make([]float64, len(columns))
	for i, counts := range columns {
		n := 0
		for _, state := range line.states {
			n += counts[state]
		}
		if values[i] = float64(n); n == 0 && i > 0 { // no curve is empty
			values[i] = math.NaN()
		}
	}
	return values
}

// round is how exact the times on an axis are.
func round(end time.Duration) time.Duration {
	switch {
	case end >= 5*time.Hour:
		return 10 * time.Minute
	case end >= 5*time.Minute:
		return time.Minute
	default:
		return time.Second
	}
}

// trimmed is a text without spaces at the ends of its lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// Colour says whether to write colours to w: it is a terminal, and the environment doesn't forbid them
// (https://no-color.org).
func Colour(w io.Writer, getenv func(string) string) bool {
	file, ok := w.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
