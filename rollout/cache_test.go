// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// hub is a simulation of what a controller lives with: objects that the controller writes and agents answer, and a
// cache that shows each object late, and of two objects now the one earlier and now the other.
type hub struct {
	random   *rand.Rand
	strategy clusterv1alpha1.RolloutStrategy
	now      time.Time
	wanted   int // the version of the workload
	selected [2][]string
	objects  map[string]*object
	repeated int // how often a cluster was started that has the version
}

// object is the workload of a cluster with all its states; the cache shows the first seen of them.
type object struct {
	states []objectState
	seen   int
}

type objectState struct {
	version int
	report  status.Report // as an adapter makes it, for this version
}

// latest is the truth.
func (o *object) latest() objectState { return o.states[len(o.states)-1] }

// caller is a controller: by the documented duties or without one of them.
type caller interface {
	// reconcile plans by what the cache shows and writes what is to start. It says what it broke.
	reconcile(t *testing.T, h *hub) (broken string)
	// observed is told that the cache shows a newer state of a cluster's object.
	observed(t *testing.T, h *hub, cluster string)
	// selected is told that the groups changed, or are there.
	selected(t *testing.T, h *hub)
	// renewed is told that another version of the workload is wanted.
	renewed(t *testing.T, h *hub)
}

// readsOwnWrites is a caller of Plan that knows what it wrote. What it wrote counts until the cache shows it.
type readsOwnWrites struct {
	careless bool // it does not
	written  map[string]written
}

type written struct {
	states int // the object's resourceVersion, so to speak
	state  objectState
}

func (c *readsOwnWrites) observed(*testing.T, *hub, string) {}
func (c *readsOwnWrites) selected(*testing.T, *hub)         {}
func (c *readsOwnWrites) renewed(*testing.T, *hub)          {}

func (c *readsOwnWrites) reconcile(t *testing.T, h *hub) string {
	var reports []status.Report
	for _, cluster := range h.clusters() {
		r, ok := h.view(cluster)
		if own, wrote := c.written[cluster]; wrote && !c.careless && h.objects[cluster].seen < own.states {
			r, ok = h.reportOf(cluster, own.state), true
		}
		if ok {
			reports = append(reports, r)
		}
	}
	result, err := rollout.Plan(h.strategy, h.groups(t), reports, h.now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range result.Start {
		if broken := h.start(start.Name); broken != "" {
			return broken
		}
		o := h.objects[start.Name]
		c.written[start.Name] = written{len(o.states), o.latest()}
	}
	return ""
}

// tellsPlanner is a caller that tells a Planner what it applied.
type tellsPlanner struct {
	careless bool // it does not
	planner  *rollout.Planner
}

func (c *tellsPlanner) observed(t *testing.T, h *hub, cluster string) {
	if r, ok := h.view(cluster); ok {
		if err := c.planner.Report(r); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *tellsPlanner) selected(t *testing.T, h *hub) { c.planner.SetGroups(h.groups(t)) }

// renewed forgets all that was about the version before.
func (c *tellsPlanner) renewed(t *testing.T, h *hub) {
	c.planner.Forget(h.clusters()...)
	for _, cluster := range h.clusters() {
		c.observed(t, h, cluster)
	}
}

func (c *tellsPlanner) reconcile(_ *testing.T, h *hub) string {
	for _, start := range c.planner.Next(h.now).Start {
		when := h.now
		if broken := h.start(start.Name); broken != "" {
			return broken
		}
		if !c.careless {
			c.planner.Applied(start.Name, when)
		}
	}
	return ""
}

func newHub(seed uint64) *hub {
	h := &hub{random: rand.New(rand.NewPCG(27, seed)), now: now, wanted: 1, objects: map[string]*object{}}
	h.strategy = []clusterv1alpha1.RolloutStrategy{
		progressive("1", config("100%", "", 0)), progressive("2", config("100%", "", 0)),
		progressive("2", config("100%", "", 0), "0"), perGroup(config("100%", "", 0)),
	}[h.random.IntN(4)]
	for range 4 {
		h.join()
	}
	return h
}

func (h *hub) clusters() []string { return slices.Concat(h.selected[0], h.selected[1]) }

func (h *hub) groups(t *testing.T) *grouping.Groups {
	return newFleet(t).group("", h.selected[0]...).group("", h.selected[1]...).read()
}

// join selects one more cluster, somewhere in the order of the names.
func (h *hub) join() {
	name := fmt.Sprintf("c%03d", h.random.IntN(1000))
	if !slices.Contains(slices.Concat(h.selected[0], h.selected[1]), name) {
		g := h.random.IntN(2)
		h.selected[g] = append(h.selected[g], name)
	}
}

// agent lets the agent of a cluster take its next step, or none.
func (h *hub) agent(cluster string) {
	o := h.objects[cluster]
	if o == nil {
		return
	}
	next := o.latest()
	switch next.report.Status {
	case status.ToApply:
		next.report.Status = status.Progressing
	case status.Progressing:
		next.report.Status = []status.RolloutStatus{status.Succeeded, status.Succeeded, status.Failed}[h.random.IntN(3)]
	case status.Failed:
		next.report.Status = status.Succeeded
	default:
		return
	}
	next.report.LastTransitionTime = h.now
	o.states = append(o.states, next)
}

// deliver lets the cache show a newer state of an object; it may leave some out.
func (h *hub) deliver(cluster string) bool {
	o := h.objects[cluster]
	if o == nil || o.seen == len(o.states) {
		return false
	}
	o.seen += 1 + h.random.IntN(len(o.states)-o.seen)
	return true
}

// view is the cache's report of a cluster: of another version than the wanted one there is only that.
func (h *hub) view(cluster string) (r status.Report, ok bool) {
	o := h.objects[cluster]
	if o == nil || o.seen == 0 {
		return r, false
	}
	return h.reportOf(cluster, o.states[o.seen-1]), true
}

func (h *hub) reportOf(cluster string, s objectState) status.Report {
	if s.version != h.wanted {
		return status.Report{Cluster: cluster, Status: status.ToApply}
	}
	return s.report
}

// write is what the caller does to start a cluster. The hub keeps whole seconds.
func (h *hub) write(cluster string) {
	o := h.objects[cluster]
	if o == nil {
		o = &object{}
		h.objects[cluster] = o
	}
	o.states = append(o.states, objectState{h.wanted, status.Report{
		Cluster: cluster, Status: status.ToApply, Applied: h.now.Truncate(time.Second),
	}})
	h.now = h.now.Add(time.Duration(h.random.IntN(1500)) * time.Millisecond)
}

// stands counts the clusters of a group that have the version and are not done, and those that are.
func (h *hub) stands(group int) (inFlight, done int) {
	for _, name := range h.selected[group] {
		if o := h.objects[name]; o != nil && o.latest().version == h.wanted {
			if o.latest().report.Status == status.Succeeded {
				done++
			} else {
				inFlight++
			}
		}
	}
	return inFlight, done
}

// start is the caller's write, after which the limits must hold for what is so, not for what the cache shows.
func (h *hub) start(cluster string) (broken string) {
	if o := h.objects[cluster]; o != nil && o.latest().version == h.wanted {
		h.repeated++ // which changes nothing: to apply what is there is no write
		return ""
	}
	h.write(cluster)
	first, done := h.stands(0)
	second, _ := h.stands(1)
	late := slices.Contains(h.selected[1], cluster)
	p := h.strategy.Progressive
	inOrder := p == nil || len(p.MandatoryDecisionGroups.MandatoryDecisionGroups) > 0
	switch {
	case late && inOrder && done+first < len(h.selected[0]):
		return fmt.Sprintf("starts %s of group 1 when %d of %d in group 0 have the version", cluster, done+first, len(h.selected[0]))
	case late && inOrder && h.failing(0) < first:
		return fmt.Sprintf("starts %s of group 1 with %d in flight in group 0", cluster, first)
	case p == nil:
		return ""
	case inOrder:
		first = 0
		if !late {
			second = 0
		}
	}
	if most := p.MaxConcurrency.IntValue(); first+second > most {
		return fmt.Sprintf("%d in flight with %s, %d at a time", first+second, cluster, most)
	}
	return ""
}

// failing counts those in flight that failed, which a group need not wait for.
func (h *hub) failing(group int) (n int) {
	for _, name := range h.selected[group] {
		if o := h.objects[name]; o != nil && o.latest().version == h.wanted && o.latest().report.Status == status.Failed {
			n++
		}
	}
	return n
}

// run is a rollout of some dozen events in random order, by callers that appoint makes: another after a restart. It
// ends with what the caller broke, if anything.
func (h *hub) run(t *testing.T, appoint func(h *hub) caller) (broken string) {
	c := appoint(h)
	c.selected(t, h)
	for range 150 {
		clusters := h.clusters()
		cluster := clusters[h.random.IntN(len(clusters))]
		switch event := h.random.IntN(40); {
		case event < 12:
			h.agent(cluster)
		case event < 22:
			if h.deliver(cluster) {
				c.observed(t, h, cluster)
			}
		case event < 36:
			h.now = h.now.Add(time.Second)
			if broken := c.reconcile(t, h); broken != "" {
				return broken
			}
		case event < 38:
			h.join()
			c.selected(t, h)
		case event < 39:
			h.wanted++
			c.renewed(t, h)
		default: // restarted: the cache is filled before the first reconcile
			for _, o := range h.objects {
				o.seen = len(o.states)
			}
			c = appoint(h)
			c.selected(t, h)
			c.renewed(t, h)
		}
	}
	return h.finish(t, c)
}

// finish lets all agents answer and the cache show all, after which every cluster must be done.
func (h *hub) finish(t *testing.T, c caller) (broken string) {
	for range 8 * len(h.clusters()) {
		for _, cluster := range h.clusters() {
			h.agent(cluster)
			if h.deliver(cluster) {
				c.observed(t, h, cluster)
			}
		}
		h.now = h.now.Add(time.Second)
		if broken := c.reconcile(t, h); broken != "" {
			return broken
		}
	}
	for group := range h.selected {
		if _, done := h.stands(group); done < len(h.selected[group]) {
			return fmt.Sprintf("stuck: %d of %d clusters in group %d are done", done, len(h.selected[group]), group)
		}
	}
	return ""
}

// TestThroughALateCacheNothingStartsOverTheLimit: a cache that lags, and shows the objects' changes out of order, never
// makes a rollout start over its limit or out of order, start a cluster twice or get stuck, if the caller follows the duties: Plan
// is given what the caller wrote, and the Planner is told (R11, R27). A caller that leaves the duty out does.
func TestThroughALateCacheNothingStartsOverTheLimit(t *testing.T) {
	for _, with := range []struct {
		name   string
		caller func(h *hub, careless bool) caller
	}{
		{"Plan", func(_ *hub, careless bool) caller {
			return &readsOwnWrites{careless: careless, written: map[string]written{}}
		}},
		{"Planner", func(h *hub, careless bool) caller {
			p := &rollout.Planner{}
			if err := p.SetStrategy(h.strategy, rollout.Options{}); err != nil {
				t.Fatal(err)
			}
			return &tellsPlanner{careless: careless, planner: p}
		}},
	} {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			started, broke := 0, 0
			for seed := range uint64(exhaustive.Of(50, 1_000, 10_000)) {
				h := newHub(seed)
				if broken := h.run(t, func(h *hub) caller { return with.caller(h, false) }); broken != "" {
					t.Fatalf("seed %d: %s", seed, broken)
				}
				if h.repeated > 0 {
					t.Fatalf("seed %d: starts clusters again that have the version", seed)
				}
				for _, o := range h.objects {
					started += min(1, len(o.states))
				}
				if newHub(seed).run(t, func(h *hub) caller { return with.caller(h, true) }) != "" {
					broke++
				}
			}
			if broke == 0 {
				t.Error("this test would not see an overstepped limit: a caller without the duty breaks nothing")
			}
			t.Logf("%d clusters started; without the duty %d rollouts break their limits", started, broke)
		})
	}
}
