// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/internal/edited"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Remembered is what [Propagate] gets as rollout.Options.Previous the next time; nil for a nil Propagation. It says how long
// clusters have not been bound, and in which group each was. It is the plan that the Propagation came from, and has its schedule.
// In this plan a cluster in its first pass may start already: only [Propagation.Start] has the clusters that start.
func (p *Propagation) Remembered() *rollout.Result {
	if p == nil {
		return nil
	}
	return p.plan()
}

// A deselected cluster counts in the rollout by its replica, and once the replica is deleted, by the record (O16). Package rollout
// decides what has to be recorded. This file reads the replicas of deselected clusters, and resumes clusters that are bound again.

// remember makes the rollout count by the record. The record of a disabled policy stays as it is.
func (p *Propagation) remember() {
	if p.resolution.Disabled() {
		p.Record.Deselected = slices.Clone(p.Record.Deselected)
		return
	}
	stored := p.recovered()
	p.recorded = stored.Deselected
	p.options.StoredRecord = &rollout.StoredRecord{Version: p.version, Record: stored, AtOnce: true}
}

// recovered gives the record in which two kinds of clusters have only started: those that are bound again and comply (O19), and
// those on which the policy only informs, since nothing blocks them (O8).
func (p *Propagation) recovered() status.Record {
	record, complete := p.Record, p.resolution.Incomplete() == ""
	record.Deselected = slices.Clone(record.Deselected)
	for i := range record.Deselected {
		entry := &record.Deselected[i]
		own, bound := p.bound(entry.Cluster)
		if bound && (own.Action == policyv1.Inform || complete && isFailure(entry) && own.complies(p.version)) {
			entry.Status = status.Skip
		}
	}
	return record
}

// keepRecord sets what has to be stored. A cluster that is written back keeps its time until then (O23). While groups are incomplete, the entries of this version stay as they are (O14).
func (p *Propagation) keepRecord() {
	stored := p.Record
	if p.resolution.Disabled() {
		return
	}
	p.Record = edited.Keep(p.result.Record, stored, func(cluster string) bool {
		own, bound := p.bound(cluster)
		return bound && own.edited
	})
	if p.resolution.Incomplete() != "" && stored.Version == p.version {
		p.Record.Deselected = slices.Clone(stored.Deselected)
	}
}

func isFailure(entry *status.DeselectedCluster) bool {
	return entry.Status == status.Failed || entry.Status == status.TimeOut
}

func (p *Propagation) bound(name string) (*Cluster, bool) {
	position, is := p.groups.Position(name)
	if !is {
		return nil, false
	}
	return &p.Clusters[position], true
}

// complies says whether the cluster's replica has the version with inform, and the cluster has reported that it complies. A
// validated cluster does not count here: it may comply and have a bad verdict (O22).
func (c *Cluster) complies(version string) bool {
	return c.replica.carries(version, policyv1.Inform) && c.replica.Verdict == nil && c.replica.compliance() == policyv1.Compliant
}

// resume gives clusters that are bound again, and have no started replica, their state from the record (O19). A failed one may
// be in flight, since it keeps its slot, and is not enforced again.
func (p *Propagation) resume() {
	for i := range p.recorded {
		entry := &p.recorded[i]
		own, bound := p.bound(entry.Cluster)
		if !bound || own.RolloutStatus != status.ToApply {
			continue
		}
		switch disposition, _, _ := p.result.Find(own.Name); {
		case disposition == rollout.DispositionInFlight && isFailure(entry):
			own.RolloutStatus, own.Action = status.Failed, policyv1.Inform
		case disposition == rollout.DispositionInFlight:
			own.RolloutStatus = status.Progressing
			p.Start = append(p.Start, own.Name)
		case disposition == rollout.DispositionSettled, disposition == rollout.DispositionTimedOut:
			own.RolloutStatus, own.Action = status.TimeOut, policyv1.Inform
		}
	}
}

// unboundReport gives the report of an unbound cluster's replica: it waits unless it has started.
func (p *Propagation) unboundReport(replica *Replica) status.Report {
	action := p.unboundAction(replica)
	if p.resolution.Disabled() || !replica.carries(p.version, action) {
		return status.Report{Cluster: replica.Cluster, Status: status.ToApply}
	}
	return replica.report(true, p.kind, action)
}

// unboundAction gives the action that an unbound cluster has in the end.
func (p *Propagation) unboundAction(replica *Replica) policyv1.RemediationAction {
	if !p.two && strings.EqualFold(string(replica.Action), string(policyv1.Enforce)) {
		return policyv1.Enforce // by an override, which is not known any more
	}
	return p.resolution.Action()
}

// remove lists the replicas to delete, and the unbound clusters that stay in the root's status: those with a replica that is not
// deleted, and those that count by the record.
func (p *Propagation) remove() {
	p.Removed = p.result.Removed
	deselected := make(map[string]status.RolloutStatus, len(p.result.Deselected))
	for _, cluster := range p.result.Deselected {
		deselected[cluster.Name] = shown(cluster.Status)
	}
	for _, replica := range p.unbound {
		if _, removed := slices.BinarySearch(p.Removed, replica.Cluster); removed {
			continue
		}
		cluster := Cluster{Name: replica.Cluster, Action: replica.Action, RolloutStatus: replica.RolloutStatus, Compliance: replica.told()}
		if is, counts := deselected[cluster.Name]; counts {
			if cluster.RolloutStatus = is; is == status.TimeOut {
				cluster.RolloutStatus = replica.timedOut(p.version, p.unboundAction(replica))
			}
			delete(deselected, cluster.Name)
		}
		p.kept = append(p.kept, cluster)
	}
	for i := range p.Record.Deselected {
		name := p.Record.Deselected[i].Cluster
		if is, counts := deselected[name]; counts {
			p.kept = append(p.kept, Cluster{Name: name, RolloutStatus: is})
		}
	}
}
