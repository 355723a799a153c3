package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
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

// freezes has the clusters of a schedule that are frozen: by a ClusterFreeze, or because the allowlist lacks them (R59, R60). It is nil if
// no cluster is.
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
	p := &freezes{}
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
	if p.byPosition != nil || p.notAllowed != nil {
		s.freezes = p
	}
}

// anyFrozen says whether a cluster may be frozen.
func (p *freezes) anyFrozen() bool { return p != nil }

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

// freezeAt gives the freeze of the cluster at a position; nil where it has none.
func (p *freezes) freezeAt(position int) *ClusterFreeze {
	if p == nil {
		return nil
	}
	return p.byPosition[position]
}

// freezeEnd says when the freeze of a position ends; zero if it has none or time alone does not end it.
func (p *freezes) freezeEnd(position int) time.Time {
	if h := p.freezeAt(position); h != nil {
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

// frozenClusters are the frozen clusters of a result, by the reason.
type frozenClusters struct {
	blockOf map[int]BlockReason            // by position
	inGroup map[stages.Group][]BlockReason // of each group, in the order in which the first cluster has it
	counts  map[groupBlock]int
}

type groupBlock struct {
	group  stages.Group
	reason BlockReason
}

// frozen gives the frozen clusters, computed once; nil if there are none. It takes time linear in the fleet.
func (r *Result) frozen() *frozenClusters {
	if !r.schedule.anyFrozen() {
		return nil
	}
	r.waitSets.frozenOnce.Do(func() { r.waitSets.frozen = r.findFrozen() })
	return r.waitSets.frozen
}

func (r *Result) findFrozen() *frozenClusters {
	byReason := make(map[BlockReason]*stateGroup)
	reasons := make(map[int]BlockReason)
	for position, is := range r.states {
		if !is.IsFrozen() {
			continue
		}
		h := BlockReason{Type: BlockNotAllowed}
		if by := r.schedule.freezeAt(position); by != nil && by.isActive(r.now) {
			h = BlockReason{Type: BlockFrozen, Reason: by.Reason, Until: by.Until.UTC()}
			if by.Until.IsZero() {
				h.Until = time.Time{}
			}
		}
		reasons[position] = h
		if byReason[h] == nil {
			byReason[h] = &stateGroup{}
		}
		byReason[h].add(Blocker{Cluster: Cluster{Name: r.schedule.groups.Cluster(position)}})
	}
	p := &frozenClusters{blockOf: make(map[int]BlockReason, len(reasons)), inGroup: make(map[stages.Group][]BlockReason), counts: make(map[groupBlock]int)}
	for position, is := range r.states {
		if !is.IsFrozen() {
			continue
		}
		h, group := reasons[position], r.schedule.groups.groupAt(position)
		c := byReason[h]
		h.Detail, h.Many = c.listed(), c.n > 1
		p.blockOf[position] = h
		if p.counts[groupBlock{group, h}]++; p.counts[groupBlock{group, h}] == 1 {
			p.inGroup[group] = append(p.inGroup[group], h)
		}
	}
	return p
}

// frozenIn counts the frozen clusters of a group, ignored ones too.
func (r *Result) frozenIn(group stages.Group) int {
	n := r.tallies[group].Frozen()
	if r.ignoredTallies != nil {
		n += r.ignoredTallies[group].Frozen()
	}
	return n
}

// blockAt gives the reason of the blocked cluster at a position.
func (r *Result) blockAt(position int) BlockReason {
	if r.states[position].IsFrozen() {
		return r.frozen().blockOf[position]
	}
	return r.blockReason(r.schedule.groups.groupAt(position))
}

// frozen gives the sentence of BlockFrozen and BlockNotAllowed.
func (h BlockReason) frozen() string {
	subject := h.Detail
	if subject == "" {
		subject = "the cluster"
	}
	if h.Type == BlockNotAllowed {
		return fmt.Sprintf("%s %s not in the allowlist", subject, plural(h.Many, "is", "are"))
	}
	s := fmt.Sprintf("%s %s frozen", subject, plural(h.Many, "is", "are"))
	if h.Until.IsZero() {
		s += " with no end"
	} else {
		s += " until " + inUTC(h.Until)
	}
	if h.Reason != "" {
		s += fmt.Sprintf(": %q", h.Reason)
	}
	return s
}

// explainFrozen describes the wait of a frozen cluster, and what else would block the cluster once the freeze ends.
func (r *Result) explainFrozen(position int) Explanation {
	s, c := r.schedule, &r.choice
	group := s.groups.groupAt(position)
	stage := s.graph.Of(group)
	e := Explanation{r.frozenLink(r.blockAt(position), s.groups.Cluster(position))}
	_, waits := c.waitsFor(stage)
	switch {
	case s.stopped(c):
		return append(e, r.link(group))
	case waits:
		return append(e, r.explainGroups(group)...)
	case s.barrierOf(c, stage) >= 0 || c.isClosed(group) || c.isWaiting(stage):
		return append(e, r.link(group))
	default:
		return e
	}
}

// frozenLink describes the wait of frozen clusters.
func (r *Result) frozenLink(h BlockReason, clusters string) Link {
	l := Link{Reason: h}
	switch {
	case h.Type == BlockNotAllowed:
		l.Remedies = []Remedy{{Type: RemedyAllow, Clusters: clusters}}
		return l
	case !h.Until.IsZero() && r.choice.breach == nil: // the rollout has stopped otherwise, and another link says so
		l.Remedies = []Remedy{r.waitUntil(h.Until)}
	}
	l.Remedies = append(l.Remedies, Remedy{Type: RemedyUnfreeze, Clusters: clusters})
	return l
}

// freezeLinks gives the waits of the frozen clusters that block some groups. Each names only the clusters of these groups, because
// unfreezing others does not help.
func (r *Result) freezeLinks(groups []stages.Group) (links []Link) {
	if r.frozen() == nil {
		return nil
	}
	var reasons []BlockReason
	byReason := make(map[BlockReason]*stateGroup)
	for _, group := range groups {
		if r.tallies[group].Blocking() == 0 {
			continue
		}
		for position, is := range r.states {
			if !fleet.BlockingStates.Has(is) || r.schedule.groups.groupAt(position) != group || r.schedule.ignoresAt(position) {
				continue
			}
			h := r.frozen().blockOf[position]
			h.Detail, h.Many = "", false
			if byReason[h] == nil {
				reasons, byReason[h] = append(reasons, h), &stateGroup{}
			}
			byReason[h].add(Blocker{Cluster: Cluster{Name: r.schedule.groups.Cluster(position)}})
		}
	}
	for _, h := range reasons {
		c := byReason[h]
		h.Detail, h.Many = c.listed(), c.n > 1
		links = append(links, r.frozenLink(h, h.Detail))
	}
	return links
}

// unfreezes says whether a freeze of a cluster that counts in some groups ends by a time.
func (r *Result) unfreezes(groups []stages.Group, by time.Time) bool {
	if !r.schedule.anyFrozen() {
		return false
	}
	for position, is := range r.states {
		if !is.IsFrozen() || r.schedule.ignoresAt(position) || !slices.Contains(groups, r.schedule.groups.groupAt(position)) {
			continue
		}
		if until := r.schedule.freezeEnd(position); !until.IsZero() && !by.Before(until) {
			return true
		}
	}
	return false
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
