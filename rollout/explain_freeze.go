// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// frozenClusters are the frozen clusters of a result, by the reason.
type frozenClusters struct {
	blockOf map[fleet.Position]BlockReason // by position
	inGroup map[stages.Group][]BlockReason // of each group, in the order in which the first cluster has it
	counts  map[groupBlock]int
}

type groupBlock struct {
	group  stages.Group
	reason BlockReason
}

// frozen gives the frozen clusters, computed once; nil if there are none. It takes time linear in the fleet.
func (r *Result) frozen() *frozenClusters {
	if !r.schedule.Freezes.Any() {
		return nil
	}
	r.waitSets.frozenOnce.Do(func() { r.waitSets.frozen = r.findFrozen() })
	return r.waitSets.frozen
}

func (r *Result) findFrozen() *frozenClusters {
	byReason := make(map[BlockReason]*stateGroup)
	reasons := make(map[fleet.Position]BlockReason)
	for position, is := range r.table.All() {
		if !is.IsFrozen() {
			continue
		}
		h := BlockReason{Type: BlockNotAllowed}
		if by := r.schedule.Freezes.At(position, r.table.Now); by != nil {
			h = BlockReason{Type: BlockFrozen, Reason: by.Reason, Until: by.Until.UTC()}
			if by.Until.IsZero() {
				h.Until = time.Time{}
			}
		}
		reasons[position] = h
		if byReason[h] == nil {
			byReason[h] = &stateGroup{}
		}
		byReason[h].add(Blocker{Cluster: Cluster{Name: r.schedule.Cluster(position)}})
	}
	p := &frozenClusters{blockOf: make(map[fleet.Position]BlockReason, len(reasons)), inGroup: make(map[stages.Group][]BlockReason), counts: make(map[groupBlock]int)}
	for position, is := range r.table.All() {
		if !is.IsFrozen() {
			continue
		}
		h, group := reasons[position], r.schedule.GroupOf(position)
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
	n := r.table.Totals.Groups[group].Frozen()
	if r.table.Totals.Ignored != nil {
		n += r.table.Totals.Ignored[group].Frozen()
	}
	return n
}

// blockAt gives the reason of the blocked cluster at a position.
func (r *Result) blockAt(position fleet.Position) BlockReason {
	if r.table.State(position).IsFrozen() {
		return r.frozen().blockOf[position]
	}
	return r.blockReason(r.schedule.GroupOf(position))
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
func (r *Result) explainFrozen(position fleet.Position) Explanation {
	s, c := r.schedule, &r.choice
	group := s.GroupOf(position)
	stage := s.Graph.Of(group)
	e := Explanation{r.frozenLink(r.blockAt(position), s.Cluster(position))}
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
		if r.table.Totals.Groups[group].Blocking() == 0 {
			continue
		}
		for position, is := range r.table.All() {
			if !fleet.BlockingStates.Has(is) || r.schedule.GroupOf(position) != group || r.schedule.Ignores(position) {
				continue
			}
			h := r.frozen().blockOf[position]
			h.Detail, h.Many = "", false
			if byReason[h] == nil {
				reasons, byReason[h] = append(reasons, h), &stateGroup{}
			}
			byReason[h].add(Blocker{Cluster: Cluster{Name: r.schedule.Cluster(position)}})
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
	if !r.schedule.Freezes.Any() {
		return false
	}
	for position, is := range r.table.All() {
		if !is.IsFrozen() || r.schedule.Ignores(position) || !slices.Contains(groups, r.schedule.GroupOf(position)) {
			continue
		}
		if until := r.schedule.Freezes.End(position); !until.IsZero() && !by.Before(until) {
			return true
		}
	}
	return false
}
