// SPDX-License-Identifier: Apache-2.0

package output

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// DefaultRows is how many rows a table has at most by default.
	DefaultRows = 60
	// AllRows is no limit.
	AllRows = -1
)

// rows is how many rows there may be, by default.
func (r Report) rows(usual int) int {
	if r.Rows < 0 {
		return math.MaxInt
	}
	return cmp.Or(r.Rows, usual)
}

// Widths of what is not cut off. JSON has all of it.
const (
	mostScheduleWidth = 300
	mostDecisionNames = 4
)

// waveRow is a line of the table of waves: one wave, or some that follow one another.
type waveRow struct {
	first, last Wave
	waves       int
	started     int
	passes      []Pass
	attempts    []string // what begins an attempt, and deselected clusters
}

// time is like "10m", or "10m–25m" of several waves.
func (row waveRow) time(c Clock) string {
	if row.waves == 1 {
		return c.Column(row.first.After)
	}
	return c.Column(row.first.After) + "–" + c.Column(row.last.After)
}

// waveRows puts waves together until there are no more rows than may be. The first wave, the one where the
// rollout came to its end, and the last stay by themselves, and each of the others has about as many neighbours.
func waveRows(waves []Wave, end string, most int) (all []waveRow) {
	alone := func(i int) bool { return i == 0 || i == len(waves)-1 || waves[i].After == end }
	per, begin := 1, 0
	if len(waves) > most {
		// Three stay alone, and each of them may cut a row in two.
		per = (len(waves) + max(most-6, 1) - 1) / max(most-6, 1)
	}
	for i, w := range waves {
		// A row ends when it has its number of waves, before one that stays alone and after it.
		if n := len(all); n == 0 || i-begin >= per || alone(i) || alone(i-1) {
			all, begin = append(all, waveRow{first: w}), i
		}
		row := &all[len(all)-1]
		row.last = w
		row.waves++
		row.started += len(w.Started)
		row.passes = append(row.passes, w.Passes...)
		switch {
		case w.Attempt > 0 && len(w.Again) > 0:
			row.attempts = append(row.attempts, fmt.Sprintf("attempt %d begins: retry %s", w.Attempt, listed(w.Again)))
		case w.Attempt > 0:
			row.attempts = append(row.attempts, fmt.Sprintf("attempt %d begins", w.Attempt))
		case len(w.Again) > 0:
			row.attempts = append(row.attempts, "retry "+listed(w.Again))
		}
		if len(w.Deselected) > 0 {
			row.attempts = append(row.attempts, "deselected: "+listed(w.Deselected))
		}
		if len(w.Deleted) > 0 {
			row.attempts = append(row.attempts, "deleted, and no agent lets go of it: "+listed(w.Deleted))
		}
	}
	return all
}

// groupRow is a line of the table of groups: one group, or some neighbours without a name.
type groupRow struct {
	first, last Group
	groups      int
	clusters    int
	decisions   []Decision
}

func (g groupRow) index() string {
	if g.groups == 1 {
		return fmt.Sprint(g.first.Index)
	}
	return fmt.Sprintf("%d–%d", g.first.Index, g.last.Index)
}

func (g groupRow) name() string {
	if g.groups == 1 {
		return orDash(g.first.Name)
	}
	return "-"
}

// size is how many clusters there are, and in how many groups.
func (g groupRow) size() string {
	if g.groups == 1 {
		return fmt.Sprint(g.clusters)
	}
	return fmt.Sprintf("%d in %d groups", g.clusters, g.groups)
}

// names are the names of the PlacementDecisions, the first and the last if there are many.
func (g groupRow) names() string {
	var names []string
	for i, d := range g.decisions {
		switch n := len(g.decisions); {
		case n <= mostDecisionNames || i == 0 || i == n-1:
			names = append(names, fmt.Sprintf("%s (%d)", d.Name, len(d.Clusters)))
		case i == 1:
			names = append(names, fmt.Sprintf("%d more", n-2))
		}
	}
	return strings.Join(names, ", ")
}

// groupRows puts neighbours together until there are no more rows than may be. Groups with names stay by themselves,
// unless there are too many of them as well.
func groupRows(groups []Group, most int) (all []groupRow) {
	for _, keepNames := range []bool{true, false} {
		alone := func(g Group) bool { return keepNames && g.Name != "" }
		for per := 1; ; per = growing(per, len(groups), most) {
			all = all[:0]
			for _, g := range groups {
				if n := len(all); n == 0 || all[n-1].groups >= per || alone(g) || alone(all[n-1].last) || g.Placement != all[n-1].last.Placement {
					all = append(all, groupRow{first: g})
				}
				row := &all[len(all)-1]
				row.last = g
				row.groups++
				row.clusters += g.Clusters
				row.decisions = append(row.decisions, g.Decisions...)
			}
			if len(all) <= most {
				return all
			}
			if per >= len(groups) {
				break
			}
		}
	}
	return all // of more placements than rows
}

// growing is the next number of groups in a row to try: at first the least that may do.
func growing(per, groups, most int) int {
	if per == 1 {
		return max(2, (groups+most-1)/most)
	}
	return per + per/4 + 1
}

// lines are some of many, with what is left out between them.
func lines(all []string, most int) []string {
	if len(all) <= most {
		return all
	}
	half := most / 2
	left := fmt.Sprintf("… %d more …", len(all)-2*half)
	return slices.Concat(all[:half], []string{left}, all[len(all)-half:])
}
