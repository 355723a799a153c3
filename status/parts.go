// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/grouping"
)

// Of gives the placements of an owner their records of a version, so that no failure is forgotten if the owner names another
// placement, or a cluster moves to another one. Parts are the owner's placements with their groups, as they are planned:
// those of [grouping.Apart] if there are several. Plan each part with its record.
//
// A record of a placement that the owner no longer names becomes part of the last one's. A cluster that failed in one
// placement and is selected by another is a failure in both. If it has no object any more, it is therefore not started in
// its new placement with the version that failed, until another version or attempt is wanted, or it is ignored.
func (r Records) Of(version string, parts ...grouping.PlacementGroups) Records {
	of := make(Records, len(parts))
	for _, part := range parts {
		of[part.Placement] = r[part.Placement]
	}
	if len(parts) == 0 {
		return of
	}
	last := parts[len(parts)-1].Placement
	for _, placement := range slices.Sorted(maps.Keys(r)) {
		if _, named := of[placement]; !named && r[placement].Version == version {
			of[last] = with(of[last], r[placement])
		}
	}
	return of.withMoved(version, parts)
}

// withMoved gives each part the failures that other parts have of its clusters.
func (r Records) withMoved(version string, parts []grouping.PlacementGroups) Records {
	moved := maps.Clone(r)
	for _, from := range slices.Sorted(maps.Keys(r)) {
		if r[from].Version != version {
			continue
		}
		for _, left := range r[from].Deselected {
			at := slices.IndexFunc(parts, func(part grouping.PlacementGroups) bool { return selects(part.Groups, left.Cluster) })
			if at < 0 || parts[at].Placement == from || !left.failed() {
				continue
			}
			to := parts[at].Placement
			left.Group, _, _ = parts[at].Groups.Find(left.Cluster)
			moved[to] = moved[to].withFailure(version, r[from].Attempt, left)
		}
	}
	return moved
}

func selects(groups *grouping.Groups, cluster string) bool {
	_, selected := groups.Position(cluster)
	return selected
}

// withFailure is the record with a failure that another record has.
func (r Record) withFailure(version string, attempt int, left DeselectedCluster) Record {
	if r.Version != version {
		r = Record{Version: version, Attempt: attempt}
	}
	with := *r.DeepCopy()
	with.add(left)
	return with
}

// with is a record with the entries of another one of the same version. No entry gets lost: an unnecessary one blocks at
// most until its cluster recovers or is ignored.
func with(record, other Record) Record {
	switch {
	case record.Version != other.Version || other.Attempt > record.Attempt:
		return other
	case other.Attempt < record.Attempt:
		return record
	}
	record, other = *record.DeepCopy(), *other.DeepCopy()
	for _, left := range other.Deselected {
		record.add(left)
	}
	record.Exposed += other.Exposed
	record.Breached = append(record.Breached, other.Breached...)
	if record.More == 0 || other.More > 0 && (other.Until.IsZero() || !record.Until.IsZero() && other.Until.After(record.Until)) {
		record.Until = other.Until
	}
	record.More += other.More
	return record
}

// add adds an entry in the order of the names. Of two entries of a cluster a failure counts before any other.
func (r *Record) add(left DeselectedCluster) {
	at, known := slices.BinarySearchFunc(r.Deselected, left.Cluster, func(left DeselectedCluster, cluster string) int {
		return strings.Compare(left.Cluster, cluster)
	})
	switch {
	case !known:
		r.Deselected = slices.Insert(r.Deselected, at, left)
	case left.failed() && !r.Deselected[at].failed():
		r.Deselected[at] = left
	}
}

func (d *DeselectedCluster) failed() bool { return d.Status == Failed || d.Status == TimeOut }
