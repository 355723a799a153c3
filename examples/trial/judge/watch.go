// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// decisionWatch judges the decisions of a Placement by themselves.
type decisionWatch struct {
	fleet    *fleet              // the last complete decisions
	complete map[string]groupKey // their clusters
	since    map[string]int64    // since when clusters are in no decision
	gone     map[string]place    // clusters that were in the last complete decisions, and went since
	under    map[string][]place  // by cluster: the groups that decisions had it in since the last complete ones
	half     int64               // since when they are partially observed
	said     bool

	from, until int64               // when the last complete decisions were there
	confirmed   bool                // the Placement was written while they were
	before      map[string]groupKey // the complete decisions before them
}

// place is a group that a cluster was in, or none, from a line on.
type place struct {
	groupKey
	line int
}

// moved takes a change of a decision, by which clusters came to be in none, and what the decision now says.
func (w *decisionWatch) moved(j *judge, p *placing, left []string, now *decisionState) {
	if w.since == nil {
		w.since, w.gone, w.under = map[string]int64{}, map[string]place{}, map[string][]place{}
	}
	for _, c := range left {
		w.since[c] = j.now
		if _, was := w.complete[c]; was && len(j.listing) == 0 {
			w.gone[c] = place{line: j.line}
		}
	}
	for c := range w.since {
		if p.places[c] > 0 {
			delete(w.since, c)
		}
	}
	if now == nil || len(j.listing) > 0 {
		return
	}
	for _, c := range now.clusters {
		if !slices.ContainsFunc(w.under[c], func(at place) bool { return at.groupKey == now.groupKey }) {
			w.under[c] = append(w.under[c], place{now.groupKey, j.line})
		}
	}
}

// placed takes a change of the Placement itself. Its writer meant what then stood there: complete decisions; or that a cluster is in none, or in
// the group with the labels of its decision.
func (w *decisionWatch) placed(p *placing) {
	placement := p.placement.now()
	if p.fleet != nil {
		w.confirmed = true
	}
	if p.fleet != nil || placement == nil {
		return
	}
	maps.DeleteFunc(w.gone, func(c string, _ place) bool { return p.places[c] == 0 })
	for _, g := range placement.groups {
		for _, name := range g.decisions {
			if p.decisions[name] == nil {
				continue
			}
			d := p.decisions[name].now()
			if d == nil || d.groupKey != g.groupKey {
				continue
			}
			for _, c := range d.clusters {
				w.under[c] = slices.DeleteFunc(w.under[c], func(at place) bool { return at.groupKey == g.groupKey })
			}
		}
	}
}

// look looks at the present decisions.
func (w *decisionWatch) look(j *judge, p *placing) {
	p.read()
	if p.fleet == nil {
		w.lookHalf(j, p)
		return
	}
	if w.half == 0 {
		w.until = j.now
	}
	if w.half = 0; w.fleet == p.fleet {
		return
	}
	now := map[string]groupKey{}
	for c, at := range p.fleet.groupOf {
		now[c] = p.fleet.groups[at].groupKey
	}
	if w.complete != nil && !p.placement.now().foreign && j.judges() {
		w.lookMisplaced(j, p, now)
	}
	if w.complete == nil || !maps.Equal(now, w.complete) {
		w.before, w.complete, w.from, w.confirmed = w.complete, now, j.now, false
	}
	w.fleet, w.until = p.fleet, j.now
	clear(w.gone)
	clear(w.under)
}

// lookHalf looks at decisions that are partially observed.
func (w *decisionWatch) lookHalf(j *judge, p *placing) {
	if w.half == 0 {
		w.half, w.until, w.said = j.now, j.now, false
	}
	placement := p.placement.now()
	wanted := len(p.places) > 0 || placement != nil && placement.selected > 0
	if !w.said && wanted && j.judges() && j.now-w.half > int64(j.Patience)+j.lag {
		w.said = true
		j.find(Finding{Kind: Unfinished, Grade: Broken, Owner: "Placement " + p.key,
			Text: fmt.Sprintf("its decisions are partially observed for %v: %s", time.Duration(j.now-w.half).Round(time.Millisecond), p.incomplete)})
	}
}

// lookMisplaced says which clusters were somewhere else, though complete decisions before and afterwards have them where they are: in none,
// or under the name or index of another group. It is broken if that was while they were partially observed. Decisions that looked complete for no
// longer than the lag, and were never confirmed by a write of the Placement, are suspicious.
func (w *decisionWatch) lookMisplaced(j *judge, p *placing, now map[string]groupKey) {
	find := func(kind Kind, grade Grade, cluster, text string, args ...any) {
		j.find(Finding{Kind: kind, Grade: grade, Owner: "Placement " + p.key, Cluster: cluster, Text: fmt.Sprintf(text, args...)})
	}
	names := sortedKeys(now)
	for _, c := range names {
		if at, is := w.gone[c]; is {
			find(Vanished, Broken, c, "%s was in no decision from line %d on, though the complete decisions before and afterwards have it", c, at.line)
		}
	}
	for _, c := range names {
		before, is := w.complete[c]
		if !is {
			continue
		}
		if i := slices.IndexFunc(w.under[c], func(at place) bool { return at.groupKey != now[c] && at.groupKey != before }); i >= 0 {
			at := w.under[c][i]
			find(Misnamed, Broken, c, "%s was in a decision of group %v from line %d on, and is in group %v in the complete decisions before and in group %v afterwards",
				c, at.groupKey, at.line, before, now[c])
		}
	}
	if w.before == nil || w.confirmed || maps.Equal(now, w.complete) || w.until-w.from > j.lag {
		return
	}
	lasted := time.Duration(w.until - w.from).Round(time.Millisecond)
	for _, c := range names {
		if has(w.before, c) && !has(w.complete, c) {
			find(Vanished, Suspicious, c, "%s was in no decision for %v, while they looked complete, and the Placement was not written", c, lasted)
		}
	}
	for _, c := range names {
		was, between := w.before[c], w.complete[c]
		if has(w.before, c) && has(w.complete, c) && between != now[c] && between != was {
			find(Misnamed, Suspicious, c, "%s was in group %v for %v, while decisions looked complete, and the Placement was not written; it was in group %v before and is in group %v afterwards",
				c, between, lasted, was, now[c])
		}
	}
}

func has(m map[string]groupKey, cluster string) bool { _, is := m[cluster]; return is }
