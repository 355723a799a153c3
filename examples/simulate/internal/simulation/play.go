package simulation

import (
	"container/heap"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Rollout is one that package rollout plans by itself.
type Rollout struct {
	Strategy clusterv1alpha1.RolloutStrategy
	Groups   *grouping.Groups
	Options  []rollout.Option
	// Ledger keeps what the rollout writes besides; nil if nothing.
	Ledger Ledger
	// Retries try again what failed.
	Retries Retries
	// Abort takes it back.
	Abort Abort
}

// Ledger stands between clusters and a rollout: it says what their reports mean to it, and writes what follows.
type Ledger interface {
	// Report gives what the rollout is told where a cluster says that; nothing if it is not ok.
	Report(said status.Report) (told status.Report, ok bool)
	// Plan takes in what may happen at a time. It gives the clusters that really start, and what is to be told before
	// the next plan, which is made at once if none starts.
	Plan(next rollout.Next, now time.Time) (start []rollout.Cluster, tell []status.Report)
}

func (r Rollout) planner() (*rollout.Planner, error) {
	return rollout.NewPlanner(r.Strategy, r.Groups, r.Options...)
}

// Play comes to the same as [Resume] with rollout.Plan, observed having at most one report of a cluster. It costs as
// much as there are events, where Resume costs as much as there are clusters at each of them. Of the waves, only the
// last has its Holds; [Trace.Explain] gives them to others. With somebody who watches, each wave costs a whole plan.
func (r Rollout) Play(observed []status.Report, lives func(cluster string) Life, start time.Time, watch ...func(after time.Duration, result *rollout.Result)) (*Trace, error) {
	planner, err := r.planner()
	if err != nil {
		return nil, err
	}
	witness, err := r.planner()
	if err != nil {
		return nil, err
	}
	p := play{
		run:     run{watch: watch, lives: lives, start: start, now: start, started: make(map[string]int)},
		rollout: r, planner: planner, witness: witness,
	}
	p.trace.replay = &replay{rollout: r, start: start}
	if err := p.begin(observed); err != nil {
		return nil, err
	}
	for {
		if err := p.wave(); err != nil {
			return nil, fmt.Errorf("%v after the start: %w", p.now.Sub(start), err)
		}
		more, err := p.goOn()
		switch {
		case err != nil:
			return nil, err
		case !more:
			return p.end()
		case len(p.trace.Waves) > 1+r.Groups.Len()+3*p.lifetimes+r.Retries.Times: // as mostWaves
			return nil, fmt.Errorf("no end after %d waves", len(p.trace.Waves))
		}
	}
}

// goOn goes to the next time at which something happens, if there is one.
func (p *play) goOn() (bool, error) {
	next, found := p.next()
	found = found && next.Sub(p.start) <= Horizon
	again, tried := p.retry(found)
	if tried = tried && (!found || !again.After(next)); tried {
		next = again
	}
	if p.abort(next, found || tried) || !found && !tried {
		return false, nil
	}
	p.now = next
	p.due()
	if tried {
		return true, p.raise()
	}
	return true, nil
}

// play is a rollout under way. The planner is told what is new.
type play struct {
	run
	rollout Rollout
	// planner decides. It is told who timed out, as it says so each time otherwise; witness is told what the clusters say.
	planner   *rollout.Planner
	witness   *rollout.Planner
	said      []status.RolloutStatus // by member, as the planner takes what it was told; empty where it is not selected
	told      []status.Report        // by member, the last
	coming    events
	news      []int // the members with something to tell
	touched   []int // the members that this wave told of
	lifetimes int   // steps and starts of all lives
	last      rollout.Next

	first, attempt int       // the attempt of the observed clusters, and the present one
	raised         bool      // the attempt of the wave to come
	breached       time.Time // since when a budget is breached
	before         []int     // the members that were in flight when the attempt began
}

// begin takes in how things stand at the start.
func (p *play) begin(observed []status.Report) error {
	p.resume(observed)
	if p.firstAttempt(observed); p.first > 0 {
		if err := p.setAttempt(); err != nil {
			return err
		}
	}
	for i := range p.members {
		p.add(i)
	}
	for _, report := range p.waiting {
		if err := p.tell(report); err != nil {
			return err
		}
	}
	return nil
}

// add has a new member's life begin.
func (p *play) add(i int) {
	p.said, p.told = append(p.said, ""), append(p.told, status.Report{})
	p.lifetimes += 1 + len(p.members[i].life)
	p.news = append(p.news, i)
	p.expect(i)
}

// expect notes when the member does something next.
func (p *play) expect(i int) {
	if at, found := p.members[i].next(p.now); found {
		heap.Push(&p.coming, event{at, i, p.members[i].attempt})
	}
}

// due takes in what happens now.
func (p *play) due() {
	for len(p.coming) > 0 && !p.coming[0].at.After(p.now) {
		e := heap.Pop(&p.coming).(event)
		if p.stale(e) {
			continue
		}
		p.news = append(p.news, e.member)
		p.expect(e.member)
	}
}

// stale says whether the event is of a life that is over: the cluster is late for ever, or in a later attempt.
func (p *play) stale(e event) bool {
	m := &p.members[e.member]
	return m.life == nil || m.attempt != e.attempt
}

// tell says what a cluster says, and remembers it.
func (p *play) tell(report status.Report) error {
	if err := p.planner.Report(report); err != nil {
		return err
	}
	p.trace.replay.reports = append(p.trace.replay.reports, report)
	return p.witness.Report(report)
}

// plan tells what is new and asks what may happen.
func (p *play) plan() error {
	for _, i := range p.news {
		report := p.members[i].report(p.now)
		if l := p.rollout.Ledger; l != nil {
			var ok bool
			if report, ok = l.Report(report); !ok {
				continue
			}
		}
		if err := p.tell(report); err != nil {
			return err
		}
		if _, selected := p.rollout.Groups.Position(report.Cluster); selected {
			p.said[i], p.told[i] = taken(report), report
		}
	}
	p.touched = append(p.touched, p.news...)
	p.news = p.news[:0]
	return p.ask()
}

// ask asks what may happen, until somebody starts or there is nothing more to tell.
func (p *play) ask() error {
	for {
		p.last = p.planner.Next(p.now)
		if p.rollout.Ledger == nil {
			return nil
		}
		start, tell := p.rollout.Ledger.Plan(p.last, p.now)
		for _, report := range tell {
			if err := p.tell(report); err != nil {
				return err
			}
		}
		if p.last.Start = start; len(start) > 0 || len(tell) == 0 {
			return nil
		}
	}
}

// taken is the status that a plan has for a cluster with such a report before its deadline.
func taken(report status.Report) status.RolloutStatus {
	switch report.Status {
	case status.Succeeded, status.Failed, status.TimeOut, status.Skip:
		return report.Status
	default:
		return status.Progressing
	}
}

// wave does what run's wave does.
func (p *play) wave() error {
	w := Wave{After: p.now.Sub(p.start)}
	p.again(&w)
	for {
		if err := p.plan(); err != nil {
			return err
		}
		if len(p.trace.Waves) == 0 {
			p.lateForEver(p.last.TimedOut)
		}
		if len(p.last.Start) == 0 {
			break
		}
		if err := p.starts(&w); err != nil {
			return err
		}
	}
	if err := p.note(&w); err != nil {
		return err
	}
	p.trace.Waves = append(p.trace.Waves, w)
	p.trace.replay.told = append(p.trace.replay.told, told{len(p.trace.replay.reports), p.attempt})
	if !w.Breached {
		p.breached = time.Time{}
	} else if p.breached.IsZero() {
		p.breached = p.now
	}
	p.tellWatchers(w.After)
	return nil
}

// starts gives the workload to those that may have it now.
func (p *play) starts(w *Wave) error {
	if slices.ContainsFunc(p.last.Start, func(c rollout.Cluster) bool { _, twice := p.started[c.Name]; return twice }) {
		p.tellWatchers(w.After) // who starts again at once would not be seen to
	}
	for _, cluster := range p.last.Start {
		if i, twice := p.started[cluster.Name]; twice {
			if err := p.restart(i, w); err != nil {
				return err
			}
			continue
		}
		if err := p.run.begin(cluster.Name, w); err != nil {
			return err
		}
		last := len(p.members) - 1
		p.members[last].attempt = p.attempt
		p.add(last)
	}
	return nil
}

func (p *play) tellWatchers(after time.Duration) {
	if len(p.watch) == 0 {
		return
	}
	result := p.witness.Result(p.now)
	for _, watch := range p.watch {
		watch(after, result)
	}
}

// lateForEver does what run's lateForEver does.
func (p *play) lateForEver(late []rollout.Cluster) {
	for _, cluster := range late {
		i, found := p.started[cluster.Name]
		if !found || p.members[i].observed == nil || p.members[i].life == nil {
			continue
		}
		p.lifetimes -= len(p.members[i].life)
		p.members[i].life = nil
		p.news = append(p.news, i)
	}
}

// note does what run's note does, for clusters that may have changed: those with news, and those that time out now.
func (p *play) note(w *Wave) error {
	for _, cluster := range p.last.TimedOut {
		i, found := p.started[cluster.Name]
		if !found {
			continue
		}
		p.said[i] = status.TimeOut
		p.touched = append(p.touched, i)
		late := p.told[i] // since when it has the version stays
		late.Status = status.TimeOut
		if err := p.planner.Report(late); err != nil {
			return err
		}
	}
	slices.Sort(p.touched)
	for _, i := range slices.Compact(p.touched) {
		if failed(p.said[i]) && p.members[i].attempt < p.attempt {
			p.waits(i, w)
			continue
		}
		p.members[i].show(p.said[i], w)
	}
	p.touched = p.touched[:0]
	p.late(w)
	w.Counts, w.Breached = p.last.Counts, p.last.Breach != nil
	return nil
}

// next does what run's next does.
func (p *play) next() (next time.Time, found bool) {
	if after := p.last.RecheckAfter; after > 0 {
		next, found = p.now.Add(after), true
	}
	for len(p.coming) > 0 && p.stale(p.coming[0]) {
		heap.Pop(&p.coming)
	}
	if len(p.coming) > 0 && (!found || p.coming[0].at.Before(next)) {
		next, found = p.coming[0].at, true
	}
	return next, found
}

// end says how it ended.
func (p *play) end() (*Trace, error) {
	t := &p.trace
	t.Final = p.witness.Result(p.now)
	last := len(t.Waves) - 1
	t.Waves[last].Holds = t.Final.Holds()
	t.Outcome = outcome(t.Final)
	if t.Aborted != nil && t.Outcome != Breached {
		t.Outcome, t.Stopped = TakenBack, last
		return t, nil
	}
	if t.Outcome == AtGate { // it is the reasons that say since when
		first := last
		for first > 0 && len(t.Waves[first].Started) == 0 {
			first--
		}
		var tail []int
		for i := first; i < last; i++ {
			tail = append(tail, i)
		}
		if err := t.Explain(tail...); err != nil {
			return nil, err
		}
	}
	t.Stopped = t.stopped()
	return t, nil
}

// replay is what a planner was told.
type replay struct {
	rollout Rollout
	start   time.Time
	reports []status.Report
	told    []told // by the end of each wave
}

// told is how many reports there were by then, and which attempt it was.
type told struct{ reports, attempt int }

// Explain gives Holds to the waves at these places, in order, or to all if there is none. Each costs a whole plan,
// unless it has them.
func (t *Trace) Explain(waves ...int) error {
	if t.replay == nil {
		return nil // each was planned
	}
	if len(waves) == 0 {
		for i := range t.Waves {
			waves = append(waves, i)
		}
	}
	waves = slices.DeleteFunc(slices.Clone(waves), func(i int) bool {
		return t.Waves[i].Holds != nil || t.Waves[i].Counts.Held+t.Waves[i].Counts.UncountedToApply == 0
	})
	if len(waves) == 0 {
		return nil
	}
	workers := runtime.GOMAXPROCS(0)
	parts := slices.Collect(slices.Chunk(waves, (len(waves)+workers-1)/workers))
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() { errs[i] = t.replay.explain(t.Waves, part) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// explain tells another planner the same, and asks it at some of the waves.
func (r *replay) explain(all []Wave, waves []int) error {
	planner, err := r.rollout.planner()
	if err != nil {
		return err
	}
	now := told{}
	for _, i := range waves {
		for ; now.reports < r.told[i].reports; now.reports++ { // one at a time, as several of a cluster in one call are merged
			if err := planner.Report(r.reports[now.reports]); err != nil {
				return err
			}
		}
		if now.attempt != r.told[i].attempt {
			now.attempt = r.told[i].attempt
			if err := planner.SetStrategy(r.rollout.Strategy, r.rollout.options(now.attempt)...); err != nil {
				return err
			}
		}
		all[i].Holds = planner.Result(r.start.Add(all[i].After)).Holds()
	}
	return nil
}

// event is when a member does something in an attempt.
type event struct {
	at      time.Time
	member  int
	attempt int
}

// events are a heap in the order of time.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
