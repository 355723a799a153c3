// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"strings"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// Changes says what differs between two results of a rollout. Each list is in the order of the names. A controller can
// make an event of each part and add the lengths to its counters; so everything is told and counted once.
type Changes struct {
	// Started are the clusters that waited and have the workload now.
	Started []string `json:"started,omitempty"`
	// Succeeded are the clusters that are Succeeded now, soaking or not, and were not before. A cluster that was left out
	// (Skip) before is not among them: nothing was rolled out to it.
	Succeeded []string `json:"succeeded,omitempty"`
	// Failed are the clusters that are Failed now and had neither failed nor timed out before.
	Failed []string `json:"failed,omitempty"`
	// TimedOut are the clusters that are timed out now and were not before: their deadline has passed, or they are
	// reported TimeOut.
	TimedOut []string `json:"timedOut,omitempty"`
	// Recovered are the clusters that had failed or timed out, still have the workload, and are neither now. A cluster that
	// is left out now is not among them.
	Recovered []string `json:"recovered,omitempty"`
	// Breached is the budget that is breached now and was not before; nil if there is none.
	Breached *Breach `json:"breached,omitempty"`
	// Resumed says that a budget was breached before and none is now, so that the rollout goes on, also where failed clusters
	// are tried again ([Options].Attempt). It is false where the rollback begins ([Revert]).
	Resumed bool `json:"resumed,omitempty"`
	// Why has the messages of the reports of clusters in Failed and TimedOut, by the names of the clusters. A message that changes
	// by itself is no change.
	Why map[string]string `json:"why,omitempty"`
	// Warned are the warnings that are new.
	Warned []Warning `json:"warned,omitempty"`
}

// Changes says what is new since a previous result, which may have been over other groups. A cluster that was not
// selected then counts as one that waited. But if it was reported and not among Removed, for instance because
// [Options].RemoveAfter kept it, nothing is told of it: it has kept its workload, and the previous result does not know how it
// stood. The previous result does know how
// a cluster of its Left stood, so as much is told of it as of a selected one. Changes takes time linear in the
// clusters of both.
//
// A new version needs a result between: one with the reports about the new version, from before its first write. Without
// it a cluster that had the old version and has the new one does not seem to have waited, and its start is not told. A
// controller that calls [Plan] and keeps every result has one. With a [Planner], call Result once every cluster is
// reported with the new version, before you act upon Next.
//
// Where previous is nil, nothing is new: a controller that has restarted must not tell again what was told before. So
// what happened between its last result and the first one after the restart is never told. Where previous is a zero
// Result, everything is new: pass one for a rollout about which nothing was told yet, for example where the owner has no
// conditions.
func (r *Result) Changes(previous *Result) Changes {
	if previous == nil || r == previous {
		return Changes{}
	}
	var changes Changes
	before, kept := fleet.Position(0), previous.kept
	for position, now := range r.table.All() {
		name, was := r.schedule.Cluster(position), fleet.Unreported
		for len(kept) > 0 && kept[0] < name {
			kept = kept[1:]
		}
		if len(kept) > 0 && kept[0] == name {
			continue
		}
		for before < previous.numClusters() && previous.schedule.Cluster(before) < name {
			before++
		}
		if before < previous.numClusters() && previous.schedule.Cluster(before) == name {
			was = previous.table.State(before)
		}
		changes.add(name, was, now)
	}
	changes.Why = r.why(changes.Failed, changes.TimedOut)
	switch was, is := previous.choice.breach, r.choice.breach; {
	case is != nil && (was == nil || was.Group != is.Group || was.AllGroups != is.AllGroups):
		changes.Breached = is.clone()
	case was != nil && is == nil:
		changes.Resumed = !r.isRollback() || previous.isRollback()
	}
	changes.Warned = r.warnedSince(previous)
	return changes
}

// why gives what the reports say of clusters.
func (r *Result) why(lists ...[]string) (why map[string]string) {
	for _, list := range lists {
		for _, cluster := range list {
			position, _ := r.schedule.Position(cluster)
			if said := r.table.Says(position); said != (fleet.Message{}) {
				if why == nil {
					why = make(map[string]string)
				}
				why[cluster] = said.Text
			}
		}
	}
	return why
}

// isRollback says whether this is a result of [Revert].
func (r *Result) isRollback() bool { return r.schedule != nil && r.schedule.options.rollback != nil }

// add notes how a cluster changed.
func (changes *Changes) add(name string, was, is fleet.State) {
	if was == is {
		return
	}
	waited, waits := was.IsWaiting() || was.IsFrozen(), is.IsWaiting() || is.IsFrozen()
	if waited && !waits && is != fleet.Skipped {
		changes.Started = append(changes.Started, name)
	}
	if fleet.SucceededStates.Has(is) && !fleet.SucceededStates.Has(was) && was != fleet.Skipped {
		changes.Succeeded = append(changes.Succeeded, name)
	}
	if isFailed(is) && !fleet.FailureStates.Has(was) {
		changes.Failed = append(changes.Failed, name)
	}
	if fleet.TimedOutStates.Has(is) && !fleet.TimedOutStates.Has(was) {
		changes.TimedOut = append(changes.TimedOut, name)
	}
	if fleet.FailureStates.Has(was) && !fleet.FailureStates.Has(is) && !waits && is != fleet.Skipped {
		changes.Recovered = append(changes.Recovered, name)
	}
}

// warnedSince lists the warnings that the previous result does not have.
func (r *Result) warnedSince(previous *Result) (warned []Warning) {
	known := make(map[Warning]bool, len(previous.warnings))
	for _, warning := range previous.warnings {
		known[warning] = true
	}
	for _, warning := range r.warnings {
		if !known[warning] {
			warned = append(warned, warning)
		}
	}
	return warned
}

// String says what changed, in a line: `c started; a, b succeeded; d timed out`. Of a list of more than three clusters it
// names the first three. It quotes why those failed, as far as 1,024 bytes have room for that. It is empty where nothing changed.
func (changes Changes) String() string {
	var parts []string
	for _, list := range []struct {
		what  string
		names []string
	}{
		{"started", changes.Started}, {"succeeded", changes.Succeeded}, {"failed", changes.Failed}, {"timed out", changes.TimedOut}, {"recovered", changes.Recovered},
	} {
		if n := len(list.names); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", listed(list.names[:min(n, maxNamed)], n), list.what))
		}
	}
	if changes.Breached != nil {
		parts = append(parts, changes.Breached.String())
	}
	if changes.Resumed {
		parts = append(parts, "maxFailures is not exceeded any more, and the rollout continues")
	}
	for _, warning := range changes.Warned {
		parts = append(parts, warning.String())
	}
	return strings.Join(changes.appendWhy(parts), "; ")
}

// appendWhy adds why the clusters failed that the sentences name.
func (changes Changes) appendWhy(parts []string) []string {
	length := len(strings.Join(parts, "; "))
	for _, names := range [][]string{changes.Failed, changes.TimedOut} {
		for _, name := range names[:min(len(names), maxNamed)] {
			if changes.Why[name] == "" {
				continue
			}
			why := quoted(name, changes.Why[name])
			if length += len("; ") + len(why); length > mostOfLink {
				return parts
			}
			parts = append(parts, why)
		}
	}
	return parts
}
