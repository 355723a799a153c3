// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// verdict judges all that happened, and says whether the rollout is complete.
func (j *checker) verdict(now time.Time) (broken []violation, complete bool) {
	for _, e := range j.events {
		if e.id.kind != j.delivery.object || j.delivery.isOwner(e.object) {
			continue
		}
		var is, was observed
		after, before := j.at(e.id, e.rv), j.at(e.id, e.rv-1)
		if before != nil {
			was = j.read(before)
		}
		if after != nil {
			is = j.read(after)
		}
		switch {
		case before != nil && !was.dying && (after == nil || is.dying):
			broken = append(broken, j.checkKept(e)...)
		case after != nil && !is.dying && is.started && (is.version != was.version || !was.started):
			broken = append(broken, j.checkStart(e)...)
		}
	}
	broken = append(broken, j.checkClaims()...)
	broken = append(broken, j.checkPrompt(now)...)
	broken = append(broken, j.checkLate()...)
	broken = append(broken, j.checkShown()...)
	end, complete := j.checkEnd(now)
	return append(broken, end...), complete
}

// checkKept judges a deletion: its cluster is not selected, and was not for as long as the grace.
func (j *checker) checkKept(e event) []violation {
	cluster := e.object.GetNamespace()
	w := j.deletion(e.id, e.at)
	if w == nil || !j.deleted[cluster].IsZero() {
		return nil
	}
	by := j.reconciles[w.reconcile]
	known, truth := j.knownTo(by, e.rv, w.sent), j.truthAt(e.rv-1)
	if known == nil || truth == nil {
		return nil
	}
	if truth.isSelected(cluster) && (known.isSelected(cluster) || known.ref.incomplete != "") {
		return []violation{{invariant: invKept, rv: e.rv, text: fmt.Sprintf("%s lost %s in reconcile %d: %s", cluster, e.id.key, w.reconcile, cmp.Or(known.ref.incomplete, "it knew that it is selected"))}}
	}
	last := time.Time{}
	for _, d := range j.events {
		shown := d.gone || by.view[d.id] >= d.rv // or the process does not know that it was in one again
		if d.rv < e.rv && d.at.Before(w.sent) && d.id.kind == Decisions && shown && (j.selectedAt(d.rv, cluster) || j.selectedAt(d.rv-1, cluster)) {
			last = d.at
		}
	}
	if least := j.removeAfter - j.trial.worst - 500*time.Millisecond; w.sent.Sub(last) < least {
		return []violation{{invariant: invKept, rv: e.rv, text: fmt.Sprintf("%s lost %s, %v after it was in a decision", cluster, e.id.key, w.sent.Sub(last))}}
	}
	return nil
}

func (j *checker) selectedAt(rv int64, cluster string) bool {
	s := j.truthAt(rv)
	return s != nil && s.isSelected(cluster)
}

// checkClaims judges all that the controller says, where it says something new.
func (j *checker) checkClaims() (broken []violation) {
	if j.delivery.claims != nil {
		var before Claim
		for _, e := range j.events {
			if e.id.kind != j.delivery.owner || e.gone || !j.delivery.isOwner(e.object) {
				continue
			}
			c, w := j.delivery.claims(e.object), j.written[e.rv]
			if c != nil && w != nil && *c != before {
				r := j.reconciles[w.reconcile]
				judged := *c
				judged.Complete = c.Complete || c.good && !(before.good && before.Version == c.Version)
				broken = append(broken, j.checkClaim(&judged, j.knownTo(r, e.rv, w.sent), j.truthAt(e.rv-1), e.rv, r.read)...)
			}
			if c != nil {
				before = *c
			}
		}
		return broken
	}
	var before claimed
	for _, r := range j.reconciles {
		if r.claim == nil {
			continue
		}
		rv := int64(0)
		for _, e := range j.events {
			if !e.at.After(r.ended) {
				rv = e.rv
			}
		}
		now := claimed{*r.claim, r.life, j.wantedAt(rv)}
		if now != before {
			broken = append(broken, j.checkClaim(r.claim, j.knownTo(r, rv, r.ended), j.truthAt(rv), rv, r.read)...)
		}
		before = now
	}
	return broken
}

// claimed is a claim of a process about what was wanted then. The same words about another version, or of another process, are something new.
type claimed struct {
	Claim
	life   int
	wanted string
}

// wantedAt is the version that the owner wanted.
func (j *checker) wantedAt(rv int64) (version string) {
	for i := range j.states {
		if i.kind != j.delivery.owner {
			continue
		}
		if o := j.at(i, rv); o != nil && j.delivery.isOwner(o) {
			version, _ = j.delivery.wanted(o)
		}
	}
	return version
}

// patience is how long something may take that nothing holds up.
func (j *checker) patience() time.Duration {
	return 6*time.Second + 2*j.trial.worst + 10*j.trial.slow + 2*j.trial.down
}

// spans calls look at each tick with the truth of then.
func (j *checker) spans(look func(now time.Time, s *snapshot)) {
	if len(j.events) == 0 {
		return
	}
	const tick = 500 * time.Millisecond
	var s *snapshot
	next, end := 0, j.events[len(j.events)-1].at
	for now := j.events[0].at; now.Before(end); now = now.Add(tick) {
		shown := next
		for next < len(j.events) && !j.events[next].at.After(now) {
			next++
		}
		if next > shown { // worlds stand still for hours
			s = j.truthAt(j.events[next-1].rv)
		}
		if s != nil {
			look(now, s)
		}
	}
}

// partiallyObserved gives the times at which the decisions became incomplete, were it for a moment.
func (j *checker) partiallyObserved() (times []time.Time) {
	for _, e := range j.events {
		if e.id.kind != Placements && e.id.kind != Decisions {
			continue
		}
		if s := j.truthAt(e.rv); s != nil && s.ref.incomplete != "" {
			times = append(times, e.at)
		}
	}
	return times
}

// checkPrompt finds clusters that are not selected and keep the workload for too long. A process begins to count anew, also where it saw
// partially observed decisions for a moment, and counts nothing as long as it waits for a write that its caches do not show.
func (j *checker) checkPrompt(now time.Time) (broken []violation) {
	since := map[string]time.Time{}
	limit, unshown := j.removeAfter+j.patience(), j.unshown()
	began := func(after time.Time) time.Time {
		for _, at := range j.began {
			if at.After(after) {
				after = at
			}
		}
		return after
	}
	half := j.partiallyObserved()
	look := func(now time.Time, s *snapshot) {
		for _, c := range j.trial.clusters(j.trial.pool) {
			h, has := s.observed[c]
			if !has || h.dying || s.isSelected(c) || s.ref.incomplete != "" {
				delete(since, c)
				continue
			}
			if since[c].IsZero() {
				since[c] = now
			}
			for _, at := range half { // a process may have seen that
				if at.After(since[c]) && !at.After(now) {
					since[c] = at
				}
			}
			if now.After(since[c]) && now.Sub(acts(began(since[c]), now, unshown)) > limit {
				since[c] = now.Add(time.Hour) // once
				broken = append(broken, violation{invariant: invRemoved, text: fmt.Sprintf("%s is not selected for %v, and has version %s (started %v)", c, limit, h.version, h.started)})
			}
		}
	}
	j.spans(look)
	if s := j.present(); s != nil {
		look(now, s)
	}
	return broken
}

// waits are the clusters that wait: for others, and for nothing.
func (s *snapshot) waits(now time.Time) (wait, could []string) {
	if s.ref.incomplete != "" {
		return nil, nil
	}
	for cluster := range s.ref.selected {
		h, has := s.observed[cluster]
		gets := has && h.version == s.version && h.started
		switch {
		case gets || !s.j.deleted[cluster].IsZero():
		case has && h.dying:
			wait = append(wait, cluster)
		case s.j.delivery.gates && has && h.version == s.version && !h.answered: // its first pass lasts until it says something, as it does unless it is dead
		case s.stands(cluster, now, leniency{}).at == failed && !s.ignoredClusters[cluster]: // its failure lasts, and it waits for none
		case s.stands(cluster, now, leniency{}).at != waiting && !s.ignoredClusters[cluster]:
			wait = append(wait, cluster) // something lasts of it
		case len(s.forbids(cluster, now.Add(-grace), leniency{everywhere: true}, whereTheyAre))+len(s.forbids(cluster, now.Add(-grace), leniency{everywhere: true}, whereTheyWere)) == 0:
			could = append(could, cluster)
		default:
			wait = append(wait, cluster)
		}
	}
	slices.Sort(wait)
	slices.Sort(could)
	return wait, could
}

// waits are those of a snapshot. Where a cluster was deselected, a process that began since may not know the group, which matters if
// not all are in one pool. Then no cluster could start.
func (j *checker) waits(s *snapshot, now time.Time) (wait, could []string) {
	wait, could = s.waits(now)
	_, perGroup, required, _ := parts(&s.strategy)
	if (perGroup || len(*required) > 0) && len(j.began) > 1 && len(s.left(whereTheyAre)) > 0 {
		return slices.Concat(wait, could), nil
	}
	return wait, could
}

// checkLate finds clusters that could have started all the time for longer than it may take, while no other came any further: one that
// does takes the place of those behind.
func (j *checker) checkLate() (broken []violation) {
	since := map[string]time.Time{}
	patience, unshown, steps, seen := j.patience(), j.unshown(), j.steps(), 0
	j.spans(func(now time.Time, s *snapshot) {
		_, could := j.waits(s, now)
		if n := until(now, steps); n != seen {
			clear(since)
			seen = n
		}
		for c := range since {
			if !slices.Contains(could, c) {
				delete(since, c)
			}
		}
		for _, c := range could {
			if since[c].IsZero() {
				since[c] = now
			}
			if now.Sub(acts(since[c], now, unshown)) > patience {
				since[c] = now.Add(time.Hour) // once
				broken = append(broken, violation{invariant: invLate, text: fmt.Sprintf("%s could have started for %v", c, patience)})
			}
		}
	})
	return broken
}

// steps are when a cluster got another version, or came to another pass.
func (j *checker) steps() (all []time.Time) {
	for _, e := range j.events {
		if e.id.kind != j.delivery.object || e.gone || j.delivery.isOwner(e.object) {
			continue
		}
		now, was := j.read(e.object), observed{}
		if before := j.at(e.id, e.rv-1); before != nil {
			was = j.read(before)
		}
		if now.version != was.version || now.started != was.started {
			all = append(all, e.at)
		}
	}
	return all
}

// complete says whether all are done, and the controller says so.
func (j *checker) complete(now time.Time) bool {
	s := j.present()
	return s != nil && s.ref.incomplete == "" && len(s.blockers(now)) == 0 && j.said().Complete
}

// said is what the controller says in the end.
func (j *checker) said() (c Claim) {
	if j.delivery.claims != nil {
		if s := j.present(); s != nil {
			if said := j.delivery.claims(s.owner); said != nil && (said.Version == "" || said.Version == s.version) {
				return *said
			}
		}
		return c
	}
	for _, r := range j.reconciles {
		if r.claim != nil {
			c = *r.claim
		}
	}
	return c
}

// blockers are the clusters that are not done, or that wait.
func (s *snapshot) blockers(now time.Time) (all []string) {
	for _, c := range s.j.trial.clusters(s.j.trial.pool) {
		if s.undone(c, now.Add(-grace)) != "" {
			all = append(all, c)
		}
	}
	return all
}

// checkEnd judges how a rollout stands that stands still.
func (j *checker) checkEnd(now time.Time) (broken []violation, complete bool) {
	s := j.present()
	if s == nil {
		return []violation{{invariant: invLeft, text: "there is no owner"}}, false
	}
	breaks := func(i Invariant, format string, args ...any) {
		broken = append(broken, violation{invariant: i, text: "in the end " + fmt.Sprintf(format, args...)})
	}
	if s.ref.incomplete != "" {
		breaks(invLeft, "the decisions are partially observed: %s", s.ref.incomplete)
		return broken, false
	}
	wait, could := j.waits(s, now)
	blockers, said := s.blockers(now), j.said()
	if len(could) > 0 {
		breaks(invLeft, "%v may start and don't; %v wait; it says %q", could, wait, said.Message)
	}
	if j.delivery.gates {
		for c := range s.ref.selected {
			if h := s.observed[c]; h.version != s.version && !h.dying && j.deleted[c].IsZero() {
				breaks(invLeft, "%s has %q and not %s", c, h.version, s.version)
			}
		}
	}
	switch named := func(c string) bool { return names(said.Message, c) }; {
	case len(blockers) == 0 && !said.Complete && len(s.ref.selected) > 0:
		counted := slices.ContainsFunc(j.trial.clusters(j.trial.pool), func(c string) bool { return s.isSelected(c) && !s.ignoredClusters[c] })
		doubtful := slices.ContainsFunc(s.doubtful, func(c string) bool { return !s.isSelected(c) && !s.ignoredClusters[c] })
		if counted && !doubtful {
			breaks(invStatus, "all is done, and it says %q", said.Message)
		}
	case len(wait) > 0 && !slices.ContainsFunc(j.trial.clusters(j.trial.pool), func(c string) bool { return named(c) && s.isWaitedFor(c, blockers, wait, now) }):
		breaks(invStuck, "%v wait, %v are not done, and it says %q", wait, blockers, said.Message)
	}
	complete = len(blockers) == 0 && said.Complete
	return append(broken, j.checkEdited(s, complete)...), complete
}

// isWaitedFor says whether others may wait for a cluster, also for a deselected one of which a user edited the policy.
func (s *snapshot) isWaitedFor(cluster string, blockers, wait []string, now time.Time) bool {
	if !s.isSelected(cluster) && !s.ignoredClusters[cluster] && s.lasts(cluster, now.Add(-grace)) != "" {
		return true
	}
	return slices.Contains(blockers, cluster) && (!slices.Contains(wait, cluster) || s.isGhost(cluster))
}
