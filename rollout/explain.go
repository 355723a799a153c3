// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Explanation says why a cluster is blocked, down to the wait that blocks everything. The first [Link] is the cluster's own wait. If
// that is for groups whose clusters are blocked themselves, up to three more links say what those wait for. It is empty for a
// cluster that is not blocked.
type Explanation []Link

// Link is one wait.
type Link struct {
	// Reason says what is waited for. Where groups are waited for, its Detail names all of them, and repeats nothing that
	// another link says.
	Reason BlockReason `json:"reason"`
	// Blockers are the first three clusters that are waited for, and More is the number of the others. Where a slot is
	// waited for, clusters that start now come first, then those that free a slot first. Where a group is waited for,
	// clusters that time alone does not end come first, then those that end last. There are no blockers where an operator or missing decisions are waited for.
	Blockers []Blocker `json:"blockers,omitempty"`
	More     int       `json:"more,omitempty"`
	// Remedies are the ways in which the wait can end. The first link has none where other waits have to end first.
	Remedies []Remedy `json:"remedies,omitempty"`
}

// String says what is waited for, what the reports of the blockers say, whether the rollout stops meanwhile, and what an operator can do: `the rollout is stopped:
// a failed, …; to do, one of: (1) fix the workload on a; (2) raise maxFailures to 1`.
func (link Link) String() string {
	said := link.Reason.String()
	var remedies []string
	for _, remedy := range link.Remedies {
		if !remedy.Stops.IsZero() {
			said += "; " + remedy.stops()
		}
		if remedy.Type != RemedyWait && remedy.Type != RemedyAnswer { // the block reason says so already
			remedies = append(remedies, remedy.String())
		}
	}
	todo := ""
	if len(remedies) > 0 {
		todo = "; to do" + oneOf(remedies)
	}
	for i := range link.Blockers {
		if says := link.Blockers[i].says(); len(said)+len(says)+len(todo) <= mostOfLink {
			said += says
		}
	}
	return said + todo
}

// oneOf joins ways of which one is enough.
func oneOf(ways []string) string {
	if len(ways) == 1 {
		return ": " + ways[0]
	}
	text := ", one of:"
	for i, way := range ways {
		text += fmt.Sprintf("%s (%d) %s", []string{"", ";"}[min(i, 1)], i+1, way)
	}
	return text
}

// mostOfLink is how many bytes a link, or changes, take with what reports say, as many as the message of a condition.
const mostOfLink = 1024

// String has a line for each link.
func (e Explanation) String() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].String()
	}
	return strings.Join(lines, "\n")
}

// Explain says why the named cluster is blocked, down to the clusters that wait for no other cluster. It is empty for a cluster
// that is not blocked, or not selected. The first call on a result takes time linear in the fleet. Each later call takes
// time linear in the groups, with [GroupOrder] in the pairs of groups that directly follow each other.
func (r *Result) Explain(cluster string) Explanation {
	if r.schedule == nil {
		return nil
	}
	position, ok := r.schedule.Position(cluster)
	if !ok || r.dispositionAt(position) != DispositionBlocked {
		return nil
	}
	group := r.schedule.GroupOf(position)
	if r.table.State(position).IsFrozen() {
		return r.explainFrozen(position)
	}
	if _, waits := r.choice.waitsFor(r.schedule.Graph.Of(group)); waits && !r.schedule.stopped(&r.choice) {
		return r.explainGroups(group)
	}
	return Explanation{r.link(group)}
}

// blockedBefore finds the group of the active stage that the given group waits for, if clusters of that group are blocked
// themselves.
func (r *Result) blockedBefore(group stages.Group) (stages.Group, bool) {
	schedule, choice := r.schedule, &r.choice
	before, waits := choice.waitsFor(schedule.Graph.Of(group))
	if !waits || schedule.stopped(choice) {
		return 0, false
	}
	active := schedule.Graph.First(before)
	return active, schedule.Graph.IsSingle(before) && r.blockedCounted(active) > 0
}

// grant gives the index of the grant that the blocked clusters of a group wait for: the grant of its stage, or of the
// first incomplete stage before it.
func (r *Result) grant(group stages.Group) int {
	stage := r.schedule.Graph.Of(group)
	if before, waits := r.choice.waitsFor(stage); waits {
		stage = before
	}
	i, _ := r.choice.grantOf(stage)
	return i
}

// link describes the wait of the blocked clusters of a group that waits for no other group.
func (r *Result) link(group stages.Group) Link {
	link := Link{Reason: r.briefBlock(group)}
	var others ignorableClusters // the clusters that it waits for and that can be ignored
	switch link.Reason.Type {
	case BlockPaused:
		link.Remedies = []Remedy{{Type: RemedyResume}}
	case BlockGroupsIncomplete:
		link.Remedies = []Remedy{{Type: RemedyCompleteGroups}}
	case BlockBreached:
		return r.breachLink()
	case BlockGateClosed:
		if opens := link.Reason.Gate.Opens; !opens.IsZero() {
			link.Remedies = append(link.Remedies, r.waitUntil(opens))
		}
		link.Remedies = append(link.Remedies, Remedy{Type: RemedyOpenGate, Group: link.Reason.Group, Gate: link.Reason.Gate.Name})
	case BlockShares:
		others = r.explainShares(&link)
	case BlockConcurrency:
		waitSet := r.waitSetOf(r.grant(group))
		link.Blockers, link.More, others = waitSet.first.list()
		link.Remedies = r.slotRemedies(waitSet, r.withoutSlot())
	case BlockPlaces:
		waitSet := r.waitSetOf(r.grant(group))
		link.Blockers, link.More, others = waitSet.last.list()
		link.Remedies = r.groupRemedies(waitSet, []stages.Group{group})
	case BlockExposed:
		waitSet := r.exposed()
		link.Blockers, link.More, others = waitSet.first.list()
		link.Remedies = r.exposureRemedies(waitSet)
	case BlockRamp:
		waitSet := r.fleetWaitSet()
		link.Blockers, link.More, others = waitSet.first.list()
		link.Remedies = r.slotRemedies(waitSet, r.withoutSlot())
	case BlockStarts:
		others = r.explainStarts(&link)
	case BlockWait:
		others = r.explainWait(&link, r.schedule.Graph.Of(group))
	case BlockRecordFull:
		link.Remedies = r.explainFull()
	}
	link.Remedies = append(link.Remedies, others.ignore()...)
	return link
}

// ExplainBreach says which failures stop the rollout, and what ends that. It is empty if there is no [Breach]. The same is in
// [Result.Explain], unless no cluster is blocked any more, or a pause or incomplete groups block all of them first.
func (r *Result) ExplainBreach() Explanation {
	if r.schedule == nil || r.choice.breach == nil {
		return nil
	}
	return Explanation{r.breachLink()}
}

func (r *Result) breachLink() Link {
	link := Link{Reason: r.choice.breach.blockReason()}
	link.Reason.Detail = r.choice.breach.detail()
	var others ignorableClusters
	link.Blockers, link.More, others = r.failures()
	link.Remedies = append(r.breachRemedies(), others.ignore()...)
	return link
}

// list gives a copy of the blockers, how many more there are, and which of all can be ignored.
func (top *topN) list() ([]Blocker, int, ignorableClusters) {
	return append([]Blocker(nil), top.blockers...), top.n - len(top.blockers), top.ignorable
}

// failures gives the first clusters that count in the breach, the number of the others, and which of all can be ignored.
func (r *Result) failures() (blockers []Blocker, more int, ignorable ignorableClusters) {
	for _, name := range r.choice.breach.Clusters {
		position, _ := r.schedule.Position(name)
		blocker := r.blocker(position)
		blocker.Until = time.Time{} // a cluster that timed out has failed as well
		blockers = append(blockers, blocker)
	}
	return blockers, r.choice.breach.Failures - len(blockers), r.ignorableInBreach()
}

// ignorableInBreach gives the clusters that count in the breach and left, or cannot recover.
func (r *Result) ignorableInBreach() (ignorable ignorableClusters) {
	positions := append(r.table.Lost(), r.schedule.Deselected...)
	slices.Sort(positions)
	for _, position := range slices.Compact(positions) {
		if blocker := r.blocker(position); r.isInBreach(position) {
			ignorable.add(&blocker)
		}
	}
	return ignorable
}

// blockReason gives the reason for the blocked clusters of a group, with the sentence about the clusters that are waited for.
func (r *Result) blockReason(group stages.Group) BlockReason {
	reason := r.briefBlock(group)
	if next, ok := r.blockedBefore(group); ok {
		n := r.blockedCounted(next)
		reason.Detail += fmt.Sprintf("; %s of that group %s blocked: %v", clusters(n), plural(n > 1, "is", "are"), r.schedule.blockReason(&r.choice, next))
	}
	return reason
}

// briefBlock gives the same, without the reason for the clusters held in the active stage where another link has it.
func (r *Result) briefBlock(group stages.Group) BlockReason {
	reason := r.schedule.blockReason(&r.choice, group)
	switch reason.Type {
	case BlockBreached:
		reason.Detail = r.choice.breach.detail()
	case BlockShares:
		reason.Detail = r.sharesDetail(&reason)
	case BlockConcurrency:
		waitSet := r.waitSetOf(r.grant(group))
		reason.Detail = waitSet.sentences(waitSet.excess, r.withoutSlot())
	case BlockPlaces:
		reason.Detail = r.waitSetOf(r.grant(group)).sentences(0, failedKinds)
	case BlockExposed:
		reason.Detail = r.exposed().sentences(0, 0)
	case BlockRamp:
		waitSet := r.fleetWaitSet()
		reason.Detail = waitSet.sentences(waitSet.excess, r.withoutSlot())
	case BlockMandatoryGroup, BlockEarlierGroup:
		reason.Detail = r.progress(r.grant(group), true, failedKinds)
	}
	return reason
}

// withoutSlot gives the state groups of clusters in flight that have no slot.
func (r *Result) withoutSlot() waitKinds {
	if r.schedule.options.freeFailed {
		return failedKinds
	}
	return 0
}

// progress says how far an active stage is, and perhaps which clusters are waited for there, but for those in some states.
func (r *Result) progress(grant int, named bool, without waitKinds) string {
	counts := r.choice.grants()[grant].used.Counts(0)
	parts := []string{fmt.Sprintf("%d of %d done", counts.Done(), counts.Total())}
	if n := counts.Failures(); n > 0 {
		parts[0] += fmt.Sprintf(", %d failed", n)
	}
	if named {
		if waiting := r.waitSetOf(grant).sentences(0, without); waiting != "" {
			parts = append(parts, waiting)
		}
	}
	return strings.Join(parts, "; ")
}

// explainFull says what ends the wait for a record without room.
func (r *Result) explainFull() (remedies []Remedy) {
	if until := r.choice.full.until; !until.IsZero() {
		return []Remedy{r.waitUntil(until)}
	}
	if r.choice.retry > 0 {
		remedies = append(remedies, Remedy{Type: RemedyTryAgain, Count: r.choice.retry})
	}
	return append(remedies, Remedy{Type: RemedyForget})
}
