// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// view finds clusters by where they stand. There are two views: a [fleet.Scan] looks through all clusters, for Plan; a
// [fleet.Index] keeps them in sets, for the Planner. The code below decides and lists over either.
type view interface {
	In(states fleet.States, from fleet.Position) (position fleet.Position, state fleet.State, ok bool)
	Turn(stage stages.Stage, state fleet.State, from int) (position fleet.Position, place int, ok bool)
	LastSuccess(stage stages.Stage) time.Time
	State(position fleet.Position) fleet.State
	Of(position fleet.Position) fleet.Report
	Attempt(position fleet.Position) int
	IsLost(position fleet.Position) bool
}

// choice says what may start. It follows from the tallies alone, so clusters are looked at only to be listed.
//
// For example, with a mandatory group 1 {a succeeded, b succeeded} and the others {c progressing, d toApply, e
// unreported} at most two at a time, the second stage is the only active one. In its grant used has one progressing, open
// is {1, 1} and slots is 1: d starts, e is blocked for want of a slot.
type choice struct {
	only         [1]grant      // where the stages are a chain: the grant of the active stage
	active       int           // how many of only there are: none where all stages are complete
	activeStages *activeStages // where the stages are a graph; nil for a chain

	waits          []interval                   // the wait of each stage; nil without the option
	pace           pace                         // the limits on all stages together
	ignoredWaiting int                          // how many ignored clusters wait
	breach         *Breach                      // the budget that is breached; nil if none is
	last           []lasting                    // the breaches that last, however the groups are cut
	closed         map[stages.Group]limits.Gate // the closed gate before each group; nil where none is closed
	// Where the stages are a chain: the group of the first stage with a closed gate before it, among the stages of one
	// group in a sequence; -1 if there is none.
	barrier stages.Group

	unselected map[string]time.Time // when each cluster to remove was first found unselected; nil without RemoveAfter
	full       overflow             // the clusters that the record has no room for
	retry      int                  // the attempt that makes room for them; 0 where none does
}

// grant says what an active stage may start. A stage is active if it is not complete and all stages that it comes after
// are.
type grant struct {
	stage   stages.Stage
	used    *fleet.Tally // of the stage
	open    [2]int       // its waiting clusters behind no closed gate, by state: unreported, toApply
	slots   int          // how many of the open ones start
	limit   limits.Kind  // which limit blocks the others
	barrier stages.Group // the group whose closed gate blocks the stage and all behind it; -1 if none
}

// activeStages says which stages of a graph are active, and what the others wait for.
//
// For example, b and c come after a, and d after both: a {succeeded}, b {progressing}, c {unreported}, d {unreported}.
// Then the grants are for b and c, of is -1, 0, 1, -1, and behind is -1, -1, -1, 1: d waits for b first.
type activeStages struct {
	grants   []grant        // of the active stages, in their order
	of       []int32        // the index of each stage's grant; -1 where the stage is not active
	behind   []stages.Stage // for each stage the first incomplete stage that it comes after; -1 if there is none
	barriers []stages.Stage // for each stage the first stage with a closed gate, among itself and all that it comes after; -1 if there is none
}

// grants gives the grants of the active stages, in order.
func (c *choice) grants() []grant {
	if c.activeStages != nil {
		return c.activeStages.grants
	}
	return c.only[:c.active]
}

// grantOf gives the index in grants of an active stage.
func (c *choice) grantOf(stage stages.Stage) (int, bool) {
	if c.activeStages != nil {
		i := c.activeStages.of[stage]
		return int(i), i >= 0
	}
	return 0, c.active > 0 && c.only[0].stage == stage
}

// waitsFor gives the first incomplete stage that the given one comes after. It is an active stage.
func (c *choice) waitsFor(stage stages.Stage) (stages.Stage, bool) {
	if c.activeStages != nil {
		first := c.activeStages.behind[stage]
		return first, first >= 0
	}
	return c.only[0].stage, c.active > 0 && c.only[0].stage < stage
}

// starting counts the clusters that start.
func (c *choice) starting() (n int) {
	grants := c.grants()
	for i := range grants {
		n += grants[i].slots
	}
	return n
}

// startingFrom counts the clusters in one of the two waiting states that start. Those that are toApply come first (R8).
func (g *grant) startingFrom(waiting fleet.State) int {
	first := min(g.slots, g.open[fleet.ToApply])
	if waiting == fleet.ToApply {
		return first
	}
	return g.slots - first
}

// choose computes in choice, which has no more than the breaches that last, what the active stages may start (R9 to R12, R22 to
// R25, R28). Record is what the owner is to store. It takes constant time, except to find the names of a breach; with closed gates
// or a graph it takes time linear in the groups.
func (s *schedule) choose(choice *choice, record *status.Record, view view, observed *observed, now time.Time) {
	totals := &observed.Totals
	choice.closed, choice.ignoredWaiting, choice.full = s.options.gates.Closed(s.Members, now), totals.IgnoredAll.Waiting(), overflow{record.More, record.Until}
	choice.retry = s.retry(record)
	if !s.Graph.IsChain() {
		choice.activeStages = s.follow(choice, totals)
	} else {
		choice.barrier = s.barrier(choice)
	}
	if s.Graph.IsChain() && observed.active < s.Graph.Len() {
		choice.active = 1
		choice.only[0] = grant{stage: observed.active, used: &totals.Stages[observed.active], barrier: s.barrierOf(choice, observed.active)}
	}
	choice.breach = s.breach(view, observed, choice.last)
	if s.stopped(choice) {
		return
	}
	choice.waits = s.waits(view, choice, totals, now)
	choice.pace = s.newPace(choice, observed)
	grants := choice.grants()
	for i := range grants {
		if grants[i].barrier < 0 && !choice.isWaiting(grants[i].stage) {
			s.grant(choice, &grants[i], totals.Groups)
		}
	}
}

// follow finds the active stages of a graph, and what the others wait for. It takes time linear in the graph, where stages that
// come after the same ones share what these are.
func (s *schedule) follow(choice *choice, totals *fleet.Totals) *activeStages {
	n := s.Graph.Len()
	tr := &activeStages{of: make([]int32, n), behind: make([]stages.Stage, n), barriers: make([]stages.Stage, n)}
	for stage := range n {
		behind, barrier := stages.Stage(stages.None), stages.Stage(stages.None)
		after := s.Graph.DirectlyBefore(stage)
		if same := s.Graph.SamePredecessors(stage); same < stage {
			if after, behind = nil, tr.behind[same]; tr.barriers[same] != same {
				barrier = tr.barriers[same]
			}
		}
		for _, before := range after {
			first := tr.behind[before]
			if first < 0 && !s.IsComplete(before, &totals.Stages[before]) {
				first = before
			}
			behind, barrier = earlier(behind, first), earlier(barrier, tr.barriers[before])
		}
		if barrier < 0 && choice.isClosed(s.Graph.First(stage)) {
			barrier = stage
		}
		tr.behind[stage], tr.barriers[stage], tr.of[stage] = behind, barrier, -1
		if behind >= 0 || s.IsComplete(stage, &totals.Stages[stage]) {
			continue
		}
		grant := grant{stage: stage, used: &totals.Stages[stage], barrier: stages.None}
		if barrier >= 0 {
			grant.barrier = s.Graph.First(barrier)
		}
		tr.of[stage] = int32(len(tr.grants))
		tr.grants = append(tr.grants, grant)
	}
	return tr
}

// earlier gives the smaller of two stages, where -1 is none.
func earlier(a, b stages.Stage) stages.Stage {
	switch {
	case a < 0:
		return b
	case b < 0:
		return a
	default:
		return min(a, b)
	}
}

// stopped says whether nothing starts anywhere.
func (s *schedule) stopped(choice *choice) bool {
	return s.options.paused || s.missing != "" || choice.breach != nil || choice.full.n > 0
}

// barrier gives the group of the first stage of a chain with a closed gate before it, among the stages of one group in
// a sequence; -1 if there is none (R23). It takes time linear in the closed gates.
func (s *schedule) barrier(choice *choice) stages.Group {
	first := stages.Group(stages.None)
	for group := range choice.closed {
		stage := s.Graph.Of(group)
		if s.Graph.IsSingle(stage) && (first < 0 || stage < s.Graph.Of(first)) {
			first = group
		}
	}
	return first
}

// grant sets how many clusters of an active stage start if no barrier blocks it.
func (s *schedule) grant(choice *choice, grant *grant, groups []fleet.Tally) {
	grant.open = [2]int{grant.used.In(fleet.Unreported), grant.used.In(fleet.ToApply)}
	if !s.Graph.IsSingle(grant.stage) { // a closed gate before a stage of one group is a barrier
		for group := range choice.closed {
			if s.Graph.Of(group) == grant.stage {
				grant.open[fleet.Unreported] -= groups[group].In(fleet.Unreported)
				grant.open[fleet.ToApply] -= groups[group].In(fleet.ToApply)
			}
		}
	}
	left := choice.pace.left
	left[limits.KindConcurrency] = s.slotsOf(grant).Left()
	left[limits.KindPlaces] = s.placesOf(grant).Left()
	grant.limit, grant.slots = left.Least()
	grant.slots = min(grant.slots, grant.open[fleet.Unreported]+grant.open[fleet.ToApply])
	choice.pace.left.Take(grant.slots)
}

// slotsOf gives the slots of an active stage.
func (s *schedule) slotsOf(grant *grant) limits.Concurrency {
	return limits.Concurrency{Most: s.limits[grant.stage].maxConcurrency, Used: s.slotsUsed(grant.used)}
}

// slotsUsed counts the clusters of a stage that count against its concurrency (R11, R25).
func (s *schedule) slotsUsed(tally *fleet.Tally) int {
	if s.options.freeFailed {
		return tally.InFlight() - tally.Failed()
	}
	return tally.InFlight()
}

// isClosed says whether a gate is closed before a group.
func (c *choice) isClosed(group stages.Group) bool {
	_, closed := c.closed[group]
	return closed
}
