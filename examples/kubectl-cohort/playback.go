// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/history"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
)

// errEnd ends the reading of a recording.
var errEnd = errors.New("the end")

// recorded tells a recording, reading by reading.
func (f *flags) recorded(cluster string) (pasts, error) {
	r, until, err := f.past.open()
	if err != nil {
		return nil, err
	}
	times := r.Times()
	if first, last := times[0], times[len(times)-1]; until.Before(first) || until.After(last) {
		_, err := r.At(until, scenario.Reader())
		return nil, err
	}
	n := len(times) - len(slices.Collect(after(times, until)))
	p := playback{cluster: cluster, wanted: scenario.Wanted{Rollout: f.rollout, Namespace: f.namespace(), Placement: f.placement.Ref, Hub: true},
		first: times[0], gap: longest(times), specs: make(map[string]any), known: make(map[string]*recordedPast)}
	err = r.Each(scenario.Reader(), func(at time.Time, changed bool, objects []manifest.Object) error {
		if at.After(until) {
			return errEnd
		}
		return p.reading(at, changed, objects)
	})
	if err != nil && !errors.Is(err, errEnd) {
		return nil, err
	}
	switch {
	case len(p.all) == 0 && p.unknown != nil:
		return nil, fmt.Errorf("history %w", p.unknown)
	case len(p.all) == 0:
		return nil, fmt.Errorf("history %s: %s: until %s %s", cluster, f.past.file, until.Format(time.RFC3339), p.fault)
	}
	part := func(one *recordedPast) bool { return one.part }
	var all pasts
	for _, one := range p.all {
		if !one.part && slices.ContainsFunc(p.all, part) {
			continue // as of a rollout that the cluster has no part in
		}
		past := pastOf{Cluster: cluster, Rollout: one.name, Since: one.since, Until: until, Moments: one.Moments(),
			By:    fmt.Sprintf("%s, of %d readings from %s to %s", f.past.file, n, times[0].Format(time.RFC3339), until.Format(time.RFC3339)),
			Notes: one.last.Notes, clock: output.Clock{Start: until, Word: "end"}}
		if err := past.placed(one.last); err != nil {
			return nil, err
		}
		all = append(all, past)
	}
	return all, nil
}

// after yields the times after a time.
func after(times []time.Time, at time.Time) func(func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for _, t := range times {
			if t.After(at) && !yield(t) {
				return
			}
		}
	}
}

// longest is how long there may be no reading before something is missing: three times as long as usual, and a minute.
func longest(times []time.Time) time.Duration {
	var apart []time.Duration
	for i := 1; i < len(times); i++ {
		apart = append(apart, times[i].Sub(times[i-1]))
	}
	if len(apart) == 0 {
		return time.Minute
	}
	slices.Sort(apart)
	return max(time.Minute, 3*apart[len(apart)/2])
}

// playback goes through a recording.
type playback struct {
	cluster string
	wanted  scenario.Wanted
	loader  scenario.Loader
	first   time.Time
	gap     time.Duration
	specs   map[string]any // of the objects that roll out, as they were last
	known   map[string]*recordedPast
	all     []*recordedPast // in the order in which they came to be known
	before  time.Time       // the reading before
	fault   string          // why it could not be read
	unknown error           // why the cluster is not known
}

// recordedPast is what is known of the cluster in a rollout.
type recordedPast struct {
	*history.Recorder
	name  string
	since time.Time
	last  *scenario.Scenario
	next  time.Time // when its plan changes by itself
	gone  bool
	part  bool // it has or had one in the rollout
}

func (play *playback) reading(at time.Time, changed bool, objects []manifest.Object) error {
	if !play.before.IsZero() && at.Sub(play.before) > play.gap {
		for _, one := range play.all {
			one.Say(history.Moment{Time: play.before, Until: at, What: history.NotRecorded, Message: "no reading"})
		}
	}
	play.before = at
	if changed {
		return play.changed(at, objects)
	}
	for _, one := range play.all {
		if one.gone || one.next.IsZero() || at.Before(one.next) {
			continue
		}
		if err := play.plan(one, at); err != nil {
			return err
		}
	}
	return nil
}

// changed takes in a reading in which objects changed.
func (play *playback) changed(at time.Time, objects []manifest.Object) error {
	scenarios, err := play.loader.Load(objects, play.wanted)
	if err != nil && err.Error() != play.fault {
		for _, one := range play.all {
			one.Say(history.Moment{Time: at, What: history.Gone, Message: err.Error(), From: history.Recording})
			one.gone = true
		}
	}
	if play.fault = ""; err != nil {
		play.fault = err.Error()
		return nil
	}
	specs := play.edited(objects)
	for _, s := range scenarios {
		one, known := play.known[s.Rollout]
		if !known {
			if !s.Knows(play.cluster) {
				if _, _, _, err := s.Why(play.cluster); err != nil {
					play.unknown = err
					continue
				}
			}
			one = &recordedPast{Recorder: history.New(play.cluster), name: s.Rollout, since: at}
			play.known[s.Rollout], play.all = one, append(play.all, one)
			if at.Equal(play.first) {
				since, err := reconstruct(one.Recorder, s, play.cluster, at)
				if err != nil {
					return err
				}
				if !since.IsZero() {
					one.since = since
				}
			} else {
				one.Say(history.Moment{Time: at, What: history.Changed, Message: "the rollout is new", From: history.Recording})
			}
		}
		if fields := specs[s.Owner]; known && len(fields) > 0 {
			one.Say(history.Moment{Time: at, What: history.Changed, Message: s.Owner + ": " + strings.Join(fields, ", "), From: history.Recording})
		}
		one.last, one.gone, one.part = s, false, one.part || s.Knows(play.cluster)
		if err := play.plan(one, at); err != nil {
			return err
		}
	}
	for _, one := range play.all {
		if !one.gone && !slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool { return s.Rollout == one.name }) {
			one.Say(history.Moment{Time: at, What: history.Gone, From: history.Recording})
			one.gone = true
		}
	}
	return nil
}

// plan looks at a rollout.
func (play *playback) plan(one *recordedPast, at time.Time) (err error) {
	one.next, err = planned(one.Recorder, one.last, play.cluster, at, history.Recording)
	return err
}

// edited are the fields of the specs of what rolls out that are not as they were in the reading before, by object.
func (play *playback) edited(objects []manifest.Object) map[string][]string {
	all := make(map[string][]string)
	for _, o := range objects {
		if !rollsOut(o) {
			continue
		}
		name := o.String()
		if was, known := play.specs[name]; known {
			if fields := differing(was, o.Object["spec"]); len(fields) > 0 {
				all[name] = fields
			}
		}
		play.specs[name] = o.Object["spec"]
	}
	return all
}
