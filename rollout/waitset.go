// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/status"
)

// waitSet has the clusters of an active stage that the blocked clusters of a result wait for, as sentences and explanations
// need them.
//
// For example, c and d wait for a mandatory group {a soaking until 10:15, b progressing until 10:50}. Then the state group of
// soaking is a, the state group of progressing is b, last is b, a, and first is a, b.
type waitSet struct {
	byKind [numWaitKinds]stateGroup // of the active stage, by state; clusters that start are under toApply
	last   topN                     // the clusters that the stage waits for, the last to end first; those that never end come before all others
	first  topN                     // the clusters that have a slot, the first to free it first
	excess int                      // how many slots have to come free before one more cluster may start
	needed int                      // how many of those with a slot have to succeed before one more cluster may start
	frees  time.Time                // when that many are free; zero if time alone does not free them
	ends   []end                    // when time frees each slot; only while the wait set is made
	// How many only start now, and how many are in flight since an unknown time.
	starting, unknown int
	anyFrozen         bool // a cluster is frozen
	earlier           int  // how many are in flight in an attempt before the wanted one

	// The clusters of last and of first whose deadline or soak ends once a report gives the time from which it runs.
	undated, undatedSlots stateGroup
	dates                 int // how many of undatedSlots need such a report for time to free enough slots; 0 if that would not help
}

// end is when time frees a slot, and whether the cluster has then soaked.
type end struct {
	at    time.Time
	soaks bool
}

// waitSets has what is computed once for a result, when needed.
type waitSets struct {
	once, frozenOnce, stopsOnce sync.Once

	sets   *foundWaitSets
	frozen *frozenClusters
	stops  *time.Time // when time-outs stop the rollout; zero if they do not
}

// foundWaitSets has the wait sets of the active stages, in order. They are found in one pass over the fleet. There are none where something
// stops all stages: the blocked clusters then wait for no others, or for clusters that failed.
type foundWaitSets struct {
	of    []waitSet
	fleet *waitSet // the wait set of all clusters; nil if neither the ramp nor the shares block any
	// At a breach the last attempt among the failures that count, those that can be fixed, and those of which nothing says when they are done.
	attempt         int
	fixable, untold stateGroup
}

// waitKind says what a cluster that is waited for does: it is in a state, or one of the kinds below.
type waitKind uint8

// Beside the states there are kinds for clusters that are tried again (R39), for those that start late or are refused their start, and for those that
// cannot recover (R29).
const (
	silentAgain = waitKind(fleet.NumStates) + iota
	refusedAgain
	untrackedAgain
	progressingAgain
	validatingAgain
	startingLate
	startingRefused
	failedLost
	numWaitKinds
)

// The states as such kinds.
const (
	waitUnreported         = waitKind(fleet.Unreported)
	waitToApply            = waitKind(fleet.ToApply)
	waitSilent             = waitKind(fleet.Silent)
	waitRefused            = waitKind(fleet.Refused)
	waitUntracked          = waitKind(fleet.Untracked)
	waitUntrackedUndated   = waitKind(fleet.UntrackedUndated)
	waitProgressing        = waitKind(fleet.Progressing)
	waitProgressingUndated = waitKind(fleet.ProgressingUndated)
	waitValidating         = waitKind(fleet.Validating)
	waitValidatingUndated  = waitKind(fleet.ValidatingUndated)
	waitFailed             = waitKind(fleet.Failed)
	waitFailedUndated      = waitKind(fleet.FailedUndated)
	waitSoaking            = waitKind(fleet.Soaking)
	waitSoakingUndated     = waitKind(fleet.SoakingUndated)
	waitTimedOut           = waitKind(fleet.TimedOut)
	waitBlockingToApply    = waitKind(fleet.BlockingToApply)
)

// waitKinds is a set of these.
type waitKinds uint64

func (kinds waitKinds) has(kind waitKind) bool { return kinds&(1<<kind) != 0 }

const (
	failedKinds    = waitKinds(fleet.FailedStates) | 1<<failedLost
	untrackedKinds = waitKinds(fleet.UntrackedStates) | 1<<untrackedAgain
)

// waitKindOf says what a cluster in a state does.
func waitKindOf(blocker *Blocker, state fleet.State) waitKind {
	switch {
	case blocker.frozen:
		return waitBlockingToApply
	case blocker.late:
		return startingLate
	case blocker.refused:
		return startingRefused
	case blocker.lost:
		return failedLost
	case blocker.Again.IsZero():
		return waitKind(state)
	case blocker.Silent:
		return silentAgain
	case blocker.Reason == status.ReportRefused:
		return refusedAgain
	case blocker.Reason == status.ReportUntracked:
		return untrackedAgain
	case blocker.Status == status.Validating:
		return validatingAgain
	default:
		return progressingAgain
	}
}

// stateGroup holds clusters in the same state.
type stateGroup struct {
	n     int
	names []string // the first of them, in order
	first Blocker  // the one that ends first
	last  Blocker  // the one that ends last
}

// topN holds the first blockers in some order, at most maxNamed, and counts all of them.
type topN struct {
	blockers  []Blocker
	n         int
	ignorable ignorableClusters // of all of them
}

// add counts a blocker, and inserts it if it is among the first, in the order of compareEnds, or reversed if sign is -1.
func (top *topN) add(blocker *Blocker, sign int) {
	top.n++
	top.ignorable.add(blocker)
	at := len(top.blockers)
	for at > 0 && sign*compareEnds(blocker, &top.blockers[at-1]) < 0 {
		at--
	}
	if at < maxNamed {
		top.blockers = slices.Insert(top.blockers[:min(len(top.blockers), maxNamed-1)], at, *blocker)
	}
}

// waitSetOf gives the wait set of an active stage, by the index of its grant.
func (r *Result) waitSetOf(grant int) *waitSet {
	r.waitSets.once.Do(func() {
		if !r.schedule.stopped(&r.choice) {
			r.findWaitSets()
		}
	})
	return &r.waitSets.sets.of[grant]
}

// fleetWaitSet gives the wait set of all clusters, where the ramp or the shares block some.
func (r *Result) fleetWaitSet() *waitSet {
	r.waitSetOf(0)
	return r.waitSets.sets.fleet
}

func (r *Result) findWaitSets() {
	schedule, grants := r.schedule, r.choice.grants()
	sets := make([]waitSet, len(grants))
	var everywhere *waitSet
	byShares := false // then the ramp blocks none
	for i := range sets {
		grant := &grants[i]
		sets[i].excess = schedule.slotsOf(grant).Excess(grant.slots)
		sets[i].needed = sets[i].excess
		if byShares = byShares || grant.limit == limits.KindShares; (byShares || grant.limit == limits.KindRamp) && everywhere == nil {
			everywhere = &waitSet{}
		}
	}
	for position, state := range r.table.All() {
		if !r.isStarting(position) && !fleet.InFlightStates.Has(state) && !fleet.BlockingStates.Has(state) || schedule.Ignores(position) {
			continue
		}
		i, active := r.choice.grantOf(schedule.Graph.Of(schedule.GroupOf(position)))
		if !active && everywhere == nil {
			continue
		}
		blocker, earlier := r.blocker(position), r.isEarlier(position)
		if active {
			sets[i].add(blocker, state, schedule.options.freeFailed, earlier)
		}
		if everywhere != nil && !blocker.frozen {
			blocker.slotless = blocker.slotless && !byShares
			everywhere.add(blocker, state, schedule.options.freeFailed && !byShares, earlier)
		}
	}
	for i := range sets {
		sets[i].close(sets[i].isFree)
	}
	switch {
	case byShares:
		everywhere.excess = r.choice.pace.shares.Excess(r.choice.starting())
		everywhere.needed = everywhere.excess
		everywhere.close(everywhere.isFree)
	case everywhere != nil:
		r.closeRamp(everywhere)
	}
	r.waitSets.sets = &foundWaitSets{of: sets, fleet: everywhere}
}

// add takes in a cluster that starts or is in flight, perhaps in an attempt before the wanted one. A failed cluster has no
// slot if failures free it.
func (waits *waitSet) add(blocker Blocker, state fleet.State, freeFailed, earlier bool) {
	waits.byKind[waitKindOf(&blocker, state)].add(blocker)
	if blocker.frozen {
		waits.anyFrozen = true
		waits.last.add(&blocker, 1)
		return
	}
	waits.starting += one(blocker.Starting)
	waits.unknown += one(!blocker.Starting && blocker.Since.IsZero())
	waits.earlier += one(earlier)
	undated := blocker.WithoutTime && !earlier && !blocker.lost // the deadline of an earlier attempt ends no wait
	if !isFailed(state) {
		waits.last.add(&blocker, 1)
		if undated {
			waits.undated.add(blocker)
		}
	}
	if !isFailed(state) || !freeFailed {
		waits.first.add(&blocker, -1)
		if undated {
			waits.undatedSlots.add(blocker)
		}
		if !blocker.Until.IsZero() {
			waits.ends = append(waits.ends, end{blocker.Until, blocker.Status == status.Succeeded})
		}
	}
}

// close computes what follows from the clusters that were added. IsFree says whether one more cluster may start once that
// many slots are free, and that many of them from clusters that soaked.
func (waits *waitSet) close(isFree func(ended, soaked int) bool) {
	slices.SortFunc(waits.ends, func(a, b end) int { return a.at.Compare(b.at) })
	soaked := 0
	for i, end := range waits.ends {
		if soaked += one(end.soaks); isFree(i+1, soaked) {
			waits.frees = end.at
			break
		}
	}
	if waits.frees.IsZero() {
		waits.dates = waits.countDates(isFree, soaked)
	}
	waits.ends = nil
	waits.joinStarts()
}

// countDates gives how many clusters, whichever they are, need a report that says since when, for time to free enough slots;
// 0 where no number is enough. Soaked is how many of the slots that time frees belong to soaking clusters.
func (waits *waitSet) countDates(isFree func(ended, soaked int) bool, soaked int) int {
	undated := &waits.undatedSlots
	others := undated.n - waits.byKind[waitSoakingUndated].n // the ones that do not soak
	for n := 1; n <= undated.n; n++ {
		if isFree(len(waits.ends)+n, soaked+max(0, n-others)) {
			return n
		}
	}
	return 0
}

// join takes in the clusters of another active stage, when a stage waits for both.
func (waits *waitSet) join(other *waitSet) {
	for i := range waits.byKind {
		waits.byKind[i].merge(&other.byKind[i])
	}
	n, ignorable := waits.last.n+other.last.n, waits.last.ignorable
	ignorable.merge(&other.last.ignorable)
	for i := range other.last.blockers {
		waits.last.add(&other.last.blockers[i], 1)
	}
	waits.last.n, waits.last.ignorable = n, ignorable
	waits.starting += other.starting
	waits.anyFrozen = waits.anyFrozen || other.anyFrozen
	waits.unknown += other.unknown
	waits.earlier += other.earlier
	waits.undated.merge(&other.undated)
}

// namesExcept joins the names of the clusters in all state groups but some.
func (waits *waitSet) namesExcept(without waitKinds) string {
	var all stateGroup
	for i := range waits.byKind {
		if !without.has(waitKind(i)) {
			all.merge(&waits.byKind[i])
		}
	}
	return all.listed()
}

// isFree says whether one more cluster of a stage may start.
func (waits *waitSet) isFree(ended, _ int) bool { return waits.excess >= 1 && ended >= waits.excess }

// closeRamp closes the wait set of all clusters. With the ramp, a cluster that has soaked frees a slot and may add one.
func (r *Result) closeRamp(waitSet *waitSet) {
	ramp, starting := r.choice.pace.ramp, r.choice.starting()
	isFree := func(ended, soaked int) bool { return ramp.IsFreedBy(starting, ended, soaked) }
	waitSet.excess = ramp.Used + starting - ramp.Bound() + 1
	for waitSet.needed = 1; !isFree(waitSet.needed, waitSet.needed); {
		waitSet.needed++
	}
	waitSet.close(isFree)
}

// joinStarts puts the clusters that start into one state group, never reported or reported ToApply.
func (waits *waitSet) joinStarts() {
	waits.byKind[waitToApply].merge(&waits.byKind[waitUnreported])
	waits.byKind[waitUnreported] = stateGroup{}
}

// waitedFor says which clusters a rollout waits for that blocks no cluster: all that start or are in flight.
func (r *Result) waitedFor() string {
	var waitSet waitSet
	for position, state := range r.table.All() {
		if (r.isStarting(position) || fleet.InFlightStates.Has(state)) && !r.schedule.Ignores(position) {
			blocker := r.blocker(position)
			waitSet.byKind[waitKindOf(&blocker, state)].add(blocker)
		}
	}
	waitSet.joinStarts()
	return waitSet.sentences(0, 0)
}

func isFailed(state fleet.State) bool { return fleet.FailedStates.Has(state) }

func (group *stateGroup) add(blocker Blocker) {
	if group.n++; group.n <= maxNamed {
		group.names = append(group.names, blocker.label())
	}
	if group.n == 1 || blocker.changes().Before(group.first.changes()) {
		group.first = blocker
	}
	if group.n == 1 || group.last.changes().Before(blocker.changes()) {
		group.last = blocker
	}
}

// listed joins the names of the first, and counts the others.
func (group *stateGroup) listed() string { return listed(group.names, group.n) }

func (group *stateGroup) merge(other *stateGroup) {
	group.n += other.n
	group.names = append(group.names, other.names...)
	slices.Sort(group.names)
	group.names = group.names[:min(len(group.names), maxNamed)]
	if group.first.Name == "" {
		group.first, group.last = other.first, other.last
	}
}

// sentence says what the clusters of a state group do and until when: until they are done or, where slots have to become free,
// until they give theirs back. If they end at different times it names the last, or the first to free a slot. Where more
// than one slot has to become free, it names the first and the last.
func (group *stateGroup) sentence(slots int) string {
	blocker, which, end := group.last, "last", (*Blocker).end
	if slots > 0 {
		blocker, which, end = group.first, "first", (*Blocker).slot
	}
	names := group.listed()
	if many := group.n > 1; !many || group.first.changes().Equal(group.last.changes()) {
		return fmt.Sprintf("%s %s%s", names, blocker.kind(many), end(&blocker, many))
	}
	if blocker.frozen && group.first.changes().IsZero() {
		blocker = group.first // time alone does not end its freeze
		if blocker.notAllowed {
			return names + " " + blocker.kind(true)
		}
	}
	one := func(which string, blocker *Blocker) string {
		last := *blocker
		last.Since, last.Message = time.Time{}, ""
		ends := end(&last, false)
		for _, and := range []string{", and ", " and ", "; it "} {
			if does, ok := strings.CutPrefix(ends, and); ok {
				ends = " " + does
			}
		}
		if until, ok := strings.CutPrefix(ends, " until "); ok { // it stays so, which is no event
			return fmt.Sprintf("the %s (%s) until %s", which, blocker.label(), until)
		}
		return fmt.Sprintf("the %s (%s)%s", which, blocker.label(), ends)
	}
	text := names + " " + blocker.kind(true)
	if does := one(which, &blocker); blocker.Status == status.Succeeded || blocker.frozen {
		text += ", " + does
	} else {
		text += "; " + does
	}
	if slots > 1 {
		text += ", " + one("last", &group.last)
	}
	return text
}

// longestDetail is the most bytes that the sentences about clusters have together, unless the first alone has more. With the
// names that a hub allows, a block reason then fits the 1,024 bytes of a message.
const longestDetail = 550

// sentences joins the sentences of all state groups but some, the most troublesome first. Slots is how many have to become free,
// if slots are waited for.
func (waits *waitSet) sentences(slots int, without waitKinds) string {
	var text strings.Builder
	more := 0
	for _, kind := range [...]waitKind{
		waitUntrackedUndated, waitProgressingUndated, waitValidatingUndated, waitFailedUndated, waitSoakingUndated, failedLost, startingLate, startingRefused,
		silentAgain, refusedAgain, untrackedAgain, progressingAgain, validatingAgain, waitBlockingToApply, waitUntracked, waitSilent, waitRefused,
		waitFailed, waitTimedOut, waitProgressing, waitValidating, waitSoaking, waitToApply,
	} {
		members := &waits.byKind[kind]
		if members.n == 0 || without.has(kind) || slots > 0 && kind == waitBlockingToApply { // a frozen cluster has no slot
			continue
		}
		next := members.sentence(slots)
		if more > 0 || text.Len() > 0 && text.Len()+len(next) > longestDetail {
			more += members.n
			continue
		}
		if text.Len() > 0 {
			text.WriteString("; ")
		}
		text.WriteString(next)
	}
	if more > 0 {
		fmt.Fprintf(&text, "; and %d more", more)
	}
	return text.String()
}
