// SPDX-License-Identifier: Apache-2.0

package search

// A version may cut agents off, and then clusters are deselected. These are the events of that, and the operators' reactions.

// The duties of a controller with a record that a mutant skips.
const (
	storesFirst    = "record first"
	keepsRecord    = "record after a restart"
	hearsDeletions = "deleted ManagedClusters"
	writesAgain    = "resumed clusters"
)

// depart carries out an event of one cluster about its agent, or about an operator's decision.
func (k *controller) depart(s *state, e event) {
	c := &s.clusters[e.cluster]
	switch e.kind {
	case dies:
		s.left.cuts--
		c.dead = true
	case lives:
		c.dead, c.keeps = false, false
	case drops:
		c.home, c.group, c.shown = c.group, none, none
	case takesBack:
		c.group, c.shown, c.home = c.home, c.home, none
	case goes:
		c.proven = c.proven || k.isProven(c)
		c.truth = nothing
	case ignores:
		s.left.gives--
		c.aside = true
	case deletes:
		s.left.gives--
		*c = cluster{
			group: none, shown: none, home: none, former: none, truth: nothing, seen: nothing, own: nothing, aside: true, ended: true,
			entry: c.entry, told: c.told, noted: c.noted, then: c.then, lasts: c.lasts, entryLasts: c.entryLasts, toldLasts: c.toldLasts,
		}
	}
}

// remove deletes the object of a cluster. It disappears at once, or once its agent removes the finalizer.
func (k *controller) remove(c *cluster) {
	if c.todo = doNothing; c.truth.version == absent {
		return
	}
	if k.config.hangs {
		c.truth.deleting = true
		return
	}
	c.proven = c.proven || k.isProven(c)
	c.keeps = c.keeps || c.dead && c.truth.version == 0 && k.config.stand(c.truth, 0) != done
	c.truth = nothing
}

// isProven says whether a cluster is done with the version, where that matters.
func (k *controller) isProven(c *cluster) bool {
	return k.config.bounds && c.truth.version == 0 && k.config.stand(c.truth, 0) == done
}

// eachDeparture calls f with these events of one cluster.
func (k *controller) eachDeparture(s *state, i uint8, f func(event)) {
	c := &s.clusters[i]
	if c.truth.version == 0 && !c.dead && s.left.cuts > 0 {
		f(event{kind: dies, cluster: i})
	}
	if c.dead {
		f(event{kind: lives, cluster: i})
	}
	if s.torn == whole && c.dead && c.group != none {
		f(event{kind: drops, cluster: i})
	}
	if s.torn == whole && !c.dead && c.home != none {
		f(event{kind: takesBack, cluster: i})
	}
	if c.truth.deleting && !c.dead {
		f(event{kind: goes, cluster: i})
	}
	if s.left.gives > 0 && c.group == none && s.torn == whole && !c.aside && (c.truth.version == 0 || c.noted.as != unrecorded) {
		f(event{kind: ignores, cluster: i})
		f(event{kind: deletes, cluster: i})
	}
	if c.told != c.entry {
		f(event{kind: shows})
	}
}
