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
func (records Records) Of(version string, parts ...grouping.PlacementGroups) Records {
	of := make(Records, len(parts))
	for _, part := range parts {
		of[part.Placement] = records[part.Placement]
	}
	if len(parts) == 0 {
		return of
	}
	last := parts[len(parts)-1].Placement
	for _, placement := range slices.Sorted(maps.Keys(records)) {
		if _, named := of[placement]; !named && records[placement].Version == version {
			of[last] = with(of[last], records[placement])
		}
	}
	return of.withMoved(version, parts)
}

// withMoved gives each part the failures that other parts have of its clusters.
func (records Records) withMoved(version string, parts []grouping.PlacementGroups) Records {
	moved := maps.Clone(records)
	for _, from := range slices.Sorted(maps.Keys(records)) {
		if records[from].Version != version {
			continue
		}
		for _, left := range records[from].Deselected {
			at := slices.IndexFunc(parts, func(part grouping.PlacementGroups) bool { return selects(part.Groups, left.Cluster) })
			if at < 0 || parts[at].Placement == from || !left.failed() {
				continue
			}
			to := parts[at].Placement
			left.Group, _, _ = parts[at].Groups.Find(left.Cluster)
			moved[to] = moved[to].withFailure(version, records[from].Attempt, left)
		}
	}
	return moved
}

func selects(groups *grouping.Groups, cluster string) bool {
	_, selected := groups.Position(cluster)
	return selected
}

// withFailure is the record with a failure that another record has.
func (record Record) withFailure(version string, attempt int, left DeselectedCluster) Record {
	if record.Version != version {
		record = Record{Version: version, Attempt: attempt}
	}
	with := *record.DeepCopy()
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
func (record *Record) add(left DeselectedCluster) {
	at, known := slices.BinarySearchFunc(record.Deselected, left.Cluster, func(left DeselectedCluster, cluster string) int {
		return strings.Compare(left.Cluster, cluster)
	})
	switch {
	case !known:
		record.Deselected = slices.Insert(record.Deselected, at, left)
	case left.failed() && !record.Deselected[at].failed():
		record.Deselected[at] = left
	}
}

func (d *DeselectedCluster) failed() bool { return d.Status == Failed || d.Status == TimeOut }
