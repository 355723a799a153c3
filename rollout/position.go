// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Position says which cluster of a rollout one is: the third of ten, and the first of two in its group. A workload can thus know how far
// the rollout is, such as for its share of the traffic.
type Position struct {
	// Index counts from 1, in the order in which clusters start, and Of is the number of selected clusters.
	Index int `json:"index"`
	Of    int `json:"of"`
	// InGroup is the same in the cluster's group, of OfGroup.
	InGroup int `json:"inGroup"`
	OfGroup int `json:"ofGroup"`
}

// Positions numbers the clusters in Start. Noted are the numbers of the clusters that have the version: what this function gave for them,
// as the controller notes it in the object in the write that carries the version. Each cluster in Start gets the lowest number that no
// cluster has; one that has a number already, as it is tried again, keeps it. A number thus never changes, whatever joins, leaves or
// restarts, and no two clusters with a number have the same. While no cluster is deselected, clusters are numbered as they start. Groups that
// [grouping.Apart] took apart have numbers of their own. A cluster that comes from another of them brings its number along, so that
// two may have the same there.
//
// The answer has the clusters in Start, and the noted ones that are selected; Of and OfGroup are of now. It takes time linear in the
// fleet and in the noted ones.
func (r *Result) Positions(noted map[string]Position) map[string]Position {
	all := make(map[string]Position)
	if r.schedule == nil {
		return all
	}
	groups := r.schedule.Members
	size := func(group stages.Group) int { return groups.SizeOf(group) - r.schedule.DeselectedIn(group) }
	taken, takenIn := make(map[int]bool, len(noted)), make(map[inGroup]bool, len(noted))
	for cluster, before := range noted {
		position, member := groups.Position(cluster)
		if !member {
			_, selected := fleet.Elsewhere(groups.Groups, cluster) // its number is free then
			taken[before.Index] = taken[before.Index] || !selected
			continue
		}
		taken[before.Index] = true
		group := groups.GroupOf(position)
		takenIn[inGroup{group, before.InGroup}] = true
		if !r.schedule.IsDeselected(position) {
			before.Of, before.OfGroup = groups.NumClusters()-len(r.schedule.Deselected), size(group)
			all[cluster] = before
		}
	}
	next, nextIn := 1, make(map[stages.Group]int)
	for _, cluster := range r.again(r.schedule).Start { // in r the caller may have changed it
		if _, has := all[cluster.Name]; has {
			continue
		}
		position, _ := groups.Position(cluster.Name)
		group := groups.GroupOf(position)
		for taken[next] {
			next++
		}
		in := max(1, nextIn[group])
		for takenIn[inGroup{group, in}] {
			in++
		}
		taken[next], takenIn[inGroup{group, in}], nextIn[group] = true, true, in
		all[cluster.Name] = Position{Index: next, Of: groups.NumClusters() - len(r.schedule.Deselected), InGroup: in, OfGroup: size(group)}
	}
	return all
}

// inGroup is a number in a group.
type inGroup struct {
	group stages.Group
	index int
}
