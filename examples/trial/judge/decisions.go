// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A fleet is what a Placement selects, as its decisions say: complete ones, as its status counts them.
type fleet struct {
	groups  []fleetGroup // in the order of their index and name
	groupOf map[string]int
	size    int // clusters per group, 0 for no limit
}

type fleetGroup struct {
	groupKey
	clusters []string
}

// placing is a Placement with its decisions.
type placing struct {
	key       string
	placement span[placementState]
	decisions map[string]*span[decisionState] // by name
	places    map[string]int                  // by cluster: in how many decisions it is now

	fleet      *fleet              // of now; nil where the decisions are partially observed
	incomplete string              // why they are
	half       int64               // until when they were, last
	whole      *fleet              // the last that was not nil
	shifted    map[string]int      // clusters that left or moved between two of these: at which event of the recording, last
	lastGroup  map[string]groupKey // of each cluster that was ever in one of these
	dirty      bool
	changed    int // how often anything of it has
	event      int // the last at which it has

	views map[string]viewed // by what is in the window
	watch decisionWatch
}

type viewed struct {
	fleets []*fleet
	all    bool // they are all that there are
}

func newPlacing(key string) *placing {
	return &placing{key: key, decisions: map[string]*span[decisionState]{}, shifted: map[string]int{}, places: map[string]int{}, dirty: true, incomplete: "there is no Placement"}
}

// read brings the present fleet up to date.
func (p *placing) read() {
	if !p.dirty {
		return
	}
	p.dirty = false
	stored := map[string]*decisionState{}
	for name, d := range p.decisions {
		if s := d.now(); s != nil {
			stored[name] = s
		}
	}
	if p.fleet, p.incomplete = fleetOf(p.placement.now(), stored); p.fleet == nil {
		return
	}
	if p.whole != nil {
		for _, cluster := range p.whole.shiftsTo(p.fleet) {
			p.shifted[cluster] = p.event
		}
	}
	p.whole = p.fleet
	if p.lastGroup == nil {
		p.lastGroup = map[string]groupKey{}
	}
	for cluster, at := range p.fleet.groupOf {
		p.lastGroup[cluster] = p.fleet.groups[at].groupKey
	}
}

// shiftsTo are the clusters of the fleet that are gone from the next one, or in another group there.
func (f *fleet) shiftsTo(next *fleet) (clusters []string) {
	for cluster, at := range f.groupOf {
		if to, is := next.groupOf[cluster]; !is || next.groups[to].groupKey != f.groups[at].groupKey {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// fleetOf reads the groups from the decisions, and says why these are not what the Placement's status speaks of, if they are not.
func fleetOf(placement *placementState, stored map[string]*decisionState) (_ *fleet, incomplete string) {
	if incomplete = lacks(placement, stored); incomplete != "" {
		return nil, incomplete
	}
	foreign := placement.foreign // nothing tells whether its decisions are whole
	f := &fleet{groupOf: map[string]int{}, size: placement.size}
	keys := map[groupKey]bool{}
	for _, d := range stored {
		keys[d.groupKey] = true
	}
	at := map[groupKey]int{}
	for _, key := range slices.SortedFunc(maps.Keys(keys), groupKey.compare) {
		at[key] = len(f.groups)
		f.groups = append(f.groups, fleetGroup{groupKey: key})
	}
	names := slices.SortedFunc(maps.Keys(stored), func(a, b string) int { return cmp.Or(stored[a].compare(stored[b].groupKey), cmp.Compare(a, b)) })
	for _, name := range names {
		d := stored[name]
		g := &f.groups[at[d.groupKey]]
		for _, c := range d.clusters {
			if _, ok := f.groupOf[c]; ok && foreign {
				continue
			} else if ok {
				return nil, c + " is in two places"
			}
			f.groupOf[c] = at[d.groupKey]
			g.clusters = append(g.clusters, c)
		}
	}
	if len(f.groupOf) != placement.selected && !foreign {
		return nil, fmt.Sprintf("the Placement's status says that %d clusters are selected, the decisions have %d", placement.selected, len(f.groupOf))
	}
	return f, ""
}

func (k groupKey) compare(other groupKey) int {
	return cmp.Or(cmp.Compare(k.index, other.index), cmp.Compare(k.name, other.name))
}

// lacks says what decisions lack by their groups and counts.
func lacks(placement *placementState, stored map[string]*decisionState) string {
	if placement == nil {
		return "there is no Placement"
	}
	if len(stored) == 0 {
		return "there is no PlacementDecision"
	}
	if placement.foreign {
		return ""
	}
	named := 0
	for _, g := range placement.groups {
		n := 0
		for _, name := range g.decisions {
			d := stored[name]
			switch {
			case d == nil:
				return fmt.Sprintf("the Placement's status names %s in group %v, which is not there", name, g.groupKey)
			case d.deleting:
				return name + " is being deleted"
			case d.groupKey != g.groupKey:
				return fmt.Sprintf("the Placement's status names %s in group %v, its labels say group %v", name, g.groupKey, d.groupKey)
			}
			n += len(d.clusters)
			named++
		}
		if n != g.count {
			return fmt.Sprintf("the Placement's status says that group %v has %d clusters, its decisions have %d", g.groupKey, g.count, n)
		}
	}
	if named != len(stored) {
		for _, name := range slices.Sorted(maps.Keys(stored)) {
			if !slices.ContainsFunc(placement.groups, func(g groupStatus) bool { return slices.Contains(g.decisions, name) }) {
				return "the Placement's status does not name " + name
			}
		}
		return "the Placement's status names a decision twice"
	}
	return ""
}

// tooMany is how many combinations of decisions are looked at, at most.
const tooMany = 20_000

// seen gives the fleets of all views that are at most lag behind, and look complete: each decision and the Placement may be of
// another time. All says that there are no others: it ends where there are too many.
func (p *placing) seen(now, lag int64) ([]*fleet, bool) {
	from := now - lag
	names := slices.Sorted(maps.Keys(p.decisions))
	moved := !p.placement.settled(from)
	key := fmt.Appendf(nil, "%d %d", p.changed, len(p.placement.states)-p.placement.first(from))
	for _, name := range names {
		d := p.decisions[name]
		if !d.settled(from) {
			moved = true
			key = fmt.Appendf(key, " %s %d", name, len(d.states)-d.first(from))
		}
	}
	if !moved {
		p.read()
		if p.fleet == nil {
			return nil, true
		}
		return []*fleet{p.fleet}, true
	}
	if v, ok := p.views[string(key)]; ok {
		return v.fleets, v.all
	}
	var v viewed
	tries, found := 0, map[string]bool{}
	p.placement.since(from, func(placement *placementState) bool {
		if placement == nil {
			return true
		}
		keyOf, counts := map[string]groupKey{}, map[groupKey]int{}
		for _, g := range placement.groups {
			counts[g.groupKey] += g.count
			for _, name := range g.decisions {
				keyOf[name] = g.groupKey
			}
		}
		stored := map[string]*decisionState{}
		var choose func(i int)
		choose = func(i int) {
			if tries++; tries > tooMany {
				return
			}
			if i == len(names) {
				f, incomplete := fleetOf(placement, stored)
				if incomplete != "" {
					return
				}
				text := fmt.Appendf(nil, "%d", f.size)
				for _, g := range f.groups {
					text = fmt.Appendf(text, " %d %q %q", g.index, g.name, g.clusters)
				}
				if !found[string(text)] {
					found[string(text)] = true
					v.fleets = append(v.fleets, f)
				}
				return
			}
			name := names[i]
			of, named := keyOf[name]
			p.decisions[name].since(from, func(d *decisionState) bool {
				switch {
				case d == nil && (!named || placement.foreign):
					choose(i + 1)
				case d != nil && placement.foreign:
					stored[name] = d
					choose(i + 1)
					delete(stored, name)
				case d != nil && named && d.groupKey == of && !d.deleting && counts[of] >= len(d.clusters):
					stored[name] = d
					counts[of] -= len(d.clusters)
					choose(i + 1)
					counts[of] += len(d.clusters)
					delete(stored, name)
				}
				return true
			})
		}
		choose(0)
		return true
	})
	v.all = tries <= tooMany
	if p.views == nil || len(p.views) > 100 {
		p.views = map[string]viewed{}
	}
	p.views[string(key)] = v
	return v.fleets, v.all
}
