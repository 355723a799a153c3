// SPDX-License-Identifier: Apache-2.0

// Package timeline makes of a simulation what a picture shows.
package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// Of is the rollout that a simulation played over these groups, with a mark where it came to its end. Its
// title and sentence are the caller's. The states are those of the clusters as it began, by position; all
// wait if that is nil.
//
// Of one that was aborted, back is its rollback, with times since then.
func Of(groups *grouping.Groups, trace, back *simulation.Trace, states []picture.State) picture.Timeline {
	t := picture.Timeline{Mark: mark(trace)}
	for _, w := range trace.Waves {
		t.Points = append(t.Points, picture.Point{After: w.After, Counts: counts(w.Counts)})
	}
	all := changes(groups, trace)
	if back != nil {
		all = slices.DeleteFunc(all, func(c change) bool { return c.after > trace.Aborted.After }) // the end of a soak
		all = append(all, rollback(groups, trace.Aborted.After, back)...)
	}
	t.Groups = ofGroups(groups, all, states)
	if slices.ContainsFunc(trace.Waves, func(w simulation.Wave) bool { return len(w.Deselected) > 0 }) { // counts don't say how they stand
		t.Points = together(t.Groups, 0)
	}
	if back != nil {
		t.Points = append(t.Points, together(t.Groups, trace.Aborted.After)...)
	}
	return t
}

// rollback are the changes of a rollback that begins so long after the start.
func rollback(groups *grouping.Groups, begin time.Duration, back *simulation.Trace) []change {
	all := changes(groups, back)
	for i := range all {
		all[i].after += begin
		if all[i].to == picture.Succeeded {
			all[i].to = picture.RolledBack
		}
	}
	return all
}

// together are the points of all groups from a time on.
func together(groups []picture.Group, from time.Duration) (all []picture.Point) {
	var times []time.Duration
	for _, g := range groups {
		for _, p := range g.Points {
			if p.After >= from {
				times = append(times, p.After)
			}
		}
	}
	slices.Sort(times)
	next := make([]int, len(groups)) // of each group's points
	for _, at := range slices.Compact(times) {
		point := picture.Point{After: at}
		for i, g := range groups {
			for next[i] < len(g.Points) && g.Points[next[i]].After <= at {
				next[i]++
			}
			now := picture.Counts{picture.Waiting: g.Clusters}
			if next[i] > 0 {
				now = g.Points[next[i]-1].Counts
			}
			for state, n := range now {
				point.Counts[state] += n
			}
		}
		all = append(all, point)
	}
	return all
}

// words are those for the ends.
var words = map[simulation.Outcome]string{
	simulation.Complete:             "complete",
	simulation.CompleteWithFailures: "complete",
	simulation.Breached:             "stopped",
	simulation.Stuck:                "stuck",
	simulation.AtGate:               "at a closed gate",
	simulation.Blocked:              "blocked",
	simulation.NothingSelected:      "nothing selected",
	simulation.RolledBack:           "aborted",
}

func mark(trace *simulation.Trace) picture.Mark {
	m := picture.Mark{Label: words[trace.Outcome]}
	if trace.Outcome == simulation.RolledBack {
		m.After = trace.Aborted.After
		return m
	}
	if trace.Stopped < len(trace.Waves) {
		m.After = trace.Waves[trace.Stopped].After
	}
	return m
}

func counts(c status.Counts) picture.Counts {
	return picture.Counts{
		picture.Succeeded:  c.Succeeded - c.Soaking,
		picture.Soaking:    c.Soaking,
		picture.Validating: c.Validating,
		picture.InFlight:   c.Progressing - c.Validating,
		picture.Failed:     c.Failed,
		picture.TimedOut:   c.TimeOut,
		picture.Ignored:    c.Ignored,
		picture.Waiting:    c.ToApply,
	}
}

// change is a cluster that comes into another state.
type change struct {
	after    time.Duration
	position int // of the cluster
	to       picture.State
}

// changes has the changes of all clusters, in the order of time. A trace doesn't say when a soak ends; the schedule
// says how long it is.
func changes(groups *grouping.Groups, trace *simulation.Trace) (all []change) {
	soak := time.Duration(0)
	if trace.Final != nil {
		soak = trace.Final.Schedule.MinSuccessTime
	}
	deselected := make(map[string]bool) // which stay so, whatever is known of them
	for _, w := range trace.Waves {
		for _, name := range w.Deselected {
			deselected[name] = true
		}
		add := func(names []string, after time.Duration, to picture.State) {
			for _, name := range names {
				if position, found := groups.Position(name); found && (!deselected[name] || to == picture.Deselected) {
					all = append(all, change{after, position, to})
				}
			}
		}
		add(w.Again, w.After, picture.Waiting)
		add(w.Started, w.After, picture.InFlight)
		add(w.Validating, w.After, picture.Validating)
		if soak > 0 {
			add(w.Succeeded, w.After, picture.Soaking)
			add(w.Succeeded, w.After+soak, picture.Succeeded)
		} else {
			add(w.Succeeded, w.After, picture.Succeeded)
		}
		add(w.Failed, w.After, picture.Failed)
		add(w.TimedOut, w.After, picture.TimedOut)
		add(w.Deselected, w.After, picture.Deselected)
	}
	sortChanges(all)
	return all
}

func sortChanges(all []change) {
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.after, b.after) })
}

// ofGroups counts the clusters of each group whenever one of them changes, from these states on.
func ofGroups(groups *grouping.Groups, changes []change, first []picture.State) []picture.Group {
	all, now := make([]picture.Group, groups.Len()), make([]picture.Counts, groups.Len())
	for i := range all {
		key := groups.Key(i)
		all[i] = picture.Group{Index: int(key.Index), Name: cmp.Or(key.Name, key.Placement), Clusters: groups.Size(i)}
	}
	states := slices.Clone(first)
	if first == nil {
		states = slices.Repeat([]picture.State{picture.Waiting}, groups.NumClusters())
	}
	for i, state := range states {
		now[groups.GroupAt(i)][state]++
	}
	for i := range all {
		if now[i][picture.Waiting] < groups.Size(i) {
			all[i].Points = append(all[i].Points, picture.Point{Counts: now[i]})
		}
	}
	for _, c := range changes {
		group := groups.GroupAt(c.position)
		if states[c.position] == picture.Ignored {
			continue
		}
		now[group][states[c.position]]--
		now[group][c.to]++
		states[c.position] = c.to
		points := &all[group].Points
		if n := len(*points); n > 0 && (*points)[n-1].After == c.after {
			(*points)[n-1].Counts = now[group]
		} else {
			*points = append(*points, picture.Point{After: c.after, Counts: now[group]})
		}
	}
	return all
}
