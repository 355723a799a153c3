// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
)

// An operator freezes single clusters (R59) and puts joining ones on the allowlist (R60).

// hold is how a cluster is frozen.
type hold uint8

const (
	free hold = iota
	frozen
	frozenFirmly // its group waits for it
)

// holding is a way to freeze a cluster: for some ticks, or without an end.
type freezing struct {
	as    hold
	until uint8
}

// longestHold is in how many ticks every freeze with an end is over.
func (c *config) longestHold() (longest uint8) {
	for _, h := range c.holds {
		longest = max(longest, h.until)
	}
	return longest
}

// decided packs an operator's decisions on a cluster.
func (c *cluster) decided() uint64 {
	return uint64(c.hold) | uint64(c.until)<<2 | bit(c.allowed)<<4
}

// holds gives the freezes as options have them, with the times at which they end.
func (s *state) holds(at time.Time) (all []rollout.ClusterFreeze) {
	for i := range s.clusters {
		c := &s.clusters[i]
		if c.hold == free {
			continue
		}
		h := rollout.ClusterFreeze{Cluster: names[i], Reason: "maintenance", Blocks: c.hold == frozenFirmly}
		if c.until > 0 {
			h.Until = at.Add(time.Duration(c.until) * tick)
		}
		all = append(all, h)
	}
	return all
}

// decree carries out what an operator or a validator says on a cluster.
func (k *controller) decree(s *state, e event) {
	c := &s.clusters[e.cluster]
	switch e.kind {
	case judges:
		k.judge(s, e)
	case holds:
		s.left.turns--
		c.hold, c.until = hold(e.arg&3), e.arg>>2
	case releases:
		c.hold, c.until = free, 0
	case reviews:
		c.allowed = true
	}
}

// eachDecree calls f with these events of one cluster.
func (k *controller) eachDecree(s *state, i uint8, f func(event)) {
	k.eachVerdict(s, i, f)
	c := &s.clusters[i]
	if c.hold != free {
		f(event{kind: releases, cluster: i})
	} else if s.left.turns > 0 {
		for _, h := range k.config.holds {
			f(event{holds, i, uint8(h.as) | h.until<<2})
		}
	}
	if k.config.reviews && !c.allowed && c.group != none {
		f(event{kind: reviews, cluster: i})
	}
}

// tellDecree says what such an event is.
func (e event) tellDecree(name string) string {
	switch e.kind {
	case holds:
		told := "an operator freezes " + name
		if hold(e.arg&3) == frozenFirmly {
			told += ", and its group waits for it"
		}
		if until := e.arg >> 2; until > 0 {
			told += fmt.Sprintf(", for %dm", until)
		}
		return told
	case releases:
		return fmt.Sprintf("an operator unfreezes %s", name)
	case reviews:
		return fmt.Sprintf("an operator allows %s", name)
	}
	about := [...]string{"", ", of the version before"}[e.arg>>2&1]
	return fmt.Sprintf("the validator of %s says %s%s, of attempt %d", name, [...]string{uncertain: "nothing yet", yes: "yes", no: "no"}[e.arg&3], about, e.arg>>3)
}

// heldBack are the waiting clusters that are frozen or not on the allowlist (R59, R60).
func (j *judge) blocked() (back set) {
	for i := range most {
		if c := &j.s.clusters[i]; c.hold != free || j.config.reviews && !c.allowed {
			back.add(i)
		}
	}
	return j.waiting(back & j.all)
}

// held are the frozen clusters.
func (j *judge) frozen() (frozen set) {
	for i := range most {
		if j.s.clusters[i].hold != free {
			frozen.add(i)
		}
	}
	return frozen
}

// passed are those of heldBack that block no other.
func (j *judge) passed() (passed set) {
	passed = j.blocked()
	for i := range most {
		if j.s.clusters[i].hold == frozenFirmly {
			passed &^= 1 << i
		}
	}
	return passed
}

// concede does what a remedy about freezes and the allowlist proposes.
func (s *state) concede(r rollout.Remedy) {
	for i := range s.clusters {
		c := &s.clusters[i]
		switch {
		case !namedIn(r.Clusters).has(i):
		case r.Type == rollout.RemedyUnfreeze:
			c.hold, c.until = free, 0
		default:
			c.allowed = true
		}
	}
}

// checkPeople checks the explanation of a cluster that waits for ever because of freezes or the allowlist (R29, R59, R60). Known says
// that there is no other reason; otherwise other rules check the rest of the explanation.
func (x *ends) checkPeople(s *state, j *judge, i int, links rollout.Explanation) (wrong string, known bool) {
	last := links[len(links)-1]
	people := last.Reason.Type == rollout.BlockFrozen || last.Reason.Type == rollout.BlockNotAllowed
	c := &s.clusters[i]
	if j.blocked().has(i) {
		of := rollout.BlockNotAllowed
		if c.hold != free {
			of = rollout.BlockFrozen
		}
		if first := links[0].Reason.Type; first != of {
			return fmt.Sprintf("the cluster is frozen or not on the allowlist, so %v comes first", of), true
		}
		return "", people
	}
	if !people {
		return "", false
	}
	mine := j.stageOf(i)
	for n := range j.n {
		if mine.after.has(n) && j.stages[n].clusters&j.blocked()&^j.passed() != 0 {
			return "", true
		}
	}
	return "no frozen cluster blocks its group", true
}
