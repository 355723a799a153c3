package policy

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// result is the plan that the propagation came from, with the clusters that really start. A Propagation says why a
// cluster waits, but has neither the chain of who waits for whom nor the schedule, so they are planned again by the
// rules that package passes documents.
func (h *Hub) result(p, before *passes.Propagation, now time.Time) (*rollout.Result, error) {
	groups, reports, options := h.resolution.Groups(), h.reports(), h.course
	if h.remembers() {
		reports = append(reports, h.unbound()...)
		options.RemoveAfter.Duration, options.Previous = grace, before.Remembered()
		options.Memory = &rollout.Memory{Version: h.version, Record: h.recovered(), AtOnce: true}
	}
	result, err := rollout.Plan(h.strategy, groups, reports, now, options)
	if err != nil {
		return nil, err
	}
	h.may, result.Start = result.Start, nil
	for _, name := range p.Start {
		key, _, _ := groups.Find(name)
		result.Start = append(result.Start, rollout.Cluster{Name: name, Group: key, Status: status.ToApply})
	}
	return result, nil
}

// Course is the strategy that the policy is really rolled out by, with the options that apply.
func Course(r *override.Resolution, options rollout.Options) (clusterv1alpha1.RolloutStrategy, rollout.Options) {
	strategy := r.Strategy()
	switch {
	case r.Disabled():
		return clusterv1alpha1.RolloutStrategy{}, rollout.Options{}
	case strategy.Type == clusterv1alpha1.All:
		return strategy, options
	case r.Action() == policyv1.Inform:
		return clusterv1alpha1.RolloutStrategy{}, rollout.Options{}
	case strategy.Type != clusterv1alpha1.Progressive || r.Groups().ClustersPerDecisionGroup() > 0:
		return strategy, options
	}
	var progressive clusterv1alpha1.RolloutProgressive
	if strategy.Progressive != nil {
		progressive = *strategy.Progressive
	}
	if progressive.MaxConcurrency == (intstr.IntOrString{}) {
		progressive.MaxConcurrency = intstr.FromInt32(1) // where nobody says how many
	}
	strategy.Progressive = &progressive
	return strategy, options
}

// waits says that clusters inform before it is their turn.
func (h *Hub) waits() bool {
	return h.resolution.Strategy().Type != clusterv1alpha1.All && h.resolution.Action() != policyv1.Inform
}

// reports are what the replicated policies of the version say.
func (h *Hub) reports() (reports []status.Report) {
	for i := range h.replicas {
		if report, known := h.read(&h.replicas[i]); known {
			reports = append(reports, report)
		}
	}
	return reports
}

// unbound are what the replicated policies of clusters say that the policy is not bound to: of those that started.
func (h *Hub) unbound() (reports []status.Report) {
	for i := range h.replicas {
		r := &h.replicas[i]
		if _, bound := h.resolution.Find(r.Cluster); bound {
			continue
		}
		action := h.resolution.Action()
		if !h.waits() && strings.EqualFold(string(r.Action), string(policyv1.Enforce)) {
			action = policyv1.Enforce // by an override that is gone
		}
		report := status.Report{Cluster: r.Cluster, Status: status.ToApply}
		if h.carries(r, action) {
			report = h.report(r, action, true)
		}
		reports = append(reports, report)
	}
	return reports
}

// recovered is the record in which clusters that are bound again and comply have only started.
func (h *Hub) recovered() status.Record {
	record := h.record
	if h.resolution.Incomplete() != "" {
		return record
	}
	record.Left = slices.Clone(record.Left)
	for i := range record.Left {
		left := &record.Left[i]
		at, found := h.find(left.Cluster)
		if _, bound := h.resolution.Find(left.Cluster); !bound || !found || left.Status != status.Failed && left.Status != status.TimeOut {
			continue
		}
		if r := &h.replicas[at]; h.carries(r, policyv1.Inform) && r.Verdict == nil && compliance(r) == policyv1.Compliant {
			left.Status = status.Skip
		}
	}
	return record
}

// read is what one says, if it is of the version and of a bound cluster.
func (h *Hub) read(r *passes.Replica) (status.Report, bool) {
	bound, found := h.resolution.Find(r.Cluster)
	started := h.carries(r, bound.Action)
	if !found || r.Version != h.version || !started && !h.waits() {
		return status.Report{}, false
	}
	return h.report(r, bound.Action, started), true
}

// report is what one says that is of the version. Action is what the cluster has in the end.
func (h *Hub) report(r *passes.Replica, action policyv1.RemediationAction, started bool) status.Report {
	report := passes.FromPolicy(passes.PolicyState{
		Cluster:                 r.Cluster,
		Strategy:                h.strategy.Type,
		RemediationAction:       action,
		Started:                 started,
		Compliance:              compliance(r),
		Generation:              r.Generation,
		LastEvaluatedGeneration: r.LastEvaluatedGeneration,
		Applied:                 r.Applied,
		ComplianceTime:          r.ComplianceTime,
	})
	if r.Verdict == nil {
		return report
	}
	var verdicts []status.Verdict
	if v := *r.Verdict; !v.Time.Before(r.Applied.Truncate(time.Second)) {
		v.Cluster = r.Cluster
		verdicts = append(verdicts, v)
	}
	return status.Judge([]status.Report{report}, r.Version, verdicts)[0]
}

// shown is how the policy API shows a status: it has no Validating.
func shown(s status.RolloutStatus) status.RolloutStatus {
	if s == status.Validating {
		return status.Progressing
	}
	return s
}

// carries says whether the replica is of the version with that action.
func (h *Hub) carries(r *passes.Replica, action policyv1.RemediationAction) bool {
	return r.Version == h.version && strings.EqualFold(string(r.Action), string(action))
}
