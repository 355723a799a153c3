// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// ends looks for the end that a world comes to when nothing befalls it any more: writes are carried out, the cache and
// the stored decisions catch up, every agent answers that it succeeded, except the agents of stuck clusters, which stay
// as they are. The controller plans when something it can see changes, or when its last plan said to look again.
type ends struct {
	*controller
	table
	verdicts []string // of each state: what is wrong at the end it comes to
	known    []bool
	steps    int // from one state to the next
}

func newEnds(k *controller) *ends { return &ends{controller: k, table: *newTable()} }

// of says what is wrong at the end that a state comes to; empty if nothing is.
func (x *ends) of(s state) (what string) {
	s.left = left{}
	var path []uint32
	for {
		p := s.pack()
		if !x.config.named {
			p.sorted()
		}
		n, isNew := x.add(p)
		if !isNew {
			if what = x.verdicts[n]; !x.known[n] {
				what = "circle: the controller looks again and again, and nothing comes of it"
			}
			break
		}
		x.verdicts, x.known = append(x.verdicts, ""), append(x.known, false)
		path = append(path, n)
		s = p.unpack()
		if !x.step(&s) {
			what = x.end(&s)
			break
		}
		x.steps++
	}
	for _, n := range path {
		x.verdicts[n], x.known[n] = what, true
	}
	return what
}

// step goes on by one event. It returns false at the end.
func (x *ends) step(s *state) bool {
	for i := range s.clusters {
		if kind := [...]kind{write: writes, remove: removes}[s.clusters[i].todo]; kind != begins {
			x.move(s, event{kind: kind, cluster: uint8(i)})
			return true
		}
	}
	if s.torn != whole {
		x.move(s, event{kind: mends})
		return true
	}
	for i := range s.clusters {
		c := &s.clusters[i]
		if c.seen != c.truth || c.own != nothing || c.doubt {
			c.deliver()
			return true
		}
	}
	if s.isLate() {
		s.tellRecord()
		return true
	}
	before := *s
	d := x.decide(s)
	if x.plan(s, d.start, false); *s != before {
		return true
	}
	for i := range s.clusters {
		c := &s.clusters[i]
		if c.truth.deleting && !c.stuck {
			x.move(s, event{kind: goes, cluster: uint8(i)})
			c.deliver()
			return true
		}
		if c.home != none && !c.dead {
			x.move(s, event{kind: takesBack, cluster: uint8(i)})
			return true
		}
		if c.truth.version == 0 && !c.stuck && !(c.truth.observed && c.truth.condition == succeeded) {
			x.move(s, event{answers, uint8(i), uint8(succeeded)})
			c.deliver()
			return true
		}
		if x.config.validates && c.truth.version == 0 && !c.stuck && !x.config.isGood(c.truth) {
			x.move(s, event{judges, uint8(i), present(yes, c.truth)})
			c.deliver()
			return true
		}
	}
	for range d.recheck {
		x.pass(s)
	}
	return d.recheck > 0
}

// end checks an end: every cluster is done, or the result says truly which clusters the others wait for.
func (x *ends) end(s *state) string {
	j := x.config.judge(s)
	r, err := x.result(s, 0)
	if err != nil {
		return err.Error()
	}
	for i := range s.clusters {
		c := &s.clusters[i]
		switch stands := j.stands[i]; {
		case c.group == none && c.truth.version != absent && !c.truth.deleting && !slices.ContainsFunc(r.Warnings, func(w rollout.Warning) bool {
			return w.Type == rollout.WarningRemovalsWithheld
		}):
			return fmt.Sprintf("stays: @%d is not selected, and its object stays for ever", i)
		case c.group == none || c.stuck:
		case stands == waiting:
			if what := x.checkWait(s, j, r, i); what != "" {
				return what
			}
		case stands != done && !(stands.fails() && j.noted.has(i)):
			return fmt.Sprintf("sleeps: @%d is %v, and the controller does not come back", i, stands)
		}
	}
	return x.checkSummary(j, r)
}

// checkWait is R20 and R29: the explanation of a cluster that waits for ever names what it waits for, and is true.
func (x *ends) checkWait(s *state, j *judge, r *rollout.Result, i int) string {
	links := r.Explain(names[i])
	if len(links) == 0 {
		return fmt.Sprintf("silence: @%d waits for ever, and nothing says why", i)
	}
	last := links[len(links)-1]
	wrong := func(why string) string {
		return fmt.Sprintf("sentence: @%d waits for ever, and is told %q, but %s", i, last, why)
	}
	if slices.ContainsFunc(last.Remedies, func(r rollout.Remedy) bool { return r.Type == rollout.RemedyWait }) {
		if j.blocked().has(i) { // the plan asks for no recheck for a frozen cluster, so its other reasons to wait may end by time
			return ""
		}
		return wrong("no time ends it")
	}
	var blamed set
	for _, b := range last.Blockers {
		if !b.Until.IsZero() {
			return wrong(b.Name + " stays as it is for ever")
		}
		blamed.add(int(b.Name[0] - 'a'))
	}
	if what, known := x.checkPeople(s, j, i, links); known {
		if what != "" {
			return wrong(what)
		}
		return x.checkRemedies(s, i, last, blamed)
	}
	var stuck set
	for i := range s.clusters {
		if s.clusters[i].stuck || j.noted.has(i) && j.stands[i].inFlight() {
			stuck.add(i)
		}
	}
	if blamed&j.left != 0 && !slices.ContainsFunc(last.Remedies, func(r rollout.Remedy) bool { return r.Type == rollout.RemedyIgnore }) {
		return wrong("deselected clusters can be ignored")
	}
	switch breach := j.breach(); {
	case s.paused && x.config.lends && last.Reason.Type == rollout.BlockShares:
		if last.Reason.MaxConcurrency > 0 || len(last.Remedies) != 1 || last.Remedies[0].Type != rollout.RemedyRaiseShares {
			return wrong("this hub has no share")
		}
	case s.paused && !x.config.lends:
		if last.Reason.Type != rollout.BlockPaused {
			return wrong("the rollout is paused")
		}
	case breach != "":
		if failed := j.of(j.counted&^j.past, standing.fails); last.Reason.Type != rollout.BlockBreached || blamed == 0 || blamed&^failed != 0 {
			return wrong(breach)
		}
	case j.lacks() != "" && last.Reason.Type == rollout.BlockShares:
		if failed := j.of(j.counted, standing.fails); blamed == 0 || blamed&^failed != 0 {
			return wrong(j.lacks())
		}
	case last.Reason.Type == rollout.BlockExposed:
		bound, holds := j.bound()
		exposed := j.exposed(j.counted)
		if !holds || last.Reason.MaxConcurrency != bound || last.Reason.InFlight != exposed.len() || exposed.len() < bound || blamed == 0 || blamed&^exposed != 0 {
			return wrong(fmt.Sprintf("%d may be exposed, and [%s] are", bound, exposed.in(marks)))
		}
	case last.Reason.Type == rollout.BlockGateClosed:
		if s.closed>>last.Reason.Group.Index&1 == 0 {
			return wrong("the gate is open")
		}
	default:
		mine := j.stageOf(i)
		before := mine.clusters
		for n := range j.n {
			if mine.after.has(n) {
				before |= j.stages[n].clusters
			}
		}
		if x.config.ramp > 0 || x.config.shares > 0 {
			before = j.counted
		}
		if blamed == 0 || blamed&^stuck != 0 || blamed&^before != 0 {
			return wrong(fmt.Sprintf("[%s] of those before it never answer", (stuck & before).in(marks)))
		}
	}
	return x.checkRemedies(s, i, last, blamed)
}

// checkRemedies does what the explanation says: then the cluster gets the workload, or waits for something else.
func (x *ends) checkRemedies(s *state, i int, last rollout.Link, blamed set) string {
	j := x.config.judge(s)
	for _, remedy := range last.Remedies {
		next, count := *s, remedy.Count
		k, strategy := *x.controller, *x.config
		k.config = &strategy
		switch remedy.Type {
		case rollout.RemedyResume:
			next.paused = false
		case rollout.RemedyOpenGate:
			next.closed &^= 1 << remedy.Group.Index
		case rollout.RemedyFix, rollout.RemedyAnswer, rollout.RemedyValidate:
			named := namedIn(remedy.Clusters)
			if named&j.lost() != 0 {
				return fmt.Sprintf("sentence: @%d is told %q, and nothing of [%s] is there to succeed", i, remedy, (named & j.lost()).in(marks))
			}
			if named&j.gone() != 0 {
				continue
			}
			for i := range next.clusters {
				if c := &next.clusters[i]; named.has(i) && c.stuck && count > 0 {
					if c.stuck = false; c.truth.deleting { // its agent removes the finalizer, and gets another object
						c.truth = object{attempt: next.attempt}
					}
					if c.truth.answer(succeeded); x.config.validates {
						c.truth.verdict = verdict{says: yes, attempt: c.truth.attempt}
					}
					c.deliver()
					count--
				}
			}
		case rollout.RemedyIgnore:
			for i := range next.clusters {
				if c := &next.clusters[i]; blamed.has(i) && (c.shown == none || c.truth.deleting || j.lost().has(i)) {
					c.aside = true
				}
			}
		case rollout.RemedyUnfreeze, rollout.RemedyAllow:
			next.concede(remedy)
		case rollout.RemedyRaiseMaxFailures:
			strategy.budget = strconv.Itoa(count)
		case rollout.RemedySetProgressDeadline:
			strategy.deadline = 1
			k.pass(&next)
		default:
			continue
		}
		for range x.config.soak {
			k.pass(&next)
		}
		r, err := k.result(&next, 0)
		if err != nil {
			return err.Error()
		}
		if links := r.Explain(names[i]); len(links) > 0 && links[len(links)-1].Reason == last.Reason {
			return fmt.Sprintf("remedy: @%d is told %q, and after that still %q", i, remedy, last.Reason)
		}
	}
	return ""
}

// gone gives the clusters that count by the record, and have no object of the version.
func (j *judge) gone() (clusters set) {
	for i := range most {
		if j.noted.has(i) && j.s.clusters[i].view().version != 0 {
			clusters.add(i)
		}
	}
	return clusters
}

// lost gives those of them that failed.
func (j *judge) lost() set { return j.of(j.gone(), standing.fails) }

// namedIn gives the clusters that a remedy names.
func namedIn(listed string) (clusters set) {
	for i, name := range names {
		if slices.Contains(strings.FieldsFunc(listed, func(r rune) bool { return r == ' ' || r == ',' }), name) {
			clusters.add(i)
		}
	}
	return clusters
}

// checkSummary is S6: the status of the whole is the one that the clusters come to.
func (x *ends) checkSummary(j *judge, r *rollout.Result) string {
	want := status.Succeeded
	switch {
	case j.breach() != "":
		want = status.Failed
	case j.of(j.counted, func(x standing) bool { return x == waiting || x.inFlight() }) != 0:
		want = status.Progressing
	case j.of(j.counted, standing.fails) != 0:
		want = status.Failed
	}
	summary := r.Summary()
	switch got := summary.Aggregate(); {
	case got != want:
		return fmt.Sprintf("summary: %v says %v, want %v", summary, got, want)
	case want == status.Progressing && len(summary.Waiting) == 0 && summary.Paused == "":
		return fmt.Sprintf("summary: %v does not say what is waited for", summary)
	}
	return ""
}

// eachEnd calls f with the worlds that a state may become when no more events happen: all clusters recover; failed ones do
// not; one more is silent for ever; all are.
func (c *config) eachEnd(s *state, f func(state, string)) {
	well, failures := *s, *s
	var silent set
	for i := range s.clusters {
		is := &s.clusters[i]
		well.clusters[i].dead, well.clusters[i].keeps = false, false
		failures.clusters[i].stuck = is.dead
		if is.truth.version != 0 || c.isGood(is.truth) {
			continue
		}
		silent.add(i)
		if is.truth.observed && is.truth.condition == failed || c.isBad(is.truth) {
			failures.clusters[i].stuck = true
		}
	}
	f(well, "every agent answers")
	if failures != well {
		f(failures, "failed clusters never recover")
	}
	for i := range s.clusters {
		if silent.has(i) && !failures.clusters[i].stuck {
			next := failures
			next.clusters[i].stuck = true
			f(next, "@"+fmt.Sprint(i)+" never answers")
		}
	}
	next := *s
	for i := range s.clusters {
		next.clusters[i].stuck = silent.has(i) || s.clusters[i].dead
	}
	if silent.len() > 1 {
		f(next, "no agent answers")
	}
	given := failures
	for i := range s.clusters {
		is := &given.clusters[i]
		is.aside = is.aside || is.group == none && (is.stuck || is.noted.as != unrecorded)
	}
	if given != failures {
		f(given, "deselected clusters are ignored")
	}
}

// checkSleep is R19: between now and the time at which the controller looks again, nothing becomes different.
func (k *controller) checkSleep(s *state, d *decision) string {
	if d.start != 0 || d.removed != 0 || k.config.records && !s.isStored(d) {
		return ""
	}
	for i := range s.clusters {
		if d.inFlight.has(i) && s.clusters[i].view().version == absent {
			return ""
		}
	}
	next, same := *s, *d
	memos := k.config.judge(s).memos()
	k.remember(&next, d, &memos)
	for after := uint8(1); after <= d.recheck || d.recheck == 0 && after <= k.config.oldest()+k.config.grace+k.config.opens+k.config.longestHold(); after++ {
		k.pass(&next)
		later := *k.decide(&next)
		later.recheck = d.recheck
		for i := range same.record {
			same.record[i].older(k.config.oldest())
			if as := same.record[i].as; later.record[i].as == unrecorded && (as == asStarted || as == asSucceeded) {
				same.record[i] = entry{} // it has served, and may stay until the next plan
			}
		}
		if later == same == (after == d.recheck) {
			return fmt.Sprintf("sleeps: the controller looks again after %dm, and after %dm the plan is to %v", d.recheck, after, &later)
		}
	}
	return ""
}
