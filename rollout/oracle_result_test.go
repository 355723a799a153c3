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

// The rules on the result: R19 to R21, R31, S5, S6.

// R19: the lists.
func (o *oracle) r19() {
	a := &o.out
	var starts []*subject
	for i := range o.all {
		s := &o.all[i]
		c := rollout.Cluster{Name: s.name, Group: s.group, Status: s.status, Attempt: s.attempt}
		switch {
		case s.left:
			a.Left = append(a.Left, c)
		case s.blocked:
			a.Blocked = append(a.Blocked, blockedCluster{c, s.reason})
		case waiting(s):
			starts = append(starts, s)
		case s.newly:
			a.TimedOut = append(a.TimedOut, c)
		case o.r3(s):
			a.InFlight = append(a.InFlight, c)
		default:
			a.Settled = append(a.Settled, c)
		}
	}
	slices.SortFunc(starts, o.r8)
	for _, s := range starts {
		a.Start = append(a.Start, rollout.Cluster{Name: s.name, Group: s.group, Status: s.status, Attempt: o.attempt})
	}
}

// R19: the nearest end of a deadline (R4) or a soak (R5), or opening of a gate (R23). What has no time is never
// rechecked. Reading: an opening counts if it changes something, that is where a cluster is blocked by that gate.
func (o *oracle) r19Recheck() time.Duration {
	nearest := time.Duration(0)
	consider := func(at time.Time) {
		if d := at.Sub(o.now); d > 0 && (nearest == 0 || d < nearest) {
			nearest = d
		}
	}
	if removed, _ := o.reportedClusters(); o.grace > 0 && !o.incomplete && len(removed) > 0 { // R32
		consider(o.now.Add(o.grace))
	}
	for _, name := range o.r48Withheld() {
		e := o.out.Record.Deselected[slices.IndexFunc(o.out.Record.Deselected, func(e status.DeselectedCluster) bool { return e.Cluster == name })]
		switch start, since := startOf(&e.Report, true), sinceOf(&e.Report); {
		case e.Status == status.Succeeded && o.r34Waits():
			consider(since.Add(o.wait))
		case e.Status == status.Skip && o.starts != nil:
			consider(start.Add(o.starts.per))
		}
	}
	for i := range o.all {
		s := &o.all[i]
		switch {
		case s.blocked && s.reason.Type == rollout.BlockGateClosed && !s.reason.Gate.Opens.IsZero():
			consider(s.reason.Gate.Opens)
		case s.blocked && !s.reason.Until.IsZero(): // R34, R36
			consider(s.reason.Until)
		case s.since.IsZero():
		case o.r5(s):
			consider(s.since.Add(o.soak))
		case o.r3(s) && o.deadline != nil:
			consider(s.since.Add(*o.deadline))
		}
	}
	return nearest
}

// R21: the strategy that took effect. Reading: what All and Progressive pool is a stage even where no
// group is left for it.
func (o *oracle) r21() {
	s := &o.out.Schedule
	s.Type, s.MinSuccessTime, s.ProgressDeadline, s.MaxFailures = o.kind, o.soak, o.deadline, o.total()
	if o.kind == clusterv1alpha1.Progressive {
		s.MaxFailures = o.budgetOfAll()
	}
	s.ConcurrencySource = o.r14Source()
	s.After = o.r33Schedule()
	stage := func(mandatory bool, groups ...grouping.Key) *rollout.Stage {
		n, ignored := 0, 0
		left := o.leftIn(func(g grouping.Key) bool { return slices.Contains(groups, g) })
		for _, g := range groups {
			n += o.sizeOf(g)
			for i := range o.all {
				if o.all[i].group == g && o.all[i].ignored {
					ignored++
				}
			}
		}
		s.Stages = append(s.Stages, rollout.Stage{
			Groups: groups, Mandatory: mandatory, Clusters: n + ignored, Ignored: ignored, Deselected: left, MaxConcurrency: n, MaxFailures: n,
		})
		return &s.Stages[len(s.Stages)-1]
	}
	var rest []grouping.Key
	for _, g := range o.groups {
		if !o.r12(g) {
			rest = append(rest, g)
			continue
		}
		mandatory := stage(true, g)
		mandatory.MaxFailures = 0
		if o.perGroup != nil {
			mandatory.MaxConcurrency = o.r24Limit(g)
		}
	}
	switch {
	case len(rest) == 0: // a stage of no groups says nothing
	case o.kind == clusterv1alpha1.All:
		stage(false, rest...)
	case o.kind == clusterv1alpha1.Progressive:
		others := stage(false, rest...)
		others.MaxConcurrency = o.r14(others.MaxConcurrency, o.elsewhereIn(func(g grouping.Key) bool { return slices.Contains(rest, g) })) // of all that count
	case o.kind == clusterv1alpha1.ProgressivePerGroup:
		for _, g := range o.sequence() {
			if o.r12(g) {
				continue
			}
			group := stage(false, g)
			group.MaxFailures = o.budget(g)
			if o.perGroup != nil {
				group.MaxConcurrency = o.r24Limit(g)
			}
		}
	}
}

// R14: where the limit comes from.
func (o *oracle) r14Source() string {
	switch unset := (intstr.IntOrString{}); {
	case o.kind == clusterv1alpha1.Progressive && o.concurrency != unset:
		return "maxConcurrency"
	case o.kind == clusterv1alpha1.Progressive && o.r14Size() > 0:
		return "clustersPerDecisionGroup"
	case o.kind == clusterv1alpha1.ProgressivePerGroup && o.perGroup != nil && *o.perGroup != unset:
		return "maxConcurrencyPerGroup"
	}
	return ""
}

// S5: the counts.
func (o *oracle) s5() {
	sum := &o.out.Summary
	sum.Counts = o.s5Counts(func(*subject) bool { return true })
	for _, g := range o.groups {
		sum.Groups = append(sum.Groups, status.GroupCounts{
			Group: g, Counts: o.s5Counts(func(s *subject) bool { return s.group == g }),
		})
	}
	sum.Moved = o.s5Counts(func(s *subject) bool { // R50: another part selects it
		return s.left && o.parts != nil && slices.Contains(o.parts.others, s.name)
	})
	sum.Moved.Partial = false
	if sum.Version = ""; o.storedRecord != nil {
		sum.Version = o.storedRecord.Version
	}
	sum.Removed = len(o.out.Removed)
	sum.Incomplete, sum.Breach, sum.Paused, sum.Gates, sum.Waiting = "", "", "", nil, nil
	if o.incomplete {
		sum.Incomplete = rollout.BlockReason{Type: rollout.BlockGroupsIncomplete, Missing: o.missing}.String()
	}
	if o.out.Breach != nil {
		sum.Breach = o.out.Breach.String()
	}
	if o.paused {
		sum.Paused = rollout.BlockReason{Type: rollout.BlockPaused}.String()
	}
}

func (o *oracle) s5Counts(among func(*subject) bool) (c status.Counts) {
	c.Partial = o.incomplete
	for i := range o.all {
		s := &o.all[i]
		if !among(s) {
			continue
		}
		if s.left {
			c.Deselected++
		}
		if s.ignored { // R37: a number of its own
			c.Ignored++
			if waiting(s) {
				c.IgnoredToApply++
			}
			continue
		}
		switch s.status {
		case status.ToApply:
			c.ToApply++
		case status.Progressing:
			c.Progressing++
		case status.Validating: // R58: in flight beside those that progress
			c.Progressing++
			c.Validating++
		case status.Succeeded:
			c.Succeeded++
		case status.Failed:
			c.Failed++
		case status.TimeOut:
			c.TimeOut++
		case status.Skip:
			c.Skip++
		}
		if o.r5(s) {
			c.Soaking++
		}
		if s.blocked {
			c.Blocked++
		}
	}
	return c
}

// S6: the one word.
func (o *oracle) s6() status.RolloutStatus {
	if o.incomplete {
		return status.Progressing
	}
	if o.out.Breach != nil {
		return status.Failed
	}
	for i := range o.all {
		if s := &o.all[i]; !s.ignored && (waiting(s) || o.r3(s)) {
			return status.Progressing
		}
	}
	for i := range o.all {
		if s := &o.all[i]; !s.ignored && r2(s) {
			return status.Failed
		}
	}
	return status.Succeeded
}

// listBlocks lists each block reason once, by the first group in which it blocks a cluster. In a group those of single clusters come last.
func (o *oracle) listBlocks() {
	own := func(h blockedCluster) bool { return isOwn(h.Reason) }
	blocked := slices.Clone(o.out.Blocked)
	slices.SortStableFunc(blocked, func(a, b blockedCluster) int {
		switch {
		case own(a) == own(b):
			return 0
		case own(a):
			return 1
		}
		return -1
	})
	for _, g := range o.groups {
		for _, one := range blocked {
			if one.Cluster.Group != g {
				continue
			}
			i := slices.IndexFunc(o.out.BlockCounts, func(h rollout.BlockCount) bool { return h.Reason == one.Reason })
			if i < 0 {
				i = len(o.out.BlockCounts)
				o.out.BlockCounts = append(o.out.BlockCounts, rollout.BlockCount{Reason: one.Reason})
			}
			o.out.BlockCounts[i].Clusters++
		}
	}
	o.s7()
}

// S7: the sentences of the holds, but for what they say of those that are waited for.
func (o *oracle) s7() {
	sum := &o.out.Summary
	for _, h := range o.out.BlockCounts {
		if h.Reason.Type == rollout.BlockGateClosed {
			sum.Gates = append(sum.Gates, h.Reason.String())
		}
		sum.Waiting = append(sum.Waiting, h.Reason.String())
	}
	// R29: where no cluster is blocked, those in flight are named; R37: if they count.
	for i := range o.all {
		s := &o.all[i]
		if len(o.out.BlockCounts) == 0 && o.out.Breach == nil && !o.incomplete && !s.ignored && (waiting(s) || o.r3(s)) {
			sum.Waiting = []string{namesThem}
		}
	}
}
