package rollout_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
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
)

func (w where) isExposed() bool  { return w != hasNot && w != isGood }
func (w where) isInFlight() bool { return w.isExposed() && w != isOverdue }

// hist is where each cluster of a fleet of up to four stands, in three bits each.
type hist uint16

const numHists = 1 << 12

func (h hist) of(cluster int) where { return where(h >> (3 * cluster) & 7) }

func (h hist) set(cluster int, w where) hist { return h&^(7<<(3*cluster)) | hist(w)<<(3*cluster) }

// searched is a strategy over a fleet, whose clusters are a, b, c and d.
type searched struct {
	world
	deadline, soak bool
	exceptions     [2]string     // the clusters that do not count, and those that failed before
	gated          *grouping.Key // a gate before it that may open and close at any time
	reached        bool          // says that some history reaches Exposed, though the numbers are only bounds there

	groups  *grouping.Groups
	opts    []rollout.Option
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
		if counts(h.of(i)) && !s.isAside(i) {
			n++
			stages[s.stageOf[i]]++
		}
	}
	m.all = max(m.all, n)
	for i := range m.stages {
		m.stages[i] = max(m.stages[i], stages[i])
	}
}

// plan asks Plan who starts.
func (s *searched) plan(t fataler, h hist) planOf {
	p := &s.plans[h]
	if p.known {
		return *p
	}
	p.known = true
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
			r.LastTransitionTime = now.Add(-2 * minute)
		case soaksNow:
			r.Status = status.Succeeded
		case isGood:
			r.Status, r.LastTransitionTime = status.Succeeded, now.Add(-minute)
		}
		reports = append(reports, r)
	}
	s.reports = reports
	start := func(opts ...rollout.Option) (bits uint8) {
		result, err := rollout.Plan(s.strategy, s.groups, reports, now, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range result.Start {
			bits |= 1 << (c.Name[0] - 'a')
		}
		p.breach = result.Breach != nil
		return bits
	}
	p.start = start(s.opts...)
	if s.gated != nil && p.start != 0 {
		p.closed = start(append(s.opts[:len(s.opts):len(s.opts)], rollout.Closed(*s.gated, rollout.Gate{}))...)
	}
	return *p
}

// next yields what may come after a state: a report of one cluster, a minute that passes, or starts, all of those that
// Plan says or one of them. Several reports at once, and reports that nobody sees, are states between which nobody plans.
func (s *searched) next(t fataler, h hist, lateAnswers, success bool, yield func(hist)) {
	passed, passes := h, false
	pass := func(i int, w where) { passed, passes = passed.set(i, w), true }
	for i := range s.members {
		switch w := h.of(i); {
		case w == hasNot || w == isGood || w == isOverdue && !lateAnswers:
			continue
		case w == soaksNow:
			pass(i, isGood)
		case s.deadline && (w == runsNow || w == failsNow):
			pass(i, w+1)
		case s.deadline && (w == runsOld || w == failsOld):
			pass(i, isOverdue)
		}
		yield(h.set(i, runsNow))
		yield(h.set(i, failsNow))
		switch {
		case s.soak:
			yield(h.set(i, soaksNow))
		case success:
			yield(h.set(i, isGood))
		}
	}
	if passes && (success || !h.any(soaksNow)) {
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
func (s *searched) each(t fataler, lateAnswers, success bool, visit func(hist)) {
	var seen [numHists]bool
	seen[0] = true
	for todo := []hist{0}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(h)
		s.next(t, h, lateAnswers, success, func(h hist) {
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
	s.each(t, true, true, func(h hist) {
		f.exposed.see(h, s, where.isExposed)
		if s.plan(t, h).breach {
			f.atBreach.see(h, s, where.isExposed)
		}
		f.states++
	})
	s.each(t, false, true, func(h hist) { f.inFlight.see(h, s, where.isInFlight) })
	s.each(t, true, false, func(h hist) { f.allFail.see(h, s, where.isExposed) })
	return f
}

// searches remembers what was found for one schedule, as several strategies may come to the same.
type searches map[string]found

// fault says where an exposure is not what the search finds.
func (known searches) fault(t fataler, s *searched) string {
	s.groups, s.opts = s.read(t), s.options()
	e, err := rollout.Expose(s.strategy, s.groups, rollout.Span{}, now, s.opts...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := rollout.Plan(s.strategy, s.groups, nil, now, s.opts...)
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
	key := fmt.Sprint(s.stageOf, s.failedFrees, s.gated, s.exceptions, s.ramp, string(schedule))
	f, ok := known[key]
	if !ok {
		f = s.search(t, len(plan.Schedule.Stages))
		known[key] = f
	}
	fault := ""
	differ := func(what string, got, want int) {
		// In which order the baseline starts is not looked at, nor who in a graph takes the slots of a ramp.
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
	if e.Clusters > 0 && s.exceptions == [2]string{} && !rollsOutAll(s.strategy) && !slices.ContainsFunc(e.Warnings, isOutOfReach) {
		differ("Exposed at a breach", e.Exposed, f.atBreach.all)
	}
	if s.reached && e.Exposed > f.exposed.all && fault == "" {
		fault = fmt.Sprintf("Exposed is %d, which no history reaches: the search finds %d\n%v", e.Exposed, f.exposed.all, e)
	}
	return fault
}

func isOutOfReach(w rollout.Warning) bool { return w.Type == rollout.WarningBudgetOutOfReach }

func rollsOutAll(s clusterv1alpha1.RolloutStrategy) bool {
	return s.Type == "" || s.Type == clusterv1alpha1.All
}

// exposureFleets are all fleets of up to so many clusters, but for their names, and one with an empty group in between.
func exposureFleets(most int) (all []world) {
	for n := range most + 1 {
		all = append(all, fleets(ascending(cuts(n)), plainKeys, 0)...)
	}
	return append(all, cutFleet([]int{0, 2, 2}, plainKeys, 3))
}

func (w *world) isAside(i int) bool { return w.uncounted != nil && w.uncounted(w.members[i].name) }

// with lets some clusters not count, or fail before.
func (w *world) with(uncounted, before string) {
	if uncounted != "" {
		w.uncounted = func(cluster string) bool { return strings.Contains(uncounted, cluster) }
	}
	if before != "" {
		w.before = func(cluster string) bool { return strings.Contains(before, cluster) }
	}
}

// searchedWorlds are all small strategies over each fleet, and a third of them again with some of the options.
func searchedWorlds(fleets []world) (all []*searched) {
	counts := []string{"", "1", "2", "3", "50%", "4"}
	random := rand.New(rand.NewPCG(40, 35))
	add := func(s clusterv1alpha1.RolloutStrategy, config clusterv1alpha1.RolloutConfig, perGroup string, frees bool) {
		for _, fleet := range fleets {
			w := &searched{world: fleet, deadline: config.ProgressDeadline != "", soak: config.MinSuccessTime.Duration > 0 && !rollsOutAll(s)}
			w.strategy, w.failedFrees = s, frees
			if perGroup != "" {
				n := intstr.Parse(perGroup)
				w.perGroup = &n
			}
			all = append(all, w)
			if random.IntN(3) == 0 {
				with := *w
				with.some(random)
				all = append(all, &with)
			}
		}
	}
	for _, deadline := range []string{"", "2m"} {
		for range 8 { // each with other options
			add(clusterv1alpha1.RolloutStrategy{All: &clusterv1alpha1.RolloutAll{RolloutConfig: config("1", deadline, minute)}}, config("", deadline, minute), "", deadline == "")
		}
		for _, soak := range []time.Duration{0, minute} {
			for _, frees := range []bool{false, true} {
				for _, mandatory := range [][]string{nil, {"0"}, {"1"}, {"1", "0"}} {
					for _, failures := range counts {
						c := config(failures, deadline, soak)
						for _, concurrency := range counts[:5] {
							add(progressive(concurrency, c, mandatory...), c, "", frees)
						}
						for _, perGroups := range []string{"", "1", "2"} {
							add(perGroup(c, mandatory...), c, perGroups, frees)
						}
					}
				}
			}
		}
	}
	return all
}

// some adds options at random.
func (s *searched) some(random *rand.Rand) {
	if random.IntN(2) == 0 && len(s.world.groups) > 0 {
		s.gated = &s.world.groups[random.IntN(len(s.world.groups))]
	}
	if random.IntN(3) == 0 {
		s.exceptions = [][2]string{{"a", ""}, {"", "b"}, {"c", "ad"}, {"", "ac"}}[random.IntN(4)]
		s.with(s.exceptions[0], s.exceptions[1])
	}
	if random.IntN(2) == 0 && s.strategy.Type == clusterv1alpha1.ProgressivePerGroup {
		s.ordered = []map[string][]string{{}, {"prod": {"canary"}}, {"canary": {"prod"}}, {"": {"prod", "canary"}}}[random.IntN(4)]
	}
	if random.IntN(2) == 0 {
		s.ramp = 1 + random.IntN(2)
	}
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
				for _, s := range all[:exhaustive.Of(10, len(all))] {
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
