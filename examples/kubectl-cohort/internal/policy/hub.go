// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Hub has a root policy and what is replicated of it. It comes from New and serves one simulation.
type Hub struct {
	resolution *override.Resolution
	version    string
	strategy   clusterv1alpha1.RolloutStrategy // the strategy of the course, with its options
	course     rollout.Options
	replicas   []passes.Replica // by cluster
	record     status.Record    // what the root policy has stored
	last       *passes.Propagation
	may        []rollout.Cluster // those that may start by the last plan, also those whose first pass is to come
	status     policyv1.PolicyStatus
	passes     []Pass
	observed   map[string]status.Report // of the replicas that were there at the beginning
}

// Pass is what one call of passes.Propagate had written.
type Pass struct {
	Time time.Time
	// Changes are the replicated policies that were written, by cluster.
	Changes []passes.Cluster
	// ComplianceState and RolloutStatus are the root policy's after that.
	ComplianceState policyv1.ComplianceState
	RolloutStatus   status.RolloutStatus
}

// New gives a hub without any replicated policy yet. The resolution is for the whole simulation.
func New(resolution *override.Resolution, version string, options rollout.Options) *Hub {
	h := &Hub{resolution: resolution, version: version}
	h.strategy, h.course = Course(resolution, options)
	return h
}

// Resume is a hub with the replicated policies that there are already, by cluster, and with what the root policy has stored.
func Resume(resolution *override.Resolution, version string, replicas []passes.Replica, record status.Record, options rollout.Options) *Hub {
	h := New(resolution, version, options)
	h.replicas, h.record = slices.Clone(replicas), record
	h.observed = make(map[string]status.Report)
	for i := range h.replicas {
		if report, known := h.read(&h.replicas[i]); known {
			h.observed[report.Cluster] = report
		}
	}
	return h
}

// Observed are the reports of the replicated policies that there were at the beginning, by cluster.
func (h *Hub) Observed() (reports []status.Report) {
	if h == nil {
		return nil
	}
	for _, cluster := range slices.Sorted(maps.Keys(h.observed)) {
		reports = append(reports, h.observed[cluster])
	}
	return reports
}

// Resolution says where the policy goes.
func (h *Hub) Resolution() *override.Resolution { return h.resolution }

// Passes are those so far, in order. A nil hub has none.
func (h *Hub) Passes() []Pass {
	if h == nil {
		return nil
	}
	return h.passes
}

// Status gives the root policy's status in the end; empty for a nil hub.
func (h *Hub) Status() (s policyv1.PolicyStatus) {
	if h != nil {
		s = h.status
	}
	return s
}

// Plan brings the replicated policies to where they have to be at the time now. Reports are of clusters that have
// started. The plan's Start are the clusters that this call has started: they got the version with the action that
// they shall have in the end.
func (h *Hub) Plan(reports []status.Report, now time.Time) (*rollout.Result, error) {
	for _, report := range reports {
		if i, found := h.find(report.Cluster); found && report != h.observed[report.Cluster] {
			evaluate(&h.replicas[i], report)
		}
	}
	const mostCalls = 5 // the first pass, the second, two that follow from the record, and the one that asks for nothing (O11)
	for range mostCalls {
		p, err := passes.Propagate(h.resolution, h.version, h.record, h.replicas, now, h.withGrace())
		if err != nil {
			return nil, err
		}
		h.last = p
		done := !h.writes(p) || len(p.Start) > 0
		if h.write(p, now); done {
			return h.result(p), nil
		}
	}
	return nil, errors.New("no end of writing replicated policies")
}

// Now is how the rollout stands: the plan's Start are all that may start, whichever pass is the next one of each.
func (h *Hub) Now(now time.Time) (*rollout.Result, error) {
	plan, err := h.Plan(h.Observed(), now)
	if err != nil {
		return nil, err
	}
	plan.Start = h.may
	return plan, nil
}

// grace is how long a controller keeps the replica of a cluster that is not bound any more.
const grace = time.Minute

// withGrace has replicas of clusters stay for a while that are not bound any more.
func (h *Hub) withGrace() rollout.Options {
	options := h.course
	if h.remembers() {
		options.RemoveAfter.Duration, options.Previous = grace, h.last.Remembered()
	}
	return options
}

// writes says whether p asks for anything.
func (h *Hub) writes(p *passes.Propagation) bool {
	return len(p.Removed)+len(p.Writes()) > 0 || !slices.Equal(h.record.Deselected, p.Record.Deselected)
}

func (h *Hub) find(cluster string) (int, bool) {
	return slices.BinarySearchFunc(h.replicas, cluster, func(r passes.Replica, name string) int {
		return strings.Compare(r.Cluster, name)
	})
}

// evaluate is the cluster's report in the words of a policy. Progressing since the start is no report yet.
func evaluate(r *passes.Replica, report status.Report) {
	compliance := policyv1.Pending
	switch report.Status {
	case status.Succeeded:
		compliance = policyv1.Compliant
		if r.Verdict != nil { // where clusters are validated, a simulation finds each good
			r.Verdict = &status.Verdict{Version: r.Version, Result: status.ValidationSucceeded, Time: report.LastTransitionTime}
		}
	case status.Failed:
		compliance = policyv1.NonCompliant
	default:
		if report.LastTransitionTime.Equal(r.Applied) {
			return
		}
	}
	// Of single templates a simulation tells nothing.
	*r = passes.Replica{
		Cluster: r.Cluster, Version: r.Version, Action: r.Action, Edited: r.Edited, Applied: r.Applied, RolloutStatus: r.RolloutStatus, Reported: r.Reported,
		Compliance: r.Compliance, Generation: r.Generation, LastEvaluatedGeneration: r.Generation, ComplianceTime: r.ComplianceTime, Verdict: r.Verdict,
	}
	if r.Compliance != compliance {
		r.Compliance, r.ComplianceTime = compliance, report.LastTransitionTime
	}
}

// write does what p asks for.
func (h *Hub) write(p *passes.Propagation, now time.Time) {
	h.record = p.Record
	if changed := p.SetStatus(&h.status); !changed && len(p.Removed)+len(p.Writes()) == 0 {
		return
	}
	pass := Pass{Time: now}
	for _, c := range p.Clusters {
		if c.Verb == passes.VerbNone {
			continue
		}
		pass.Changes = append(pass.Changes, c)
		i, _ := h.find(c.Name)
		if c.Verb == passes.VerbCreate {
			h.replicas = slices.Insert(h.replicas, i, passes.Replica{Cluster: c.Name})
		}
		write(&h.replicas[i], c, h.version, now)
	}
	for _, name := range p.Removed {
		if i, found := h.find(name); found {
			h.replicas = slices.Delete(h.replicas, i, i+1)
		}
	}
	pass.ComplianceState, pass.RolloutStatus = h.status.ComplianceState, status.RolloutStatus(h.status.RolloutStatus)
	h.passes = append(h.passes, pass)
}

// write makes one replica what c says.
func write(r *passes.Replica, c passes.Cluster, version string, now time.Time) {
	if c.Verb == passes.VerbCreate || c.Verb == passes.VerbUpdate {
		r.Version, r.Action, r.Applied = version, c.Action, now
		r.Generation++
	}
	r.RolloutStatus = c.RolloutStatus
}
