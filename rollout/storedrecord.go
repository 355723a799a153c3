// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// StoredRecord is the record of deselected clusters which the owner of a rollout stores. It lets their failures and starts
// count when their objects are gone. Read the record from the owner before each call. Store [Next].Record in the owner after
// each call, if it has changed. A cluster is in Removed only once the stored record has the state that its object shows. A
// restart at any time therefore forgets nothing.
//
// # Deselected clusters count
//
//   - A deselected cluster in flight or failed stays a member of its group. It takes its slot, times out, and is in the
//     budget. [Next].Deselected has these clusters.
//   - Its workload is removed as always. A cluster that was in flight stops counting once its object is gone, because no
//     failure is known. A failure counts until the cluster recovers, another version or attempt is wanted, or a user ignores
//     the cluster. The record keeps the failure when the object is gone. From then on the cluster cannot recover: selected
//     again, it stays TimeOut and gets nothing until another version or attempt is wanted, or it is ignored.
//   - A user ignores a cluster by its name in Ignored, or by deleting its ManagedCluster. Let the controller read names from
//     the owner, such as from an annotation; they stay ignored until a user removes them there. For each cluster of the
//     record and of the previous result's Deselected, check with a live read whether its ManagedCluster exists: on a delete
//     event, and at intervals. Add the cluster to Ignored if it does not exist. Check again each cluster that did not exist
//     at the last check: an ignored cluster is in neither list, and would count again while its object exists. Each ignored
//     cluster lets another one start.
//   - The cluster counts in the group from which it was deselected. The record or the previous result has that group. If
//     neither has it after a restart, a failure of the cluster stops all groups, and nothing starts while it is in flight.
//   - A version can also move a cluster to another group, by its labels. A selected cluster in flight or failed stays a
//     member of its earlier group, unless the new group comes before that. Results show it there until it is done.
//   - The record has a breach with its clusters, so the breach lasts if the groups change while the controller is down.
//   - If a scheduler fills a group with clusters of later groups, these do not start in place of the deselected clusters.
//     No more clusters are exposed than package exposure says (exposed: has the version and is not done with it).
//     [status.Record].Exposed keeps that number when the fleet shrinks.
//
// This does not bound a version whose only effect is that clusters are deselected, if their agents live or reconnect before
// the deadline: each agent removes the workload, and its cluster is done with the version. MaxStarts bounds the rate.
type StoredRecord struct {
	// Version is the wanted version; in a rollback, the version to which it rolls back (rollback.Revisions.Target gives the
	// right one in both cases). It must not be empty. A record of another version counts for nothing.
	Version string `json:"version"`
	// Record is the record as it is stored in the owner ([status.RecordsOf]). Each of its entries must have a cluster.
	Record status.Record `json:"record,omitzero"`
	// AtOnce says that deletion is immediate (no finalizer), as for a replicated policy and for an add-on without a
	// pre-delete hook. Otherwise an agent removes a finalizer, as for a ManifestWork. If AtOnce is false by mistake, a
	// deselected cluster in flight is forgotten with its object. Do not derive AtOnce from the objects that exist: the last
	// one may be gone.
	AtOnce bool `json:"atOnce,omitempty"`
}

// compile checks a stored record and looks up what its record says.
func (record *StoredRecord) compile(path *field.Path) (*recordIndex, *field.Error) {
	isNameless := func(stored status.DeselectedCluster) bool { return stored.Cluster == "" }
	if record.Version == "" {
		return nil, field.Required(path.Child("version"), "must be the version that is wanted")
	}
	if i := slices.IndexFunc(record.Record.Deselected, isNameless); i >= 0 {
		return nil, field.Required(path.Child("record", "left").Index(i).Child("cluster"), "must be the name of a ManagedCluster")
	}
	return newRecordIndex(*record), nil
}

// recordIndex is a checked StoredRecord.
type recordIndex struct {
	StoredRecord
	entries fleet.Record // nil where there are none
}

func newRecordIndex(record StoredRecord) *recordIndex {
	known := &recordIndex{StoredRecord: record}
	if record.Record.Version != record.Version {
		known.Record = status.Record{}
		return known
	}
	known.entries = make(fleet.Record, len(record.Record.Deselected))
	merged := make(map[string]status.Report, len(record.Record.Deselected)) // two entries of a cluster count as one (R1)
	for i := range record.Record.Deselected {
		stored := &record.Record.Deselected[i]
		if before, again := merged[stored.Cluster]; again {
			merged[stored.Cluster] = status.Merge(before, stored.Report)
		} else {
			merged[stored.Cluster] = stored.Report
		}
		report := merged[stored.Cluster]
		report.Deleting = false // an entry is not an object
		entry := fleet.Entry{Report: fleet.ReportOf(&report), Key: stored.Group}
		switch {
		case entry.Kind.IsFailure():
		case report.Status == status.Succeeded && !record.AtOnce:
			entry.Kind = fleet.KindOnceSucceeded
		case report.Status == status.Skip || !record.AtOnce:
			entry.Kind = fleet.KindOnceStarted
		}
		if entry.Key.Index < 0 {
			entry.Key = fleet.UnknownGroup()
		}
		known.entries[stored.Cluster] = entry
	}
	return known
}

// versionOf gives the version that is wanted; it is empty without a record.
func (index *recordIndex) versionOf() string {
	if index == nil {
		return ""
	}
	return index.Version
}
