package policy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Hub has a root policy and what is replicated of it. It comes from New and serves one simulation.
type Hub struct {
	root     override.Root
	options  []rollout.Option
	replicas []override.Replica // by cluster
	passes   []Pass
}

// Pass is what one call of override.Propagate had written.
type Pass struct {
	Time time.Time
	// Changes are the replicated policies that were written, by cluster.
	Changes []override.Propagated
	// Status is the root policy's after that.
	Status status.PolicyStatus
}

// New is a hub without any replicated policy yet. The root's bindings and groups are those of the whole simulation.
func New(root override.Root, options ...rollout.Option) *Hub {
	return &Hub{root: root, options: options}
}

// Passes are those so far, in order. A nil hub has none.
func (h *Hub) Passes() []Pass {
	if h == nil {
		return nil
	}
	return h.passes
}

// Plan brings the replicated policies to where they have to be at the time now. Reports are of clusters that have
// started. The plan's Start are the clusters that this call has started: they got the version with the action that
// they shall have in the end.
func (h *Hub) Plan(reports []status.Report, now time.Time) (*rollout.Result, error) {
	for _, report := range reports {
		if i, found := h.find(report.Cluster); found {
			evaluate(&h.replicas[i], report)
		}
	}
	const mostCalls = 3 // the first pass, the second, and the one that asks for nothing (O11)
	for range mostCalls {
		p, err := override.Propagate(h.root, h.replicas, now, h.options...)
		if err != nil {
			return nil, err
		}
		if p.Writes() {
			h.write(p, now)
		}
		plan := *p.Rollout
		plan.Start = started(p)
		if len(plan.Start) > 0 || !p.Writes() {
			return &plan, nil
		}
	}
	return nil, errors.New("no end of writing replicated policies")
}

func (h *Hub) find(cluster string) (int, bool) {
	return slices.BinarySearchFunc(h.replicas, cluster, func(r override.Replica, name string) int {
		return strings.Compare(r.Cluster, name)
	})
}

// evaluate is the cluster's report in the words of a policy. Progressing since the start is no report yet.
func evaluate(r *override.Replica, report status.Report) {
	compliance := "Pending"
	switch report.Status {
	case status.Succeeded:
		compliance = "Compliant"
	case status.Failed:
		compliance = "NonCompliant"
	default:
		if report.LastTransitionTime.Equal(r.WriteTime) {
			return
		}
	}
	r.LastEvaluatedGeneration = r.Generation
	if r.Compliance != compliance {
		r.Compliance, r.ComplianceTime = compliance, report.LastTransitionTime
	}
}

// write does what p asks for. Bindings don't change here, so nothing is ever deleted.
func (h *Hub) write(p *override.Propagation, now time.Time) {
	pass := Pass{Time: now, Status: p.Status}
	for _, c := range p.Clusters {
		if c.Write == override.WriteNothing {
			continue
		}
		pass.Changes = append(pass.Changes, c)
		i, _ := h.find(c.Name)
		if c.Write == override.WriteCreate {
			h.replicas = slices.Insert(h.replicas, i, override.Replica{Cluster: c.Name})
		}
		r := &h.replicas[i]
		if c.Write != override.WriteStatus {
			r.Version, r.Action, r.WriteTime = h.root.Version, c.Action, now
			r.Generation++
		}
		r.RolloutStatus = c.RolloutStatus
	}
	h.root.Status = p.Status
	h.passes = append(h.passes, pass)
}

// started are the clusters of the plan's Start that did start: one without a replica of this version goes through
// the first pass before.
func started(p *override.Propagation) (all []rollout.Cluster) {
	for _, cluster := range p.Rollout.Start {
		if c, _ := p.Cluster(cluster.Name); c.RolloutStatus == status.Progressing {
			all = append(all, cluster)
		}
	}
	return all
}
