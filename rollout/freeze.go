package rollout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// ClusterFreeze is a user's request not to start one cluster: its site is in maintenance, another operation is running, its
// window is closed. A frozen cluster that waits for its turn does not start while the freeze lasts. A cluster with the
// workload keeps the workload, takes its slot and counts, frozen or not.
//
// Unless Blocks is set, other clusters do not wait for a frozen cluster. It takes no slot, its group is complete without it,
// and the next group starts. The rollout is not done without it. Once the freeze ends, the cluster waits for its turn like a
// cluster that has just joined its group. Its group is incomplete then, and nothing more starts in later groups.
//
// All freezes of a cluster count. The one that ends last is the block reason; one without an end is the last of all. If one
// of them blocks, the cluster blocks until the last has ended.
//
// For a window that opens repeatedly, set a freeze until the next opening whenever the window is closed.
type ClusterFreeze struct {
	// Cluster is the name of the cluster, which must not be empty. The result warns of a cluster that is not selected.
	Cluster string `json:"cluster"`
	// Reason is what the sentences say, such as "maintenance of store 7".
	Reason string `json:"reason,omitempty"`
	// Until is when the freeze ends by itself; zero if that is unknown.
	Until time.Time `json:"until,omitzero"`
	// Blocks says that other clusters wait for this one: its group is not complete without it.
	Blocks bool `json:"blocks,omitempty"`
}

// isActive says whether the freeze lasts.
func (h *ClusterFreeze) isActive(now time.Time) bool { return h.Until.IsZero() || now.Before(h.Until) }

// compileFreezes checks the freezes and merges those of one cluster. They are in the order of the names.
func compileFreezes(freezes []ClusterFreeze, path *field.Path) (merged []ClusterFreeze, errs field.ErrorList) {
	for i := range freezes {
		if freezes[i].Cluster == "" {
			errs = append(errs, field.Required(path.Child("freezes").Index(i).Child("cluster"), "must be the name of a ManagedCluster"))
		}
	}
	if len(freezes) == 0 || len(errs) > 0 {
		return nil, errs
	}
	merged = slices.Clone(freezes)
	for i := range merged {
		merged[i].Until = merged[i].Until.Round(0)
	}
	slices.SortFunc(merged, func(a, b ClusterFreeze) int { // of each cluster the one that ends last is the first
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), one(b.Until.IsZero())-one(a.Until.IsZero()), b.Until.Compare(a.Until), strings.Compare(a.Reason, b.Reason))
	})
	n := 0
	for _, h := range merged {
		if n > 0 && merged[n-1].Cluster == h.Cluster {
			merged[n-1].Blocks = merged[n-1].Blocks || h.Blocks
			continue
		}
		merged[n] = h
		n++
	}
	return merged[:n], nil
}

// freezes has the clusters of a schedule that are frozen: by a ClusterFreeze, or because the allowlist lacks them (R59, R60). The zero
// value is for a schedule in which none is.
type freezes struct {
	byPosition map[int]*ClusterFreeze // by position; nil if none has a freeze
	notAllowed []bool                 // of each position; nil without an allowlist
}

// findFreezes finds the clusters that the options freeze.
func (s *schedule) findFreezes() {
	named := s.options.named
	if named == nil {
		return
	}
	p := &s.freezes
	for i := range named.freezes {
		h := &named.freezes[i]
		if position, is := s.groups.Position(h.Cluster); is {
			if p.byPosition == nil {
				p.byPosition = make(map[int]*ClusterFreeze, len(named.freezes))
			}
			p.byPosition[position] = h
		}
	}
	if named.hasAllowlist {
		p.notAllowed = make([]bool, s.groups.NumClusters())
		for position := range p.notAllowed {
			p.notAllowed[position] = !named.allowlist.has(s.groups.Cluster(position))
		}
	}
}

// anyFrozen says whether a cluster may be frozen.
func (p *freezes) anyFrozen() bool { return p.byPosition != nil || p.notAllowed != nil }

// frozenState gives the state of a waiting cluster with regard to its freezes.
func (p *freezes) frozenState(position int, waits fleet.State, now time.Time) fleet.State {
	h := p.byPosition[position]
	switch frozen := h != nil && h.isActive(now); {
	case frozen:
		return waits.Frozen(h.Blocks)
	case at(p.notAllowed, position):
		return waits.Frozen(false)
	default:
		return waits
	}
}

// freezeEnd says when the freeze of a position ends; zero if it has none or time alone does not end it.
func (p *freezes) freezeEnd(position int) time.Time {
	if h := p.byPosition[position]; h != nil {
		return h.Until
	}
	return time.Time{}
}

// freeze lets the freezes count in the states.
func (r *Result) freeze(now time.Time) {
	s := r.schedule
	if !s.anyFrozen() {
		return
	}
	for position, is := range r.states {
		if is.IsWaiting() {
			r.states[position] = s.frozenState(position, is, now)
		}
	}
}

// untilUnfrozen gives the time from now until the freeze of a frozen position ends; 0 if time alone does not end it.
func (s *schedule) untilUnfrozen(position int, now time.Time) time.Duration {
	until := s.freezeEnd(position)
	if until.IsZero() || !now.Before(until) {
		return 0
	}
	return until.Sub(now)
}

// checkFreezes warns of freezes of clusters that are not selected: with a mistyped name the cluster would start unnoticed.
func (s *schedule) checkFreezes() {
	if s.options.named == nil {
		return
	}
	w := Warning{Type: WarningFreezeWithoutCluster}
	for _, h := range s.options.named.freezes {
		cluster := h.Cluster
		position, is := s.groups.Position(cluster)
		if _, elsewhere := elsewhere(s.groups.Groups, cluster); is && !s.isDeselectedAt(position) || elsewhere {
			continue
		}
		if w.Clusters++; w.Clusters == 1 {
			w.Cluster = cluster
		}
	}
	if w.Clusters > 0 {
		s.warn(w)
	}
}
