// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// RemedyType is the kind of a [Remedy].
type RemedyType string

const (
	// RemedyWait says that time alone ends the wait. From then on the groups whose turn it is are waited for, or by then too
	// many clusters have timed out, and the rollout stops.
	RemedyWait RemedyType = "Wait"
	// RemedyAnswer says that the clusters that are waited for have to succeed and soak; nothing else has to be done.
	RemedyAnswer RemedyType = "Answer"
	// RemedyValidate says that a validator has to say whether clusters are as they should be ([status.Verdict]).
	RemedyValidate RemedyType = "Validate"
	// RemedyAddConditionRules says that conditionRules in the template have to say when the workload is done on these clusters, or
	// that reports have to let Available count ([status.WorkState]). Others may be waited for, or may have failed, as well.
	RemedyAddConditionRules RemedyType = "AddConditionRules"
	// RemedyReportTime says that reports have to say when clusters got their present state. Then it is known how long these
	// clusters are waited for at most. Others may be waited for as well.
	RemedyReportTime RemedyType = "ReportTime"
	// RemedyResume says that an operator can resume the rollout.
	RemedyResume RemedyType = "Resume"
	// RemedyOpenGate says that an operator can open the gate.
	RemedyOpenGate RemedyType = "OpenGate"
	// RemedyUnfreeze says that an operator can unfreeze the clusters ([Options].Freezes).
	RemedyUnfreeze RemedyType = "Unfreeze"
	// RemedyAllow says that an operator can add the clusters to the allowlist ([Options].Allowlist).
	RemedyAllow RemedyType = "Allow"
	// RemedyFix says that failed clusters have to be fixed. A cluster cannot be fixed if only the record has its failure, or one that
	// timed out only because nothing says when it is done.
	RemedyFix RemedyType = "Fix"
	// RemedyTryAgain says that an operator can have the failed clusters tried again, by [Options].Attempt. It ends the breach that the
	// result reports, which is the first. If there are others, the next is reported after that, with an attempt of its own.
	RemedyTryAgain RemedyType = "TryAgain"
	// RemedyIgnore says that an operator can ignore clusters, by [Options].Ignored: deselected ones, those that start only once
	// their object is gone, and those of whose failure only the record tells.
	RemedyIgnore RemedyType = "Ignore"
	// RemedyForget says that an operator can remove the record from the owner, which lets all its clusters count no more, and those for
	// which it has no room.
	RemedyForget RemedyType = "Forget"
	// RemedyRevert says that an operator can roll back, by [Revert], if there is a version before.
	RemedyRevert RemedyType = "Revert"
	// RemedyRaiseMaxFailures says that an operator can raise maxFailures.
	RemedyRaiseMaxFailures RemedyType = "RaiseMaxFailures"
	// RemedyRaiseShares says that the coordinator hub, or whatever divides the limits, can give this hub a larger share ([Options].Shares).
	RemedyRaiseShares RemedyType = "RaiseShares"
	// RemedySetProgressDeadline says that an operator can set a progressDeadline, after which clusters count as timed out.
	RemedySetProgressDeadline RemedyType = "SetProgressDeadline"
	// RemedyCompleteGroups says that the PlacementDecisions have to be written, or a cache has to be filled.
	RemedyCompleteGroups RemedyType = "CompleteGroups"
)

// Remedy is a way in which a wait ends. Remedies are comparable. A field whose comment does not name the Type is zero.
type Remedy struct {
	Type RemedyType `json:"type"`
	// At is when the wait ends (RemedyWait).
	At time.Time `json:"at,omitzero"`
	// Stops is when time-outs stop the rollout, at At or before, if no cluster is reported otherwise; zero if they do not
	// (RemedyWait).
	Stops time.Time `json:"stops,omitzero"`
	// Group is the group with the gate (RemedyOpenGate).
	Group grouping.Key `json:"group,omitzero"`
	// Gate is the gate's name, if it has one (RemedyOpenGate).
	Gate string `json:"gate,omitempty"`
	// Count is how many of Of clusters have to do so (RemedyAnswer, RemedyReportTime, RemedyFix, RemedyValidate,
	// RemedyAddConditionRules). Count is also the
	// value to set (RemedyTryAgain, RemedyRaiseMaxFailures), or the least share of failures; 0 where the share of concurrency has to be
	// larger (RemedyRaiseShares).
	Count int `json:"count,omitempty"`
	Of    int `json:"of,omitempty"`
	// Clusters names the first of these clusters: "a, b, c and 2 more" (RemedyAnswer, RemedyReportTime, RemedyFix,
	// RemedyValidate, RemedyAddConditionRules, RemedyIgnore, RemedyUnfreeze, RemedyAllow).
	Clusters string `json:"clusters,omitempty"`
	// Succeeded says that these clusters have succeeded at an unknown time; otherwise they are in flight
	// (RemedyReportTime).
	Succeeded bool `json:"succeeded,omitempty"`
}

// String says what to do: `fix the workload on at least 1 of a, b`, or `fix the workload on a` where it takes all of them.
func (remedy Remedy) String() string {
	switch remedy.Type {
	case RemedyWait:
		if !remedy.Stops.IsZero() {
			return fmt.Sprintf("wait until %s; %s", inUTC(remedy.At), remedy.stops())
		}
		return "wait until " + inUTC(remedy.At)
	case RemedyAnswer:
		return fmt.Sprintf("wait until %s %s done", remedy.some(), plural(remedy.Count > 1, "is", "are"))
	case RemedyAddConditionRules:
		return "add conditionRules to the template that tell when the workload is done, or have the controller count the workload as done when its condition Available is True (AvailableSucceeds)"
	case RemedyReportTime:
		if remedy.Succeeded {
			return fmt.Sprintf("wait until the status of %s says when %s succeeded", remedy.some(), plural(remedy.Count > 1, "it", "they"))
		}
		return fmt.Sprintf("wait until the status of %s has a timestamp", remedy.some())
	case RemedyIgnore:
		return fmt.Sprintf("add %s to the ignored clusters (no longer counted as in flight, failed or done)", remedy.Clusters)
	case RemedyForget:
		return "delete the record of deselected clusters in the rollout's object (the clusters in that record then no longer count as in flight, failed or done)"
	case RemedyResume:
		return "resume the rollout"
	case RemedyOpenGate:
		return fmt.Sprintf("open the %s before %v", Gate{Name: remedy.Gate}, remedy.Group)
	case RemedyFix:
		return "fix the workload on " + remedy.some()
	case RemedyUnfreeze:
		return "unfreeze " + remedy.Clusters
	case RemedyAllow:
		return fmt.Sprintf("add %s to the allowlist", remedy.Clusters)
	case RemedyValidate:
		return fmt.Sprintf("validate the version on %s, and record the verdict", remedy.some())
	case RemedyTryAgain:
		return fmt.Sprintf("retry the failed clusters: raise the rollout's attempt number to %d", remedy.Count)
	case RemedyRevert:
		return "roll back to the previous version"
	case RemedyRaiseMaxFailures:
		return fmt.Sprintf("raise maxFailures to %d", remedy.Count)
	case RemedyRaiseShares:
		if remedy.Count > 0 {
			return fmt.Sprintf("raise this hub's share of maxFailures to at least %d", remedy.Count)
		}
		return "raise this hub's share of concurrency"
	case RemedySetProgressDeadline:
		return "set a progressDeadline"
	case RemedyCompleteGroups:
		return "wait until the PlacementDecisions are written"
	default:
		return string(remedy.Type)
	}
}

// stops says what the wait leads to.
func (remedy Remedy) stops() string {
	return fmt.Sprintf("timeouts stop the rollout at %s unless the clusters are done by then", inUTC(remedy.Stops))
}

// some names the clusters, and says how many it takes unless it takes all.
func (remedy Remedy) some() string {
	if remedy.Count == remedy.Of {
		return remedy.Clusters
	}
	return fmt.Sprintf("at least %d of %s", remedy.Count, remedy.Clusters)
}

// breachRemedies says how the breach ends. A mandatory group tolerates no failure, whatever the strategy says. A rollback
// cannot be taken back itself.
func (r *Result) breachRemedies() []Remedy {
	breach := r.choice.breach
	var remedies []Remedy
	failed := r.failedInBreach()
	fixable, untold := &failed.fixable, &failed.untold
	if fixable.n >= breach.Failures-breach.MaxFailures {
		remedies = append(remedies, Remedy{Type: RemedyFix, Count: breach.Failures - breach.MaxFailures, Of: fixable.n, Clusters: fixable.listed()})
	}
	remedies = append(remedies, untold.rulesRemedy()...)
	remedies = append(remedies, Remedy{Type: RemedyTryAgain, Count: failed.attempt + 1})
	if !breach.Mandatory {
		remedies = append(remedies, Remedy{Type: RemedyRaiseMaxFailures, Count: breach.Failures})
	}
	if r.schedule.options.rollback == nil {
		remedies = append(remedies, Remedy{Type: RemedyRevert})
	}
	return remedies
}

// failedInBreach gives the clusters that count in the breach and can be fixed, those that timed out only because nothing says when they
// are done, and the last attempt among all that count in it.
func (r *Result) failedInBreach() *foundWaitSets {
	r.waitSets.once.Do(func() {
		found := &foundWaitSets{}
		for position := range r.table.All() {
			if r.isInBreach(position) {
				found.attempt = max(found.attempt, r.table.Attempt(position))
				r.sort(position, Blocker{Cluster: Cluster{Name: r.schedule.Cluster(position)}}, &found.fixable, &found.untold)
			}
		}
		r.waitSets.sets = found
	})
	return r.waitSets.sets
}

// sort adds a cluster that failed to those that can be fixed, or to those of which nothing says when they are done; to neither where only
// the record tells of it.
func (r *Result) sort(position fleet.Position, blocker Blocker, fixable, untold *stateGroup) {
	switch {
	case r.table.IsLost(position):
	case r.table.IsUntold(position):
		untold.add(blocker)
	default:
		fixable.add(blocker)
	}
}

// isInBreach says whether the cluster at a position is a failure that counts in the breach.
func (r *Result) isInBreach(position fleet.Position) bool {
	schedule, breach := r.schedule, r.choice.breach
	if breach.Lasting {
		return r.choice.last[0].has(position)
	}
	return fleet.FailureStates.Has(r.table.State(position)) && schedule.InBudget(position) && breach.counts(schedule.KeyOf(schedule.GroupOf(position)))
}

// slotRemedies says how one of the slots that clusters hold becomes free. Clusters in the slotless states hold none.
func (r *Result) slotRemedies(waitSet *waitSet, slotless waitKinds) (remedies []Remedy) {
	if !waitSet.frees.IsZero() {
		remedies = append(remedies, r.waitUntil(waitSet.frees))
	}
	undated, soaking, lost := &waitSet.undatedSlots, waitSet.byKind[waitSoakingUndated].n, waitSet.byKind[failedLost].n // nothing more comes from these
	if slotless != 0 {
		lost = 0
	}
	untracked := waitSet.untracked()
	able, dates := waitSet.first.n-soaking-lost-untracked.n, waitSet.dates
	if able < waitSet.needed && dates == 0 && waitSet.frees.IsZero() {
		dates = undated.n // and others have to succeed as well
	}
	if dates > 0 {
		remedies = append(remedies, Remedy{Type: RemedyReportTime, Count: dates, Of: undated.n, Clusters: undated.listed(), Succeeded: undated.n == soaking})
	}
	if soaking == 0 && lost == 0 && untracked.n == 0 {
		remedies = append(remedies, Remedy{Type: RemedyAnswer, Count: waitSet.needed, Of: able, Clusters: waitSet.first.names()})
	} else if able >= waitSet.needed {
		remedies = append(remedies, Remedy{Type: RemedyAnswer, Count: waitSet.needed, Of: able, Clusters: waitSet.namesExcept(1<<waitSoakingUndated | 1<<failedLost | untrackedKinds | 1<<waitBlockingToApply | slotless)})
	}
	remedies = append(append(remedies, untracked.rulesRemedy()...), waitSet.validateRemedy(waitSet.needed)...)
	if slotless != 0 {
		return remedies
	}
	if failed := &waitSet.byKind[waitFailed]; failed.n >= waitSet.needed {
		remedies = append(remedies, Remedy{Type: RemedyFix, Count: waitSet.needed, Of: failed.n, Clusters: failed.listed()})
	}
	return append(remedies, r.deadlineRemedy(waitSet, waitSet.excess, waitSet.byKind[waitFailed].n+lost)...)
}

// groupRemedies says how the active stages of a wait set become complete. No counted cluster is blocked in them, so that there is one
// that starts or is in flight and that they wait for. Time alone does not complete a stage with a cluster that is blocked until before
// then, as it waits for its turn from then on.
func (r *Result) groupRemedies(waitSet *waitSet, groups []stages.Group) (remedies []Remedy) {
	if ends := waitSet.last.blockers[0].Until; waitSet.starting == 0 && !waitSet.anyFrozen && !ends.IsZero() && !r.unfreezes(groups, ends) {
		remedies = append(remedies, r.waitUntil(ends))
	}
	soaking := waitSet.byKind[waitSoakingUndated].n // nothing more comes from these
	if undated := &waitSet.undated; undated.n > 0 {
		remedies = append(remedies, Remedy{Type: RemedyReportTime, Count: undated.n, Of: undated.n, Clusters: undated.listed(), Succeeded: undated.n == soaking})
	}
	untracked := waitSet.untracked()
	if soaking == 0 && untracked.n == 0 {
		remedies = append(remedies, Remedy{Type: RemedyAnswer, Count: waitSet.last.n, Of: waitSet.last.n, Clusters: waitSet.last.names()})
	}
	remedies = append(append(remedies, untracked.rulesRemedy()...), waitSet.validateRemedy(waitSet.last.n)...)
	return append(remedies, r.deadlineRemedy(waitSet, waitSet.last.n, 0)...)
}

// untracked gives the clusters of which nothing will say when they are done.
func (waits *waitSet) untracked() (members stateGroup) {
	for _, kind := range [...]waitKind{waitUntracked, waitUntrackedUndated, untrackedAgain} {
		members.merge(&waits.byKind[kind])
	}
	return members
}

// rulesRemedy proposes that something says of a state group when it is done.
func (group *stateGroup) rulesRemedy() []Remedy {
	if group.n == 0 {
		return nil
	}
	return []Remedy{{Type: RemedyAddConditionRules, Count: group.n, Of: group.n, Clusters: group.listed()}}
}

// validateRemedy proposes to validate as many clusters as are needed, if enough wait to be validated.
func (waits *waitSet) validateRemedy(needed int) []Remedy {
	var members stateGroup
	for _, kind := range [...]waitKind{waitValidating, waitValidatingUndated, validatingAgain} {
		members.merge(&waits.byKind[kind])
	}
	if members.n == 0 || members.n < needed {
		return nil
	}
	return []Remedy{{Type: RemedyValidate, Count: needed, Of: members.n, Clusters: members.listed()}}
}

// deadlineRemedy proposes a deadline, where there is none and one would end the wait for n clusters. Failed is how many
// clusters keep, until the deadline, a slot that is waited for.
func (r *Result) deadlineRemedy(waitSet *waitSet, n, failed int) []Remedy {
	endless := waitSet.byKind[waitSilent].n + waitSet.byKind[waitRefused].n + waitSet.byKind[waitProgressing].n + waitSet.byKind[waitValidating].n + failed
	if r.schedule.rules.deadline != nil || waitSet.unknown > 0 || waitSet.earlier > 0 || endless == 0 || endless < n {
		return nil
	}
	return []Remedy{{Type: RemedySetProgressDeadline}}
}

// names joins the names of the first few, and counts the others.
func (top *topN) names() string {
	names := make([]string, len(top.blockers))
	for i := range top.blockers {
		names[i] = top.blockers[i].label()
	}
	return listed(names, top.n)
}
