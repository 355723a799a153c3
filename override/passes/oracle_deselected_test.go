// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// naiveStanding is the state of a cluster by its replica or by the record (O16, O19), if the rollout is in two passes.
type naiveStanding struct {
	status   status.RolloutStatus // ToApply where neither has a start
	inFlight bool
	recorded bool // by the record
	entry    *status.DeselectedCluster
}

func (s naiveStanding) fails() bool  { return s.status == status.Failed || s.status == status.TimeOut }
func (s naiveStanding) counts() bool { return s.fails() || s.inFlight }
func (s naiveStanding) goesOn() bool { return s.inFlight && !s.fails() }

// says is what the replica of a cluster says by itself, whatever the deadline.
func (w *world) says(cluster string) status.RolloutStatus {
	s, _ := naiveLimits{failAtOnce: w.limits.failAtOnce}.naiveStatus(w.replicas[cluster], w.versionName(), w.policy.Spec.RemediationAction, w.now)
	return s
}

// naiveFailure says whether an entry is of a failure (R49).
func naiveFailure(e *status.DeselectedCluster) bool {
	return e.Status == status.Failed || e.Status == status.TimeOut
}

// naiveEntry is what the stored record says of a cluster about the version.
func (w *world) naiveEntry(cluster string) *status.DeselectedCluster {
	if w.record.Version != w.versionName() || w.ignored[cluster] {
		return nil
	}
	for i := range w.record.Deselected {
		if w.record.Deselected[i].Cluster == cluster {
			return &w.record.Deselected[i]
		}
	}
	return nil
}

// naiveStand gives the state of a cluster, bound or not.
func (w *world) naiveStand(cluster string, bound bool) naiveStanding {
	var stands naiveStanding
	stands.status, stands.inFlight = w.limits.naiveStatus(w.replicas[cluster], w.versionName(), w.policy.Spec.RemediationAction, w.now)
	if w.ignored[cluster] && !bound {
		return naiveStanding{status: status.ToApply}
	}
	e := w.naiveEntry(cluster)
	if stands.entry = e; e == nil {
		return stands
	}
	has := stands.status != status.ToApply
	since := e.Applied
	if e.LastTransitionTime.After(since) {
		since = e.LastTransitionTime
	}
	age := w.now.Sub(since)
	timesOut := w.limits.deadline > 0 && age >= w.limits.deadline
	if naiveFailure(e) {
		r := w.replicas[cluster]
		complies := len(w.lost) == 0 && bound && r != nil && r.Version == w.versionName() && r.Action == policyv1.Inform && r.Verdict == nil &&
			r.Compliance == policyv1.Compliant && r.Generation == r.LastEvaluatedGeneration
		switch {
		case stands.status == status.Succeeded, w.says(cluster) == status.Failed, bound && has, complies:
			return stands
		case e.Status == status.TimeOut, timesOut:
			return naiveStanding{status: status.TimeOut, recorded: true, entry: e}
		default: // it keeps its slot
			return naiveStanding{status: status.Failed, inFlight: true, recorded: true, entry: e}
		}
	}
	switch {
	case has:
		return stands
	case e.Status == status.Succeeded && !bound && age < w.limits.soak:
		return naiveStanding{status: status.Succeeded, inFlight: true, recorded: true, entry: e}
	case e.Status == status.Succeeded: // one that is bound waits for its workload
		return stands
	case timesOut:
		return naiveStanding{status: status.TimeOut, recorded: true, entry: e}
	case e.Status == status.Validating: // O22
		return naiveStanding{status: e.Status, inFlight: true, recorded: true, entry: e}
	default:
		return naiveStanding{status: status.Progressing, inFlight: true, recorded: true, entry: e}
	}
}

// naiveLeft are the clusters that are not bound and count, with the group in which they do (R46, R47).
func (w *world) naiveLeft(bound []string) map[string]grouping.Key {
	left := map[string]grouping.Key{}
	consider := func(cluster string) {
		if slices.Contains(bound, cluster) || !w.naiveStand(cluster, false).counts() {
			return
		}
		left[cluster] = grouping.Key{Index: -1}
		if key, known := w.former[cluster]; known {
			left[cluster] = key
		}
		if e := w.naiveEntry(cluster); e != nil {
			left[cluster] = e.Group
		}
	}
	for cluster := range w.replicas {
		consider(cluster)
	}
	for i := range w.record.Deselected {
		consider(w.record.Deselected[i].Cluster)
	}
	return left
}

// naiveEnforced are the deselected clusters that count under one pass, since they are still enforced (O16), with their group (R47).
func (w *world) naiveEnforced(bound []string) map[string]grouping.Key {
	left := map[string]grouping.Key{}
	for _, cluster := range w.unboundReplicas(bound) {
		r := w.replicas[cluster]
		s, _ := w.limits.naiveReport(r)
		if w.policy.Spec.Disabled || w.ignored[cluster] || r.Version != w.versionName() || r.Action != policyv1.Enforce || s == status.Succeeded {
			continue
		}
		left[cluster] = grouping.Key{Index: -1}
		if key, known := w.former[cluster]; known {
			left[cluster] = key
		}
		if e := w.naiveEntry(cluster); e != nil {
			left[cluster] = e.Group
		}
	}
	return left
}

// naiveMoved are the bound clusters that count in another group than the one that they are in, with that group (R52).
func (w *world) naiveMoved(groups []naiveGroup) map[string]grouping.Key {
	moved := map[string]grouping.Key{}
	isMandatory := func(key grouping.Key) bool { return w.limits.mandatory != "" && key.Name == w.limits.mandatory }
	place := func(key grouping.Key) int {
		at := slices.IndexFunc(groups, func(g naiveGroup) bool { return g.key(len(w.bindings)) == key })
		switch {
		case at >= 0 && isMandatory(key):
			return at
		case at >= 0 && w.limits.typ == clusterv1alpha1.Progressive:
			return 2000 // the pool
		case at >= 0:
			return 1000 + at
		}
		return -1
	}
	for _, g := range groups {
		now := g.key(len(w.bindings))
		for _, cluster := range g.clusters {
			before, known := w.former[cluster]
			if e := w.naiveEntry(cluster); e != nil {
				before, known = e.Group, true
			}
			stands := w.naiveStand(cluster, true)
			pooled := w.limits.typ == clusterv1alpha1.Progressive && w.limits.mandatory == ""
			switch at := place(before); {
			case !known || before == now || before.Index < 0 || !stands.counts() || pooled:
			case at < 0 && stands.inFlight && (isMandatory(before) || !isMandatory(now)), at >= 0 && at < place(now):
				moved[cluster] = before
			}
		}
	}
	return moved
}

// key is the key of a group where there are n bindings.
func (g naiveGroup) key(bindings int) grouping.Key {
	key := grouping.Key{Index: int32(g.index), Name: g.name}
	if bindings > 1 {
		key.Placement = g.binding
	}
	return key
}

// naiveWith are the groups with the clusters that were deselected or moved. A missing group is made, before all others of its placement
// (G16); the unknown group is the first.
func naiveWith(groups []naiveGroup, left map[string]grouping.Key, bindings int) []naiveGroup {
	groups = slices.Clone(groups)
	for i, g := range groups {
		groups[i].clusters = slices.DeleteFunc(slices.Clone(g.clusters), func(cluster string) bool { _, moved := left[cluster]; return moved })
	}
	again := map[grouping.Key]bool{} // the groups that were removed
	for _, key := range left {
		again[key] = !slices.ContainsFunc(groups, func(g naiveGroup) bool { return g.key(bindings) == key })
	}
	for _, key := range slices.Backward(slices.SortedFunc(maps.Keys(again), grouping.Key.Compare)) {
		if again[key] {
			at := slices.IndexFunc(groups, func(g naiveGroup) bool { return g.key(bindings).Placement == key.Placement })
			groups = slices.Insert(groups, max(at, 0), naiveGroup{binding: key.Placement, index: int(key.Index), name: key.Name})
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(left)) {
		at := slices.IndexFunc(groups, func(g naiveGroup) bool { return g.key(bindings) == left[cluster] })
		groups[at].clusters = append(slices.Clone(groups[at].clusters), cluster)
	}
	return groups
}

// naiveRecord is what the root has to store (R48), in words.
func (w *world) naiveRecord(two bool, bound []string, left map[string]grouping.Key) []string {
	var entries []string
	say := func(cluster string, as status.RolloutStatus, group grouping.Key, applied time.Time) {
		entries = append(entries, fmt.Sprintf("%s %s in %v since %s", cluster, as, group, applied.Format(time.TimeOnly)))
	}
	switch {
	case w.record.Version != w.versionName() && len(w.lost) > 0 && !w.policy.Spec.Disabled:
		return nil
	case len(w.lost) > 0, w.policy.Spec.Disabled: // O14, O16
		for _, e := range w.record.Deselected {
			say(e.Cluster, e.Status, e.Group, e.Applied)
		}
		return entries
	case !two: // nothing is limited
		return nil
	}
	clusters := append(slices.Collect(maps.Keys(left)), bound...)
	slices.Sort(clusters)
	clusters = slices.Compact(clusters)
	for _, cluster := range clusters {
		isBound := slices.Contains(bound, cluster)
		group, other := left[cluster]
		stands := w.naiveStand(cluster, isBound)
		if !stands.counts() || !other && !stands.recorded && !w.saysTheSame(cluster, stands) {
			continue
		}
		var applied time.Time
		if stands.recorded {
			applied = stands.entry.Applied
		} else {
			applied = w.replicas[cluster].Applied
		}
		if !other { // it is in its group of now
			joined := naiveGroups(w.bindings, w.known())
			at := slices.IndexFunc(joined, func(g naiveGroup) bool { return slices.Contains(g.clusters, cluster) })
			group = joined[at].key(len(w.bindings))
		}
		say(cluster, stands.status, group, applied)
	}
	return entries
}

// saysTheSame says whether the entry of a cluster says what its replica says. Then it stays: nothing is new.
func (w *world) saysTheSame(cluster string, stands naiveStanding) bool {
	e, r := stands.entry, w.replicas[cluster]
	if e == nil || r == nil || !r.Applied.Equal(e.Applied) {
		return false
	}
	_, since := w.limits.naiveReport(r)
	if !since.After(e.Applied) { // an entry has a transition only if it is later than the start (R48)
		since = time.Time{}
	}
	says := w.says(cluster)
	return says == e.Status && (says == status.Progressing || since.Equal(e.LastTransitionTime))
}

// naiveWeight says for how much an entry counts: a failure, a flight, a success, a start (R48).
func naiveWeight(is status.RolloutStatus) int {
	switch is {
	case status.Failed, status.TimeOut:
		return 3
	case status.Succeeded:
		return 1
	case status.Skip:
		return 0
	}
	return 2
}

// checkLeft compares the record and what is deleted with the rules.
func (w *world) checkLeft(p *passes.Propagation, two bool, bound []string, fleet naiveFleet) {
	w.t.Helper()
	left := fleet.departed
	var got []string
	for _, e := range p.Record.Deselected {
		got = append(got, fmt.Sprintf("%s %s in %v since %s", e.Cluster, e.Status, e.Group, e.Applied.Format(time.TimeOnly)))
	}
	want := w.naiveRecord(two, bound, left)
	if !slices.Equal(got, want) {
		w.t.Fatalf("R48: the record is %q, want %q\nstored %+v\nreplicas %s", got, want, w.record, w.dump())
	}
	ceiling := 0 // where nothing is bounded
	if two {
		ceiling = fleet.naiveCeiling(w.limits)
	}
	if exposed := w.naiveExposed(len(want), len(left), ceiling); p.Record.Exposed != exposed {
		w.t.Fatalf("R48: by the record %d are exposed, want %d\nstored %+v\nreplicas %s", p.Record.Exposed, exposed, w.record, w.dump())
	}
	gone := slices.DeleteFunc(w.unboundReplicas(bound), func(cluster string) bool {
		wanted := slices.IndexFunc(want, func(s string) bool { return strings.HasPrefix(s, cluster+" ") })
		e := w.naiveEntry(cluster)
		if w.policy.Spec.Disabled {
			return false // O6
		}
		return len(w.lost) > 0 || wanted >= 0 && (e == nil || naiveWeight(e.Status) < naiveWeight(status.RolloutStatus(strings.Fields(want[wanted])[1])))
	})
	if !slices.Equal(gone, p.Removed) {
		w.t.Fatalf("to be deleted: %v, want %v", p.Removed, gone)
	}
	w.checkNothingIsForgotten(two, bound)
	w.checkLasting(p.Record.Breached, two, fleet)
	isHalf := len(w.lost) > 0 && !w.policy.Spec.Disabled // the groups of a disabled policy are not read
	if isHalf && w.former != nil && !w.formerHalf {
		return // R47: groups that are being written do not count
	}
	w.formerHalf = isHalf
	if !two {
		left = w.naiveEnforced(bound)
	}
	w.former, w.formerExposes = map[string]grouping.Key{}, ceiling
	for _, g := range naiveWith(naiveGroups(w.bindings, w.known()), left, len(w.bindings)) {
		for _, cluster := range g.clusters {
			w.former[cluster] = g.key(len(w.bindings))
			if _, placed := left[cluster]; w.formerHalf && !placed {
				w.former[cluster] = grouping.Key{Index: -1}
			}
		}
	}
}

// naiveExposed is how many clusters are exposed at most, by the record (R48). The record says so while it has entries, and some cluster
// was deselected or moved.
func (w *world) naiveExposed(entries, placed, ceiling int) int {
	switch {
	case w.policy.Spec.Disabled, len(w.lost) > 0 && w.record.Version == w.versionName(): // O14, O16
		return w.record.Exposed
	case len(w.lost) > 0, entries == 0, placed == 0:
		return 0
	}
	return ceiling
}

// checkNothingIsForgotten checks that a cluster that has started and is not done keeps counting until its own report says that it is
// done, it is ignored, or the policy is another one (O16), whatever the controller forgets.
func (w *world) checkNothingIsForgotten(two bool, bound []string) {
	w.t.Helper()
	policy := fmt.Sprint(w.versionName(), w.policy.Spec.RemediationAction, two)
	owed := map[string]bool{}
	for _, cluster := range strings.Split("abcdefgh", "") {
		is := slices.Contains(bound, cluster)
		stands := w.naiveStand(cluster, is)
		owed[cluster] = two && stands.counts()
		r := w.replicas[cluster]
		switch {
		case w.owedOf != policy || !w.owed[cluster] || owed[cluster] || stands.status == status.Succeeded || w.ignored[cluster]:
		case stands.entry != nil && stands.entry.Status == status.Succeeded: // it has soaked
		case is && r != nil && r.Compliance == policyv1.Compliant && r.Verdict == nil: // O19, O22
		default:
			w.t.Fatalf("O16: %s is forgotten\nrecord %+v\nreplicas %s", cluster, w.record, w.dump())
		}
	}
	w.owed, w.owedOf = owed, policy
}

// isTwo says whether the rollout is in two passes (O8, O9).
func (w *world) isTwo() bool {
	return !w.policy.Spec.Disabled && w.policy.Spec.RemediationAction != policyv1.Inform && w.limits.typ != clusterv1alpha1.All && w.limits.typ != ""
}
