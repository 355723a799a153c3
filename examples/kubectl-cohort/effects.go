// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/behavior"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// checkNames refuses flags that name no cluster or no group of the rollouts. Where nothing is selected, that is what
// there is to say.
func (f *flags) checkNames(scenarios []*scenario.Scenario) error {
	if err := f.extras.check(scenarios); err != nil {
		return err
	}
	var names []string
	for _, s := range scenarios {
		for i := range s.Groups.NumClusters() {
			names = append(names, s.Groups.Cluster(i))
		}
	}
	for _, rule := range f.rules() {
		for _, pattern := range rule.Names {
			if len(names) > 0 && !matchesAny(pattern, names) {
				return fmt.Errorf("%s: must name a cluster that is selected, or be a pattern for some%s", rule.flag, spelling.Hint(pattern, names))
			}
		}
	}
	return nil
}

func matchesAny(pattern string, names []string) bool {
	for _, name := range names {
		if found, _ := path.Match(pattern, name); found {
			return true
		}
	}
	return false
}

// withoutEffect says which flags change nothing in a rollout with this first plan, in which the usual times were used for
// as many clusters as uses says.
func (f *flags) withoutEffect(s *scenario.Scenario, first *rollout.Result, usual behavior.Usual, uses behavior.Uses) (notes []string) {
	schedule := first.Schedule
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if s.Policy != nil && s.Policy.InformsEverywhere() {
		for _, name := range f.given() {
			note("--%s: no effect, the policy goes to all clusters at once", name)
		}
	} else {
		notes = append(notes, withoutEffect(first.Warnings, schedule.Type)...)
		limited := f.ramp != 0
		for _, stage := range schedule.Stages {
			limited = limited || stage.MaxConcurrency < stage.Clusters
		}
		if f.perGroup != "" && schedule.Type == clusterv1alpha1.ProgressivePerGroup && !limited {
			note("--max-concurrency-per-group: no effect, no group has more clusters than that")
		}
		switch {
		case f.shuffle.given && !limited && f.maxStarts.n == 0 && f.perGroup == "":
			note("--shuffle: no effect, all clusters of a stage may start at once")
		case f.shuffle.given:
			notes = append(notes, f.shuffle.says(s, s.Reports(f.standing(s, f.start.Time))))
		}
		if f.freesSlot && !limited {
			note("--failed-frees-slot: no effect, all clusters of a stage may be in flight at a time")
		}
	}
	if f.takesGiven && uses.Takes == 0 && s.Groups.NumClusters() > 0 {
		note("--takes: no effect, other flags or the Behavior say of every cluster how long it takes")
	}
	switch {
	case s.Policy != nil:
		for _, flag := range f.judging() {
			note("%s: no effect, a forecast of a policy finds each cluster good at once", flag)
		}
	case f.validatesGiven && uses.Validates == 0 && s.Groups.NumClusters() > 0:
		note("--validates: no effect, other flags or the Behavior say of every cluster when its verdict comes, or that none does")
	}
	cutOff := func(r behavior.Rule) bool { return r.Outcome == behavior.CutOff }
	if f.leaseGiven && len(f.cutOff) == 0 && !slices.ContainsFunc(s.Behavior.Clusters, cutOff) {
		note("--lease: no effect, no cluster is cut off: --cut-off says which are")
	}
	if f.seed != 0 && !f.draws(usual, uses) && !s.Draws() {
		note("--seed: no effect, nothing is drawn at random")
	}
	return notes
}

// draws says whether the flags leave anything to luck.
func (f *flags) draws(usual behavior.Usual, uses behavior.Uses) bool {
	for _, rule := range f.rules() {
		if rule.Draws() {
			return true
		}
	}
	return uses.Takes > 0 && f.takes.varies() || usual.Validates != nil && uses.Validates > 0 && f.validates.varies()
}

// idle says which flags turned out to change nothing once the rollout was played.
func (f *flags) idle(s *scenario.Scenario, trace *simulation.Trace) (notes []string) {
	if len(f.baseline) > 0 && !anyFails(s, trace, f.baseline.of(s)) {
		notes = append(notes, "--failed-before: no effect, none of these clusters fails here: --fail says which do")
	}
	for _, abort := range []struct {
		flag  string
		given bool
		why   string
	}{{"--abort-at", f.abortAt > 0, "the rollout was complete before"}, {"--abort-on-breach", f.abortOnBreach && f.abortAt == 0, "maxFailures is not exceeded"}} {
		switch {
		case !abort.given || trace.Aborted != nil:
		case s.Policy != nil:
			notes = append(notes, abort.flag+": no effect, a Policy is rolled back by rolling out the one before, which is a rollout of its own")
		default:
			notes = append(notes, abort.flag+": no effect, "+abort.why)
		}
	}
	switch {
	case f.retry.n == 0:
	case s.Policy != nil:
		notes = append(notes, "--retry: no effect, a replicated policy does not say which attempt it is")
	case !slices.ContainsFunc(trace.Waves, func(w simulation.Wave) bool { return w.Attempt > 0 }):
		notes = append(notes, "--retry: no effect, there is nothing to retry")
	}
	return notes
}

// anyFails says whether any of these clusters failed before the rollout or in it.
func anyFails(s *scenario.Scenario, trace *simulation.Trace, is func(cluster string) bool) bool {
	for _, w := range trace.Waves {
		if slices.ContainsFunc(w.Failed, is) || slices.ContainsFunc(w.TimedOut, is) {
			return true
		}
	}
	return slices.ContainsFunc(s.Observed, func(r status.Report) bool {
		return is(r.Cluster) && (r.Status == status.Failed || r.Status == status.TimeOut)
	})
}
