// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/page"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/short"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

const (
	// mostInGroup is how many clusters a tree names in a group, and mostApart how many groups of a rollout it shows one by one.
	mostInGroup = 3
	mostApart   = 12
	leastStrip  = 10 // characters of a picture
)

// tree writes a rollout as a tree for a terminal of this width: its stages, their groups and the few clusters that matter, and next to them
// one picture of the past and of the forecast, by the clock.
func (v view) tree(w io.Writer, width int) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s, %v\n", v.Rollout, v.Summary.Aggregate, v.Summary.Counts)
	fmt.Fprintf(&b, "now %s UTC, %s\n", v.Now.UTC().Format(time.DateTime), v.Outlook())
	for _, warning := range v.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", v.Clock.Read(warning))
	}
	branches := v.branches()
	label := 0
	for _, br := range branches {
		if br.drawn != nil {
			label = max(label, utf8.RuneCountInString(br.text))
		}
	}
	label = min(label, width/2)
	s := strip{view: v, columns: max(leastStrip, width-label-2)}
	fmt.Fprintf(&b, "%*s %s\n", label, "", s.axis())
	for _, br := range branches {
		if br.drawn == nil {
			fmt.Fprintln(&b, short.Text(br.text, width))
			continue
		}
		text := short.Text(br.text, label)
		fmt.Fprintf(&b, "%s%s %s\n", text, strings.Repeat(" ", label-utf8.RuneCountInString(text)), s.line(br.drawn))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// branch is a line of a tree, with a picture where some groups are drawn.
type branch struct {
	text  string
	drawn []int
}

// branches are the lines of the tree.
func (v view) branches() (all []branch) {
	every := make([]int, v.groups.Len())
	for i := range every {
		every[i] = i
	}
	all = append(all, branch{"all groups", every})
	stages := v.Plan.Schedule.Stages
	rows := v.page().Groups
	index := make(map[grouping.Key]int)
	for i := range v.groups.Len() {
		index[v.groups.Key(i)] = i
	}
	for i, stage := range stages {
		of := members(stage, index)
		head, below := "├─ ", "│  "
		if i == len(stages)-1 {
			head, below = "└─ ", "   "
		}
		if len(stages) > mostApart && v.restful(of) { // nothing happens in it
			if last := len(all) - 1; all[last].drawn != nil && strings.HasPrefix(all[last].text, head+"stages ") && v.alike(all[last].drawn, of) {
				all[last].drawn = append(all[last].drawn, of...)
				all[last].text = fmt.Sprintf("%sstages of %s", head, groupsOfText(len(all[last].drawn), v.word(of)))
				continue
			}
			all = append(all, branch{fmt.Sprintf("%sstages of %s", head, groupsOfText(len(of), v.word(of))), of})
			continue
		}
		if len(of) == 1 {
			all = append(all, branch{head + rows[of[0]].Name + v.share(of), of})
			all = append(all, leaves(below, rows[of[0]])...)
			continue
		}
		all = append(all, branch{fmt.Sprintf("%sstage %d%s", head, i+1, v.share(of)), of})
		for n, group := range of {
			if n == mostApart {
				all = append(all, branch{below + fmt.Sprintf("└─ and %d more groups", len(of)-n), of[n:]})
				break
			}
			sign, deeper := "├─ ", "│  "
			if n == len(of)-1 {
				sign, deeper = "└─ ", "   "
			}
			all = append(all, branch{below + sign + rows[group].Name + v.share([]int{group}), []int{group}})
			all = append(all, leaves(below+deeper, rows[group])...)
		}
	}
	return all
}

func groupsOfText(n int, word string) string { return of(n, "1 group", "%d groups") + word }

func members(stage rollout.Stage, index map[grouping.Key]int) (of []int) {
	for _, key := range stage.Groups {
		if i, found := index[key]; found {
			of = append(of, i)
		}
	}
	slices.Sort(of)
	return of
}

// counts are those of the i-th group of the placement.
func (v view) counts(i int) status.Counts { return v.of[v.groups.Key(i)] }

// share is like " 3/20", of the clusters that are done.
func (v view) share(groups []int) string {
	done, total := v.done(groups)
	return fmt.Sprintf(" %d/%d", done, total)
}

func (v view) done(groups []int) (done, total int) {
	for _, i := range groups {
		c := v.counts(i)
		done, total = done+c.Done(), total+c.Total()
	}
	return done, total
}

// restful says whether all clusters of the groups are done, or all wait.
func (v view) restful(groups []int) bool { return v.word(groups) != "" }

func (v view) word(groups []int) string {
	done, total := v.done(groups)
	waiting := 0
	for _, i := range groups {
		waiting += v.counts(i).ToApply
	}
	switch total {
	case done:
		return " done"
	case waiting:
		return " waiting"
	}
	return ""
}

func (v view) alike(a, b []int) bool { return v.word(a) == v.word(b) }

// leaves are the clusters that matter in a group: those that failed, those that others wait for, and why clusters of it wait.
func leaves(below string, g page.Group) (all []branch) {
	if n := len(g.Failed); n > 0 {
		all = append(all, branch{text: fmt.Sprintf("%s   failed: %s", below, output.Named(g.Failed))})
	}
	for i, h := range g.Blockers {
		if i == mostInGroup {
			all = append(all, branch{text: fmt.Sprintf("%s   and %d more that others wait for", below, len(g.Blockers)-i)})
			break
		}
		all = append(all, branch{text: fmt.Sprintf("%s   %s %s", below, h.Name, h.Message)})
	}
	for _, r := range g.Why[:min(1, len(g.Why))] {
		all = append(all, branch{text: fmt.Sprintf("%s   %s: %s", below, of(r.Clusters, "1 cluster", "%d clusters"), r.Message)})
	}
	return all
}

// strip is a picture of groups against time, in characters.
type strip struct {
	view
	columns int
}

// at is the time of a column since the beginning.
func (bar strip) at(column int) time.Duration {
	end := max(bar.course.End(), bar.now(), time.Minute)
	return time.Duration(float64(end) * float64(column) / float64(max(1, bar.columns-1)))
}

func (bar strip) now() time.Duration { return bar.course.Now.Sub(bar.course.Begin) }

// axis has times of the day above the columns that they belong to, and now where that is.
func (bar strip) axis() string {
	text := []rune(strings.Repeat(" ", bar.columns+1))
	at := bar.column(bar.now())
	put := func(column int, word string) {
		if column < 0 || column+len(word) > len(text) || strings.TrimSpace(string(text[max(0, column-1):min(len(text), column+len(word)+1)])) != "" {
			return
		}
		copy(text[column:], []rune(word))
	}
	put(min(at, len(text)-len("now")), "now")
	const apart = 12
	for column := 0; column < bar.columns; column += apart {
		put(column, bar.course.Begin.Add(bar.at(column)).UTC().Format("15:04"))
	}
	return strings.TrimRight(string(text), " ")
}

// column is that of a time since the beginning.
func (bar strip) column(at time.Duration) int {
	for i := range bar.columns {
		if bar.at(i) >= at {
			return i
		}
	}
	return bar.columns
}

// line draws some groups together, with a line between what was and what is expected.
func (bar strip) line(groups []int) string {
	var b strings.Builder
	now := bar.column(bar.now())
	next, counts := make([]int, len(groups)), make([]picture.Counts, len(groups))
	for i, g := range groups {
		counts[i] = picture.Counts{picture.Waiting: bar.course.Groups[g].Clusters}
	}
	before := 0 // that failed
	for column := range bar.columns {
		if column == now {
			b.WriteString("│")
		}
		var all picture.Counts
		for i, g := range groups {
			points := bar.course.Groups[g].Points
			for next[i] < len(points) && points[next[i]].After <= bar.at(column) {
				counts[i] = points[next[i]].Counts
				next[i]++
			}
			for state, n := range counts[i] {
				all[state] += n
			}
		}
		bad := failed(all)
		b.WriteString(cell(all, bad > before))
		before = bad
	}
	return b.String()
}

func failed(c picture.Counts) int {
	return c[picture.Failed] + c[picture.TimedOut] + c[picture.Deselected]
}

// cell is how clusters stand, as a character: some fail now or an eighth has failed, some are in flight and none is done, or the share of
// those that are done.
func cell(c picture.Counts, fails bool) string {
	total, done := c.Total()-c[picture.Ignored], c[picture.Succeeded]+c[picture.RolledBack]
	switch {
	case total == 0:
		return " "
	case fails || failed(c)*8 >= total && failed(c) > 0:
		return "x"
	case done == total:
		return "█"
	case c[picture.Waiting] == total:
		return "·"
	case done == 0:
		return "░"
	}
	return string([]rune("▁▂▃▄▅▆▇")[min(6, done*7/total)])
}

// treeKey says what the characters mean.
const treeKey = "· waiting  ░ in flight  ▁▅█ share that is done  x failures  │ now, and what is expected"

// treesOf has all rollouts as trees, one after the other.
func treesOf(all []view, width int) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, v := range all {
			if err := v.tree(w, width); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
		_, err := io.WriteString(w, treeKey+"\n")
		return err
	}
}

func standingsOf(all []view) (standings []output.Standing) {
	for _, v := range all {
		standings = append(standings, v.Standing)
	}
	return standings
}
