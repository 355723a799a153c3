// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Play plays the policy through from where it stands, and comes to the same as simulation.Resume with [Hub.Plan]. It costs
// as much as there are events, where Resume propagates the whole fleet at each of them. Use a hub for one of both.
func (h *Hub) Play(lives func(cluster string) simulation.Life, start time.Time, watch ...func(after time.Duration, result *rollout.Result)) (*simulation.Trace, error) {
	if h.resolution.Undecided() || h.resolution.Incomplete() != "" || h.remembers() { // nothing starts, or the record counts
		return simulation.Resume(h.Plan, h.Observed(), lives, start, watch...)
	}
	l := newLedger(h)
	trace, err := simulation.Rollout{Strategy: h.strategy, Groups: h.resolution.Groups(), Options: h.course, Ledger: l}.Play(h.Observed(), lives, start, watch...)
	if err != nil {
		return nil, err
	}
	passes.SetPolicyStatus(&h.status, h.resolution.Placements(), l.clusters(), trace.Final.Summary())
	return trace, nil
}

// remembers says whether a cluster counts, or may, that the policy is not bound to.
func (h *Hub) remembers() bool {
	return len(h.record.Deselected) > 0 || h.record.More > 0 || slices.ContainsFunc(h.replicas, func(r passes.Replica) bool {
		_, bound := h.resolution.Find(r.Cluster)
		return !bound && r.Version == h.version
	})
}

// ledger keeps the replicated policies as package passes would, but looks only at policies with something new.
type ledger struct {
	hub      *Hub
	two      bool              // clusters inform before it is their turn
	replicas []*passes.Replica // by position; nil where there is none
	bound    []override.Cluster
	begun    bool
	// Since the last plan:
	touched []int // positions with a report
	changed bool  // some compliance did

	compliance map[policyv1.ComplianceState]int // how many clusters report it
}

func newLedger(h *Hub) *ledger {
	groups := h.resolution.Groups()
	l := &ledger{
		hub: h, two: h.waits(), bound: slices.Collect(h.resolution.Clusters()),
		replicas: make([]*passes.Replica, groups.NumClusters()), compliance: make(map[policyv1.ComplianceState]int),
	}
	for _, replica := range h.replicas {
		if position, found := groups.Position(replica.Cluster); found {
			l.replicas[position] = &replica
		}
	}
	for _, replica := range l.replicas {
		l.compliance[compliance(replica)]++
	}
	return l
}

// compliance is what the cluster says of what its replica carries now.
func compliance(r *passes.Replica) policyv1.ComplianceState {
	if r == nil || r.Generation != r.LastEvaluatedGeneration {
		return ""
	}
	return r.Compliance
}

// Report takes in what a cluster says, and gives what that means to the rollout.
func (l *ledger) Report(said status.Report) (status.Report, bool) {
	position, found := l.hub.resolution.Groups().Position(said.Cluster)
	if !found || l.replicas[position] == nil {
		return said, false
	}
	replica := l.replicas[position]
	if said != l.hub.observed[said.Cluster] {
		before := compliance(replica)
		evaluate(replica, said)
		l.count(before, compliance(replica))
	}
	l.touched = append(l.touched, position)
	return l.hub.read(replica)
}

func (l *ledger) count(before, after policyv1.ComplianceState) {
	l.compliance[before]--
	l.compliance[after]++
	l.changed = l.changed || before != after
}

// Plan writes what follows from a plan. In two passes, a cluster starts only once its replica is of the version; the
// others become so now, and wait.
func (l *ledger) Plan(next rollout.Next, now time.Time) (start []rollout.Cluster, wait []status.Report) {
	groups := l.hub.resolution.Groups()
	want := make(map[int]status.RolloutStatus)
	at := func(cluster rollout.Cluster, s status.RolloutStatus) {
		position, _ := groups.Position(cluster.Name)
		want[position] = s
	}
	for _, cluster := range next.TimedOut {
		at(cluster, status.TimeOut)
		position, _ := groups.Position(cluster.Name)
		if r := l.replicas[position]; l.hub.carries(r, l.bound[position].Action) && compliance(r) == policyv1.NonCompliant {
			want[position] = status.Failed
		}
	}
	for _, cluster := range next.Start {
		if position, _ := groups.Position(cluster.Name); !l.two || l.isOfTheVersion(position) {
			start = append(start, cluster)
			want[position] = status.Progressing
		}
	}
	pass := Pass{Time: now}
	for _, position := range l.positions(want) {
		c := passes.Cluster{Name: l.bound[position].Name, Action: l.bound[position].Action, RolloutStatus: l.standing(position, want)}
		if c.RolloutStatus == status.ToApply && c.Action == policyv1.Inform { // there is nothing to hold back
			c.RolloutStatus = status.Progressing
			start = append(start, rollout.Cluster{Name: c.Name, Group: groups.Key(groups.GroupAt(position)), Status: status.ToApply})
		}
		if l.write(position, &c, now); c.Verb == passes.VerbNone {
			continue
		}
		pass.Changes = append(pass.Changes, c)
		if c.Verb != passes.VerbUpdateStatus && c.RolloutStatus == status.ToApply {
			if report, known := l.hub.read(l.replicas[position]); known {
				wait = append(wait, report)
			}
		}
	}
	l.note(pass, next)
	return start, wait
}

func (l *ledger) isOfTheVersion(position int) bool {
	return l.replicas[position] != nil && l.replicas[position].Version == l.hub.version
}

// positions gives the positions to look at, in order: at first all, then the ones with something new.
func (l *ledger) positions(want map[int]status.RolloutStatus) []int {
	all := slices.AppendSeq(l.touched, maps.Keys(want))
	if !l.begun {
		all = all[:0]
		for position := range l.bound {
			all = append(all, position)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	l.touched = nil
	return all
}

// standing is the rollout status of a cluster after the plan.
func (l *ledger) standing(position int, want map[int]status.RolloutStatus) status.RolloutStatus {
	if s, found := want[position]; found {
		return s
	}
	if replica := l.replicas[position]; replica != nil {
		if report, known := l.hub.read(replica); known {
			return shown(report.Status)
		}
	}
	return status.ToApply
}

// write makes the replica what it has to be.
func (l *ledger) write(position int, c *passes.Cluster, now time.Time) {
	if c.RolloutStatus == status.ToApply {
		c.Action = policyv1.Inform
	}
	replica := l.replicas[position]
	switch {
	case replica == nil:
		c.Verb = passes.VerbCreate
		replica = &passes.Replica{Cluster: c.Name}
		l.replicas[position] = replica
	case !l.hub.carries(replica, c.Action):
		c.Verb = passes.VerbUpdate
	case replica.RolloutStatus != c.RolloutStatus:
		c.Verb = passes.VerbUpdateStatus
	}
	before := compliance(replica)
	write(replica, *c, l.hub.version, now)
	l.count(before, compliance(replica))
}

// note keeps a pass in which anything is new.
func (l *ledger) note(pass Pass, next rollout.Next) {
	root := status.Summary{Counts: next.Counts}
	if next.Breach != nil {
		root.Breach = next.Breach.String()
	}
	var all []policyv1.ComplianceState
	for state, clusters := range l.compliance {
		if clusters > 0 {
			all = append(all, state)
		}
	}
	pass.ComplianceState, pass.RolloutStatus = policyv1.Aggregate(all...), root.Aggregate()
	h := l.hub
	if last := len(h.passes) - 1; !l.begun || l.changed || len(pass.Changes) > 0 || pass.RolloutStatus != h.passes[last].RolloutStatus {
		h.passes = append(h.passes, pass)
	}
	l.begun, l.changed = true, false
}

// clusters are what the root policy's status says of each.
func (l *ledger) clusters() (all []policyv1.PolicyClusterStatus) {
	for position, replica := range l.replicas {
		all = append(all, policyv1.PolicyClusterStatus{
			ClusterName: l.bound[position].Name, ComplianceState: compliance(replica), RolloutStatus: string(replica.RolloutStatus),
		})
	}
	return all
}
