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
		reason := BlockReason{Type: BlockNotAllowed}
		if by := r.schedule.Freezes.At(position, r.table.Now); by != nil {
			reason = BlockReason{Type: BlockFrozen, Reason: by.Reason, Until: by.Until.UTC()}
			if by.Until.IsZero() {
				reason.Until = time.Time{}
			}
		}
		reasons[position] = reason
		if byReason[reason] == nil {
			byReason[reason] = &stateGroup{}
		}
		byReason[reason].add(Blocker{Cluster: Cluster{Name: r.schedule.Cluster(position)}})
	}
	frozen := &frozenClusters{blockOf: make(map[fleet.Position]BlockReason, len(reasons)), inGroup: make(map[stages.Group][]BlockReason), counts: make(map[groupBlock]int)}
	for position, is := range r.table.All() {
		if !is.IsFrozen() {
			continue
		}
		reason, group := reasons[position], r.schedule.GroupOf(position)
		members := byReason[reason]
		reason.Detail, reason.Many = members.listed(), members.n > 1
		frozen.blockOf[position] = reason
		if frozen.counts[groupBlock{group, reason}]++; frozen.counts[groupBlock{group, reason}] == 1 {
			frozen.inGroup[group] = append(frozen.inGroup[group], reason)
		}
	}
	return frozen
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
func (reason BlockReason) frozen() string {
	subject := reason.Detail
	if subject == "" {
		subject = "the cluster"
	}
	if reason.Type == BlockNotAllowed {
		return fmt.Sprintf("%s %s not in the allowlist", subject, plural(reason.Many, "is", "are"))
	}
	text := fmt.Sprintf("%s %s frozen", subject, plural(reason.Many, "is", "are"))
	if reason.Until.IsZero() {
		text += " with no end"
	} else {
		text += " until " + inUTC(reason.Until)
	}
	if reason.Reason != "" {
		text += fmt.Sprintf(": %q", reason.Reason)
	}
	return text
}

// explainFrozen describes the wait of a frozen cluster, and what else would block the cluster once the freeze ends.
func (r *Result) explainFrozen(position fleet.Position) Explanation {
	schedule, choice := r.schedule, &r.choice
	group := schedule.GroupOf(position)
	stage := schedule.Graph.Of(group)
	explanation := Explanation{r.frozenLink(r.blockAt(position), schedule.Cluster(position))}
	_, waits := choice.waitsFor(stage)
	switch {
	case schedule.stopped(choice):
		return append(explanation, r.link(group))
	case waits:
		return append(explanation, r.explainGroups(group)...)
	case schedule.barrierOf(choice, stage) >= 0 || choice.isClosed(group) || choice.isWaiting(stage):
		return append(explanation, r.link(group))
	default:
		return explanation
	}
}

// frozenLink describes the wait of frozen clusters.
func (r *Result) frozenLink(reason BlockReason, clusters string) Link {
	link := Link{Reason: reason}
	switch {
	case reason.Type == BlockNotAllowed:
		link.Remedies = []Remedy{{Type: RemedyAllow, Clusters: clusters}}
		return link
	case !reason.Until.IsZero() && r.choice.breach == nil: // the rollout has stopped otherwise, and another link says so
		link.Remedies = []Remedy{r.waitUntil(reason.Until)}
	}
	link.Remedies = append(link.Remedies, Remedy{Type: RemedyUnfreeze, Clusters: clusters})
	return link
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
			reason := r.frozen().blockOf[position]
			reason.Detail, reason.Many = "", false
			if byReason[reason] == nil {
				reasons, byReason[reason] = append(reasons, reason), &stateGroup{}
			}
			byReason[reason].add(Blocker{Cluster: Cluster{Name: r.schedule.Cluster(position)}})
		}
	}
	for _, reason := range reasons {
		members := byReason[reason]
		reason.Detail, reason.Many = members.listed(), members.n > 1
		links = append(links, r.frozenLink(reason, reason.Detail))
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
