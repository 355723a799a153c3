package judge

import (
	"fmt"
	"slices"
	"strings"
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
	var rest []stage
	for _, g := range f.groups {
		s := stage{name: g.String(), groups: []groupKey{g.groupKey}}
		for _, c := range g.clusters {
			if !slices.ContainsFunc(before, func(b *fleet) bool { _, taken := b.groupOf[c]; return taken }) {
				s.members = append(s.members, o.member(c))
			}
		}
		st.total += len(s.members)
		if r.isMandatory(g.groupKey) {
			st.stages = append(st.stages, s)
		} else {
			rest = append(rest, s)
		}
	}
	st.first = len(st.stages)
	if r.perGroup {
		st.stages = append(st.stages, rest...)
	} else {
		all := stage{name: "all others"}
		for _, s := range rest {
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
	for _, m := range s.mandatory {
		if m.GroupName != "" && m.GroupName == g.name || m.GroupName == "" && int(m.GroupIndex) == g.index {
			return true
		}
	}
	return false
}

// allowed is MaxConcurrency of n clusters.
func (s *strategy) allowed(n, size int) int {
	if s.limit.IntValue() == 0 && s.limit.StrVal == "" {
		if size > 0 {
			return size
		}
		return n
	}
	return count(*s.limit, n)
}

// forbids says what a start breaks, in the views with these stages. Clusters that are out count nowhere.
func (o *owner) forbids(r *ref, st *stages, m *member, out map[string]bool, now, lag int64, l leniency, tell bool) (breaks []breach) {
	if r.all || out[m.cluster] {
		return nil
	}
	own, failed, total := -1, 0, st.total
	var left map[int][]*member
	if l.withLeft {
		left = o.left(r, st, m)
	}
	say := func(k Kind, text func() string) {
		b := breach{kind: k}
		if tell {
			b.text = text()
		}
		breaks = append(breaks, b)
	}
	for i, s := range st.stages {
		failures, holding, unsettled, mine := 0, 0, "", false
		size := len(s.members) + len(left[i])
		total += len(left[i])
		for n := range size {
			var other *member
			of := l
			if n < len(s.members) {
				other, of.withLeft, of.withGone, of.withStays = s.members[n], false, false, false
			} else {
				other = left[i][n-len(s.members)]
			}
			if other == m {
				own, mine = i, true
			}
			if out[other.cluster] {
				continue
			}
			c := other.stands(o, r.version, &r.strategy, now, lag, of)
			if n >= len(s.members) && c.wait {
				continue // it has not the version, or may be back
			}
			if c.failed {
				failures++
			}
			if c.holds && other != m {
				holding++
			}
			if !c.succeed && (!c.give || i < st.first) {
				unsettled = other.cluster
			}
		}
		failed += failures
		budget := 0
		if i >= st.first {
			budget = count(r.failures, size)
		}
		if failures > budget && (r.perGroup || i < st.first) {
			say(Budget, func() string {
				return fmt.Sprintf("%d of %d clusters of group %s failed, tolerated are %d", failures, size, s.name, budget)
			})
		}
		if own < 0 && unsettled != "" {
			// Whether it is in front of its own group is known when that comes.
			kind := Order
			if i < st.first {
				kind = Mandatory
			}
			say(kind, func() string { return fmt.Sprintf("%s of group %s isn't done", unsettled, s.name) })
		}
		if mine && r.limit != nil && i >= st.first {
			if allowed := r.allowed(size, st.size); holding+1 > allowed {
				say(Concurrency, func() string {
					return fmt.Sprintf("%d others are in flight (%s), allowed are %d", holding, o.holding(r, s.members, left[i], m, out, now, lag), allowed)
				})
			}
		}
	}
	if own < 0 { // a placement before selects it, too
		return nil
	}
	if r.limit != nil {
		if budget := count(r.failures, total); failed > budget {
			say(Budget, func() string {
				return fmt.Sprintf("%d of %d clusters failed, tolerated are %d", failed, total, budget)
			})
		}
	}
	return breaks
}

// holding names some of those that hold slots, also of those that left.
func (o *owner) holding(r *ref, members, left []*member, m *member, out map[string]bool, now, lag int64) string {
	var names []string
	for n, other := range slices.Concat(members, left) {
		if other != m && !out[other.cluster] && other.stands(o, r.version, &r.strategy, now, lag, leniency{withLeft: n >= len(members)}).holds {
			if names = append(names, other.cluster); len(names) == 5 {
				return strings.Join(names, ", ") + " …"
			}
		}
	}
	return strings.Join(names, ", ")
}
