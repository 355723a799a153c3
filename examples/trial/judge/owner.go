package judge

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// owner is what is rolled out, with its clusters.
type owner struct {
	judge   *judge
	key     string
	fault   string
	states  span[ownerState]
	members map[string]*member
	epoch   int // of what it wants
	stages  map[stagesKey]*stages

	changed   int64 // when it wanted something else last
	shifts    int   // of its placements until then
	started   int64 // when something started last
	last      int64 // when it was looked at last, where nothing may happen
	isOpen    bool
	openSince int64
	said      bool             // that it is stuck
	saidQuiet bool             // that it says nothing
	surplus   map[string]int64 // clusters that have an object and are not selected: since when

	pending []pending
}

// pending is a deletion while decisions were half written. What comes next says whether its cluster stayed selected.
type pending struct {
	finding Finding
}

func (o *owner) member(cluster string) *member {
	m := o.members[cluster]
	if m == nil {
		m = &member{cluster: cluster, holders: map[string]*span[holderState]{}}
		o.members[cluster] = m
	}
	return m
}

// forget begins anew after a hole.
func (o *owner) forget() {
	o.last, o.isOpen, o.said, o.started, o.pending = 0, false, false, 0, nil
	o.changed = max(o.changed, o.judge.now)
	o.shifts = o.shifted()
	clear(o.surplus)
}

// shifted is how often clusters have left or moved in its placements.
func (o *owner) shifted() (n int) {
	if s := o.states.now(); s != nil {
		for i := range s.spec.refs {
			n += o.judge.placing(s.spec.refs[i].placement).shifts
		}
	}
	return n
}

// hold gives an object of a cluster its next state, and judges the write.
func (o *owner) hold(e *event, next *holderState) {
	j, id := o.judge, e.id()
	var cluster string
	if next != nil {
		cluster = next.cluster
	} else {
		cluster, _, _ = strings.Cut(e.key, "/")
	}
	o.look()
	m := o.member(cluster)
	h := m.holders[id]
	if h == nil {
		h = &span[holderState]{}
		m.holders[id] = h
	}
	before := h.now()
	if next != nil {
		copied := *next // events that are judged again begin with what was read
		next = &copied
		next.applied, next.earliest = j.now, j.now
		if before != nil && before.version == next.version && before.inform == next.inform {
			next.applied, next.earliest = before.applied, before.earliest
		} else if since, ok := j.unknown(e.kind); ok {
			next.earliest = since
		}
	}
	starts := next != nil && !next.deleting && !next.inform && next.version != "" && (before == nil || before.version != next.version || before.inform)
	goes := before != nil && !before.deleting && (next == nil || next.deleting)
	if (starts || goes) && j.judges() && o.fault == "" && j.judgesWriter() {
		if starts {
			o.judgeStart(m, id, next.version, before == nil)
			if next.dated {
				o.judgePasses(m, id, next.version, before)
			}
		}
		if goes {
			o.judgeRemoval(m, id, before.version)
		}
	}
	if starts {
		o.started, o.isOpen, o.said = j.now, false, false
	}
	h.put(j.now, next, j.now-j.horizon)
	m.isQuiet = false
	if next == nil && h.settled(j.now-j.horizon) {
		delete(m.holders, id)
	}
}

// unknown says since when a kind is not whole, if it is not.
func (j *judge) unknown(kind string) (since int64, is bool) {
	if since, is = j.listing[""]; is {
		return since, true
	}
	since, is = j.listing[kind]
	return since, is
}

// judgeStart judges the write that gives a cluster a version.
func (o *owner) judgeStart(m *member, id, version string, created bool) {
	j := o.judge
	j.report.Starts++
	if other, has := m.has(id); created && has {
		j.find(Finding{Kind: Once, Grade: Broken, Owner: o.key, Cluster: m.cluster, version: version, holder: id,
			Text: fmt.Sprintf("%s got %s beside %s: with one name, the API server would have refused it", m.cluster, id, other)})
	}
	truth := o.views(m, version, j.now, 0, leniency{}, true)
	if truth.right {
		o.judgeLeavers(m, id, version)
		return
	}
	f := Finding{Grade: Suspicious, Owner: o.key, Cluster: m.cluster, version: version, holder: id}
	lag := int64(0)
	seen := o.views(m, version, j.now, j.lag, leniency{}, false)
	switch {
	case seen.right:
		f.Explained = Duration(j.explain(o, m, version, j.lag, leniency{}))
	case !seen.all:
		j.report.Unclear++
	default:
		f.Grade, lag = Broken, j.lag
		if o.views(m, version, j.now, j.horizon, leniency{}, false).right {
			f.Explained = Duration(j.explain(o, m, version, j.horizon, leniency{}))
		}
	}
	if seen.right {
		j.report.Explained = max(j.report.Explained, f.Explained)
	}
	// What is broken in every view, if there is such a thing, and else what is in truth.
	breaks := slices.DeleteFunc(slices.Clone(truth.breaks), func(b breach) bool {
		return f.Grade == Broken && !slices.Contains(seen.kinds, b.kind)
	})
	if len(breaks) == 0 {
		breaks = truth.breaks
	}
	var texts []string
	for _, b := range breaks {
		switch b.kind {
		case Mandatory, Order, Concurrency, Budget:
			if o.views(m, version, j.now, lag, leniency{noSoak: true}, false).right {
				b.kind = Soak
			} else if o.views(m, version, j.now, lag, leniency{noDeadline: true}, false).right {
				b.kind = Deadline
			}
		}
		texts = append(texts, b.text)
		if f.Kind == "" {
			f.Kind = b.kind
		} else if b.kind != f.Kind && !slices.Contains(f.Also, b.kind) {
			f.Also = append(f.Also, b.kind)
		}
	}
	f.Text = fmt.Sprintf("%s got version %s: %s", m.cluster, short(version), strings.Join(texts, "; "))
	if j.Should != nil {
		f.Should = j.Should(o.moment(m.cluster))
	}
	j.find(f)
}

func short(version string) string { return strings.ReplaceAll(version, "\n", ", ") }

// explain is the least lag with which there is a view in which a start is right, up to one with which there is.
func (j *judge) explain(o *owner, m *member, version string, most int64, l leniency) time.Duration {
	const step = int64(10 * time.Millisecond)
	n := sort.Search(int(most/step), func(i int) bool { return o.views(m, version, j.now, int64(i)*step, l, false).right })
	return time.Duration(min(int64(n)*step, most))
}

// verdict is what the views of a start say.
type verdict struct {
	right  bool     // in one of them
	all    bool     // all were looked at
	breaks []breach // in one of them
	kinds  []Kind   // what is broken in each
}

// A breach is what a start breaks.
type breach struct {
	kind Kind
	text string
}

// views judges a start in all views that are at most lag behind, until it is right in one. Lag 0 is the truth.
func (o *owner) views(m *member, version string, now, lag int64, l leniency, tell bool) (v verdict) {
	v.all = true
	first := true
	say := func(breaks []breach) (more bool) {
		if len(breaks) == 0 {
			v.right = true
			return false
		}
		v.breaks = breaks
		var kinds []Kind
		for _, b := range breaks {
			if first || slices.Contains(v.kinds, b.kind) {
				kinds = append(kinds, b.kind)
			}
		}
		v.kinds, first = kinds, false
		return true
	}
	type wish struct {
		spec    *ownerSpec
		givenUp string
	}
	seen := map[wish]bool{}
	o.states.since(now-lag, func(s *ownerState) bool {
		if s == nil || s.deleting || len(s.spec.refs) == 0 {
			return say([]breach{{NotSelected, o.key + " is not there, or names no placement"}})
		}
		if w := (wish{s.spec, s.annotations[o.judge.GivenUp]}); seen[w] {
			return true
		} else {
			seen[w] = true
		}
		out := s.givenUp(o.judge.GivenUp)
		var walk func(i int, before []*fleet) bool
		walk = func(i int, before []*fleet) bool {
			if i == len(s.spec.refs) {
				return say([]breach{{NotSelected, m.cluster + " is not selected"}})
			}
			r := &s.spec.refs[i]
			p := o.judge.placing(r.placement)
			fleets, all := p.seen(now, lag)
			v.all = v.all && all
			if len(fleets) == 0 {
				return say([]breach{{HalfWritten, fmt.Sprintf("the decisions of %s are half written: %s", r.placement, cmp.Or(p.incomplete, "no combination is complete"))}})
			}
			for _, f := range fleets {
				if _, is := f.groupOf[m.cluster]; !is {
					if !walk(i+1, append(slices.Clip(before), f)) {
						return false
					}
				} else if !carries(version, r.version) {
					if !say([]breach{{Version, "what is wanted is " + short(r.version)}}) {
						return false
					}
				} else if !say(o.forbids(r, o.stagesOf(r, f, before), m, out, now, lag, l, tell)) {
					return false
				}
			}
			return true
		}
		return walk(0, nil)
	})
	return v
}

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
				other, of.withLeft = s.members[n], false
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
