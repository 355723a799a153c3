package rollout

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
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
func (m *StoredRecord) compile(path *field.Path) (*recordIndex, *field.Error) {
	isNameless := func(stored status.DeselectedCluster) bool { return stored.Cluster == "" }
	if m.Version == "" {
		return nil, field.Required(path.Child("version"), "must be the version that is wanted")
	}
	if i := slices.IndexFunc(m.Record.Deselected, isNameless); i >= 0 {
		return nil, field.Required(path.Child("record", "left").Index(i).Child("cluster"), "must be the name of a ManagedCluster")
	}
	return newRecordIndex(*m), nil
}

// recordIndex is a checked StoredRecord.
type recordIndex struct {
	StoredRecord
	entries map[string]entry // by cluster; nil where there are none
}

// entry is what the record says of a cluster.
type entry struct {
	fleet.Report
	key grouping.Key
}

func newRecordIndex(m StoredRecord) *recordIndex {
	known := &recordIndex{StoredRecord: m}
	if m.Record.Version != m.Version {
		known.Record = status.Record{}
		return known
	}
	known.entries = make(map[string]entry, len(m.Record.Deselected))
	merged := make(map[string]status.Report, len(m.Record.Deselected)) // two entries of a cluster count as one (R1)
	for i := range m.Record.Deselected {
		stored := &m.Record.Deselected[i]
		if before, again := merged[stored.Cluster]; again {
			merged[stored.Cluster] = status.Merge(before, stored.Report)
		} else {
			merged[stored.Cluster] = stored.Report
		}
		report := merged[stored.Cluster]
		report.Deleting = false // an entry is not an object
		e := entry{Report: fleet.ReportOf(&report), key: stored.Group}
		switch {
		case e.Kind.IsFailure():
		case report.Status == status.Succeeded && !m.AtOnce:
			e.Kind = fleet.KindOnceSucceeded
		case report.Status == status.Skip || !m.AtOnce:
			e.Kind = fleet.KindOnceStarted
		}
		if e.key.Index < 0 {
			e.key = fleet.UnknownGroup()
		}
		known.entries[stored.Cluster] = e
	}
	return known
}

// versionOf gives the version that is wanted; it is empty without a record.
func (m *recordIndex) versionOf() string {
	if m == nil {
		return ""
	}
	return m.Version
}

// entry gives what the record says of a cluster.
func (m *recordIndex) entry(cluster string) (entry, bool) {
	if m == nil {
		return entry{}, false
	}
	e, known := m.entries[cluster]
	return e, known
}

// all gives what the record says, by cluster.
func (m *recordIndex) all() map[string]entry {
	if m == nil {
		return nil
	}
	return m.entries
}

// observation is what was reported of a cluster: the zero observation if nothing was.
type observation struct {
	fleet.Report
	deleting bool
	selected bool
}

// decide gives the report that counts for a cluster, from what was reported and from the record (R49). It says whether the
// record's counts.
func (s *schedule) decide(cluster string, obs observation) (counts fleet.Report, recorded bool) {
	e, known := s.options.record.entry(cluster)
	if !known || s.ignores(cluster) {
		return obs.Report, false
	}
	fails := e.Kind.IsFailure()
	if fails && e.Attempt < s.options.attempt {
		e.Kind, fails = fleet.KindOnceStarted, false
	}
	about := !obs.Kind.IsWaiting()
	switch {
	case fails && about && obs.endsFailure(&e):
		return obs.Report, false
	case fails:
		return e.Report, true
	case about, obs.selected && (e.Kind == fleet.KindOnceStarted || e.Kind.IsSuccess()):
		return obs.Report, false
	default:
		return e.Report, true
	}
}

// isLost says whether a cluster that counts in a state has failed although nothing that has the version is there to recover (R29): only
// the record tells of it, maybe as of a flight whose deadline has passed since.
func (obs *observation) isLost(counts fleet.State, recorded bool) bool {
	return recorded && fleet.FailureStates.Has(counts) && obs.Kind.IsWaiting()
}

// endsFailure says whether a report about the version counts although the record says that the cluster failed. Silence does not
// end a failure: a cluster that is back gets its workload again, and its agent has not said yet that it is better.
func (obs *observation) endsFailure(e *entry) bool {
	switch {
	case obs.Kind.IsSuccess(), obs.Attempt > e.Attempt, obs.selected && !obs.deleting && obs.Kind.Plain() != fleet.KindSilent:
		return true
	default:
		return obs.Kind.IsFailure() && obs.Attempt == e.Attempt
	}
}

// findDeselected gives the groups of the clusters that are not selected and count (R46, R47, R50). It also gives the
// clusters that do not count any more, except for their start or their success. Seen has what was reported of clusters that are not
// selected. Of those in the record it must have all.
func (s *schedule) findDeselected(previous *previousResult, seen map[string]observation, now time.Time) (stored map[string]grouping.Key, departed []departure) {
	consider := func(cluster string, obs observation) {
		e, known := s.options.record.entry(cluster)
		key := e.key
		if !known {
			key, known = previous.groupOf(cluster)
		}
		_, selected := fleet.Elsewhere(s.Groups, cluster)
		parts, _ := s.Parts()
		others := len(parts) > 1 && !known && (selected || previous != nil)
		if others || s.ignores(cluster) {
			return
		}
		if !known {
			key = fleet.UnknownGroup()
		}
		switch r, _ := s.decide(cluster, obs); {
		case s.stillCounts(r, now):
			stored = with(stored, cluster, key)
		case s.hasStarted(r, now) || s.isAwaited(r, now):
			departed = append(departed, departure{cluster, key, r})
		}
	}
	for cluster, obs := range seen {
		consider(cluster, obs)
	}
	for cluster := range s.options.record.all() {
		if _, reported := seen[cluster]; reported {
			continue
		}
		if position, selected := s.Position(cluster); !selected || s.IsDeselected(position) {
			consider(cluster, observation{})
		}
	}
	return stored, departed
}

// departure is a cluster that does not count any more, except for its start or its success (R34, R36).
type departure struct {
	cluster string
	key     grouping.Key
	fleet.Report
}

// ignores says of a deselected cluster whether it is ignored (R37).
func (s *schedule) ignores(cluster string) bool {
	return s.options.ignores(cluster)
}

// stillCounts says whether a deselected cluster is in flight or a failure (R46).
func (s *schedule) stillCounts(r fleet.Report, now time.Time) bool {
	state := s.Phases.StateOf(&r, now)
	return fleet.InFlightStates.Has(state) || fleet.FailureStates.Has(state)
}

// mayCount says whether a deselected cluster can count for anything by a report.
func (s *schedule) mayCount(r fleet.Report, now time.Time) bool {
	return s.stillCounts(r, now) || s.hasStarted(r, now) || s.isAwaited(r, now)
}

// startsOf gives the starts within the span of MaxStarts of clusters that are no members any more.
func (s *schedule) startsOf(departed []departure, now time.Time) []time.Time {
	starts := make([]time.Time, 0, len(departed))
	for i := range departed {
		if p := &departed[i]; s.hasStarted(p.Report, now) {
			starts = append(starts, p.StartedAt())
		}
	}
	return starts
}

// successOf gives the last success of clusters that are no members of a stage any more; zero if there is none.
func (s *schedule) successOf(departed []departure, stage stages.Stage) (last time.Time) {
	for i := range departed {
		p := &departed[i]
		if !p.Kind.IsSuccess() {
			continue
		}
		if group, there := s.GroupWith(p.key); there && s.Graph.Of(group) != stage {
			continue // an unknown group may be any
		}
		last = latest(last, p.Since)
	}
	return last
}

// hasStarted says whether a cluster started within the span of MaxStarts.
func (s *schedule) hasStarted(r fleet.Report, now time.Time) bool {
	return s.options.starts.Covers(r.StartedAt(), now)
}

// isAwaited says whether a stage may wait for the time since the success of a cluster (R34).
func (s *schedule) isAwaited(r fleet.Report, now time.Time) bool {
	return s.wait > 0 && r.Kind.IsSuccess() && !r.Since.IsZero() && now.Before(r.Since.Add(s.wait))
}
