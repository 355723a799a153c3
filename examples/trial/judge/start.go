// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// judgeStart judges the write that gives a cluster a version.
func (o *owner) judgeStart(m *member, id, version string, created bool) {
	j := o.judge
	j.report.Starts++
	if other, has := m.has(id); created && has {
		j.find(Finding{Kind: Once, Grade: Broken, Owner: o.key, Cluster: m.cluster, version: version, holder: id,
			Text: fmt.Sprintf("%s got %s beside %s: with one name, the API server would have refused it", m.cluster, id, other)})
	}
	truth := o.views(m, version, j.now, 0, leniency{})
	if truth.right {
		o.judgeLeavers(m, id, version)
		return
	}
	f := Finding{Grade: Suspicious, Owner: o.key, Cluster: m.cluster, version: version, holder: id}
	lag := int64(0)
	seen := o.views(m, version, j.now, j.lag, leniency{})
	switch {
	case seen.right:
		f.Explained = Duration(j.explain(o, m, version, j.lag, leniency{}))
	case !seen.all:
		j.report.Unclear++
	default:
		f.Grade, lag = Broken, j.lag
		if o.views(m, version, j.now, j.horizon, leniency{}).right {
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
			if o.views(m, version, j.now, lag, leniency{noSoak: true}).right {
				b.kind = Soak
			} else if o.views(m, version, j.now, lag, leniency{noDeadline: true}).right {
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
	return j.least(most, func(lag int64) bool { return o.views(m, version, j.now, lag, l).right })
}

// least is the least lag with which something is right, up to one with which it is.
func (j *judge) least(most int64, right func(lag int64) bool) time.Duration {
	const step = int64(10 * time.Millisecond)
	n := sort.Search(int(most/step), func(i int) bool { return right(int64(i) * step) })
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
func (o *owner) views(m *member, version string, now, lag int64, l leniency) (v verdict) {
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
		spec            *ownerSpec
		ignoredClusters string
	}
	seen := map[wish]bool{}
	o.states.since(now-lag, func(s *ownerState) bool {
		if s == nil || s.deleting || len(s.spec.refs) == 0 {
			return say([]breach{{NotSelected, o.key + " is not there, or names no placement"}})
		}
		if w := (wish{s.spec, s.annotations[o.judge.IgnoreAnnotation]}); seen[w] {
			return true
		} else {
			seen[w] = true
		}
		out := s.ignoredClusters(o.judge.IgnoreAnnotation)
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
				return say([]breach{{PartiallyObserved, fmt.Sprintf("the decisions of %s are partially observed: %s", r.placement, cmp.Or(p.incomplete, "no combination is complete"))}})
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
				} else if !say(o.forbids(r, o.stagesOf(r, f, before), m, out, now, lag, l)) {
					return false
				}
			}
			return true
		}
		return walk(0, nil)
	})
	return v
}
