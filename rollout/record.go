// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// record puts into record what the owner has to store (R48, R52). Last has the breaches that last, deleting has the positions of
// the selected clusters whose objects are being deleted, and once has the clusters whose start or success alone counts.
func (s *schedule) record(record *status.Record, view view, last []lasting, deleting map[fleet.Position]bool, departed []fleet.Departure, now time.Time) {
	index := s.options.record
	if index == nil {
		return
	}
	record.Version, record.Attempt = index.Version, s.options.attempt
	before := index.overflow(record.Attempt, now)
	record.More, record.Until = before.n, before.until
	if s.missing != "" {
		stays := index.Record.DeepCopy()
		record.Deselected, record.Exposed, record.Breached = stays.Deselected, stays.Exposed, stays.Breached
		return
	}
	for _, position := range s.recordable(deleting) {
		if entry, wanted := s.wants(view, position, deleting[position], now); wanted {
			record.Deselected = append(record.Deselected, entry)
		}
	}
	for i := range departed {
		departure := &departed[i]
		as := status.Skip
		if s.IsAwaited(departure.Report, now) {
			as = status.Succeeded
		}
		record.Deselected = append(record.Deselected, status.DeselectedCluster{Report: departure.ToStatus(departure.Cluster, as), Group: departure.Key})
	}
	slices.SortFunc(record.Deselected, func(a, b status.DeselectedCluster) int { return strings.Compare(a.Cluster, b.Cluster) })
	breached, bytes := s.fitBreached(last)
	entry, over := s.fit(record.Deselected, s.roomOfRecord()-bytes)
	record.Breached, record.Deselected, over = breached, entry, before.with(over)
	if record.More, record.Until = over.n, over.until; len(record.Deselected) > 0 {
		record.Exposed = s.places.exposed
	}
}

// recordable gives the positions that may need an entry, each once: of clusters that were deselected or moved, whose objects are being
// deleted, or that have one.
func (s *schedule) recordable(deleting map[fleet.Position]bool) []fleet.Position {
	positions := slices.Concat(s.Deselected, s.Moved)
	for position := range deleting {
		positions = append(positions, position)
	}
	for cluster := range s.options.record.entries {
		if position, ok := s.Position(cluster); ok {
			positions = append(positions, position)
		}
	}
	slices.Sort(positions)
	return slices.Compact(positions)
}

// rankOf puts failures first, then flights and successes, then starts.
func rankOf(entry *status.DeselectedCluster) int {
	switch entry.Status {
	case status.TimeOut, status.Failed:
		return 0
	case status.Skip:
		return 2
	default:
		return 1
	}
}

// wants gives the entry of a cluster that was deselected or moved, whose object is being deleted, or that has an entry (R48, R49).
func (s *schedule) wants(view view, position fleet.Position, deleting bool, now time.Time) (entry status.DeselectedCluster, wanted bool) {
	cluster, index := s.Cluster(position), s.options.record
	report, is := view.Of(position), view.State(position)
	recorded, stored := index.entries[cluster]
	stands := stored && report.Equals(recorded.Report)
	moved := s.HasMoved(position)
	if s.Ignores(position) || !s.IsDeselected(position) && !moved && !deleting && !stands || s.options.rollback.isDeselected(cluster) {
		return entry, false
	}
	budgeted := s.rules.typ != clusterv1alpha1.All || s.options.shares != nil
	limited := budgeted || s.options.ramp > 0 || s.options.starts.IsSet()
	other, _ := fleet.Elsewhere(s.Groups, cluster)
	var as status.RolloutStatus
	switch {
	case fleet.FailureStates.Has(is) && budgeted:
		as = is.Status()
	case fleet.InFlightStates.Has(is) && limited && (index.AtOnce || other || moved):
		if as = is.Status(); is == fleet.Silent || is == fleet.Refused {
			as = status.ToApply
		}
	case s.IsAwaited(report, now):
		as = status.Succeeded
	case s.HasStarted(report, now):
		as = status.Skip
	default:
		return entry, false
	}
	return status.DeselectedCluster{Report: report.ToStatus(cluster, as), Group: s.KeyOf(s.GroupOf(position))}, true
}

// isStored says whether the stored record tells of a cluster as much as the entry does. The times may differ: those of an answer
// that is not noted change with each call.
func (index *recordIndex) isStored(entry *status.DeselectedCluster) bool {
	recorded, known := index.entries[entry.Cluster]
	if !known || recorded.Attempt != entry.Attempt {
		return false
	}
	fails, flies := recorded.Kind.IsFailure(), recorded.Kind.IsInFlight()
	switch entry.Status {
	case status.TimeOut, status.Failed:
		return fails
	case status.Succeeded:
		return fails || flies || recorded.Kind.IsSuccess()
	case status.Skip:
		return true
	default:
		return fails || flies || !index.AtOnce // an agent has to let go of the object: the entry only tells of the start
	}
}

// withhold gives the clusters that are due for removal and have to wait: the stored record does not tell of them yet what the given
// one tells (R48). By time alone that changes after released at the earliest; 0 if it does not.
func (s *schedule) withhold(record *status.Record, due []string, now time.Time) (withheld []string, released time.Duration) {
	index := s.options.record
	switch {
	case index == nil || s.missing != "" || len(due) == 0:
		return nil, 0
	case overflow{record.More, record.Until}.exceeds(index.overflow(s.options.attempt, now)):
		if !record.Until.IsZero() {
			released = record.Until.Sub(now)
		}
		for i := range record.Deselected { // which makes room
			released = fleet.Sooner(released, s.untilChanged(&record.Deselected[i], now))
		}
		return due, released
	}
	waits := make(map[string]*status.DeselectedCluster)
	for i := range record.Deselected {
		if entry := &record.Deselected[i]; !index.isStored(entry) {
			waits[entry.Cluster] = entry
		}
	}
	for _, cluster := range due {
		if entry := waits[cluster]; entry != nil {
			withheld, released = append(withheld, cluster), fleet.Sooner(released, s.untilChanged(entry, now))
		}
	}
	return withheld, released
}

// untilChanged gives the time from now until an entry of a cluster that is done tells less, or is not wanted any more; 0 for any other.
func (s *schedule) untilChanged(entry *status.DeselectedCluster, now time.Time) time.Duration {
	switch {
	case entry.Status == status.Succeeded && s.Wait > 0:
		return latest(entry.Applied, entry.LastTransitionTime).Add(s.Wait).Sub(now)
	case entry.Status == status.Skip && s.options.starts.IsSet():
		return entry.Applied.Add(s.options.starts.Per).Sub(now)
	default:
		return 0
	}
}
