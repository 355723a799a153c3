// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/status"
)

// Blocker is a cluster that others wait for.
type Blocker struct {
	Cluster
	// Deselected says that the cluster is not selected any more, and still counts.
	Deselected bool `json:"deselected,omitempty"`
	// Starting says that the cluster is in Result.Start, and is waited for from now on.
	Starting bool `json:"starting,omitempty"`
	// Silent says that the cluster has the workload and has not answered yet.
	Silent bool `json:"silent,omitempty"`
	// Reason says more of a cluster in flight, as its report does ([status.Report]). Beside Starting, Refused says that the API
	// server refused to write the cluster's object, and Message says why.
	Reason status.ReportReason `json:"reason,omitempty"`
	// Since is when the cluster got its present state; zero if that is unknown, or if it does not have the workload.
	Since time.Time `json:"since,omitzero"`
	// Until is when its deadline or its soak ends; zero if time alone changes nothing, as where a budget is breached.
	Until time.Time `json:"until,omitzero"`
	// Again is when the deadline of a cluster passes whose attempt is before [Options].Attempt: it then waits
	// for its turn once more. It is zero for all others. Where it is set, Until is zero, because the wait for the
	// cluster goes on then.
	Again time.Time `json:"again,omitzero"`
	// WithoutTime says that no report tells the time of that, so the deadline or the soak never ends.
	WithoutTime bool `json:"withoutTime,omitempty"`
	// Message says why the cluster stands so, as its report does ([status.Report]), or why it is frozen ([ClusterFreeze]). Agents
	// write what reports say: quote it, or encode it, before you show it.
	Message string `json:"message,omitempty"`
	// Waiting is the number of blocked clusters that wait for it, directly or through others.
	Waiting int `json:"waiting,omitempty"`

	settled        bool // it succeeded and soaked, and is waited for because the time is unknown
	slotless       bool // it failed, and its slot went to the next
	endsWithObject bool // it is deselected and in flight, and counts until its object is gone
	late           bool // it starts once its object is gone, which is being deleted
	refused        bool // it starts once the API server accepts the write of its object, which it refused
	lost           bool // it failed, and only the record tells of it
	frozen         bool // it waits: it is frozen, or not in the allowlist
	notAllowed     bool // it waits: it is not in the allowlist, and not frozen
	withAllowlist  bool // there is an allowlist, so other frozen clusters may not be in it
}

// String says what the cluster does and until when: `cls037 is progressing and times out at 2026-01-02T10:50:00Z`.
func (b Blocker) String() string {
	return fmt.Sprintf("%s %s%s", b.label(), b.kind(false), b.end(false))
}

// label names the cluster in a sentence.
func (b *Blocker) label() string {
	if b.Deselected {
		return b.Name + deselectedMark
	}
	return b.Name
}

// says repeats the message of the cluster's report, cut where it is long.
func (b *Blocker) says() string {
	if b.Message == "" || b.frozen || b.refused { // another sentence has it
		return ""
	}
	return "; " + quoted(b.label(), b.Message)
}

// kind says what the cluster does, or what several clusters in its state do.
func (b *Blocker) kind(many bool) string {
	switch {
	case b.notAllowed && !many:
		return "is not in the allowlist"
	case b.frozen && many && b.withAllowlist:
		return "are frozen or not in the allowlist"
	case b.frozen:
		return plural(many, "is frozen", "are frozen")
	case b.late:
		return plural(many, "starts once its old object is gone (it is being deleted)", "start once their old objects are gone (they are being deleted)")
	case b.refused:
		return plural(many, "starts once the API server accepts the write of its object, which it refused", "start once the API server accepts the writes of their objects, which it refused")
	case b.Starting:
		return plural(many, "is starting", "are starting")
	case b.Silent:
		return plural(many, "has not reported on this version", "have not reported on this version")
	case b.Reason == status.ReportRefused:
		return "could not apply the workload so far"
	case b.Reason == status.ReportUntracked:
		return plural(many, "has", "have") + " applied the workload, but no conditionRules tell when it is done"
	case b.settled:
		return "succeeded"
	case b.Status == status.Succeeded:
		return plural(many, "succeeded and has to stay so (minSuccessTime)", "succeeded and have to stay so (minSuccessTime)")
	case b.Status == status.Validating:
		return plural(many, "waits for validation", "wait for validation")
	case b.Status == status.Failed:
		return "failed"
	case b.Status == status.TimeOut:
		return "timed out"
	default:
		return plural(many, "is progressing", "are progressing")
	}
}

// end says until when the cluster does so, in words that follow the words of kind.
func (b *Blocker) end(many bool) string {
	switch {
	case b.frozen:
		return b.thaws(many)
	case b.refused:
		return b.refusal(many)
	case b.Starting || b.Status == status.TimeOut:
		return ""
	case b.settled:
		return " at an unknown time" + noTime(many)
	case b.Status == status.Succeeded:
		return b.until(many)
	case b.Status == status.Failed && b.Until.IsZero():
		return b.since(many)
	case b.Status == status.Failed && b.slotless:
		return fmt.Sprintf("%s, %s no slot, and %s at %s unless %s", b.since(many), plural(many, "takes", "take"), plural(many, "times out", "time out"), inUTC(b.Until), plural(many, "it recovers", "they recover"))
	case b.Status == status.Failed:
		return b.since(many) + b.slot(many)
	case !b.Again.IsZero():
		done := plural(b.Status == status.Validating, "done", "validated")
		return b.and(", and", many) + fmt.Sprintf("%s at %s unless %s %s by then", plural(many, "is retried", "are retried"), inUTC(b.Again), plural(many, "it is", "they are"), done)
	case b.WithoutTime:
		return b.and(", and", many) + plural(many, "cannot time out until its status has a timestamp", "cannot time out until their status has a timestamp")
	case !b.Until.IsZero():
		return b.and(" and", many) + plural(many, "times out at ", "time out at ") + inUTC(b.Until)
	case b.Reason == status.ReportUntracked:
		return ""
	default:
		return b.since(many) + plural(many, ", and never times out (no progressDeadline)", ", and never time out (no progressDeadline)")
	}
}

// and joins to the words of kind what follows them. Where these end with a clause about the workload, it names the subject again.
func (b *Blocker) and(word string, many bool) string {
	if b.Reason == status.ReportUntracked {
		word = plural(many, "; it", "; they")
	}
	return word + " "
}

// slot says until when the cluster keeps its slot, in words that follow the words of kind.
func (b *Blocker) slot(many bool) string {
	keeps := plural(many, "stays in flight", "stay in flight")
	if b.Status == status.Failed {
		keeps = plural(many, "counts as in flight", "count as in flight")
	}
	switch {
	case b.Starting || b.Status == status.Succeeded || !b.Again.IsZero():
		return b.end(many)
	case b.lost && b.Until.IsZero():
		return b.since(many) + ", and " + keeps + plural(many, " until it is retried or ignored", " until they are retried or ignored")
	case b.Status == status.Failed && (b.WithoutTime || !b.Until.IsZero()):
		return ", and " + keeps + b.until(many)
	case b.WithoutTime || !b.Until.IsZero():
		return b.end(many)
	}
	if b.Reason == status.ReportUntracked {
		return b.untracked(many)
	}
	done := plural(many, "it is done", "they are done")
	switch {
	case b.Silent:
		done = plural(many, "it reports that it is done", "they report that they are done")
	case b.Status == status.Validating:
		done = plural(many, "it is validated", "they are validated")
	case b.Status == status.Failed:
		done = plural(many, "it succeeds", "they succeed")
	}
	if b.endsWithObject {
		done += plural(many, " or its object is gone", " or their objects are gone")
	}
	return fmt.Sprintf("%s, and %s until %s (no progressDeadline)", b.since(many), keeps, done)
}

// untracked says until when a cluster of which nothing says when it is done keeps its slot, where there is no deadline.
func (b *Blocker) untracked(many bool) string {
	keeps := plural(many, "; it stays in flight", "; they stay in flight")
	if b.endsWithObject {
		keeps += plural(many, " until its object is gone", " until their objects are gone")
	}
	return keeps
}

func (b *Blocker) since(many bool) string {
	switch {
	case many || b.Since.IsZero():
		return ""
	case b.Silent:
		return fmt.Sprintf(" (written for this cluster at %s)", inUTC(b.Since))
	case b.Status == status.Failed:
		return " at " + inUTC(b.Since)
	}
	return fmt.Sprintf(" (since %s)", inUTC(b.Since))
}

// until gives the time at which the deadline or the soak ends, or says that it is unknown.
func (b *Blocker) until(many bool) string {
	if !b.Until.IsZero() {
		return " until " + inUTC(b.Until)
	}
	return "; until when is unknown" + noTime(many)
}

// noTime says why the end of a state is unknown.
func noTime(many bool) string {
	return plural(many, " (its status has no timestamp)", " (their status has no timestamp)")
}

// thaws says until when the cluster is frozen, and the reason of its freeze.
func (b *Blocker) thaws(many bool) string {
	text := ""
	switch {
	case !b.Until.IsZero():
		text = " until " + inUTC(b.Until)
	case !many && !b.notAllowed:
		text = " with no end"
	}
	if !many && b.Message != "" {
		text += fmt.Sprintf(": %q", b.Message)
	}
	return text
}

// refusal says why the API server refused to write the object of the cluster, of several clusters for one of them.
func (b *Blocker) refusal(many bool) string {
	switch {
	case b.Message == "" && many:
		return " (" + b.label() + ": no reason is known)"
	case b.Message == "":
		return ": no reason is known"
	case many:
		return " (" + quoted(b.label(), b.Message) + ")"
	default:
		return fmt.Sprintf(": %q", b.Message)
	}
}

// blocker describes the cluster at a position.
func (r *Result) blocker(position fleet.Position) Blocker {
	state := r.table.State(position)
	blocker := Blocker{
		Cluster: r.cluster(position), Deselected: r.schedule.IsDeselected(position), Starting: r.isStarting(position), Silent: state == fleet.Silent,
		WithoutTime: fleet.UndatedStates.Has(state) || state == fleet.SucceededUndated, settled: state == fleet.SucceededUndated,
	}
	if since := r.table.Since(position); fleet.ExposedStates.Has(state) && !since.IsZero() {
		blocker.Since = since.In(r.table.Now.Location())
		if limit := r.schedule.Phases.LimitOf(state); limit > 0 {
			blocker.Until = blocker.Since.Add(limit)
		}
	}
	blocker.late, blocker.lost = blocker.Starting && r.table.Deleting[position], r.table.IsLost(position)
	blocker.refused = blocker.Starting && !blocker.late && r.table.Says(position).Refusal
	switch {
	case state == fleet.Refused, blocker.refused:
		blocker.Reason = status.ReportRefused
	case fleet.UntrackedStates.Has(state):
		blocker.Reason = status.ReportUntracked
	}
	if r.isEarlier(position) {
		blocker.Again, blocker.Until = blocker.Until, time.Time{}
	}
	switch {
	case state.IsFrozen():
		reason := r.blockAt(position)
		blocker.frozen, blocker.Message, blocker.Until = true, reason.Reason, reason.Until
		blocker.notAllowed, blocker.withAllowlist = reason.Type == BlockNotAllowed, r.schedule.options.named.hasAllowlist
	case !state.IsWaiting(), blocker.refused:
		blocker.Message = r.table.Says(position).Text
	}
	blocker.slotless = isFailed(state) && r.schedule.options.freeFailed
	index := r.schedule.options.record
	blocker.endsWithObject = blocker.Deselected && !fleet.FailureStates.Has(state) && (index == nil || !index.AtOnce)
	return blocker
}

// isEarlier says whether the cluster at a position is in flight in an attempt before the wanted one. Such a cluster waits
// for its turn again once its deadline has passed (R39).
func (r *Result) isEarlier(position fleet.Position) bool {
	state := r.table.State(position)
	return max(r.table.Attempt(position), 0) < r.schedule.options.attempt && fleet.InFlightStates.Has(state) && state != fleet.Soaking && state != fleet.SoakingUndated && !fleet.FailedStates.Has(state)
}

// changes gives the time at which time alone changes how the cluster stands; zero if it does not.
func (b *Blocker) changes() time.Time {
	if !b.Again.IsZero() {
		return b.Again
	}
	return b.Until
}

// Blockers lists the clusters for which others wait. The clusters for which most others wait come first. Among equals, those that time
// alone does not end come first, then those that end last, then those that only start now; then the names decide.
//
// The list is empty if no cluster is blocked, and if only users or missing decisions block the rollout. It takes time
// linear in the fleet, and n·log(n) for the n clusters that it lists.
func (r *Result) Blockers() []Blocker {
	if r.schedule == nil || r.schedule.options.paused || r.schedule.missing != "" {
		return nil
	}
	waiting, forAll := r.blockedByStage()
	lacks := r.choice.pace.noShare
	forTimes := r.blockedForTimes()
	allBlocked := 0
	if r.choice.breach != nil {
		allBlocked = r.allBlocked()
	}
	var all []Blocker
	for position, state := range r.table.All() {
		if r.schedule.Ignores(position) {
			continue // nothing waits for it
		}
		group := r.schedule.GroupOf(position)
		waits := 0
		if r.choice.breach != nil {
			if r.isInBreach(position) {
				waits = allBlocked
			}
		} else {
			if i, active := r.choice.grantOf(r.schedule.Graph.Of(group)); active {
				waits = r.blocksOf(position, waiting[i])
			}
			waits += r.blocksOf(position, blockedBy{forSlots: forAll.ramp})
			if forAll.shares > 0 && r.usesUpShares(position) {
				waits += forAll.shares
			}
			if r.isStarting(position) || fleet.ExposedStates.Has(state) {
				waits += forAll.exposed
			}
			if r.table.IsUnknown(position) {
				waits += forAll.starts
			}
			if r.isUndatedSuccess(position) {
				waits += forTimes[r.schedule.Graph.Of(group)]
			}
		}
		if waits > 0 {
			blocker := r.blocker(position)
			if blocker.Waiting = waits; r.choice.breach != nil || lacks && fleet.FailureStates.Has(state) {
				blocker.Until = time.Time{}
			}
			all = append(all, blocker)
		}
	}
	slices.SortStableFunc(all, func(a, b Blocker) int { return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), compareEnds(&a, &b)) })
	return all
}

// blockedBy counts the clusters that an active stage blocks.
type blockedBy struct {
	behind   int // in the stages that come after it, directly or not
	forSlots int // in the stage itself, for want of a slot
}

// blockedByAll counts the clusters that the limits on all stages together block.
type blockedByAll struct{ shares, exposed, ramp, starts int }

// blocksOf counts the clusters that wait for a cluster of an active stage in the given state. Clusters behind the stage
// wait until it is settled. Clusters in the stage that lack a slot wait while it has one.
func (r *Result) blocksOf(position fleet.Position, blocked blockedBy) (blocks int) {
	state := r.table.State(position)
	if fleet.BlockingStates.Has(state) {
		return blocked.behind
	}
	if !r.isStarting(position) && !fleet.InFlightStates.Has(state) {
		return 0
	}
	if !isFailed(state) {
		blocks += blocked.behind
	}
	if !isFailed(state) || !r.schedule.options.freeFailed {
		blocks += blocked.forSlots
	}
	return blocks
}

// usesUpShares says whether the shares would block fewer clusters without a cluster in the state.
func (r *Result) usesUpShares(position fleet.Position) bool {
	state, shares := r.table.State(position), r.schedule.options.shares
	switch {
	case shares.Concurrency == 0:
		return false
	case r.choice.pace.noShare:
		return fleet.FailureStates.Has(state)
	}
	return r.isStarting(position) || fleet.InFlightStates.Has(state)
}

// blockedByStage counts the clusters that each active stage blocks, and those that the limits on all stages block.
func (r *Result) blockedByStage() (by []blockedBy, all blockedByAll) {
	schedule, choice := r.schedule, &r.choice
	blocked := make([]int, len(schedule.limits)) // of each stage
	by = make([]blockedBy, len(choice.grants()))
	for group := range r.numGroups() {
		stage, n := schedule.Graph.Of(group), r.blocked(group)
		blocked[stage] += n + r.frozenIn(group)
		if schedule.options.shares != nil && schedule.blockReason(choice, group).Type == BlockShares {
			all.shares += n
			continue
		}
		i, active := choice.grantOf(stage)
		if !active || choice.grants()[i].barrier >= 0 || choice.isClosed(group) || choice.isWaiting(stage) {
			continue
		}
		switch choice.grants()[i].limit {
		case limits.KindRamp:
			all.ramp += n
		case limits.KindStarts:
			all.starts += n
		case limits.KindPlaces:
			by[i].behind += n
		case limits.KindExposure:
			all.exposed += n
		default:
			by[i].forSlots += n
		}
	}
	for i := range by {
		for _, stage := range schedule.Graph.Behind(choice.grants()[i].stage) {
			by[i].behind += blocked[stage]
		}
	}
	return by, all
}

// allBlocked counts all blocked clusters.
func (r *Result) allBlocked() (n int) {
	for group := range r.numGroups() {
		n += r.blocked(group) + r.frozenIn(group)
	}
	return n
}

// startsNow says whether nothing keeps a cluster that starts from its workload.
func (b *Blocker) startsNow() bool { return b.Starting && !b.late && !b.refused }

// compareEnds puts first the blockers that time alone does not end, then those that end last. Clusters that only start
// now come last.
func compareEnds(a, b *Blocker) int {
	switch {
	case a.startsNow() != b.startsNow():
		return one(a.startsNow()) - one(b.startsNow())
	case a.Until.IsZero() != b.Until.IsZero():
		return one(b.Until.IsZero()) - one(a.Until.IsZero())
	default:
		return b.Until.Compare(a.Until)
	}
}
