// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/internal/ready"
)

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// command is what an agent is told from outside.
type command int

const (
	dies command = iota
	lives
	heals // from now on every version works
)

// play is what an agent does next: it reports, or it dies.
type play struct {
	after  time.Duration
	answer answer
	dies   bool
	good   bool // the cluster is found good
	part   int  // which part of the object, where it has several
}

// spread has the parts of an object answer in some order, each a while after the one before.
func spread(plays []play, parts int, rng *rand.Rand) (all []play) {
	for _, p := range plays {
		if p.dies || p.good {
			all = append(all, p)
			continue
		}
		for i, part := range rng.Perm(parts) {
			next := p
			if next.part = part; i > 0 {
				next.after = time.Duration(rng.IntN(pick(rng, 20, 700))) * time.Millisecond
			}
			all = append(all, next)
		}
	}
	return all
}

// agent plays the agent of one cluster, as long as the trial lasts.
type agent struct {
	r       *runner
	cluster string
	rng     *rand.Rand
	in      chan event
	orders  chan command
	dead    atomic.Bool

	object   object // as it was seen last; nil if there is none
	mark     string // the content that the plays are about
	underWay string // the content that the hub told to be under way
	plays    []play
	timer    <-chan time.Time
	healed   bool
	count    int
}

// plan draws what an agent does about a content.
func (a *agent) plan() {
	h := a.r.subject.Delivery.read(a.object)
	ms := func(from, to int) time.Duration { return time.Duration(from+a.rng.IntN(to-from)) * time.Millisecond }
	effect := a.r.trial.effectOn(short(a.cluster), h.version)
	works := play{after: pick(a.rng, ms(5, 80), ms(100, 1200)), answer: does}
	fails := play{after: ms(30, 400), answer: doesNot}
	switch {
	case h.version == "":
		a.plays = nil
	case !h.started: // with inform: it does not comply yet
		a.plays = []play{{after: ms(5, 200), answer: doesNot}}
	case a.healed || effect == "":
		a.plays = []play{works}
	case effect == cutsOff:
		a.plays = []play{{after: ms(20, 400), dies: true}}
	case effect == failsAndCuts:
		a.plays = []play{fails, {after: ms(50, 600), dies: true}}
	case effect == worksAndCuts:
		a.plays = []play{works, {after: ms(200, 2500), dies: true}}
	case effect == failsOn:
		a.plays = []play{fails}
	case effect == recoversFrom:
		a.plays = []play{fails, {after: ms(300, 3000), answer: does}}
	default:
		a.plays = nil
	}
	if n := len(a.plays); n > 0 && h.started && a.plays[n-1].answer == does && !a.plays[n-1].dies && a.isValidated() {
		a.plays = append(a.plays, play{after: ms(50, 1500), good: true})
	}
	if parts := a.r.subject.Delivery.parts; parts != nil {
		a.plays = spread(a.plays, parts(a.object), a.rng)
	}
	a.arm()
}

func (a *agent) arm() {
	a.timer = nil
	if len(a.plays) > 0 {
		a.timer = time.After(a.plays[0].after)
	}
}

func (a *agent) run(ctx context.Context) {
	for {
		switch what, o, e, _ := ready.First(ctx, a.orders, a.in, a.timer); what {
		case 0:
			return
		case 1:
			a.obey(o)
		case 2:
			if a.object = e.object; e.gone {
				a.object, a.mark, a.timer = nil, "", nil
			}
			a.look(ctx)
		case 3:
			a.act(ctx)
		}
	}
}

func (a *agent) obey(o command) {
	switch o {
	case dies:
		a.dead.Store(true)
		a.timer = nil
	case heals:
		a.healed = true
		a.again()
	case lives:
		a.dead.Store(false)
		a.healed = true // what killed it is mended
		a.again()
	}
}

// again has the agent evaluate what it has anew.
func (a *agent) again() {
	if a.mark = ""; a.object != nil && !a.dead.Load() {
		a.look(a.r.ctx)
	}
}

// look does about an object what an agent does at once.
func (a *agent) look(ctx context.Context) {
	if a.object == nil {
		return
	}
	h := a.r.subject.Delivery.read(a.object)
	if a.r.trial.told && !a.r.trial.atOnce && !h.dying && !h.finalizer {
		// OCM's add-on framework puts it there. If that fails, the next state of the object is on its way.
		_ = a.patch(ctx, patchOf(a.object, map[string]any{"metadata": map[string]any{"finalizers": []string{finalizerOfAgents}}}))
		return
	}
	if mark := a.markOf(h); a.r.trial.told && h.started && !h.dying && mark != a.underWay {
		if a.patch(ctx, patchOf(a.object, a.r.subject.Delivery.report(a.object, awaited, 0)), "status") != nil {
			return // the next state of it is on its way
		}
		a.underWay = mark
	}
	if a.dead.Load() {
		return
	}
	switch {
	case h.dying && h.finalizer:
		select {
		case <-ctx.Done():
		case <-time.After(a.r.dying):
		}
		a.patch(ctx, patchOf(nil, map[string]any{"metadata": map[string]any{"finalizers": nil}}))
		return
	case h.dying:
		return
	}
	if mark := a.markOf(h); mark != a.mark {
		a.mark = mark
		a.plan()
	}
}

// markOf names a content of the object.
func (a *agent) markOf(h observed) string {
	mark := string(a.object.GetUID()) + h.version + map[bool]string{true: " started"}[h.started]
	if h.content != "" { // what was changed by hand is evaluated, too
		mark += fmt.Sprint(" ", a.object.GetGeneration())
	}
	return mark
}

// act does what is due. A report that comes too late for the object is made again of the next state of it.
func (a *agent) act(ctx context.Context) {
	if a.object == nil || a.dead.Load() {
		a.timer = nil
		return
	}
	next := a.plays[0]
	if next.dies {
		a.dead.Store(true)
		a.timer = nil
		return
	}
	if next.good {
		a.approve(ctx)
		return
	}
	a.count++
	report, after := a.report(next)
	if report != nil {
		if err := a.patch(ctx, patchOf(a.object, report), "status"); err != nil {
			a.timer = time.After(50 * time.Millisecond)
			return
		}
	}
	a.plays = a.plays[1:]
	if i := slices.IndexFunc(a.plays, func(p play) bool { return p.part == after && !p.dies && !p.good }); after >= 0 && i >= 0 {
		a.plays = slices.Insert(slices.Clone(a.plays), i+1, next)
	}
	a.arm()
}

func (a *agent) isValidated() bool {
	validates := a.r.subject.Delivery.validates
	return validates != nil && validates(a.r.trial)
}

// approve has the cluster found good.
func (a *agent) approve(ctx context.Context) {
	if patch := a.r.subject.Delivery.approve(a.object); patch != nil {
		if err := a.patch(ctx, patchOf(a.object, patch)); err != nil {
			a.timer = time.After(50 * time.Millisecond)
			return
		}
	}
	a.plays = a.plays[1:]
	a.arm()
}

// report makes the report of a play, nil where there is nothing to say, and says after which part that part speaks again.
func (a *agent) report(p play) (map[string]any, int) {
	t := a.r.subject.Delivery
	if t.reportPart != nil {
		return t.reportPart(a.object, p.answer, p.part)
	}
	return t.report(a.object, p.answer, a.count), -1
}

func (a *agent) patch(ctx context.Context, body []byte, sub ...string) error {
	t := a.r.subject.Delivery
	return t.patch(ctx, a.r.agentClients, t.object, a.object, body, sub...)
}

// crew are the agents of a trial, by their clusters.
type crew struct {
	all     map[string]*agent
	running sync.WaitGroup
}

func (r *runner) newCrew() *crew {
	c := &crew{all: map[string]*agent{}}
	for _, cluster := range r.clusters(r.pool) {
		a := &agent{
			r: r, cluster: cluster, rng: rand.New(rand.NewPCG(r.seed, hashOf(short(cluster)))),
			in: make(chan event, 1000), orders: make(chan command, 10),
		}
		c.all[cluster] = a
		c.running.Go(func() { a.run(r.ctx) })
	}
	return c
}

// feed hands an event of a cluster's object to its agent.
func (c *crew) feed(e event) {
	if a := c.all[e.object.GetNamespace()]; a != nil {
		select {
		case a.in <- e:
		default: // it is hopelessly late
		}
	}
}
