// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"github.com/cohort-ocm/cohort/grouping"
)

// Record is what the owner of a rollout stores of clusters, by their names (R48).
type Record map[string]Entry

// Entry is what a record says of a cluster.
type Entry struct {
	Report
	Key grouping.Key
}

// Observation is what was reported of a cluster: the zero observation if nothing was.
type Observation struct {
	Report
	Deleting bool
	Selected bool
}

// Decide gives the report that counts for a cluster, from what was reported and from the record (R49). It says whether the
// record's counts.
func (r *Roster) Decide(cluster string, seen Observation) (counts Report, recorded bool) {
	entry, known := r.Record[cluster]
	if !known || r.IgnoresName(cluster) {
		return seen.Report, false
	}
	fails := entry.Kind.IsFailure()
	if fails && entry.Attempt < r.Phases.Attempt {
		entry.Kind, fails = KindOnceStarted, false
	}
	about := !seen.Kind.IsWaiting()
	switch {
	case fails && about && seen.endsFailure(&entry):
		return seen.Report, false
	case fails:
		return entry.Report, true
	case about, seen.Selected && (entry.Kind == KindOnceStarted || entry.Kind.IsSuccess()):
		return seen.Report, false
	default:
		return entry.Report, true
	}
}

// endsFailure says whether a report about the version counts although the record says that the cluster failed. Silence does not
// end a failure: a cluster that is back gets its workload again, and its agent has not said yet that it is better.
func (o *Observation) endsFailure(entry *Entry) bool {
	switch {
	case o.Kind.IsSuccess(), o.Attempt > entry.Attempt, o.Selected && !o.Deleting && o.Kind.Plain() != KindSilent:
		return true
	default:
		return o.Kind.IsFailure() && o.Attempt == entry.Attempt
	}
}

// Departure is a cluster that does not count any more, except for its start or its success (R34, R36).
type Departure struct {
	Cluster string
	Key     grouping.Key
	Report
}

// FindDeselected gives the groups of the clusters that are not selected and count (R46, R47, R50). It also gives the
// clusters that do not count any more, except for their start or their success. Seen has what was reported of clusters that are not
// selected. Of those in the record it must have all.
func (r *Roster) FindDeselected(previous *Previous, seen map[string]Observation, now time.Time) (stored map[string]grouping.Key, departed []Departure) {
	consider := func(cluster string, is Observation) {
		key, known := r.KeyBefore(previous, cluster)
		_, selected := Elsewhere(r.Groups, cluster)
		parts, _ := r.Parts()
		others := len(parts) > 1 && !known && (selected || previous != nil)
		if others || r.IgnoresName(cluster) {
			return
		}
		if !known {
			key = UnknownGroup()
		}
		switch report, _ := r.Decide(cluster, is); {
		case r.StillCounts(report, now):
			stored = With(stored, cluster, key)
		case r.HasStarted(report, now) || r.IsAwaited(report, now):
			departed = append(departed, Departure{cluster, key, report})
		}
	}
	for cluster, is := range seen {
		consider(cluster, is)
	}
	for cluster := range r.Record {
		if _, reported := seen[cluster]; reported {
			continue
		}
		if position, selected := r.Position(cluster); !selected || r.IsDeselected(position) {
			consider(cluster, Observation{})
		}
	}
	return stored, departed
}

// KeyBefore gives the group in which a cluster was, by the record or by the result before.
func (r *Roster) KeyBefore(previous *Previous, cluster string) (key grouping.Key, known bool) {
	if entry, known := r.Record[cluster]; known {
		return entry.Key, true
	}
	return previous.KeyBefore(cluster)
}

// ComesBack gives the earlier start of a cluster that waits for its turn once more, if that still counts (R49).
func (r *Roster) ComesBack(position Position, report Report, entry Entry, now time.Time) (_ Departure, counts bool) {
	if !report.Kind.IsWaiting() || r.Ignores(position) || !r.HasStarted(entry.Report, now) && !r.IsAwaited(entry.Report, now) {
		return Departure{}, false
	}
	if entry.Kind.IsSuccess() {
		entry.Kind = KindOnceSucceeded
	} else {
		entry.Kind = KindOnceStarted
	}
	return Departure{r.Cluster(position), entry.Key, entry.Report}, true
}

// With adds to a map that may be nil.
func With(keys map[string]grouping.Key, cluster string, key grouping.Key) map[string]grouping.Key {
	if keys == nil {
		keys = make(map[string]grouping.Key)
	}
	keys[cluster] = key
	return keys
}
