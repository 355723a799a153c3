// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"time"
)

// dated is where clusters were from a time on.
type dated struct {
	stay
	at time.Time
}

// keepMoves has a history know which clusters moved from group to group.
func (h *history) keepMoves() {
	for _, e := range h.events {
		if e.id.kind != Placements && e.id.kind != Decisions {
			continue
		}
		if now := h.stayAt(func(i id) object { return h.at(i, e.rv) }, e.rv); now.places != nil {
			h.stays = append(h.stays, dated{now, e.at})
		}
	}
}

// stale is for how long a process may not know where a cluster is when it starts that cluster.
const stale = time.Second

// changedGroup says whether a cluster has been in several groups since it got a version, or since shortly before. It counts in the one
// in which it started (R52), and it is not known in which of them the process saw it then.
func (s *scene) changedGroup(cluster, version string) bool {
	return len(s.placesWith(cluster, version)) > 1
}

// placesWith are all groups in which a cluster has been since it got a version, or since shortly before.
func (s *scene) placesWith(cluster, version string) (all []place) {
	i := slices.IndexFunc(s.works[cluster], func(w seenWork) bool { return w.version == version })
	if i < 0 {
		return nil
	}
	since := s.works[cluster][i].applied.Add(-stale)
	for n, d := range s.stays {
		if n+1 < len(s.stays) && s.stays[n+1].at.Before(since) {
			continue
		}
		if p, is := d.places[cluster]; is && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// alsoElsewhere lists the selected clusters that another placement waits for: they were there with the version, and keep counting in both (R50).
// What is over by the deadline of the one goes on for ever by that of another one that has none.
func (s *scene) alsoElsewhere(now time.Time) (clusters []string) {
	for c, selecting := range s.selected() {
		places := s.placesWith(c, s.wanted(c))
		if slices.ContainsFunc(s.refs, func(r *seenRef) bool {
			_, _, holds := s.stands(c, s.wanted(c), r.config(), now, leniency{})
			return holds && r != selecting && slices.ContainsFunc(places, func(p place) bool { return p.ref == r.name })
		}) {
			clusters = append(clusters, c)
		}
	}
	slices.Sort(clusters)
	return clusters
}
