// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"slices"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

// stages are the groups of a fleet as they are rolled out, without the clusters that placements before select.
type stages struct {
	stages []stage
	first  int // how many are mandatory
	total  int // clusters
	size   int // of a group
}

type stage struct {
	name    string
	groups  []groupKey
	members []*member
}

type stagesKey struct {
	ref           *ref
	fleet, before *fleet
}

func (o *owner) stagesOf(r *ref, f *fleet, before []*fleet) *stages {
	key := stagesKey{ref: r, fleet: f}
	if len(before) == 1 {
		key.before = before[0]
	}
	if have := o.stages[key]; have != nil && len(before) < 2 {
		return have
	}
	st := &stages{size: f.size}
	var groups []stage
	for _, g := range f.groups {
		s := stage{name: g.String(), groups: []groupKey{g.groupKey}}
		for _, c := range g.clusters {
			if !slices.ContainsFunc(before, func(b *fleet) bool { _, taken := b.groupOf[c]; return taken }) {
				s.members = append(s.members, o.member(c))
			}
		}
		st.total += len(s.members)
		groups = append(groups, s)
	}
	divided, first := limits.Divide(groups, r.perGroup, func(s stage) bool { return r.isMandatory(s.groups[0]) })
	st.first = first
	for i, of := range divided {
		all := stage{name: "all others"}
		if i < first || r.perGroup {
			all.name = of[0].name
		}
		for _, s := range of {
			all.members, all.groups = append(all.members, s.members...), append(all.groups, s.groups...)
		}
		st.stages = append(st.stages, all)
	}
	if len(o.stages) > 100 {
		clear(o.stages)
	}
	o.stages[key] = st
	return st
}

func (s *strategy) isMandatory(g groupKey) bool {
	return limits.IsMandatory(s.mandatory, g.index, g.name)
}

// ofLimit are the kinds of starts that break limits.
var ofLimit = map[limits.Kind]Kind{limits.Budget: Budget, limits.Mandatory: Mandatory, limits.Order: Order, limits.Concurrency: Concurrency}

// forbids says what a start breaks, in the views with these stages. Clusters that are out count nowhere.
func (o *owner) forbids(r *ref, st *stages, m *member, out map[string]bool, now, lag int64, l leniency) (breaks []breach) {
	if r.all || out[m.cluster] {
		return nil
	}
	for _, b := range o.rollout(r, st, m, out, now, lag, l).Forbids(m.cluster) {
		breaks = append(breaks, breach{ofLimit[b.Kind], b.String()})
	}
	return breaks
}

// rollout is how all clusters may stand when one of them starts.
func (o *owner) rollout(r *ref, st *stages, m *member, out map[string]bool, now, lag int64, l leniency) *limits.Rollout {
	roll := &limits.Rollout{PerGroup: r.perGroup, Failures: r.failures, Size: st.total}
	var left map[int][]*member
	if l.withLeft {
		left = o.left(r, st, m)
	}
	members := l
	members.withLeft, members.withGone, members.withStays = false, false, false
	for i, s := range st.stages {
		of := limits.Stage{Name: s.name, Mandatory: i < st.first, Size: len(s.members) + len(left[i])}
		of.Seats = make([]limits.Seat, 0, of.Size)
		for _, other := range s.members {
			if c := other.stands(o, r.version, &r.strategy, now, lag, members); !out[other.cluster] {
				of.Seats = append(of.Seats, c.seat(other, false))
			}
		}
		for _, other := range left[i] {
			if c := other.stands(o, r.version, &r.strategy, now, lag, l); !out[other.cluster] && !c.wait { // or it has not the version, or may be back
				of.Seats = append(of.Seats, c.seat(other, true))
			}
		}
		roll.Size += len(left[i])
		roll.Stages = append(roll.Stages, of)
	}
	if r.limit != nil {
		roll.Slots = limits.Slots(*r.limit, roll.Stages[len(roll.Stages)-1].Size, st.size)
	}
	return roll
}

func (c could) seat(m *member, away bool) limits.Seat {
	return limits.Seat{Cluster: m.cluster, Away: away, Done: c.succeed, Over: c.give, Failed: c.failed, Holds: c.holds}
}
