// Package timeline makes of a simulation what a picture shows.
package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/picture"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// Of is the rollout that a simulation played over these groups, with a mark where it came to its end. Its
// title and sentence are the caller's. Nobody is uncounted if that is nil.
func Of(groups *grouping.Groups, trace *simulation.Trace, uncounted func(cluster string) bool) picture.Timeline {
	t := picture.Timeline{Mark: mark(trace)}
	for _, w := range trace.Waves {
		t.Points = append(t.Points, picture.Point{After: w.After, Counts: counts(w.Counts)})
	}
	t.Groups = ofGroups(groups, trace, uncounted)
	return t
}

// words are those for the ends.
var words = map[simulation.Outcome]string{
	simulation.Complete:             "complete",
	simulation.CompleteWithFailures: "complete",
	simulation.Breached:             "stopped",
	simulation.Stuck:                "stuck",
	simulation.AtGate:               "at a closed gate",
	simulation.NothingSelected:      "nothing selected",
}

func mark(trace *simulation.Trace) picture.Mark {
	m := picture.Mark{Label: words[trace.Outcome]}
	if trace.Stopped < len(trace.Waves) {
		m.After = trace.Waves[trace.Stopped].After
	}
	return m
}

func counts(c status.Counts) picture.Counts {
	return picture.Counts{
		picture.Succeeded:  c.Succeeded - c.Soaking,
		picture.Soaking:    c.Soaking,
		picture.InFlight:   c.Progressing,
		picture.Failed:     c.Failed,
		picture.TimedOut:   c.TimeOut,
		picture.NotCounted: c.Uncounted,
		picture.Waiting:    c.ToApply,
	}
}

// change is a cluster that comes into another state.
type change struct {
	after    time.Duration
	position int // of the cluster
	to       picture.State
}

// changes are those of all clusters, in the order of time. A trace doesn't say when a soak ends; the schedule
// says how long it is.
func changes(groups *grouping.Groups, trace *simulation.Trace) (all []change) {
	soak := time.Duration(0)
	if trace.Final != nil {
		soak = trace.Final.Schedule.MinSuccessTime
	}
	for _, w := range trace.Waves {
		add := func(names []string, after time.Duration, to picture.State) {
			for _, name := range names {
				if position, found := groups.Position(name); found {
					all = append(all, change{after, position, to})
				}
			}
		}
		add(w.Again, w.After, picture.Waiting)
		add(w.Started, w.After, picture.InFlight)
		if soak > 0 {
			add(w.Succeeded, w.After, picture.Soaking)
			add(w.Succeeded, w.After+soak, picture.Succeeded)
		} else {
			add(w.Succeeded, w.After, picture.Succeeded)
		}
		add(w.Failed, w.After, picture.Failed)
		add(w.TimedOut, w.After, picture.TimedOut)
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.after, b.after) })
	return all
}

// ofGroups counts the clusters of each group whenever one of them changes.
func ofGroups(groups *grouping.Groups, trace *simulation.Trace, uncounted func(cluster string) bool) []picture.Group {
	all, now := make([]picture.Group, groups.Len()), make([]picture.Counts, groups.Len())
	for i := range all {
		key := groups.Key(i)
		all[i] = picture.Group{Index: int(key.Index), Name: cmp.Or(key.Name, key.Placement), Clusters: groups.Size(i)}
		now[i][picture.Waiting] = groups.Size(i)
	}
	states := make([]picture.State, groups.NumClusters())
	for i := range states {
		states[i] = picture.Waiting
		if uncounted != nil && uncounted(groups.Cluster(i)) {
			states[i] = picture.NotCounted
			now[groups.GroupAt(i)][picture.Waiting]--
			now[groups.GroupAt(i)][picture.NotCounted]++
		}
	}
	for i := range all {
		if now[i][picture.NotCounted] > 0 {
			all[i].Points = append(all[i].Points, picture.Point{Counts: now[i]})
		}
	}
	for _, c := range changes(groups, trace) {
		group := groups.GroupAt(c.position)
		if states[c.position] == picture.NotCounted {
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
