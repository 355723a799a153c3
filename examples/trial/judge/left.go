// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"strings"
)

// left are the clusters that are not selected any more and have an object, or had one that failed, by the stage in which they were. Those
// without a group belong to no stage, unless all others roll together.
func (o *owner) left(r *ref, st *stages, m *member) map[int][]*member {
	var all map[int][]*member
	p := o.judge.placing(r.placement)
	for _, cluster := range sortedKeys(o.members) {
		other := o.members[cluster]
		group, was := p.lastGroup[cluster]
		if other == m || !was || len(other.holders) == 0 && !other.hasFailed(o) || o.isPlaced(cluster) {
			continue
		}
		stage := slices.IndexFunc(st.stages, func(s stage) bool { return slices.Contains(s.groups, group) })
		if stage < 0 && (r.perGroup || r.isMandatory(group)) {
			continue
		} else if stage < 0 {
			stage = len(st.stages) - 1
		}
		if all == nil {
			all = map[int][]*member{}
		}
		all[stage] = append(all[stage], other)
	}
	return all
}

// isPlaced says whether a placement of the owner has a cluster now.
func (o *owner) isPlaced(cluster string) bool {
	s := o.states.now()
	return s != nil && slices.ContainsFunc(s.spec.refs, func(r ref) bool { return o.judge.placing(r.placement).places[cluster] > 0 })
}

// judgeLeavers judges a start that only deselected clusters with the version forbid: they are not done, and no user is known to ignore
// them. Where no annotation names ignored clusters, it may be so. It may be so, too, where their object is gone, unless their ManagedCluster
// is known to have stayed: a user that deletes a cluster ignores it, and nothing else tells it from one that its controller took the object
// from. With several placements a process that began since may not know from which of them they left.
func (o *owner) judgeLeavers(m *member, id, version string) {
	if !o.hasShifted() {
		return
	}
	j := o.judge
	with := leniency{withLeft: true, withGone: true}
	truth := o.views(m, version, j.now, 0, with)
	if truth.right {
		return
	}
	f := Finding{Kind: Leavers, Grade: Suspicious, Owner: o.key, Cluster: m.cluster, version: version, holder: id}
	seen := o.views(m, version, j.now, j.lag, with)
	there := o.views(m, version, j.now, j.lag, leniency{withLeft: true})
	surely := o.views(m, version, j.now, j.lag, leniency{withLeft: true, withStays: true})
	switch {
	case seen.right:
		f.Explained = Duration(j.explain(o, m, version, j.lag, with))
		j.report.Explained = max(j.report.Explained, f.Explained)
	case !seen.all:
		j.report.Unclear++
	case j.IgnoreAnnotation != "" && !surely.right && surely.all && len(o.states.now().spec.refs) == 1:
		f.Grade = Broken
	}
	var texts []string
	for _, b := range truth.breaks {
		texts = append(texts, b.text)
	}
	left := "those that left"
	if there.right && !seen.right {
		left = "those that failed, and lost their object when they had left"
	}
	f.Text = fmt.Sprintf("%s got version %s, though with %s: %s", m.cluster, short(version), left, strings.Join(texts, "; "))
	if j.Should != nil {
		f.Should = j.Should(o.moment(m.cluster))
	}
	j.find(f)
}
