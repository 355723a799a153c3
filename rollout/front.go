package rollout

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// front has the clusters of an active stage that the held clusters of a result wait for, as sentences and explanations
// need them.
//
// For example, c and d wait for a mandatory group {a soaking until 10:15, b progressing until 10:50}. Then the crowd of
// soaking is a, the crowd of progressing is b, last is b, a, and first is a, b.
type front struct {
	crowds [numCrowds]crowd // of the active stage, by state; clusters that start are under toApply
	last   few              // the clusters that the stage waits for, the last to end first; those that never end come before all others
	first  few              // the clusters that have a slot, the first to free it first
	excess int              // how many slots have to come free before one more cluster may start
	needed int              // how many of those with a slot have to succeed before one more cluster may start
	frees  time.Time        // when that many are free; zero if time alone does not free them
	ends   []end            // when time frees each slot; only while the front is made
	// How many only start now, and how many are in flight since an unknown time.
	starting, unknown int
	parks             bool // somebody is held by itself
	earlier           int  // how many are in flight in an attempt before the wanted one

	// The clusters of last and of first whose deadline or soak ends once a report gives the time from which it runs.
	undated, undatedSlots crowd
	dates                 int // how many of undatedSlots need such a report for time to free enough slots; 0 if that would not help
}

// end is when time frees a slot, and whether the cluster has then soaked.
type end struct {
	at    time.Time
	soaks bool
}

// fronts has what is worked out once for a result, when somebody asks.
type fronts struct {
	once, parking, timing sync.Once

	found  *found
	parked *parked
	stops  *time.Time // when time-outs stop the rollout; zero if they do not
}

// found has the fronts of the active stages, in order. They are found in one pass over the fleet. There are none where something
// stops all stages: the held clusters then wait for no others, or for clusters that failed.
type found struct {
	of      []front
	fleet   *front // the front of all clusters; nil where neither the ramp nor the rights hold any
	attempt int    // at a breach the last attempt among the failures that count
}

// Beside the states there are crowds for clusters that are tried again (R39), for those that start late, and for those that cannot
// recover (R29).
const (
	silentAgain = numStates + iota
	refusedAgain
	untrackedAgain
	progressingAgain
	validatingAgain
	startingLate
	failedLost
	numCrowds
)

const (
	failedCrowds    stateSet = failedStates | 1<<failedLost
	untrackedCrowds stateSet = untrackedStates | 1<<untrackedAgain
)

// crowdOf gives the crowd of a cluster in a state.
func crowdOf(b *Blocker, s state) state {
	switch {
	case b.parked:
		return blockingToApply
	case b.late:
		return startingLate
	case b.lost:
		return failedLost
	case b.Again.IsZero():
		return s &^ starting
	case b.Silent:
		return silentAgain
	case b.Reason == status.ReportRefused:
		return refusedAgain
	case b.Reason == status.ReportUntracked:
		return untrackedAgain
	case b.Status == status.Validating:
		return validatingAgain
	default:
		return progressingAgain
	}
}

// crowd holds clusters in the same state.
type crowd struct {
	n     int
	names []string // the first of them, in order
	first Blocker  // who ends first
	last  Blocker  // who ends last
}

// few holds the first blockers in some order, at most maxNamed, and counts all of them.
type few struct {
	blockers []Blocker
	n        int
	away     away // of all of them
}

// add counts b, and inserts it if it is among the first, in the order of compareEnds, or reversed if sign is -1.
func (f *few) add(b *Blocker, sign int) {
	f.n++
	f.away.add(b)
	at := len(f.blockers)
	for at > 0 && sign*compareEnds(b, &f.blockers[at-1]) < 0 {
		at--
	}
	if at < maxNamed {
		f.blockers = slices.Insert(f.blockers[:min(len(f.blockers), maxNamed-1)], at, *b)
	}
}

// look gives the front of an active stage, by the index of its grant.
func (r *Result) look(grant int) *front {
	r.fronts.once.Do(func() {
		if !r.schedule.stopped(&r.choice) {
			r.findFronts()
		}
	})
	return &r.fronts.found.of[grant]
}

// lookAtFleet gives the front of all clusters, where the ramp or the rights hold some.
func (r *Result) lookAtFleet() *front {
	r.look(0)
	return r.fronts.found.fleet
}

func (r *Result) findFronts() {
	s, grants := r.schedule, r.choice.grants()
	fronts := make([]front, len(grants))
	var fleet *front
	byRights := false // then the ramp holds none
	for i := range fronts {
		g := &grants[i]
		fronts[i].excess = s.holdingSlots(g.used) + g.slots - s.stages[g.stage].maxConcurrency + 1
		fronts[i].needed = fronts[i].excess
		if byRights = byRights || g.limit == BlockShares; (byRights || g.limit == BlockRamp) && fleet == nil {
			fleet = &front{}
		}
	}
	for position, state := range r.states {
		if state&starting == 0 && !inFlightStates.has(state) && !blockingStates.has(state) || s.isAside(position) {
			continue
		}
		i, active := r.choice.grantOf(int(s.stageOf[s.groups.GroupAt(position)]))
		if !active && fleet == nil {
			continue
		}
		b, earlier := r.blocker(position), r.isEarlier(position)
		if active {
			fronts[i].add(b, state, s.options.freeFailed, earlier)
		}
		if fleet != nil && !b.parked {
			b.slotless = b.slotless && !byRights
			fleet.add(b, state, s.options.freeFailed && !byRights, earlier)
		}
	}
	for i := range fronts {
		fronts[i].close(fronts[i].isFree)
	}
	switch {
	case byRights:
		fleet.excess = r.choice.pace.all.inFlight() + r.choice.starting() - s.options.rights.Concurrency + 1
		fleet.needed = fleet.excess
		fleet.close(fleet.isFree)
	case fleet != nil:
		r.closeRamp(fleet)
	}
	r.fronts.found = &found{of: fronts, fleet: fleet}
}

// add takes in a cluster that starts or is in flight, perhaps in an attempt before the wanted one. A failed cluster has no
// slot if failures free it.
func (f *front) add(b Blocker, state state, freeFailed, earlier bool) {
	f.crowds[crowdOf(&b, state)].add(b)
	if b.parked {
		f.parks = true
		f.last.add(&b, 1)
		return
	}
	f.starting += one(b.Starting)
	f.unknown += one(!b.Starting && b.Since.IsZero())
	f.earlier += one(earlier)
	undated := b.WithoutTime && !earlier && !b.lost // the deadline of an earlier attempt ends no wait
	if !isFailed(state) {
		f.last.add(&b, 1)
		if undated {
			f.undated.add(b)
		}
	}
	if !isFailed(state) || !freeFailed {
		f.first.add(&b, -1)
		if undated {
			f.undatedSlots.add(b)
		}
		if !b.Until.IsZero() {
			f.ends = append(f.ends, end{b.Until, b.Status == status.Succeeded})
		}
	}
}

// close works out what follows from the clusters that were added. IsFree says whether one more cluster may start once that
// many slots are free, and that many of them from clusters that soaked.
func (f *front) close(isFree func(ended, soaked int) bool) {
	slices.SortFunc(f.ends, func(a, b end) int { return a.at.Compare(b.at) })
	soaked := 0
	for i, e := range f.ends {
		if soaked += one(e.soaks); isFree(i+1, soaked) {
			f.frees = e.at
			break
		}
	}
	if f.frees.IsZero() {
		f.dates = f.countDates(isFree, soaked)
	}
	f.ends = nil
	f.joinStarts()
}

// countDates gives how many clusters, whichever they are, need a report that says since when, for time to free enough slots;
// 0 where no number is enough. Soaked is how many of the slots that time frees belong to soaking clusters.
func (f *front) countDates(isFree func(ended, soaked int) bool, soaked int) int {
	u := &f.undatedSlots
	others := u.n - f.crowds[soakingUndated].n // the ones that do not soak
	for n := 1; n <= u.n; n++ {
		if isFree(len(f.ends)+n, soaked+max(0, n-others)) {
			return n
		}
	}
	return 0
}

// join takes in the clusters of another active stage, when a stage waits for both.
func (f *front) join(other *front) {
	for i := range f.crowds {
		f.crowds[i].merge(&other.crowds[i])
	}
	n, gone := f.last.n+other.last.n, f.last.away
	gone.merge(&other.last.away)
	for i := range other.last.blockers {
		f.last.add(&other.last.blockers[i], 1)
	}
	f.last.n, f.last.away = n, gone
	f.starting += other.starting
	f.parks = f.parks || other.parks
	f.unknown += other.unknown
	f.earlier += other.earlier
	f.undated.merge(&other.undated)
}

// namesBut joins the names of the clusters in all crowds but some.
func (f *front) namesBut(without stateSet) string {
	var all crowd
	for i := range f.crowds {
		if !without.has(state(i)) {
			all.merge(&f.crowds[i])
		}
	}
	return all.listed()
}

// isFree says whether one more cluster of a stage may start.
func (f *front) isFree(ended, _ int) bool { return f.excess >= 1 && ended >= f.excess }

// closeRamp closes the front of all clusters. With the ramp, a cluster that has soaked frees a slot and may add one.
func (r *Result) closeRamp(f *front) {
	p, initial := r.choice.pace, r.schedule.options.ramp
	taken := r.schedule.holdingSlots(&p.all) + r.choice.starting()
	isFree := func(ended, soaked int) bool { return taken-ended < max(initial, p.soaked+soaked) }
	f.excess = taken - p.bound + 1
	for f.needed = 1; !isFree(f.needed, f.needed); {
		f.needed++
	}
	f.close(isFree)
}

// joinStarts puts the clusters that start into one crowd, never reported or reported ToApply.
func (f *front) joinStarts() {
	f.crowds[toApply].merge(&f.crowds[unreported])
	f.crowds[unreported] = crowd{}
}

// waitedFor says which clusters a rollout waits for that holds nobody: all that start or are in flight.
func (r *Result) waitedFor() string {
	var f front
	for position, state := range r.states {
		if (state&starting != 0 || inFlightStates.has(state)) && !r.schedule.isAside(position) {
			b := r.blocker(position)
			f.crowds[crowdOf(&b, state)].add(b)
		}
	}
	f.joinStarts()
	return f.sentences(0, 0)
}

func isFailed(s state) bool { return failedStates.has(s) }

func (c *crowd) add(b Blocker) {
	if c.n++; c.n <= maxNamed {
		c.names = append(c.names, b.label())
	}
	if c.n == 1 || b.changes().Before(c.first.changes()) {
		c.first = b
	}
	if c.n == 1 || c.last.changes().Before(b.changes()) {
		c.last = b
	}
}

// listed joins the names of the first, and counts the others.
func (c *crowd) listed() string { return listed(c.names, c.n) }

func (c *crowd) merge(other *crowd) {
	c.n += other.n
	c.names = append(c.names, other.names...)
	slices.Sort(c.names)
	c.names = c.names[:min(len(c.names), maxNamed)]
	if c.first.Name == "" {
		c.first, c.last = other.first, other.last
	}
}

// sentence says what the clusters of a crowd do and until when: until they are done or, where slots have to become free,
// until they give theirs back. If they end at different times it names the last, or the first to free a slot. Where more
// than one slot has to become free, it names the first and the last.
func (c *crowd) sentence(slots int) string {
	b, which, end := c.last, "last", (*Blocker).end
	if slots > 0 {
		b, which, end = c.first, "first", (*Blocker).slot
	}
	names := c.listed()
	if many := c.n > 1; !many || c.first.changes().Equal(c.last.changes()) {
		return fmt.Sprintf("%s %s%s", names, b.kind(many), end(&b, many))
	}
	one := func(which string, b *Blocker) string {
		return fmt.Sprintf("the %s, %s,%s", which, b.label(), strings.TrimPrefix(end(b, false), ","))
	}
	s := fmt.Sprintf("%s %s, %s", names, b.kind(true), one(which, &b))
	if slots > 1 {
		s += ", and " + one("last", &c.last)
	}
	return s
}

// longestDetail is the most bytes that the sentences about clusters have together, unless the first alone has more. With the
// names that a hub allows, a hold then fits the 1,024 bytes of a message.
const longestDetail = 560

// sentences joins the sentences of all crowds but some, the most troublesome first. Slots is how many have to become free,
// if slots are waited for.
func (f *front) sentences(slots int, without stateSet) string {
	var s strings.Builder
	more := 0
	for _, state := range [...]state{
		untrackedUndated, progressingUndated, validatingUndated, failedUndated, soakingUndated, failedLost, startingLate, silentAgain, refusedAgain,
		untrackedAgain, progressingAgain, validatingAgain, blockingToApply, untracked, silent, refused, failed, timedOut, progressing, validating, soaking, toApply,
	} {
		c := &f.crowds[state]
		if c.n == 0 || without.has(state) || slots > 0 && state == blockingToApply { // who is held has no slot
			continue
		}
		next := c.sentence(slots)
		if more > 0 || s.Len() > 0 && s.Len()+len(next) > longestDetail {
			more += c.n
			continue
		}
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		s.WriteString(next)
	}
	if more > 0 {
		fmt.Fprintf(&s, "; and %d more", more)
	}
	return s.String()
}

// listed joins the first names of n, and counts the others: "a, b and 2 more".
func listed(names []string, n int) string {
	s := strings.Join(names, ", ")
	if more := n - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
