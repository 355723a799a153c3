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

// record puts into r what the owner has to store (R48, R52). Last has the breaches that last, deleting has the positions of the selected clusters whose
// objects are being deleted, and once has the clusters whose start or success alone counts.
func (s *schedule) record(r *status.Record, v view, last []lasting, deleting map[fleet.Position]bool, departed []fleet.Departure, now time.Time) {
	m := s.options.record
	if m == nil {
		return
	}
	r.Version, r.Attempt = m.Version, s.options.attempt
	before := m.overflow(r.Attempt, now)
	r.More, r.Until = before.n, before.until
	if s.missing != "" {
		stays := m.Record.DeepCopy()
		r.Deselected, r.Exposed, r.Breached = stays.Deselected, stays.Exposed, stays.Breached
		return
	}
	for _, position := range s.recordable(deleting) {
		if entry, wanted := s.wants(v, position, deleting[position], now); wanted {
			r.Deselected = append(r.Deselected, entry)
		}
	}
	for i := range departed {
		p := &departed[i]
		as := status.Skip
		if s.IsAwaited(p.Report, now) {
			as = status.Succeeded
		}
		r.Deselected = append(r.Deselected, status.DeselectedCluster{Report: p.ToStatus(p.Cluster, as), Group: p.Key})
	}
	slices.SortFunc(r.Deselected, func(a, b status.DeselectedCluster) int { return strings.Compare(a.Cluster, b.Cluster) })
	breached, bytes := s.fitBreached(last)
	entry, over := s.fit(r.Deselected, s.roomOfRecord()-bytes)
	r.Breached, r.Deselected, over = breached, entry, before.with(over)
	if r.More, r.Until = over.n, over.until; len(r.Deselected) > 0 {
		r.Exposed = s.places.exposed
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
func rankOf(l *status.DeselectedCluster) int {
	switch l.Status {
	case status.TimeOut, status.Failed:
		return 0
	case status.Skip:
		return 2
	default:
		return 1
	}
}

// wants gives the entry of a cluster that was deselected or moved, whose object is being deleted, or that has an entry (R48, R49).
func (s *schedule) wants(v view, position fleet.Position, deleting bool, now time.Time) (entry status.DeselectedCluster, wanted bool) {
	cluster, m := s.Cluster(position), s.options.record
	r, is := v.Of(position), v.State(position)
	e, stored := m.entries[cluster]
	stands := stored && r.Equals(e.Report)
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
	case fleet.InFlightStates.Has(is) && limited && (m.AtOnce || other || moved):
		if as = is.Status(); is == fleet.Silent || is == fleet.Refused {
			as = status.ToApply
		}
	case s.IsAwaited(r, now):
		as = status.Succeeded
	case s.HasStarted(r, now):
		as = status.Skip
	default:
		return entry, false
	}
	return status.DeselectedCluster{Report: r.ToStatus(cluster, as), Group: s.KeyOf(s.GroupOf(position))}, true
}

// isStored says whether the stored record tells of a cluster as much as the entry does. The times may differ: those of an answer
// that is not noted change with each call.
func (m *recordIndex) isStored(entry *status.DeselectedCluster) bool {
	e, known := m.entries[entry.Cluster]
	if !known || e.Attempt != entry.Attempt {
		return false
	}
	fails, flies := e.Kind.IsFailure(), e.Kind.IsInFlight()
	switch entry.Status {
	case status.TimeOut, status.Failed:
		return fails
	case status.Succeeded:
		return fails || flies || e.Kind.IsSuccess()
	case status.Skip:
		return true
	default:
		return fails || flies || !m.AtOnce // an agent has to let go of the object: the entry only tells of the start
	}
}

// withhold gives the clusters that are due for removal and have to wait: the stored record does not tell of them yet what the given
// one tells (R48). By time alone that changes after released at the earliest; 0 if it does not.
func (s *schedule) withhold(r *status.Record, due []string, now time.Time) (withheld []string, released time.Duration) {
	m := s.options.record
	switch {
	case m == nil || s.missing != "" || len(due) == 0:
		return nil, 0
	case overflow{r.More, r.Until}.exceeds(m.overflow(s.options.attempt, now)):
		if !r.Until.IsZero() {
			released = r.Until.Sub(now)
		}
		for i := range r.Deselected { // which makes room
			released = fleet.Sooner(released, s.untilChanged(&r.Deselected[i], now))
		}
		return due, released
	}
	waits := make(map[string]*status.DeselectedCluster)
	for i := range r.Deselected {
		if entry := &r.Deselected[i]; !m.isStored(entry) {
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
func (s *schedule) untilChanged(l *status.DeselectedCluster, now time.Time) time.Duration {
	switch {
	case l.Status == status.Succeeded && s.Wait > 0:
		return latest(l.Applied, l.LastTransitionTime).Add(s.Wait).Sub(now)
	case l.Status == status.Skip && s.options.starts.IsSet():
		return l.Applied.Add(s.options.starts.Per).Sub(now)
	default:
		return 0
	}
}
