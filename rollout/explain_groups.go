// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// waited has the groups that a group waits for: groups of active stages, by their grants, and incomplete groups behind
// them. Both are in the order of the stages.
//
// For example, d comes after b and c, and both after a. With a {succeeded}, b {progressing}, c {toApply} and d {unreported},
// d waits for b and c, which are active. While a is progressing, d waits for a, which is active, and then for b and c.
type waited struct {
	active, later []stages.Group
}

func (r *Result) waitedBy(group stages.Group) (waited waited) {
	schedule, choice := r.schedule, &r.choice
	before, later := schedule.Graph.Before(schedule.Graph.Of(group)), []stages.Group(nil)
	for other := range r.numGroups() { // each stage has one group, as they go one after the other
		if stage := schedule.Graph.Of(other); before[stage] && !schedule.IsComplete(stage, &r.table.Totals.Groups[other]) {
			later = append(later, other)
		}
	}
	slices.SortFunc(later, func(a, b stages.Group) int { return int(schedule.Graph.Of(a) - schedule.Graph.Of(b)) })
	for _, other := range later {
		if _, active := choice.grantOf(schedule.Graph.Of(other)); active {
			waited.active = append(waited.active, other)
		} else {
			waited.later = append(waited.later, other)
		}
	}
	return waited
}

// explainGroups describes the wait of a group's blocked clusters for other groups, and then the waits of clusters that are blocked
// in those, each once.
func (r *Result) explainGroups(group stages.Group) Explanation {
	waited := r.waitedBy(group)
	own := Link{Reason: r.schedule.blockReason(&r.choice, group)}
	links, told := Explanation{own}, make(map[stages.Group]bool)
	var all waitSet
	for _, active := range waited.active {
		all.join(r.waitSetOf(r.grant(active)))
		if r.blockedCounted(active) == 0 {
			continue
		}
		link := r.link(active)
		if !slices.ContainsFunc(links[1:], func(other Link) bool { return other.Reason == link.Reason }) {
			if len(links) > maxNamed {
				continue
			}
			links = append(links, link)
		}
		told[active] = link.Reason.Type == BlockConcurrency || link.Reason.Type == BlockPlaces // which name the clusters of the group in flight
	}
	if slices.ContainsFunc(links[1:], func(link Link) bool {
		return link.Reason.Type == BlockExposed || link.Reason.Type == BlockRamp || link.Reason.Type == BlockShares && link.Reason.InFlight+link.Reason.Starting > 0
	}) { // which names those of all groups
		for _, active := range waited.active {
			told[active] = true
		}
	}
	for _, link := range r.freezeLinks(waited.active) {
		if len(links) <= maxNamed {
			links = append(links, link)
		}
	}
	var others ignorableClusters
	own.Blockers, own.More, others = all.last.list()
	if len(links) == 1 {
		own.Remedies = append(r.groupRemedies(&all, waited.active), others.ignore()...)
	}
	own.Reason.Detail = r.inGroups(waited, told)
	links[0] = own
	return links
}

// inGroups says how far the groups are that are waited for, behind a text that names the first. It leaves out what another
// link tells, and what would make the sentence too long.
func (r *Result) inGroups(waited waited, told map[stages.Group]bool) string {
	var text strings.Builder
	named := 0
	for i, group := range waited.active[:min(len(waited.active), maxNamed)] {
		of, grant := "", r.grant(group)
		if i > 0 {
			of = fmt.Sprintf("; also waiting for %v: ", r.schedule.KeyOf(group))
		}
		next := of + r.progress(grant, !told[group], failedKinds|1<<waitBlockingToApply)
		if i > 0 && text.Len()+len(next) > longestDetail {
			next = of + r.progress(grant, false, 0)
		}
		if i > 0 && text.Len()+len(next) > longestDetail {
			break
		}
		text.WriteString(next)
		named++
	}
	if more := len(waited.active) - named; more > 0 {
		fmt.Fprintf(&text, "; also waiting for %s", groups(more, " more"))
	}
	var later []string
	for _, group := range waited.later[:min(len(waited.later), maxNamed)] {
		key := r.schedule.KeyOf(group).String()
		if text.Len()+len(strings.Join(later, ", "))+len(key) > longestDetail {
			break
		}
		later = append(later, key)
	}
	then := plural(len(waited.later) > 1, ", which comes after ", ", which come after ") + plural(len(waited.active) > 1, "that group", "these groups")
	switch n := len(waited.later); {
	case n > 0 && len(later) == 0:
		fmt.Fprintf(&text, "; also waiting for %s%s", groups(n, " more"), then)
	case n > 0:
		fmt.Fprintf(&text, "; also waiting for %s%s", listed(later, n), then)
	}
	return text.String()
}

func groups(n int, more string) string {
	return fmt.Sprintf("%d%s %s", n, more, plural(n > 1, "group", "groups"))
}
