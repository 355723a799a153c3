// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
)

// Timeline is a rollout as a picture shows it.
type Timeline struct {
	// Title says what is rolled out to which clusters, and Sentence how it ended.
	Title, Sentence string
	// Points say how all clusters stood, in the order of time.
	Points []Point
	// Groups are the decision groups in their order.
	Groups []Group
	// Mark is the instant that a reader looks for; none if its label is empty.
	Mark Mark
}

// Point is how clusters stand from a time on, until the next point.
type Point struct {
	// After is the time since the start of the rollout.
	After  time.Duration
	Counts Counts
}

// Counts are clusters by state, in the order of the constants of State.
type Counts [numStates]int

// Group is a decision group over time.
type Group struct {
	// Index is its place among the groups of its placement, and Name what the user called it, perhaps nothing.
	Index int
	Name  string
	// Points are the points of its clusters. Before the first all of its clusters wait.
	Points []Point
	// Clusters is how many it has.
	Clusters int
}

// Mark is an instant with a word for what happened, such as "stopped" or "complete".
type Mark struct {
	After time.Duration
	Label string
}

// String is like "stopped after 48m".
func (m Mark) String() string { return m.Label + " after " + short.Duration(m.After) }

// End is the time of the last point or of the mark, whichever is later.
func (t Timeline) End() time.Duration {
	end := t.Mark.After
	if n := len(t.Points); n > 0 {
		end = max(end, t.Points[n-1].After)
	}
	return end
}

// Total is how many clusters there are.
func (counts Counts) Total() (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

func (counts Counts) add(other Counts) Counts {
	for i, n := range other {
		counts[i] += n
	}
	return counts
}

// final is how all clusters stand at the end.
func (t Timeline) final() Counts {
	if len(t.Points) == 0 {
		return Counts{}
	}
	return t.Points[len(t.Points)-1].Counts
}

// sample is how things stand at the end of each of n columns of equal width that cover the time until end.
// Before the first point they stand as before says.
func sample(points []Point, before Counts, end time.Duration, n int) []Counts {
	columns := make([]Counts, n)
	now, next := before, 0
	for i := range columns {
		// The first column shows how it began, and the last how it ended, both exactly.
		until := time.Duration(float64(end) * float64(i) / float64(max(n-1, 1)))
		for next < len(points) && points[next].After <= until {
			now = points[next].Counts
			next++
		}
		columns[i] = now
	}
	return columns
}

// row is one group, or some neighbours together.
type row struct {
	label    string
	clusters int
	columns  []Counts
}

// rows puts the groups into at most n rows, with about the same number of groups each.
func (t Timeline) rows(most, columns int, end time.Duration) []row {
	per := max(1, (len(t.Groups)+most-1)/max(most, 1))
	var rows []row
	for together := range slices.Chunk(t.Groups, per) {
		r := row{label: label(together), columns: make([]Counts, columns)}
		for _, g := range together {
			r.clusters += g.Clusters
			for i, c := range sample(g.Points, Counts{Waiting: g.Clusters}, end, columns) {
				r.columns[i] = r.columns[i].add(c)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// label is like "3 canary" or "12–34".
func label(groups []Group) string {
	first, last := groups[0], groups[len(groups)-1]
	if len(groups) == 1 {
		return strings.TrimSpace(strconv.Itoa(first.Index) + " " + first.Name)
	}
	return strconv.Itoa(first.Index) + "–" + strconv.Itoa(last.Index)
}
