// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"time"
)

// judgeRemoval judges the deletion of a cluster's object.
func (o *owner) judgeRemoval(m *member, id, version string) {
	j := o.judge
	j.report.Removals++
	s := o.states.now()
	if s == nil || s.deleting || len(s.spec.refs) == 0 {
		return // all goes
	}
	if _, another := m.has(id); another {
		return // of two, one has to go
	}
	f := Finding{Kind: Kept, Grade: Suspicious, Owner: o.key, Cluster: m.cluster, version: version, holder: id}
	is, why := o.selects(m.cluster, j.now, 0)
	if is == isSelected {
		f.Text = fmt.Sprintf("%s lost %s, and is selected", m.cluster, id)
		switch seen, _ := o.selects(m.cluster, j.now, j.lag); seen {
		case isSelected:
			f.Grade = Broken
		case notClear:
			j.report.Unclear++
		}
		j.find(f)
		return
	}
	if is == partiallyObserved {
		// A controller deletes nothing meanwhile. Nor did it see complete decisions without the cluster, if they were never so.
		seen, _ := o.selects(m.cluster, j.now, j.lag)
		f.Text = fmt.Sprintf("%s lost %s while decisions were partially observed (%s), and is selected before and afterwards", m.cluster, id, why)
		if seen == isSelected || seen == partiallyObserved {
			f.Grade = Broken
		}
		f.At, f.Line = at(j.now), j.line
		j.sign(&f)
		if o.wasSelected(m.cluster) {
			o.pending = append(o.pending, pending{f})
		}
		return
	}
	if away := o.away(m.cluster); j.RemoveAfter > 0 && away > 0 && away < int64(j.RemoveAfter)-j.lag-int64(500*time.Millisecond) {
		f.Grade = Broken
		f.Text = fmt.Sprintf("%s lost %s when it had been in no decision for %v, expected after %v", m.cluster, id, time.Duration(away).Round(time.Millisecond), j.RemoveAfter)
		f.At, f.Line = at(j.now), j.line
		j.sign(&f)
		o.pending = append(o.pending, pending{f})
	}
}

type selection int

const (
	notSelected       selection = iota // in some view
	isSelected                         // in all of them that are complete
	partiallyObserved                  // there is no complete one
	notClear                           // there are too many
)

// selects says whether a cluster is selected in all views.
func (o *owner) selects(cluster string, now, lag int64) (is selection, why string) {
	is = isSelected
	o.states.since(now-lag, func(s *ownerState) bool {
		if s == nil || s.deleting || len(s.spec.refs) == 0 {
			is = notSelected
			return false
		}
		in, half, unclear := false, "", false
		for i := range s.spec.refs {
			p := o.judge.placing(s.spec.refs[i].placement)
			fleets, all := p.seen(now, lag)
			unclear = unclear || !all
			switch {
			case len(fleets) == 0:
				half = p.incomplete
			case !slices.ContainsFunc(fleets, func(f *fleet) bool { _, has := f.groupOf[cluster]; return !has }):
				in = true
			}
		}
		switch {
		case in:
		case unclear:
			is = notClear
		case half != "":
			is, why = partiallyObserved, half
		default:
			is = notSelected
			return false
		}
		return true
	})
	return is, why
}

// wasSelected says whether the last complete decisions of a placement have a cluster.
func (o *owner) wasSelected(cluster string) bool {
	s := o.states.now()
	return s != nil && slices.ContainsFunc(s.spec.refs, func(r ref) bool {
		_, has := o.judge.placing(r.placement).watch.complete[cluster]
		return has
	})
}

// away is for how long a cluster has been in no decision of the owner's placements. It is 0 if it was in none ever.
func (o *owner) away(cluster string) int64 {
	since := int64(0)
	for _, r := range o.states.now().spec.refs {
		since = max(since, o.judge.placing(r.placement).watch.since[cluster])
	}
	if since == 0 {
		return 0
	}
	return o.judge.now - since
}

// settle says of deletions that wait for it whether the cluster stayed selected, or came back.
func (o *owner) settle(p *placing) {
	if len(o.pending) == 0 {
		return
	}
	j := o.judge
	o.pending = slices.DeleteFunc(o.pending, func(d pending) bool {
		is, _ := o.selects(d.finding.Cluster, j.now, 0)
		switch {
		case is == isSelected:
			if j.Should != nil {
				d.finding.Should = j.Should(o.moment(d.finding.Cluster))
			}
			j.report.Findings = append(j.report.Findings, d.finding)
			return true
		case is == partiallyObserved:
			return false
		}
		return j.RemoveAfter == 0 || o.away(d.finding.Cluster) > int64(j.RemoveAfter)
	})
}
