// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on what stands beside a plan, R61, R62 and R64, written from their text like the rest of the oracle.

// asked is the oracle's answer for a world.
func asked(w world) *oracle {
	var o oracle
	o.answer(w)
	return &o
}

// r61 says what opening all gates with a key does: which clusters start beside those that do, or else what holds the first group behind the gates
// in which clusters wait.
func r61(w world, gate grouping.Key) (start []rollout.Cluster, otherwise rollout.BlockReason) {
	same := func(g closedGate) bool {
		return g.group.Placement == gate.Placement && g.group.Name == gate.Name && (gate.Name != "" || g.group.Index == gate.Index)
	}
	now, open := asked(w), w
	open.gates = slices.DeleteFunc(slices.Clone(w.gates), same)
	then := asked(open)
	for _, c := range then.out.Start {
		if !slices.Contains(now.out.Start, c) {
			start = append(start, c)
		}
	}
	if len(start) > 0 {
		return start, rollout.BlockReason{}
	}
	behind := func(group grouping.Key) bool {
		return r23Matches(gate, group) || slices.ContainsFunc(then.sequence(), func(g grouping.Key) bool { return r23Matches(gate, g) && then.r33(g, group) })
	}
	for _, g := range then.groups {
		var own []rollout.BlockReason // those of single clusters are listed last
		for _, h := range then.out.Blocked {
			switch {
			case h.Cluster.Group != g || !behind(g):
			case isOwn(h.Reason):
				own = append(own, h.Reason)
			default:
				return nil, h.Reason
			}
		}
		if len(own) > 0 {
			return nil, own[0]
		}
	}
	return nil, rollout.BlockReason{}
}

// r62 says which clusters are removed next, where all of a workload goes.
func r62(w world, most int) (next []string) {
	o := asked(w)
	selected := map[string]grouping.Key{}
	for _, m := range w.members {
		selected[m.name] = m.group
	}
	groupOf := func(name string) (grouping.Key, bool) {
		if g, is := selected[name]; is {
			return g, true
		}
		if e := o.entry(name); e != nil {
			return e.Group, slices.Contains(w.groups, e.Group)
		}
		if w.former != nil {
			g, had := w.former.groups[name]
			return g, had && slices.Contains(w.groups, g)
		}
		return grouping.Key{}, false
	}
	counts := func(name string) bool { return w.ignored == nil || !w.ignored(name) }
	there := map[string]bool{} // whether an object of it is not being deleted yet
	for _, r := range w.reports {
		if _, is := selected[r.Cluster]; is || w.parts == nil || !w.parts.first && !slices.Contains(w.parts.others, r.Cluster) { // R50
			there[r.Cluster] = there[r.Cluster] || !r.Deleting
		}
	}
	sequence := o.sequence()
	after := func(later, earlier grouping.Key) bool {
		return slices.Contains(sequence, earlier) && o.r33(earlier, later)
	}
	going := 0
	for name, stays := range there {
		if !stays && counts(name) {
			going++
		}
	}
	var names []string
	for name, stays := range there {
		if stays {
			names = append(names, name)
		}
	}
	begun := func(name string) bool {
		mine, known := groupOf(name)
		for other := range there {
			its, has := groupOf(other)
			if known && counts(other) && (!has || after(its, mine)) {
				return false
			}
		}
		return true
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case !begun(name):
		case !counts(name):
			next = append(next, name)
		case going < most:
			next, going = append(next, name), going+1
		}
	}
	return next
}

// r64 numbers those that start, in the order in which they do, with the lowest numbers that are free. Elsewhere are the clusters that
// another part selects, and that do not count here.
func r64(start []rollout.Cluster, members []member, noted map[string]rollout.Position, elsewhere []string) map[string]rollout.Position {
	sizes := map[grouping.Key]int{}
	groupOf := map[string]grouping.Key{}
	for _, m := range members {
		sizes[m.group]++
		groupOf[m.name] = m.group
	}
	all := map[string]rollout.Position{}
	hasIndex := func(n int) bool {
		for _, p := range all {
			if p.Index == n {
				return true
			}
		}
		for name, p := range noted {
			if p.Index == n && !slices.Contains(elsewhere, name) {
				return true
			}
		}
		return false
	}
	hasInGroup := func(g grouping.Key, n int) bool {
		for name, p := range all {
			if groupOf[name] == g && p.InGroup == n {
				return true
			}
		}
		return false
	}
	for name, p := range noted {
		if g, is := groupOf[name]; is {
			all[name] = rollout.Position{Index: p.Index, Of: len(members), InGroup: p.InGroup, OfGroup: sizes[g]}
		}
	}
	for _, c := range start {
		if _, has := all[c.Name]; has {
			continue
		}
		g := groupOf[c.Name]
		p := rollout.Position{Index: 1, Of: len(members), InGroup: 1, OfGroup: sizes[g]}
		for hasIndex(p.Index) {
			p.Index++
		}
		for hasInGroup(g, p.InGroup) {
			p.InGroup++
		}
		all[c.Name] = p
	}
	return all
}

// deletingSome has every report of some clusters say that the object is on its way out.
func deletingSome(names ...string) func(*world) {
	return func(w *world) {
		w.reports = slices.Clone(w.reports)
		for i := range w.reports {
			if slices.Contains(names, w.reports[i].Cluster) {
				w.reports[i].Deleting = true
			}
		}
	}
}

// alsoLeft adds a cluster that is not selected, whose group the record knows where it is given.
func alsoLeft(group *grouping.Key) func(*world) {
	return func(w *world) {
		w.reports = append(slices.Clone(w.reports), status.Report{Cluster: "x", Status: status.Failed, LastTransitionTime: now})
		if group != nil {
			w.storedRecord = &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", Deselected: []status.DeselectedCluster{
				{Report: status.Report{Cluster: "x", Status: status.TimeOut, Applied: now.Add(-old)}, Group: *group},
			}}}
		}
	}
}
