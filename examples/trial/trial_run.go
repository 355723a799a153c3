// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// runner plays a trial.
type runner struct {
	*player
	trial        *trial
	ctx          context.Context
	crew         *crew
	agentClients clients

	sel      sync.Mutex
	selected []string             // by the person, and not deleted
	deadline map[string]time.Time // when the scheduler finds out that an agent is dead
	asked    []string             // ignored clusters
	deleted  map[string]time.Time
	gone     map[string]time.Time // by cluster that left: when a person deleted its ManagedCluster
	kept     []violation          // what an owner that is gone left behind
	removed  map[string]bool      // clusters that a user deselected or deleted, ever
	switched span                 // while nothing happens after the objects became those of another controller
	readings readings
	// switchedPartly says that it had given the next version to some of its objects.
	switchedPartly bool
}

// tried is what came of a trial.
type tried struct {
	trial      *trial
	checker    *checker
	violations []violation
	err        error
	restarts   int
	complete   bool
	took       time.Duration
	digest     string
}

func (o *tried) hash() string { return o.digest }

func (o *tried) told() (world fmt.Stringer, broken []violation, err error) {
	return o.trial, o.violations, o.err
}

func (t *trial) newRunner(at *site, subject *Subject) *runner {
	t.name = "t1"
	return &runner{
		player: &player{world: t.world, site: at, subject: subject, rng: rand.New(rand.NewPCG(t.seed, 12)), died: map[int]time.Time{}},
		trial:  t, deadline: map[string]time.Time{}, deleted: map[string]time.Time{}, gone: map[string]time.Time{}, readings: readings{all: map[object]observed{}}, removed: map[string]bool{},
	}
}

// play runs a trial and judges it.
func (t *trial) play(ctx context.Context, at *site, subject *Subject) *tried {
	began := time.Now()
	r := t.newRunner(at, subject)
	o := &tried{trial: t}
	o.err = r.run(ctx)
	if o.err == nil {
		o.err = r.looked()
	}
	o.took = time.Since(began)
	r.mu.Lock()
	o.restarts = r.player.restarts
	all := r.events
	if o.err == nil {
		r.events = all[:r.endedWith]
		r.player.trim()
	}
	o.checker, r.events = r.checker(), all
	o.checker.until = r.ended
	r.mu.Unlock()
	if o.err == nil {
		o.violations, o.complete = o.checker.verdict(r.ended)
		o.violations = append(o.violations, r.kept...)
	}
	return o
}

func (r *runner) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx, r.agentClients, r.user = ctx, r.site.clients("agent"), r.site.clients("user")
	r.crew = r.newCrew()
	r.selected = r.clusters(r.initial)
	f := &r.fleet
	s := &scheduler{
		client: r.site.clients("scheduler"), namespace: r.name, name: f.name, writers: r.writers, slice: r.slice, pause: r.pause,
		named: f.named, groupOf: func(c string) string { return f.groupOf[short(c)] },
		rng: rand.New(rand.NewPCG(r.seed, 13)), stored: map[string]*placementDecision{},
	}
	process := r.newReplica(0, &lease{})
	r.replicas = []*replica{process}
	defer r.site.watch(r.name, r.feed)()
	if err := r.register(ctx); err != nil {
		return err
	}
	var running sync.WaitGroup
	var scheduling error
	running.Go(func() { process.keep(ctx) })
	running.Go(func() { scheduling = r.scheduleAll(ctx, s) })
	err := r.follow(ctx)
	cancel()
	running.Wait()
	r.crew.running.Wait()
	process.net.sending.Wait()
	if err == nil {
		err = scheduling
	}
	return err
}

func (r *runner) feed(e event) {
	r.player.feed(e)
	if e.id.kind == r.subject.Delivery.object && !r.subject.Delivery.isOwner(e.object) {
		r.crew.feed(e)
	}
}

// scheduleAll writes decisions each time that something of the selection changed.
func (r *runner) scheduleAll(ctx context.Context, s *scheduler) error {
	last := []string{"nothing was written yet"}
	for ctx.Err() == nil {
		if now := r.selection(); !slices.Equal(now, last) {
			if err := s.schedule(ctx, now, r.size); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			last = now
		}
		select {
		case <-ctx.Done():
		case <-time.After(40 * time.Millisecond):
		}
	}
	return nil
}

// selection is what the scheduler selects now: not those with an agent that has been dead for as long as a lease.
func (r *runner) selection() (now []string) {
	r.sel.Lock()
	defer r.sel.Unlock()
	for _, c := range slices.Sorted(slices.Values(r.selected)) {
		if r.trial.drops && r.crew.all[c].dead.Load() {
			if r.deadline[c].IsZero() {
				r.deadline[c] = time.Now().Add(r.trial.lease)
			}
			if time.Now().After(r.deadline[c]) {
				continue
			}
		} else {
			delete(r.deadline, c)
		}
		now = append(now, c)
	}
	return now
}

// follow plays the acts, and waits for the end.
func (r *runner) follow(ctx context.Context) error {
	if err := r.next(ctx); err != nil {
		return err
	}
	if r.trial.first {
		r.until(ctx, 8*time.Second, func() bool { return r.checker().complete(time.Now()) })
		edited, err := r.takeOver(ctx)
		if err == nil && !edited {
			err = r.next(ctx)
		}
		if err != nil {
			return err
		}
	}
	byHand := drawn(r.seed, "by hand")
	for _, a := range r.trial.acts {
		r.sleep(ctx, a.after)
		if r.ignored == DutyEdited || byHand.IntN(4) == 0 {
			r.edit(ctx, byHand)
		}
		if err := r.act(ctx, a.what); err != nil {
			return err
		}
	}
	r.sleep(ctx, time.Duration(500+r.rng.IntN(1500))*time.Millisecond)
	r.heal()
	rest := r.standStill
	if r.trial.gives {
		rest = r.giveAllUp
	}
	if err := rest(ctx); err != nil {
		return err
	}
	return r.removeOwner(ctx)
}

// giveAllUp has a user ignore all with dead agents, until there are no more of them.
func (r *runner) giveAllUp(ctx context.Context) error {
	for range 6 {
		if err := r.standStill(ctx); err != nil {
			return err
		}
		r.heal()
		if r.trial.unregisters(r.subject.Delivery) {
			if !r.unregisterAll(ctx) {
				return nil
			}
			continue
		}
		before := len(r.asked)
		for _, c := range r.clusters(r.pool) {
			if a := r.crew.all[c]; a.dead.Load() && !slices.Contains(r.asked, c) {
				r.asked = append(r.asked, c)
			}
		}
		if len(r.asked) == before {
			break
		}
		if err := r.say(ctx); err != nil {
			return err
		}
	}
	return r.standStill(ctx)
}

// heal has every version work on all clusters with living agents, if the trial heals.
func (r *runner) heal() {
	if !r.heals {
		return
	}
	for _, c := range r.clusters(r.pool) {
		if a := r.crew.all[c]; !a.dead.Load() {
			a.orders <- heals
		}
	}
}

func (r *runner) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (r *runner) until(ctx context.Context, longest time.Duration, so func() bool) {
	for start := time.Now(); time.Since(start) < longest && ctx.Err() == nil; r.sleep(ctx, 250*time.Millisecond) {
		r.mu.Lock()
		done := so()
		r.mu.Unlock()
		if done {
			return
		}
	}
}

// next writes the next version.
func (r *runner) next(ctx context.Context) error {
	r.version++
	return r.subject.Delivery.put(ctx, r, fmt.Sprintf("v%d", r.version), r.version == 1)
}

// checker judges what happened so far. The player is locked.
func (r *runner) checker() *checker {
	r.sel.Lock()
	defer r.sel.Unlock()
	j := &checker{
		history: newHistory(r.events, r.writes, r.reconciles), delivery: r.subject.Delivery, trial: r.trial, removeAfter: r.subject.RemoveAfter, ignoreAnnotation: r.subject.IgnoreAnnotation,
		deleted: map[string]time.Time{}, gone: maps.Clone(r.gone), exempt: map[string]bool{},
	}
	j.reads, j.managed = r.reads, r.managed
	j.switched, j.switchedPartly, j.readings = r.switched, r.switchedPartly, &r.readings
	for c, at := range r.deleted {
		j.deleted[c] = at
	}
	for c := range r.removed {
		j.exempt[c] = true
	}
	return j
}

// standStill waits until nothing has happened for so long that nothing will.
func (r *runner) standStill(ctx context.Context) error {
	config, _, _, _ := parts(&r.strategy)
	deadline, _ := time.ParseDuration(config.ProgressDeadline)
	quiet := deadline + config.MinSuccessTime.Duration + 2*r.worst + 4*time.Second + r.subject.RemoveAfter
	r.mu.Lock()
	quiet = max(quiet, r.subject.RemoveAfter+r.checker().patience()+time.Second)
	r.mu.Unlock()
	longest := 3 * time.Minute
	if r.ignored != "" {
		longest = 90 * time.Second // it may try for ever
	}
	var still stillness
	for start := time.Now(); time.Since(start) < longest; r.sleep(ctx, 200*time.Millisecond) {
		now := time.Now()
		r.mu.Lock()
		ends := r.atRest(&still, start, now, quiet)
		if ends {
			r.end(now)
		}
		r.mu.Unlock()
		if ends {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(time.Now())
	return nil // the checker says what is wrong
}

// atRest says whether nothing has happened for long, or all is complete. What has to wait until a
// process runs again is none of that time. The player is locked.
func (r *runner) atRest(still *stillness, start, now time.Time, quiet time.Duration) bool {
	last, busy, idle := r.activity(now)
	if idle && r.heals && now.Sub(last) > time.Second && r.checker().complete(now) {
		return true
	}
	return still.since(later(last, start), now, busy) > quiet && now.Sub(acts(start, now, r.checker().unshown())) > 3*time.Second+2*r.worst
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
