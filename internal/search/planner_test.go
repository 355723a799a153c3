// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// listener is a controller that keeps a rollout.Planner and tells it of what happens, as the documentation has it. Each
// report is told twice, and one that a write has overtaken is told once more after the write.
type listener struct {
	*controller
	planner  *rollout.Planner
	passed   time.Duration // since the beginning
	neglects string        // a duty that it skips
}

func newListener(k *controller, s *state) (*listener, error) {
	l := &listener{controller: k}
	return l, l.begin(s)
}

// begin makes a planner and tells it all.
func (l *listener) begin(s *state) (err error) {
	strategy, opts := l.strategy(s)
	if l.planner, err = rollout.NewPlanner(strategy, l.read(s), opts); err != nil {
		return err
	}
	for i := range s.clusters {
		if err := l.observe(i, s.clusters[i].view()); err != nil {
			return err
		}
	}
	return nil
}

func (l *listener) now() time.Time { return now.Add(l.passed) }

// strategy gives what SetStrategy takes. The grace period begins again with each planner.
func (l *listener) strategy(s *state) (strategy clusterv1alpha1.RolloutStrategy, opts rollout.Options) {
	in := l.input(s)
	in.close(s, l.now())
	opts = in.options
	if in.grace > 0 {
		opts.RemoveAfter = metav1.Duration{Duration: in.grace}
	}
	if in.memory != nil {
		memory := *in.memory
		memory.Record.Deselected = slices.Clone(memory.Record.Deselected)
		for i := range memory.Record.Deselected {
			l.shift(&memory.Record.Deselected[i].Report)
		}
		opts.StoredRecord = &memory
	}
	return in.strategy, opts
}

// observe tells of an object, or that there is none.
func (l *listener) observe(i int, o object) error {
	r := l.report(i, o)
	if r == nil {
		l.planner.Forget(names[i])
		return nil
	}
	shifted := *r
	l.shift(&shifted)
	return l.planner.Report(shifted)
}

// shift brings the times of a report to those of the planner.
func (l *listener) shift(r *status.Report) {
	for _, t := range [...]*time.Time{&r.Applied, &r.LastTransitionTime} {
		if !t.IsZero() {
			*t = t.Add(l.passed)
		}
	}
}

// follow tells of an event that leads from one state to another.
func (l *listener) follow(before, after *state, e event) error {
	switch e.kind {
	case passes:
		l.passed += tick
	case crashes:
		return l.begin(after)
	case renews, renewsLate, returns:
		if l.neglects != "Forget" {
			l.planner.Forget(names[:]...)
		}
		if l.config.records { // the option names the version
			if err := l.decide(after); err != nil {
				return err
			}
		}
		for i := range after.clusters {
			if err := l.observe(i, after.clusters[i].view()); err != nil {
				return err
			}
		}
		return nil
	case plans, conflicts:
		if err := l.plan(before); err != nil {
			return err
		}
	case writes:
		c := &before.clusters[e.cluster]
		if wrote := after.clusters[e.cluster].truth != c.truth; wrote && l.neglects != "Applied" {
			l.planner.Applied(names[e.cluster], l.now())
			if is := after.clusters[e.cluster].truth; is.observed { // a later attempt: its write returns the agent's answer
				if err := l.observe(int(e.cluster), is); err != nil {
					return err
				}
			}
			if c.seen.version != absent { // a late report of before
				if err := l.observe(int(e.cluster), c.seen); err != nil {
					return err
				}
			}
		}
	}
	if before.paused != after.paused || before.closed != after.closed || before.attempt != after.attempt ||
		l.controller.config.decides(before, after) || e.kind == holds || e.kind == releases || e.kind == reviews {
		if err := l.decide(after); err != nil {
			return err
		}
	}
	if l.read(before) != l.read(after) {
		l.planner.SetGroups(l.read(after))
	}
	return l.watch(before, after)
}

// decide tells the planner the decisions of operators and the owner.
func (l *listener) decide(s *state) error {
	strategy, opts := l.strategy(s)
	return l.planner.SetStrategy(strategy, opts)
}

// watch reports what is new in the cache.
func (l *listener) watch(before, after *state) error {
	for i := range after.clusters {
		was, is := &before.clusters[i], &after.clusters[i]
		shows := is.own == nothing && (was.own != nothing || was.seen != is.seen || was.truth != is.truth && is.seen == is.truth)
		for range 2 {
			if !shows {
				break
			}
			if err := l.observe(i, is.seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// plan asks for the next starts, once the outcome of writes with a lost answer is known.
func (l *listener) plan(s *state) error {
	for i := range s.clusters {
		c := &s.clusters[i]
		if !c.doubt {
			continue
		}
		if c.truth.version == 0 && c.truth.attempt == s.attempt { // which Applied takes for the attempt of the write
			l.planner.Applied(names[i], l.now().Add(-time.Duration(c.truth.applied)*tick))
		}
		if err := l.observe(i, c.truth); err != nil {
			return err
		}
	}
	l.planner.Next(l.now())
	return nil
}

// check compares what the planner says in a state with what Plan says.
func (l *listener) check(s *state) string {
	want := *l.controller.decide(s)
	want.fault, want.ended, want.succeeded, want.parked, want.unseen = "", false, false, 0, 0
	r := rollout.Result{Next: l.planner.Next(l.now()), InFlight: l.planner.InFlight(l.now())}
	for i := range r.Record.Deselected {
		for _, t := range [...]*time.Time{&r.Record.Deselected[i].Applied, &r.Record.Deselected[i].LastTransitionTime} {
			if !t.IsZero() {
				*t = t.Add(-l.passed)
			}
		}
	}
	got := decided(&r)
	got.parked, got.unseen = 0, 0 // which Next does not tell either
	for i := range got.record {   // no time is older than what matters
		e := &got.record[i]
		e.applied, e.changed = min(e.applied, l.config.oldest()), min(e.changed, l.config.oldest())
	}
	for i := range want.in { // Next does not tell where the others are
		if !want.inFlight.has(i) {
			got.in[i], want.in[i] = none, none
		}
	}
	if got != want {
		return fmt.Sprintf("the planner says to %v, and Plan to %v", &got, &want)
	}
	return ""
}

// replay follows the history to a state with a Planner, and compares.
func (x *search) replay(t *testing.T, to uint32, neglects string) string {
	steps := x.history(to)
	l, err := newListener(x.controller, &steps[0].state)
	if err != nil {
		t.Fatal(err)
	}
	l.neglects = neglects
	for i := range steps[1:] {
		if err := l.follow(&steps[i].state, &steps[i+1].state, steps[i].event); err != nil {
			t.Fatal(err)
		}
	}
	return l.check(&steps[len(steps)-1].state)
}

// TestThePlannerThatIsToldOfEventsSaysInEveryStateWhatPlanSays follows the history to each state of each world with a
// Planner, so that what was found of Plan holds for it, too. A controller that does not tell it of its writes, or does
// not forget when another version is wanted, is found out.
func TestThePlannerThatIsToldOfEventsSaysInEveryStateWhatPlanSays(t *testing.T) {
	for _, c := range worlds {
		if c.aborts || c.large && !exhaustive.On { // a rollback has no Planner
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.named = true
			x := newSearch(&c, plan)
			x.only = "nothing"
			states := exhaustive.Of(80, 1_500, 10_000)
			if c.records && exhaustive.Whole { // each takes longer
				states /= 4
			}
			x.run(bound(states))
			for n := range x.states {
				if what := x.replay(t, uint32(n), ""); what != "" {
					t.Fatalf("%s", x.tell(uint32(n), event{kind: plans}, what))
				}
			}
			if duty := map[string]string{"late cache": "Applied", "versions": "Forget"}[c.name]; duty != "" {
				missed := false
				for n := 0; n < len(x.states) && !missed; n++ {
					missed = x.replay(t, uint32(n), duty) != ""
				}
				if !missed {
					t.Errorf("a controller that does not call %s is not noticed", duty)
				}
			}
			t.Logf("%d states with the clusters told apart", len(x.states))
		})
	}
}

// decides says whether the ignored clusters or the record changed between two states.
func (c *config) decides(before, after *state) bool {
	for i := range before.clusters {
		if was, is := &before.clusters[i], &after.clusters[i]; was.aside != is.aside || was.told != is.told || was.toldLasts != is.toldLasts {
			return true
		}
	}
	return before.recorded != after.recorded || before.told != after.told
}
