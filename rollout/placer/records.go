package placer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status"
)

// recordsOf are the records of an owner, one for each of its Placements by name. Records of other Placements, which the
// owner had before, are part of the last one: their clusters may have failed with the version, and still count.
func recordsOf(object metav1.Object, placements []Placement, version string) (status.Records, error) {
	stored, err := status.RecordsOf(object)
	if err != nil {
		return nil, &invalidError{err}
	}
	records := make(status.Records, len(placements))
	for _, placement := range placements {
		records[placement.Name] = stored[placement.Name]
		delete(stored, placement.Name)
	}
	last := placements[len(placements)-1].Name
	for _, former := range stored {
		if former.Version == version {
			records[last] = with(records[last], former)
		}
	}
	return records, nil
}

// with is a record with the entries of another one of the same version. No entry gets lost: an unnecessary one blocks at
// most until its cluster recovers or is ignored.
func with(record, former status.Record) status.Record {
	switch {
	case record.Version != former.Version || former.Attempt > record.Attempt:
		return former
	case former.Attempt < record.Attempt:
		return record
	}
	record, former = *record.DeepCopy(), *former.DeepCopy()
	has := func(cluster string) bool {
		return slices.ContainsFunc(record.Deselected, func(left status.DeselectedCluster) bool { return left.Cluster == cluster })
	}
	for _, left := range former.Deselected {
		if !has(left.Cluster) {
			record.Deselected = append(record.Deselected, left)
		}
	}
	slices.SortFunc(record.Deselected, func(a, b status.DeselectedCluster) int { return strings.Compare(a.Cluster, b.Cluster) })
	record.Exposed += former.Exposed
	record.Breached = append(record.Breached, former.Breached...)
	if record.More == 0 || former.More > 0 && (former.Until.IsZero() || !record.Until.IsZero() && former.Until.After(record.Until)) {
		record.Until = former.Until
	}
	record.More += former.More
	return record
}
