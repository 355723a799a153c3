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

// keepMoves has a history know who moved from group to group.
func (h *history) keepMoves() {
	for _, e := range h.events {
		if e.id.kind != Placements && e.id.kind != Decisions {
			continue
		}
		if now, _ := h.stayAt(func(i id) object { return h.at(i, e.rv) }, e.rv); now.places != nil {
			h.stays = append(h.stays, dated{now, e.at})
		}
	}
}

// stale is for how long a process may not know where a cluster is when it starts that cluster.
const stale = time.Second

// changedGroup says whether a cluster has been in several groups since it got a version, or since shortly before. It counts in the one
// in which it started (R52), and nobody sees in which of them the process saw it then.
func (s *scene) changedGroup(cluster, version string) bool {
	i := slices.IndexFunc(s.works[cluster], func(w seenWork) bool { return w.version == version })
	if i < 0 {
		return false
	}
	since, was, known := s.works[cluster][i].applied.Add(-stale), place{}, false
	for n, d := range s.stays {
		if n+1 < len(s.stays) && s.stays[n+1].at.Before(since) {
			continue
		}
		p, is := d.places[cluster]
		if is && known && p != was {
			return true
		}
		if is {
			was, known = p, true
		}
	}
	return false
}
