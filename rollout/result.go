// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"iter"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// Result says what may happen now, and why not more. Every selected cluster is in exactly one of InFlight, Start and
// TimedOut, or is yielded by Settled or Blocked. The slices are the caller's. The methods are safe for concurrent use. The
// JSON is for users and their tools: it has durations as "5m0s" and cannot be read back.
type Result struct {
	Next
	// InFlight has the clusters that have the workload and may yet change by themselves: Progressing, Validating, Failed within
	// their deadline, or soaking. Changes to the workload must reach them. They are in the order of their names.
	InFlight []Cluster `json:"inFlight,omitempty"`
	// Schedule is the strategy that took effect.
	Schedule Schedule `json:"schedule"`

	// The caller may change the fields above, so no method but String reads them.
	schedule *schedule // nil where no Plan made the result
	choice   choice
	removed  int
	kept     []string // the clusters that were reported, are not selected and are not removed, in order; not to be changed
	warnings []Warning
	table    fleet.Table
	marks    marks
	waitSets *waitSets // what is waited for; computed when first needed
}

// Disposition says in which part of a result a cluster is.
type Disposition string

const (
	// DispositionInFlight says that the cluster is in Result.InFlight.
	DispositionInFlight Disposition = "InFlight"
	// DispositionStarting says that the cluster is in Result.Start.
	DispositionStarting Disposition = "Starting"
	// DispositionTimedOut says that the cluster is in Result.TimedOut.
	DispositionTimedOut Disposition = "TimedOut"
	// DispositionSettled says that Result.Settled yields the cluster: it succeeded and soaked, is skipped, or was
	// reported TimeOut.
	DispositionSettled Disposition = "Settled"
	// DispositionDeselected says that the cluster is in Result.Deselected: it is not selected any more and still counts.
	DispositionDeselected Disposition = "Deselected"
	// DispositionBlocked says that Result.Blocked yields the cluster: it waits, for the reason that Result.Blocked and
	// Result.Find give.
	DispositionBlocked Disposition = "Blocked"
)

// numGroups is the number of groups; 0 where no Plan made the result.
func (r *Result) numGroups() stages.Group { return stages.Group(len(r.table.Totals.Groups)) }

// numClusters is the number of clusters that count; 0 where no Plan made the result.
func (r *Result) numClusters() fleet.Position {
	if r.schedule == nil {
		return 0
	}
	return fleet.Position(r.schedule.NumClusters())
}

// isStarting says whether the cluster at a position is in Start.
func (r *Result) isStarting(position fleet.Position) bool {
	return r.marks.starts != nil && r.marks.starts[position]
}

// dispositionAt says in which part of the result the cluster at a position is, selected or not.
func (r *Result) dispositionAt(position fleet.Position) Disposition {
	switch is := r.table.State(position); {
	case r.isStarting(position):
		return DispositionStarting
	case is.IsWaiting(), is.IsFrozen():
		return DispositionBlocked
	case fleet.InFlightStates.Has(is):
		return DispositionInFlight
	case is == fleet.TimedOutNow:
		return DispositionTimedOut
	default:
		return DispositionSettled
	}
}

// Find says where the named cluster is, with the reason if it is blocked. It gives false if the cluster is not selected and does
// not count.
// It takes constant time, except that the first blocked cluster of a result takes time linear in the fleet.
func (r *Result) Find(cluster string) (Disposition, BlockReason, bool) {
	if r.schedule == nil {
		return "", BlockReason{}, false
	}
	position, ok := r.schedule.Position(cluster)
	if !ok {
		return "", BlockReason{}, false
	}
	disposition := r.dispositionAt(position)
	if r.schedule.IsDeselected(position) {
		disposition = DispositionDeselected
	}
	if disposition != DispositionBlocked {
		return disposition, BlockReason{}, true
	}
	return disposition, r.blockAt(position), true
}

// Blocked yields the waiting clusters that do not start, in the order of their names, each with the reason.
func (r *Result) Blocked() iter.Seq2[Cluster, BlockReason] {
	return func(yield func(Cluster, BlockReason) bool) {
		reasons := make(map[stages.Group]BlockReason) // of clusters that are not frozen: all of a group have the same sentences
		for position := range r.table.All() {
			if r.dispositionAt(position) != DispositionBlocked {
				continue
			}
			group := r.schedule.GroupOf(position)
			reason, known := reasons[group]
			if isFrozen := r.table.State(position).IsFrozen(); isFrozen || !known {
				if reason = r.blockAt(position); !isFrozen {
					reasons[group] = reason
				}
			}
			if !yield(r.cluster(position), reason) {
				return
			}
		}
	}
}

// Settled yields the clusters that succeeded and soaked, are skipped, or were reported TimeOut, in the order of their
// names. A cluster whose deadline has passed and that is not reported TimeOut is in TimedOut instead.
func (r *Result) Settled() iter.Seq[Cluster] {
	return func(yield func(Cluster) bool) {
		for position := range r.table.All() {
			if r.dispositionAt(position) == DispositionSettled && !r.schedule.IsDeselected(position) && !yield(r.cluster(position)) {
				return
			}
		}
	}
}

// BlockCount is a reason with the number of clusters that it blocks.
type BlockCount struct {
	Reason   BlockReason `json:"reason"`
	Clusters int         `json:"clusters"`
}

// String is `3 clusters blocked: the rollout is paused`, and `3 more clusters blocked: …` where the reason speaks of clusters that start.
func (count BlockCount) String() string {
	if count.Reason.Starting > 0 {
		return fmt.Sprintf("%d more %s blocked: %v", count.Clusters, plural(count.Clusters > 1, "cluster", "clusters"), count.Reason)
	}
	return fmt.Sprintf("%s blocked: %v", clusters(count.Clusters), count.Reason)
}

// BlockCounts gives the reasons of all blocked clusters with their numbers, in the order of the groups. It takes time linear in the groups,
// with [Options].Freezes and [Options].Allowlist in the fleet.
func (r *Result) BlockCounts() []BlockCount { return r.counted((*Result).blockReason) }

// counted does what BlockCounts does; reason gives the reason for a group's blocked clusters. In a group the frozen ones come last.
func (r *Result) counted(reason func(result *Result, group stages.Group) BlockReason) []BlockCount {
	var all []BlockCount
	at := make(map[BlockReason]int)
	add := func(reason BlockReason, n int) {
		i, known := at[reason]
		if !known {
			i = len(all)
			at[reason] = i
			all = append(all, BlockCount{Reason: reason})
		}
		all[i].Clusters += n
	}
	var frozen *frozenClusters
	if r.schedule != nil {
		frozen = r.frozen()
	}
	for group := range r.numGroups() {
		if n := r.blocked(group); n > 0 {
			add(reason(r, group), n)
		}
		if frozen != nil {
			for _, reason := range frozen.inGroup[group] {
				add(reason, frozen.counts[groupBlock{group, reason}])
			}
		}
	}
	return all
}

// Summary counts the clusters, in total and per group, and says in words what stops the rollout and which clusters are
// waited for. It takes time linear in the groups.
func (r *Result) Summary() status.Summary {
	summary := status.Summary{
		Groups:  make([]status.GroupCounts, len(r.table.Totals.Groups)),
		Removed: r.removed,
	}
	summary.Partial = r.schedule != nil && r.schedule.missing != ""
	for group := range r.numGroups() {
		counts := r.table.Totals.Groups[group].Counts(r.blockedCounted(group))
		counts.Partial = summary.Partial
		if r.table.Totals.Ignored != nil {
			counts.Ignored, counts.IgnoredToApply = r.schedule.IgnoredIn(group), r.table.Totals.Ignored[group].Waiting()+r.table.Totals.Ignored[group].Frozen()
		}
		if r.schedule != nil {
			counts.Deselected = r.schedule.DeselectedIn(group)
		}
		summary.Groups[group] = status.GroupCounts{Group: r.schedule.KeyOf(group), Counts: counts}
		summary.Counts = summary.Counts.Add(counts)
	}
	if r.schedule != nil {
		summary.Version = r.schedule.options.record.versionOf()
		summary.Moved = r.moved()
		r.stops(&summary)
	}
	return summary
}

// moved counts the deselected clusters that another part selects (R50).
func (r *Result) moved() status.Counts {
	var tally fleet.Tally
	for _, position := range r.schedule.Deselected {
		if _, selected := fleet.Elsewhere(r.schedule.Groups, r.schedule.Cluster(position)); selected {
			tally.Add(r.table.State(position), 1)
		}
	}
	counts := tally.Counts(0)
	counts.Deselected = counts.Total()
	return counts
}

// stops fills in the sentences of a summary.
func (r *Result) stops(summary *status.Summary) {
	if missing := r.schedule.missing; missing != "" {
		summary.Incomplete = BlockReason{Type: BlockGroupsIncomplete, Missing: missing}.String()
	}
	if r.choice.breach != nil {
		summary.Breach = r.choice.breach.String()
	}
	if r.schedule.options.paused {
		summary.Paused = BlockReason{Type: BlockPaused}.String()
	}
	for _, count := range r.counted((*Result).briefBlock) {
		switch sentence := count.Reason.String(); count.Reason.Type {
		case BlockGateClosed:
			summary.Gates = append(summary.Gates, sentence)
			fallthrough
		default:
			summary.Waiting = append(summary.Waiting, sentence)
		}
	}
	// Where no cluster is blocked, only those in flight are waited for, perhaps for ever.
	if len(summary.Waiting) == 0 && r.choice.breach == nil && r.schedule.missing == "" && (r.marks.inGroup != nil || summary.InFlight() > 0) {
		summary.Waiting = append(summary.Waiting, r.waitedFor())
	}
}

// blocked counts a group's waiting clusters that do not start, counted or not, without the frozen ones.
func (r *Result) blocked(group stages.Group) int {
	n := r.blockedCounted(group)
	if r.table.Totals.Ignored != nil && !r.schedule.startsIgnored(&r.choice, group) {
		n += r.table.Totals.Ignored[group].Waiting()
	}
	return n
}

// blockedCounted does so for the clusters that count.
func (r *Result) blockedCounted(group stages.Group) int {
	n := r.table.Totals.Groups[group].Waiting()
	if r.marks.inGroup != nil {
		n -= int(r.marks.inGroup[group])
	}
	return n
}

func (r *Result) cluster(position fleet.Position) Cluster {
	attempt := r.table.Attempt(position)
	if r.isStarting(position) {
		attempt = r.schedule.options.attempt
	}
	var one [1]Cluster
	return r.schedule.addCluster(one[:0], position, r.table.State(position), attempt)[0]
}
