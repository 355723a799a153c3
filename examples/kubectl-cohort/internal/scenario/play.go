// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Planner plans one simulation of the rollout. The hub keeps what a Policy's rollout writes, and is nil for others.
func (s *Scenario) Planner(opts rollout.Options) (simulation.Planner, *policy.Hub) {
	if s.Policy != nil {
		hub := policy.Resume(s.Policy.Resolution, s.Policy.Version, s.Policy.Replicas, s.stored(), opts)
		return hub.Plan, hub
	}
	return func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		return rollout.Plan(s.Strategy, s.Groups, reports, now, opts)
	}, nil
}

// Play is how a rollout is played through.
type Play struct {
	Options rollout.Options
	Lives   func(cluster string) simulation.Life
	// Luck gives other lives, as another seed draws them.
	Luck  func(seed uint64) func(cluster string) simulation.Life
	Start time.Time
	// Guessed says that how long clusters take is a guess.
	Guessed bool
	// Retries and Abort have no part in a Policy's: its replicated policies don't say which attempt they are, and it is taken
	// back by another policy.
	Retries simulation.Retries
	Abort   simulation.Abort
}

// Play plays the rollout through from where it stands. The hub is for a Policy's.
func (s *Scenario) Play(p Play, watch ...func(time.Duration, *rollout.Result)) (*simulation.Trace, *policy.Hub, error) {
	if _, hub := s.Planner(p.Options); hub != nil {
		trace, err := hub.Play(p.Lives, p.Start, watch...)
		return trace, hub, err
	}
	options, err := s.remembering(p.Options, p.Start)
	if err != nil {
		return nil, nil, err
	}
	played := simulation.Rollout{Strategy: s.Strategy, Groups: s.Groups, Options: options, StoredRecord: s.StoredRecord, Forgets: s.OfOCM, Retries: p.Retries, Abort: p.Abort}
	trace, err := played.Play(s.Observed, p.Lives, p.Start, watch...)
	return trace, nil, err
}

// At has count what counts at that time of what replicated policies have said, where the reading did not say when it was.
func (s *Scenario) At(now time.Time) {
	if s.Policy == nil {
		return
	}
	for i := range s.Policy.Replicas {
		s.Policy.Replicas[i] = s.Policy.Replicas[i].At(now)
	}
}

// Now is the plan at a time, with these options: how the rollout stands, and what may happen then.
func (s *Scenario) Now(opts rollout.Options, at time.Time) (*rollout.Result, error) {
	if _, hub := s.Planner(opts); hub != nil {
		return hub.Now(at)
	}
	opts.StoredRecord = s.StoredRecord
	for _, report := range s.Observed {
		opts.Attempt = max(opts.Attempt, report.Attempt)
	}
	opts, err := s.remembering(opts, at)
	if err != nil {
		return nil, err
	}
	return rollout.Plan(s.Strategy, s.Groups, s.Observed, at, opts)
}

// Knows says whether the rollout goes to a cluster, or went there: an object of it says so, or the record, which outlives the object.
func (s *Scenario) Knows(cluster string) bool {
	return s.selected(cluster) || s.deselected(cluster) != nil ||
		slices.ContainsFunc(slices.Concat(s.Reports(rollout.Options{}), s.Unselected), func(r status.Report) bool { return r.Cluster == cluster }) ||
		s.Policy != nil && slices.ContainsFunc(s.Policy.Replicas, func(r passes.Replica) bool { return r.Cluster == cluster })
}

// Deleting says whether the object of a cluster is being deleted.
func (s *Scenario) Deleting(cluster string) bool {
	if s.Policy != nil {
		return s.Policy.Deleting[cluster]
	}
	return slices.ContainsFunc(s.Observed, func(r status.Report) bool { return r.Cluster == cluster && r.Deleting })
}

// deselected is what the record has of a cluster; nil if nothing.
func (s *Scenario) deselected(cluster string) *status.DeselectedCluster {
	if s.StoredRecord == nil {
		return nil
	}
	of := s.StoredRecord.Record.Deselected
	if i := slices.IndexFunc(of, func(c status.DeselectedCluster) bool { return c.Cluster == cluster }); i >= 0 {
		return &of[i]
	}
	return nil
}

func (s *Scenario) stored() (record status.Record) {
	if s.StoredRecord != nil {
		record = s.StoredRecord.Record
	}
	return record
}

// Reports say where the rollout stands, with these options, as far as the files say.
func (s *Scenario) Reports(opts rollout.Options) []status.Report {
	if _, hub := s.Planner(opts); hub != nil {
		return hub.Observed()
	}
	return s.Observed
}

// Recorded are these reports, those of the record about clusters without an object, and those of replicated policies that are not bound.
func (s *Scenario) Recorded(opts rollout.Options) []status.Report {
	reports := slices.Clone(s.Reports(opts))
	for _, c := range s.stored().Deselected {
		if s.StoredRecord.Record.Version == s.Version && !slices.ContainsFunc(reports, func(r status.Report) bool { return r.Cluster == c.Cluster }) {
			reports = append(reports, c.Report)
		}
	}
	return append(reports, s.ofUnbound(reports)...)
}

// ofUnbound are reports of the replicated policies with the version that no binding has any more, of clusters without another report.
func (s *Scenario) ofUnbound(others []status.Report) (reports []status.Report) {
	if s.Policy == nil {
		return nil
	}
	for i := range s.Policy.Replicas {
		r := &s.Policy.Replicas[i]
		known := slices.ContainsFunc(others, func(o status.Report) bool { return o.Cluster == r.Cluster })
		if known || s.selected(r.Cluster) || r.Version != s.Version || !strings.EqualFold(string(r.Action), string(s.Policy.Resolution.Action())) {
			continue
		}
		report := status.Report{Cluster: r.Cluster, Status: status.Progressing, Applied: r.Applied, LastTransitionTime: r.Applied, Deleting: s.Policy.Deleting[r.Cluster]}
		if r.Compliance == policyv1.Compliant {
			report.Status, report.LastTransitionTime = status.Succeeded, r.ComplianceTime
		}
		reports = append(reports, report)
	}
	return reports
}

// OnlyRecorded says whether only the record tells of a cluster, which has no object.
func (s *Scenario) OnlyRecorded(cluster string) bool {
	return s.deselected(cluster) != nil && !slices.ContainsFunc(s.Reports(rollout.Options{}), func(r status.Report) bool { return r.Cluster == cluster })
}

// AtOnce is the strategy that rolls a rollout back as fast as can be: all clusters at once, with the deadline of its own.
func (s *Scenario) AtOnce() clusterv1alpha1.RolloutStrategy {
	var config clusterv1alpha1.RolloutConfig
	switch {
	case s.Strategy.Progressive != nil && s.Strategy.Type == clusterv1alpha1.Progressive:
		config = s.Strategy.Progressive.RolloutConfig
	case s.Strategy.ProgressivePerGroup != nil && s.Strategy.Type == clusterv1alpha1.ProgressivePerGroup:
		config = s.Strategy.ProgressivePerGroup.RolloutConfig
	case s.Strategy.All != nil:
		config = s.Strategy.All.RolloutConfig
	}
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{
		RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: config.ProgressDeadline}}}
}
