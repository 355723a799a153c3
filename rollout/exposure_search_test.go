// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// The search finds what an exposure says by going through all histories of a small fleet. It knows nothing of stages and
// limits: what may start in each state it asks Plan. Time goes in minutes. Where there is a deadline it is two of them,
// and a soak is one.
const minute = time.Minute

// where is where a cluster stands in a history.
type where uint8

const (
	hasNot    where = iota // got the version yet
	runsNow                // in flight, since now
	runsOld                // in flight, since a minute
	failsNow               // failed now
	failsOld               // failed a minute ago
	isOverdue              // past its deadline
	soaksNow               // succeeded now, and has to soak
	isGood                 // succeeded and soaked
	isSkipped
)

const (
	numWheres = hist(isSkipped) + 1
	numHists  = numWheres * numWheres * numWheres * numWheres
)

func (w where) isExposed() bool  { return w != hasNot && w != isGood && w != isSkipped }
func (w where) isInFlight() bool { return w.isExposed() && w != isOverdue }

// hist is where each cluster of a fleet of up to four stands, as the digits of a number.
type hist uint16

var digits = [4]hist{1, numWheres, numWheres * numWheres, numWheres * numWheres * numWheres}

func (h hist) of(cluster int) where { return where(h / digits[cluster] % numWheres) }

func (h hist) set(cluster int, w where) hist {
	return h + (hist(w)-hist(h.of(cluster)))*digits[cluster]
}

// course says what may happen in the histories that are searched.
type course struct {
	comesBack   bool // a timed out cluster may be reported otherwise
	succeeds    bool // the version works somewhere
	skips       bool // clusters are skipped
	skipsEnd    bool // and no longer are
	saysTimeOut bool // TimeOut is reported without a deadline
	freezes     bool // any waiting cluster is blocked and released
	blocks      bool // and its group waits for it
}

// searched is a strategy over a fleet, whose clusters are a, b, c and d.
type searched struct {
	world
	deadline, soak bool
	exceptions     [2]string     // the clusters that do not count, and those that failed before
	gated          *grouping.Key // a gate before it that may open and close at any time
	reached        bool          // says that some history reaches Exposed, though the numbers are only bounds there
	breaks         course        // what may happen although R40 assumes that it does not

	groups  *grouping.Groups
	opts    rollout.Options
	stageOf [4]int // of each cluster
	plans   *[numHists]planOf
}

// planOf is what Plan says in a state: the clusters that start, as bits, with the gate open and with it closed.
type planOf struct {
	known, breach bool
	start, closed uint8
}

// most is the most clusters in all states that a search came by: in the fleet, and in each stage.
type most struct {
	all    int
	stages []int
}

func (m *most) see(h hist, s *searched, counts func(where) bool) {
	n, stages := 0, [4]int{}
	for i := range s.members {
		if counts(h.of(i)) && !s.isIgnored(i) {
			n++
			stages[s.stageOf[i]]++
		}
	}
	m.all = max(m.all, n)
	for i := range m.stages {
		m.stages[i] = max(m.stages[i], stages[i])
	}
}

// plan asks Plan which clusters start.
func (s *searched) plan(t fataler, h hist) planOf {
	p := &s.plans[h]
	if p.known {
		return *p
	}
	p.known = true
	s.reports = s.reportsOf(h)
	start := func(opts rollout.Options) (bits uint8) {
		result, err := rollout.Plan(s.strategy, s.groups, s.reports, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range result.Start {
			bits |= 1 << (c.Name[0] - 'a')
		}
		p.breach = result.Breach != nil
		return bits
	}
	p.start = start(s.opts)
	if s.gated != nil && p.start != 0 {
		p.closed = start(merged(s.opts, rollout.Options{Gates: []rollout.ClosedGate{{Group: *s.gated}}}))
	}
	return *p
}

// reportsOf gives the reports of a state, in the place of the last ones.
func (s *searched) reportsOf(h hist) []status.Report {
	reports := s.reports[:0]
	for i, m := range s.members {
		r := status.Report{Cluster: m.name, Status: status.Progressing, LastTransitionTime: now}
		switch h.of(i) {
		case hasNot:
			continue
		case runsNow:
			r = status.Report{Cluster: m.name, Status: status.ToApply, Applied: now}
		case runsOld:
			r.LastTransitionTime = now.Add(-minute)
		case failsNow:
			r.Status = status.Failed
		case failsOld:
			r.Status, r.LastTransitionTime = status.Failed, now.Add(-minute)
		case isOverdue:
			if r.LastTransitionTime = now.Add(-2 * minute); !s.deadline {
				r.Status = status.TimeOut
			}
		case isSkipped:
			r.Status = status.Skip
		case soaksNow:
			r.Status = status.Succeeded
		case isGood:
			r.Status, r.LastTransitionTime = status.Succeeded, now.Add(-minute)
		}
		reports = append(reports, r)
	}
	return reports
}

// next yields what may come after a state: a report of one cluster, a minute that passes, or starts, all of those that
// Plan says or one of them. Several reports at once, and reports that are not seen, are states between which no plan is made.
func (s *searched) next(t fataler, h hist, may course, yield func(hist)) {
	passed, passes := h, false
	pass := func(i int, w where) { passed, passes = passed.set(i, w), true }
	for i := range s.members {
		w := h.of(i)
		if may.skips && w != isGood {
			yield(h.set(i, isSkipped))
		}
		switch {
		case w == isSkipped && may.skipsEnd:
			yield(h.set(i, hasNot))
		case w == soaksNow:
			pass(i, isGood)
		case s.deadline && (w == runsNow || w == failsNow):
			pass(i, w+1)
		case s.deadline && (w == runsOld || w == failsOld):
			pass(i, isOverdue)
		}
		if !w.isExposed() || w == isOverdue && !may.comesBack {
			continue
		}
		yield(h.set(i, hasNot)) // it lost the version
		yield(h.set(i, runsNow))
		yield(h.set(i, failsNow))
		switch {
		case s.soak:
			yield(h.set(i, soaksNow))
		case may.succeeds:
			yield(h.set(i, isGood))
		}
		if may.saysTimeOut {
			yield(h.set(i, isOverdue))
		}
	}
	if passes && (may.succeeds || !h.any(soaksNow)) {
		yield(passed)
	}
	p := s.plan(t, h)
	open, closed := h, h
	for i := range s.members {
		if p.start>>i&1 == 1 {
			open = open.set(i, runsNow)
			yield(h.set(i, runsNow))
		}
		if p.closed>>i&1 == 1 {
			closed = closed.set(i, runsNow)
			yield(h.set(i, runsNow))
		}
	}
	yield(open)
	yield(closed)
	if may.freezes {
		s.nextHeld(t, h, may.blocks, yield)
	}
}

// any says whether some cluster stands there.
func (h hist) any(w where) bool {
	for i := range 4 {
		if h.of(i) == w {
			return true
		}
	}
	return false
}

// each goes once through every state that there is, from a fleet that has nothing yet.
func (s *searched) each(t fataler, may course, visit func(hist)) {
	var seen [numHists]bool
	seen[0] = true
	for todo := []hist{0}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(h)
		s.next(t, h, may, func(h hist) {
			if !seen[h] {
				seen[h] = true
				todo = append(todo, h)
			}
		})
	}
}

// found is what a search finds.
type found struct {
	exposed, atBreach, inFlight, allFail most
	states                               int
}

// search goes through all histories. Stages are from the strategy that took effect, as in Plan.
func (s *searched) search(t fataler, stages int) (f found) {
	s.plans = new([numHists]planOf)
	defer func() { s.plans = nil }()
	for _, m := range []*most{&f.exposed, &f.atBreach, &f.inFlight, &f.allFail} {
		m.stages = make([]int, stages)
	}
	s.each(t, course{comesBack: true, succeeds: true, skips: true, skipsEnd: s.breaks.skipsEnd, saysTimeOut: s.breaks.saysTimeOut, freezes: s.breaks.freezes, blocks: s.breaks.blocks}, func(h hist) {
		f.exposed.see(h, s, where.isExposed)
		if s.plan(t, h).breach {
			f.atBreach.see(h, s, where.isExposed)
		}
		f.states++
	})
	s.each(t, course{succeeds: true, skips: true, skipsEnd: s.breaks.skipsEnd, saysTimeOut: true, freezes: s.breaks.freezes, blocks: s.breaks.blocks}, func(h hist) { f.inFlight.see(h, s, where.isInFlight) })
	s.each(t, course{comesBack: true, skips: s.breaks.skips, saysTimeOut: s.breaks.saysTimeOut, freezes: s.breaks.freezes, blocks: s.breaks.blocks}, func(h hist) { f.allFail.see(h, s, where.isExposed) })
	return f
}

// searches remembers what was found for one schedule, as several strategies may come to the same.
type searches map[string]found

// look gives the exposure of a world and what the search finds.
func (known searches) look(t fataler, s *searched) (exposure.Exposure, found, *rollout.Result) {
	s.groups, s.opts = s.read(t), s.options()
	e, err := exposure.Of(s.strategy, s.groups, exposure.Span{}, now, s.opts)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := rollout.Plan(s.strategy, s.groups, nil, now, s.opts)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range s.members {
		s.stageOf[i] = slices.IndexFunc(plan.Schedule.Stages, func(stage rollout.Stage) bool { return slices.Contains(stage.Groups, m.group) })
	}
	plan.Schedule.ConcurrencySource = ""
	schedule, err := json.Marshal(plan.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprint(s.stageOf, s.failedFrees, s.gated, s.exceptions, s.ramp, s.breaks, string(schedule))
	f, ok := known[key]
	if !ok {
		f = s.search(t, len(plan.Schedule.Stages))
		known[key] = f
	}
	return e, f, plan
}

// fault says where an exposure is not what the search finds.
func (known searches) fault(t fataler, s *searched) string {
	e, f, plan := known.look(t, s)
	fault := ""
	differ := func(what string, got, want int) {
		// In which order the baseline starts is not looked at, nor which cluster in a graph takes the slots of a ramp.
		bound := (s.exceptions[1] != "" || s.ramp > 0 && plan.Schedule.After != nil) && got > want
		if got != want && !bound && fault == "" {
			fault = fmt.Sprintf("%s is %d, and the search finds %d\n%v", what, got, want, e)
		}
	}
	differ("Exposed", e.Exposed, f.exposed.all)
	differ("ExposedIfAllFail", e.ExposedIfAllFail, f.allFail.all)
	differ("InFlight", e.InFlight, f.inFlight.all)
	for i, stage := range e.Stages {
		differ(stage.String()+", exposed", stage.Exposed, f.exposed.stages[i])
		differ(stage.String()+", in flight", stage.InFlight, f.inFlight.stages[i])
	}
	if e.Clusters > 0 && s.exceptions == [2]string{} && !rollsOutAll(s.strategy) && !slices.ContainsFunc(e.Weaknesses, isOutOfReach) {
		differ("Exposed at a breach", e.Exposed, f.atBreach.all)
	}
	if s.reached && e.Exposed > f.exposed.all && fault == "" {
		fault = fmt.Sprintf("Exposed is %d, which no history reaches: the search finds %d\n%v", e.Exposed, f.exposed.all, e)
	}
	return fault
}

func isOutOfReach(w exposure.Weakness) bool { return w.Type == exposure.WeaknessBudgetOutOfReach }

func rollsOutAll(s clusterv1alpha1.RolloutStrategy) bool {
	return s.Type == "" || s.Type == clusterv1alpha1.All
}

// R40: in every fleet of four clusters, under all small strategies, Exposure is what the search finds. The short run
// takes a part of them.
func TestExposureIsTheMostOfAllHistoriesInEveryFleetOfUpToFourClusters(t *testing.T) {
	var worlds, states, schedules atomic.Int64
	t.Run("fleets", func(t *testing.T) {
		for _, fleet := range exposureFleets(4) {
			t.Run(fleet.cut(), func(t *testing.T) {
				t.Parallel()
				all := searchedWorlds([]world{fleet})
				random := rand.New(rand.NewPCG(4, 40))
				random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				known := searches{}
				for _, s := range all[:exhaustive.Of(10, min(60, len(all)), len(all))] {
					if fault := known.fault(t, s); fault != "" {
						t.Errorf("%v\n%s", s.world, fault)
						return
					}
					worlds.Add(1)
				}
				for _, f := range known {
					states.Add(int64(f.states))
				}
				schedules.Add(int64(len(known)))
			})
		}
	})
	t.Logf("%d strategies over fleets, %d schedules, %d states", worlds.Load(), schedules.Load(), states.Load())
}
