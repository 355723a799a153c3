// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// When controllers look, and which do.
const (
	invLooks   Invariant = "no controller looks again and again where nothing happens"
	invHeard   Invariant = "what the caches show is looked at"
	invAgain   Invariant = "what failed is tried again within a minute"
	invOneLook Invariant = "one look at an owner at a time"
	invLeads   Invariant = "a process that has not asked for the lease writes nothing"
)

// overlap is a look that began while another one at the same owner ran in the same process.
type overlap struct {
	life      int
	first, at time.Time
}

// How often a controller may look in a minute: so many times by itself, and so many for each event that its caches show and each write that it
// makes.
const (
	looksByItself = 60
	looksForEach  = 3
)

// checkLooks judges when the controller looked, in all of the world. The player is locked.
func (p *player) checkLooks(until time.Time) (broken []violation) {
	sights := p.sights()
	if s := p.second; s != nil {
		broken = append(broken, violation{invariant: invOneLook, rv: p.rvAt(s.at), text: fmt.Sprintf(
			"process %d began a second look at %s, while the one from %s ran: two workers have the same owner", s.life, clock(s.at), clock(s.first))})
	}
	broken = append(broken, p.checkLease()...)
	broken = append(broken, p.checkHotLoops(sights)...)
	broken = append(broken, p.checkHeard(sights, until)...)
	return append(broken, p.checkTriedAgain(until)...)
}

// sights are those of all replicas in the order of their times.
func (p *player) sights() (all []showing) {
	for _, r := range p.replicas {
		r.caches.mu.Lock()
		all = append(all, r.caches.sights...)
		r.caches.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b showing) int { return a.at.Compare(b.at) })
	return all
}

func (p *player) rvAt(at time.Time) (rv int64) {
	for _, e := range p.events {
		if !e.at.After(at) {
			rv = e.rv
		}
	}
	return rv
}

// checkLease finds a process that wrote and had not asked for the lease.
func (p *player) checkLease() []violation {
	for i := range p.writes {
		if w := &p.writes[i]; w.unasked {
			return []violation{{invariant: invLeads, rv: w.rv, text: fmt.Sprintf(
				"process %d wrote %s at %s and never asked for the lease: no leader is elected, and another process acts beside it", w.life, w.name(), clock(w.sent))}}
		}
	}
	return nil
}

// name says what a write was of.
func (w *write) name() string {
	what := w.verb + " " + string(w.kind) + " " + w.key
	if w.status {
		what += " (status)"
	}
	return what
}

// checkHotLoops finds the first minute of a process in which it looked too often.
func (p *player) checkHotLoops(sights []showing) []violation {
	byLife := map[int][]*reconcile{}
	for _, r := range p.reconciles {
		byLife[r.life] = append(byLife[r.life], r)
	}
	within := func(at, from time.Time) bool { return !at.Before(from) && at.Before(from.Add(time.Minute)) }
	for life, looks := range byLife {
		for first, last := 0, 0; first < len(looks); first++ {
			from := looks[first].began
			for last < len(looks) && within(looks[last].began, from) {
				last++
			}
			n := last - first
			if n <= looksByItself {
				continue
			}
			events, writes := 0, 0
			for i := range sights {
				if s := &sights[i]; s.life == life && within(s.at, from) {
					events++
				}
			}
			for i := range p.writes {
				if w := &p.writes[i]; w.life == life && !w.denied && within(w.sent, from) {
					writes++
				}
			}
			if n > looksByItself+looksForEach*(events+writes) {
				return []violation{{invariant: invLooks, rv: p.rvAt(from), text: fmt.Sprintf("process %d looked %d times in the minute from %s, in which its caches showed %d events and it wrote %d times: %s",
					life, n, clock(from), events, writes, p.whyHot(looks[first:last], sights))}}
			}
		}
	}
	return nil
}

// whyHot says what made looks come one after the other.
func (p *player) whyHot(looks []*reconcile, sights []showing) string {
	failed, soon := 0, 0
	var shortest time.Duration
	for _, r := range looks {
		if r.err != nil || r.failed {
			failed++
		} else if r.after > 0 && r.after < time.Second {
			soon++
			if shortest == 0 || r.after < shortest {
				shortest = r.after
			}
		}
	}
	switch {
	case soon > looksByItself:
		return fmt.Sprintf("%d asked for the next one %v later%s", soon, shortest, p.toldAndNotRead(looks[len(looks)-1], sights))
	case failed > looksByItself:
		return fmt.Sprintf("%d of them failed, and the next one came at once: the pauses do not grow", failed)
	default:
		return "it asked for none of them"
	}
}

// toldAndNotRead says of a process that looks again and again whether its caches showed all that it wrote.
func (p *player) toldAndNotRead(by *reconcile, sights []showing) string {
	var last *write
	for i := range p.writes {
		if w := &p.writes[i]; w.life == by.life && w.done && w.sent.Before(by.began) && w.rv > 0 {
			last = w
		}
	}
	if last == nil {
		return ""
	}
	for i := range sights {
		if s := &sights[i]; s.life == by.life && s.rv >= last.rv && s.id == (id{last.kind, last.key}) && s.at.Before(by.began) {
			return fmt.Sprintf(", and its caches had shown its last own write (%s at %s) since %s: own writes are told, and never read", last.name(), clock(last.sent), clock(s.at))
		}
	}
	return ""
}

// heardWithin is how long it may take until what the caches show is looked at.
const heardWithin = 5 * time.Second

// checkHeard finds what the caches of a process showed of its owner, and no look came of.
func (p *player) checkHeard(sights []showing, until time.Time) []violation {
	for i := range sights {
		s := &sights[i]
		what := matters(s)
		if what == "" || s.life == 0 || p.electsLater(s) {
			continue
		}
		from := s.at
		var next *reconcile
		for _, r := range p.reconciles {
			if r.life != s.life {
				continue
			}
			if r.began.Before(s.at) && (r.ended.IsZero() || r.ended.After(s.at)) {
				from = later(from, r.ended) // it ran
			}
			if !r.began.Before(s.at) {
				next = r
				break
			}
		}
		end := until
		if died, is := p.died[s.life]; is && died.Before(end) {
			end = died
		}
		if next != nil {
			end = next.began
		}
		if end.Sub(from) <= heardWithin {
			continue
		}
		then := "no look came after it"
		if next != nil {
			then = fmt.Sprintf("the next look came %v later by itself", end.Sub(from).Round(time.Millisecond))
		}
		return []violation{{invariant: invHeard, rv: s.rv, text: fmt.Sprintf("the caches of process %d showed %s of %s at %s, and %s: it does not watch that, or a predicate hides it",
			s.life, what, s.id, clock(s.at), then)}}
	}
	return nil
}

// electsLater says whether the replica that saw something may have had no lease.
func (p *player) electsLater(*showing) bool { return p.elects }

// matters says what changed in what a controller has to hear of; empty if nothing did.
func matters(s *showing) string {
	switch now := s.object.(type) {
	case *replicaSet:
		before, _ := s.before.(*replicaSet)
		switch {
		case before == nil || s.gone:
			return ""
		case now.Generation != before.Generation:
			return fmt.Sprintf("generation %d", now.Generation)
		case !equality.Semantic.DeepEqual(now.Annotations, before.Annotations) && !ownOnly(now, before):
			return "other annotations"
		}
	case *placementDecision:
		before, _ := s.before.(*placementDecision)
		if s.gone || before == nil || !equality.Semantic.DeepEqual(now.Status, before.Status) || now.Labels[clusterv1beta1.DecisionGroupIndexLabel] != before.Labels[clusterv1beta1.DecisionGroupIndexLabel] {
			return "other decisions"
		}
	case *placement:
		before, _ := s.before.(*placement)
		if before != nil && !equality.Semantic.DeepEqual(now.Status, before.Status) {
			return "another status"
		}
	case *manifestWork:
		before, _ := s.before.(*manifestWork)
		if isAnothers(now) || before == nil || s.gone {
			return ""
		}
		for _, c := range now.Status.Conditions {
			if had := meta.FindStatusCondition(before.Status.Conditions, c.Type); had == nil || had.Status != c.Status || had.ObservedGeneration != c.ObservedGeneration {
				return "another condition " + c.Type
			}
		}
	}
	return ""
}

// ownOnly says whether nothing but what a controller may note itself is different: no user ignores a cluster.
func ownOnly(now, before *replicaSet) bool {
	for key, value := range now.Annotations {
		if before.Annotations[key] != value && (strings.Contains(key, "give") || key == noted) {
			return false
		}
	}
	return true
}

// checkTriedAgain finds a look that failed, after which the next one took too long.
func (p *player) checkTriedAgain(until time.Time) []violation {
	last := map[int]*reconcile{}
	late := func(r *reconcile, next time.Time) *violation {
		if !r.failed && r.err == nil || r.ended.IsZero() || next.Sub(r.ended) <= longestPause+heardWithin {
			return nil
		}
		why := "it asked for the next one " + r.after.String() + " later"
		if r.err != nil {
			why = fmt.Sprintf("it returned its error (%v) to its queue: its pauses grow to a quarter of an hour, and RequeueAfter is ignored with an error", r.err)
		}
		return &violation{invariant: invAgain, rv: p.rvAt(r.ended), text: fmt.Sprintf("a look of process %d failed at %s, and the next one came %v later: %s",
			r.life, clock(r.ended), next.Sub(r.ended).Round(time.Millisecond), why)}
	}
	for _, r := range p.reconciles {
		if before := last[r.life]; before != nil {
			if v := late(before, r.began); v != nil {
				return []violation{*v}
			}
		}
		last[r.life] = r
	}
	for life, r := range last {
		end := until
		if died, is := p.died[life]; is && died.Before(end) {
			end = died
		}
		if v := late(r, end); v != nil {
			return []violation{*v}
		}
	}
	return nil
}
