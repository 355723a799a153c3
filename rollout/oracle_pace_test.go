// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on how many start, and how soon: R11, R24, R25, R34 to R36, R57.

// startLimit is what MaxStarts is given.
type startLimit struct {
	n   int
	per time.Duration
}

// share lets the first of the clusters that nothing else holds start, as many as the limits allow, group by group or all that
// are pooled at once, in the order of the groups, and holds the others.
func (o *oracle) share() {
	var pooled []grouping.Key
	sequence := o.sequence()
	for _, g := range o.groups {
		if !slices.Contains(sequence, g) {
			pooled = append(pooled, g)
		}
	}
	started := 0
	for _, g := range sequence {
		started += o.shareAmong([]grouping.Key{g}, started)
	}
	started += o.shareAmong(pooled, started)
	for i := range o.all { // these are about all groups together
		if h := &o.all[i].reason; h.Type == rollout.BlockExposed || h.Type == rollout.BlockRamp || h.Type == rollout.BlockStarts || h.Type == rollout.BlockShares && h.MaxConcurrency > 0 {
			h.Starting = started
		}
	}
}

// shareAmong does so for some groups. R20: of the limits the one that lets the fewest start is the reason, of equals the
// first.
func (o *oracle) shareAmong(groups []grouping.Key, startedBefore int) (starting int) {
	var candidates []*subject
	for i := range o.all {
		if s := &o.all[i]; slices.Contains(groups, s.group) && waiting(s) && !s.blocked && !s.ignored {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) == 0 {
		return 0
	}
	slices.SortFunc(candidates, o.r8)
	starting = len(candidates)
	var reason rollout.BlockReason
	least := 1 << 30
	for _, limit := range []func([]grouping.Key) (rollout.BlockReason, int, bool){o.r53, o.r11, o.r24, o.r65, o.r66, o.r35, o.r36} {
		found, room, limited := limit(groups)
		if found.Type != rollout.BlockConcurrency && found.Type != rollout.BlockPlaces {
			room -= startedBefore
		}
		if room = max(0, room); limited && room < least {
			least, reason = room, found
		}
	}
	starting = min(starting, least)
	if reason.Type == rollout.BlockConcurrency {
		reason.Starting = starting
	}
	for _, s := range candidates[starting:] {
		s.blocked, s.reason = true, reason
	}
	return starting
}

// R11: the clusters outside the mandatory groups share MaxConcurrency.
func (o *oracle) r11(groups []grouping.Key) (rollout.BlockReason, int, bool) {
	if o.kind != clusterv1alpha1.Progressive || len(groups) == 0 || o.r12(groups[0]) {
		return rollout.BlockReason{}, 0, false
	}
	n := 0
	for _, g := range groups {
		n += o.sizeOf(g)
	}
	elsewhere := o.elsewhereIn(func(g grouping.Key) bool { return slices.Contains(groups, g) })
	return o.slots(rollout.BlockReason{Type: rollout.BlockConcurrency, AllGroups: true, MaxConcurrency: o.r14(n, elsewhere)}, groups)
}

// R24: the clusters of each group share the option's limit; under Progressive those of each mandatory group.
func (o *oracle) r24(groups []grouping.Key) (rollout.BlockReason, int, bool) {
	if o.kind == clusterv1alpha1.All || len(groups) == 0 || o.kind == clusterv1alpha1.Progressive && !o.r12(groups[0]) || o.perGroup == nil || *o.perGroup == (intstr.IntOrString{}) {
		return rollout.BlockReason{}, 0, false
	}
	limit := o.r24Limit(groups[0])
	return o.slots(rollout.BlockReason{Type: rollout.BlockConcurrency, Group: groups[0], MaxConcurrency: limit}, groups)
}

// R24: the limit of a group.
func (o *oracle) r24Limit(group grouping.Key) int {
	n := o.sizeOf(group)
	if *o.perGroup == (intstr.IntOrString{}) {
		return n
	}
	return r46Share(*o.perGroup, n-o.elsewhereIn(func(g grouping.Key) bool { return g == group }), n)
}

// R35: all clusters share as many slots as have soaked in the fleet, or the initial number.
func (o *oracle) r35([]grouping.Key) (rollout.BlockReason, int, bool) {
	if o.ramp == 0 {
		return rollout.BlockReason{}, 0, false
	}
	soaked := 0
	for i := range o.all {
		if s := &o.all[i]; s.status == status.Succeeded && !o.r5(s) && !s.ignored {
			soaked++
		}
	}
	return o.slots(rollout.BlockReason{Type: rollout.BlockRamp, AllGroups: true, MaxConcurrency: max(o.ramp, soaked)}, o.groups)
}

// slots counts which clusters hold a slot in some groups, and how many slots are free. R25: a failed cluster has a slot unless the
// option says otherwise.
func (o *oracle) slots(reason rollout.BlockReason, groups []grouping.Key) (rollout.BlockReason, int, bool) {
	for i := range o.all {
		s := &o.all[i]
		if !slices.Contains(groups, s.group) || !o.r3(s) || s.ignored || s.status == status.Failed && o.failedFrees {
			continue
		}
		reason.InFlight++
		if s.status == status.Failed {
			reason.Failed++
			reason.Forever = o.deadline == nil
		}
		if o.r4Timeless(s) {
			reason.WithoutTime++
		}
	}
	return reason, reason.MaxConcurrency - reason.InFlight, true
}

// R57: all clusters share the shares of concurrency.
func (o *oracle) r53([]grouping.Key) (rollout.BlockReason, int, bool) {
	if o.shares == nil {
		return rollout.BlockReason{}, 0, false
	}
	every := *o
	every.failedFrees = false // R25 is no matter of shares
	reason, room, _ := every.slots(rollout.BlockReason{Type: rollout.BlockShares, AllGroups: true, MaxConcurrency: o.shares.Concurrency}, o.groups)
	return reason, room, true
}

// R57: where there is no share, nothing starts, no ignored cluster either. R38 is no matter of shares.
func (o *oracle) r53Without(*subject) (rollout.BlockReason, bool) {
	failed := 0
	for i := range o.all {
		if s := &o.all[i]; r2(s) && !s.ignored {
			failed++
		}
	}
	reason := rollout.BlockReason{Type: rollout.BlockShares, AllGroups: true}
	switch {
	case o.shares == nil:
		return rollout.BlockReason{}, false
	case o.shares.Concurrency == 0:
		return reason, true
	case failed > o.shares.Failures:
		reason.Failures, reason.MaxFailures = failed, o.shares.Failures
		return reason, true
	}
	return rollout.BlockReason{}, false
}

// R36: the bound on the starts within the span.
func (o *oracle) r36([]grouping.Key) (rollout.BlockReason, int, bool) {
	if o.starts == nil {
		return rollout.BlockReason{}, 0, false
	}
	reason := rollout.BlockReason{Type: rollout.BlockStarts, AllGroups: true, MaxStarts: o.starts.n, Per: o.starts.per}
	var leave []time.Time
	for i := range o.all {
		is, since := r27(o.all[i].counts)
		if o.all[i].ignored || is == status.ToApply || is == status.Skip {
			continue
		}
		started := startOf(&o.all[i].counts, false)
		switch leaves := started.Add(o.starts.per); {
		case since.IsZero():
			if o.r3(&o.all[i]) {
				reason.WithoutTime++
			}
		case o.now.Before(leaves):
			leave = append(leave, leaves)
		}
	}
	for _, p := range o.pasts { // R46
		if o.isRecent(p.start) {
			leave = append(leave, p.start.Add(o.starts.per))
		}
	}
	slices.SortFunc(leave, time.Time.Compare)
	total := len(leave) + reason.WithoutTime
	for i := range leave { // the first whose end leaves fewer than n, also if as many start now as may
		if max(total, o.starts.n)-(i+1) < o.starts.n {
			reason.Until = leave[i].UTC()
			break
		}
	}
	return reason, o.starts.n - total, true
}

// R34: whether there is a wait between groups under the type.
func (o *oracle) r34Waits() bool {
	behindMandatory := o.kind == clusterv1alpha1.Progressive && len(o.mandatory) > 0 && o.back == nil
	return o.wait > 0 && (o.kind == clusterv1alpha1.ProgressivePerGroup || behindMandatory)
}

// R34: a group starts when so much time has passed since the last success in all groups that it comes after. Reading: the
// first group with that success is named, or the first with a success without a time.
func (o *oracle) r34(s *subject) (reason rollout.BlockReason, waits bool) {
	if !o.r34Waits() {
		return rollout.BlockReason{}, false
	}
	reason = rollout.BlockReason{Type: rollout.BlockWait, Per: o.wait}
	var last time.Time
	for _, g := range o.sequence() {
		if g == s.group {
			break
		}
		for i := range o.all {
			other := &o.all[i]
			if !o.r33(g, s.group) || other.group != g || other.status != status.Succeeded || other.ignored {
				continue
			}
			if other.since.IsZero() {
				return rollout.BlockReason{Type: rollout.BlockWait, Per: o.wait, Group: g}, true
			}
			if other.since.After(last) {
				last, reason.Group = other.since, g
			}
		}
		for _, p := range o.pasts { // R46
			counts := p.group == g || !slices.Contains(o.groups, p.group)
			if o.r33(g, s.group) && counts && p.success.After(last) {
				last, reason.Group = p.success, g
			}
		}
	}
	reason.Until = last.Add(o.wait).UTC()
	return reason, !last.IsZero() && o.now.Before(reason.Until)
}

// R34: whether a group with a cluster comes after the given one, which is one of those that go one by one.
func (o *oracle) r34Awaited(group grouping.Key) bool {
	return o.r34Waits() && slices.Contains(o.sequence(), group) && slices.ContainsFunc(o.all, func(s subject) bool {
		return s.group != group && o.r33(group, s.group)
	})
}

// R34: the clusters that succeeded at an unknown time, and are waited for.
func (o *oracle) r34WithoutTime() {
	var timeless []string
	for i := range o.all {
		if s := &o.all[i]; o.r34Awaited(s.group) && o.soak == 0 && s.status == status.Succeeded && s.since.IsZero() && !s.ignored {
			timeless = append(timeless, s.name)
		}
	}
	o.warnOf(rollout.WarningSuccessWithoutTime, timeless)
}
