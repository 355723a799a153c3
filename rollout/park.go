package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ClusterFreeze holds one cluster: a person works on its site, another operation has it in hand, its window is not there. While the
// cluster waits for its turn and the hold lasts, it does not start. A cluster that has the workload keeps it, takes its slot and
// counts, held or not.
//
// Unless Blocks is set, nobody waits for a held cluster: it takes no slot, its group is complete without it, and the next group
// starts. But the rollout is not done before it. Once the hold ends, it waits for its turn like a cluster that has just joined its
// group. So its group is incomplete then, and nothing more starts in groups that come after.
//
// Where a cluster has several holds, all count, and the one that ends last is the reason; one without an end is the last of all. If
// one of them blocks, the cluster blocks until the last has ended.
//
// A window that opens again and again is a hold until it opens next, as long as it is closed.
type ClusterFreeze struct {
	// Cluster is the name of the cluster, which must not be empty. The result warns of a cluster that is not selected.
	Cluster string `json:"cluster"`
	// Reason is what the sentences say, such as "maintenance of store 7".
	Reason string `json:"reason,omitempty"`
	// Until is when the hold ends by itself; zero where that is unknown.
	Until time.Time `json:"until,omitzero"`
	// Blocks says that others wait for the cluster: its group is not complete without it.
	Blocks bool `json:"blocks,omitempty"`
}

// isActive says whether a hold lasts.
func (h *ClusterFreeze) isActive(now time.Time) bool { return h.Until.IsZero() || now.Before(h.Until) }

// compileHolds checks the holds and merges those of one cluster. They are in the order of the names.
func compileHolds(holds []ClusterFreeze, path *field.Path) (merged []ClusterFreeze, errs field.ErrorList) {
	for i := range holds {
		if holds[i].Cluster == "" {
			errs = append(errs, field.Required(path.Child("holds").Index(i).Child("cluster"), "must be the name of a ManagedCluster"))
		}
	}
	if len(holds) == 0 || len(errs) > 0 {
		return nil, errs
	}
	merged = slices.Clone(holds)
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

// parks says which clusters of a schedule somebody holds, whatever their group does (R59, R60); nil where that is nobody.
type parks struct {
	holdAt     map[int]*ClusterFreeze // by position; nil where nobody is held
	unreviewed []bool                 // of each position; nil without a reviewed set
}

// park finds the clusters that the options hold.
func (s *schedule) park() {
	named := s.options.named
	if named == nil {
		return
	}
	p := &parks{}
	for i := range named.holds {
		h := &named.holds[i]
		if position, is := s.groups.Position(h.Cluster); is {
			if p.holdAt == nil {
				p.holdAt = make(map[int]*ClusterFreeze, len(named.holds))
			}
			p.holdAt[position] = h
		}
	}
	if named.isReviewed {
		p.unreviewed = make([]bool, s.groups.NumClusters())
		for position := range p.unreviewed {
			p.unreviewed[position] = !named.reviewed.has(s.groups.Cluster(position))
		}
	}
	if p.holdAt != nil || p.unreviewed != nil {
		s.parks = p
	}
}

// isParking says whether anyone may be parked.
func (p *parks) isParking() bool { return p != nil }

// parked gives the state of a waiting cluster with regard to its holds.
func (p *parks) parked(position int, waits state, now time.Time) state {
	h := p.holdAt[position]
	switch held := h != nil && h.isActive(now); {
	case held && h.Blocks:
		return waits + blockingUnreported
	case held || p.unreviewed != nil && p.unreviewed[position]:
		return waits + parkedUnreported
	default:
		return waits
	}
}

// heldBy gives the hold of the cluster at a position; nil where it has none.
func (p *parks) heldBy(position int) *ClusterFreeze {
	if p == nil {
		return nil
	}
	return p.holdAt[position]
}

// ends says when the hold of a position ends; zero if it has none or time alone does not end it.
func (p *parks) ends(position int) time.Time {
	if h := p.heldBy(position); h != nil {
		return h.Until
	}
	return time.Time{}
}

// park lets the holds count in the states.
func (r *Result) park(now time.Time) {
	s := r.schedule
	if !s.isParking() {
		return
	}
	for position, is := range r.states {
		if is.waiting() {
			r.states[position] = s.parked(position, is, now)
		}
	}
}

// untilReleased gives the time from now until the hold of a parked position ends; 0 if time alone does not end it.
func (s *schedule) untilReleased(position int, now time.Time) time.Duration {
	until := s.ends(position)
	if until.IsZero() || !now.Before(until) {
		return 0
	}
	return until.Sub(now)
}

// parked are the clusters of a result that somebody holds, by the reason.
type parked struct {
	of      map[int]BlockReason   // by position
	inGroup map[int][]BlockReason // of each group, in the order in which the first cluster has it
	counts  map[groupHold]int
}

type groupHold struct {
	group int
	hold  BlockReason
}

// parked gives who is held by itself, worked out once; nil where nobody is. It takes time linear in the fleet.
func (r *Result) parked() *parked {
	if !r.schedule.isParking() {
		return nil
	}
	r.fronts.parking.Do(func() { r.fronts.parked = r.findParked() })
	return r.fronts.parked
}

func (r *Result) findParked() *parked {
	byReason := make(map[BlockReason]*crowd)
	reasons := make(map[int]BlockReason)
	for position, is := range r.states {
		if !is.parked() {
			continue
		}
		h := BlockReason{Type: BlockNotAllowed}
		if by := r.schedule.heldBy(position); by != nil && by.isActive(r.now) {
			h = BlockReason{Type: BlockFrozen, Reason: by.Reason, Until: by.Until.UTC()}
			if by.Until.IsZero() {
				h.Until = time.Time{}
			}
		}
		reasons[position] = h
		if byReason[h] == nil {
			byReason[h] = &crowd{}
		}
		byReason[h].add(Blocker{Cluster: Cluster{Name: r.schedule.groups.Cluster(position)}})
	}
	p := &parked{of: make(map[int]BlockReason, len(reasons)), inGroup: make(map[int][]BlockReason), counts: make(map[groupHold]int)}
	for position, is := range r.states {
		if !is.parked() {
			continue
		}
		h, group := reasons[position], r.schedule.groups.GroupAt(position)
		c := byReason[h]
		h.Detail, h.Many = c.listed(), c.n > 1
		p.of[position] = h
		if p.counts[groupHold{group, h}]++; p.counts[groupHold{group, h}] == 1 {
			p.inGroup[group] = append(p.inGroup[group], h)
		}
	}
	return p
}

// parkedIn counts the clusters of a group that somebody holds, counted or not.
func (r *Result) parkedIn(group int) int {
	n := r.tallies[group].parked()
	if r.aside != nil {
		n += r.aside[group].parked()
	}
	return n
}

// holdAt gives the reason of the held cluster at a position.
func (r *Result) holdAt(position int) BlockReason {
	if r.states[position].parked() {
		return r.parked().of[position]
	}
	return r.hold(r.schedule.groups.GroupAt(position))
}

// parked gives the sentence of BlockFrozen and BlockNotAllowed.
func (h BlockReason) parked() string {
	who := h.Detail
	if who == "" {
		who = "the cluster"
	}
	if h.Type == BlockNotAllowed {
		return fmt.Sprintf("%s %s not among the reviewed clusters", who, plural(h.Many, "is", "are"))
	}
	s := fmt.Sprintf("%s %s held", who, plural(h.Many, "is", "are"))
	if h.Reason != "" {
		s += fmt.Sprintf(" by %q", h.Reason)
	}
	if !h.Until.IsZero() {
		s += " until " + inUTC(h.Until)
	}
	return s
}

// explainParked describes the wait of a cluster that somebody holds, and what it waits for beside.
func (r *Result) explainParked(position int) Explanation {
	s, c := r.schedule, &r.choice
	group := s.groups.GroupAt(position)
	stage := int(s.stageOf[group])
	e := Explanation{r.parkedLink(r.holdAt(position), s.groups.Cluster(position))}
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

// parkedLink describes the wait of clusters that somebody holds.
func (r *Result) parkedLink(h BlockReason, clusters string) Link {
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

// blockedBy gives the waits of the clusters of some groups that others wait for although somebody holds them. Each names the clusters
// of these groups alone, as releasing the others helps nobody.
func (r *Result) blockedBy(groups []int) (links []Link) {
	if r.parked() == nil {
		return nil
	}
	var holds []BlockReason
	crowds := make(map[BlockReason]*crowd)
	for _, group := range groups {
		if r.tallies[group].blocking() == 0 {
			continue
		}
		for position, is := range r.states {
			if !blockingStates.has(is) || r.schedule.groups.GroupAt(position) != group || r.schedule.isAside(position) {
				continue
			}
			h := r.parked().of[position]
			h.Detail, h.Many = "", false
			if crowds[h] == nil {
				holds, crowds[h] = append(holds, h), &crowd{}
			}
			crowds[h].add(Blocker{Cluster: Cluster{Name: r.schedule.groups.Cluster(position)}})
		}
	}
	for _, h := range holds {
		c := crowds[h]
		h.Detail, h.Many = c.listed(), c.n > 1
		links = append(links, r.parkedLink(h, h.Detail))
	}
	return links
}

// releases says whether a hold of a cluster that counts in some groups ends by a time.
func (r *Result) releases(groups []int, by time.Time) bool {
	if !r.schedule.isParking() {
		return false
	}
	for position, is := range r.states {
		if !is.parked() || r.schedule.isAside(position) || !slices.Contains(groups, r.schedule.groups.GroupAt(position)) {
			continue
		}
		if until := r.schedule.ends(position); !until.IsZero() && !by.Before(until) {
			return true
		}
	}
	return false
}

// checkHolds warns of holds of clusters that are not selected: a mistyped name would start, unseen, what it was meant to hold.
func (s *schedule) checkHolds() {
	if s.options.named == nil {
		return
	}
	w := Warning{Type: WarningFreezeWithoutCluster}
	for _, h := range s.options.named.holds {
		cluster := h.Cluster
		position, is := s.groups.Position(cluster)
		if _, elsewhere := elsewhere(s.groups, cluster); is && !s.hasLeft(position) || elsewhere {
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
