// SPDX-License-Identifier: Apache-2.0

package search

import (
	"reflect"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// mutant is a planner that does not know a rule.
type mutant struct {
	name    string
	world   string // in which it is caught
	broken  string // what it breaks, up to the colon
	planner planner
	duty    string // what the controller neglects, if it is not the planner
	late    bool   // whether it takes too many states for the short run
}

// given makes a planner that plans with an altered input.
func given(alter func(in *input)) planner {
	return func(in input) (*rollout.Result, error) {
		in.strategy = *in.strategy.DeepCopy()
		in.reports = slices.Clone(in.reports)
		alter(&in)
		return plan(in)
	}
}

// told makes a planner with an altered answer.
func told(alter func(in *input, r *rollout.Result)) planner {
	return func(in input) (*rollout.Result, error) {
		r, err := plan(in)
		if err == nil {
			alter(&in, r)
		}
		return r, err
	}
}

// fields gives what the strategy types share, of the one that is chosen.
func fields(s *clusterv1alpha1.RolloutStrategy) (*clusterv1alpha1.RolloutConfig, *clusterv1alpha1.MandatoryDecisionGroups) {
	switch s.Type {
	case clusterv1alpha1.Progressive:
		return &s.Progressive.RolloutConfig, &s.Progressive.MandatoryDecisionGroups
	case clusterv1alpha1.ProgressivePerGroup:
		return &s.ProgressivePerGroup.RolloutConfig, &s.ProgressivePerGroup.MandatoryDecisionGroups
	default:
		return &s.All.RolloutConfig, nil
	}
}

// configured makes a planner that plans with another RolloutConfig.
func configured(alter func(c *clusterv1alpha1.RolloutConfig)) planner {
	return given(func(in *input) {
		c, _ := fields(&in.strategy)
		alter(c)
	})
}

// reported makes a planner that reads reports otherwise.
func reported(alter func(in *input, r *status.Report)) planner {
	return given(func(in *input) {
		for i := range in.reports {
			alter(in, &in.reports[i])
		}
	})
}

// without makes a planner that ignores an option.
func without(option string) planner {
	return given(func(in *input) {
		reflect.ValueOf(&in.options).Elem().FieldByName(option).SetZero()
	})
}

// groupOf is the index of a cluster's group.
func (in *input) groupOf(cluster string) int32 {
	key, _, ok := in.groups.Find(cluster)
	if !ok {
		return none
	}
	return key.Index
}

// rolledBack makes a planner that takes a rollout back otherwise.
func rolledBack(alter func(a *rollout.Abort)) planner {
	return given(func(in *input) {
		if in.abort != nil {
			abort := *in.abort
			abort.Failed = slices.Clone(abort.Failed)
			alter(&abort)
			in.abort = &abort
		}
	})
}

// forgetsLater does not see failures behind the first group that is not complete.
var forgetsLater = reported(func(in *input, r *status.Report) {
	if g := in.groupOf(r.Cluster); r.Status == status.Failed && g > 0 && g != none {
		r.Status = status.Succeeded
	}
})

// gateOfItsGroup plans without the gates of groups in which no cluster waits.
var gateOfItsGroup = given(func(in *input) {
	in.options.Gates = slices.DeleteFunc(in.options.Gates, func(g rollout.ClosedGate) bool {
		return !slices.ContainsFunc(in.waiting(), func(c string) bool { return in.groupOf(c) == g.Group.Index })
	})
})

// waiting names the selected clusters without a report of the version.
func (in *input) waiting() (names []string) {
	for _, d := range in.groups.All() {
		if !slices.ContainsFunc(in.reports, func(r status.Report) bool {
			return r.Cluster == d.ClusterName && (r.Status != status.ToApply || !r.Applied.IsZero())
		}) {
			names = append(names, d.ClusterName)
		}
	}
	return names
}

// trustsDecisions takes incomplete groups for whole when it starts or when it removes.
func trustsDecisions(starts, removes bool) planner {
	return told(func(in *input, r *rollout.Result) {
		if in.groups.Incomplete() == "" {
			return
		}
		shown := map[grouping.Key][]string{}
		for key, d := range in.groups.All() {
			shown[key] = append(shown[key], d.ClusterName)
		}
		trusting := *in
		trusting.groups, _ = grouping.FromNames(shown)
		trusting.grace = 0
		t, err := plan(trusting)
		if err != nil {
			return
		}
		if starts {
			r.Start = t.Start
		}
		if removes {
			r.Removed = t.Removed
		}
	})
}
