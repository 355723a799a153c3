package main

import (
	"fmt"
	"path"
	"strings"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
	"github.com/cohort-ocm/cohort/examples/simulate/internal/scenario"
	"github.com/cohort-ocm/cohort/rollout"
)

// checkNames refuses flags that name no cluster or no group of the rollouts. Where nothing is selected, that is what
// there is to say.
func (f *flags) checkNames(scenarios []*scenario.Scenario) error {
	var names, there []string
	known := make(map[int32]bool)
	for _, s := range scenarios {
		for i := range s.Groups.NumClusters() {
			names = append(names, s.Groups.Cluster(i))
		}
		for i := range s.Groups.Len() {
			known[s.Groups.Key(i).Index] = true
		}
		there = append(there, s.Groups.String())
	}
	for _, gate := range f.closedGates {
		if !known[gate.index] && len(names) > 0 {
			return fmt.Errorf("-gate %d: no such group: there are %s", gate.index, strings.Join(there, ", "))
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

// withoutEffect says which flags change nothing in a rollout by the schedule, in which the fallback time was used for so
// many clusters.
func (f *flags) withoutEffect(s *scenario.Scenario, schedule rollout.Schedule, fallbacks int) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if s.Policy != nil && s.Policy.InformsEverywhere() {
		for _, flag := range []struct {
			name  string
			given bool
		}{{"max-concurrency-per-group", f.perGroup != ""}, {"failed-frees-slot", f.freesSlot}, {"ramp", f.ramp != 0}, {"max-starts", f.maxStarts.n > 0}, {"wait-between-groups", f.between != 0}, {"gate", len(f.closedGates) > 0}} {
			if flag.given {
				note("-%s: no effect, the policy goes to all clusters at once", flag.name)
			}
		}
	} else {
		if f.perGroup != "" && schedule.Type != clusterv1alpha1.ProgressivePerGroup {
			note("-max-concurrency-per-group: no effect, the strategy's type is %s and not ProgressivePerGroup", schedule.Type)
		}
		limited := f.ramp != 0
		for _, stage := range schedule.Stages {
			limited = limited || stage.MaxConcurrency < stage.Clusters
		}
		if f.perGroup != "" && schedule.Type == clusterv1alpha1.ProgressivePerGroup && !limited {
			note("-max-concurrency-per-group: no effect, no group has more clusters than that")
		}
		if f.freesSlot && !limited {
			note("-failed-frees-slot: no effect, all clusters of a stage may be in flight at a time")
		}
	}
	if f.takesGiven && fallbacks == 0 && s.Groups.NumClusters() > 0 {
		note("-takes: no effect, other flags or the Behavior say of every cluster how long it takes")
	}
	if f.seed != 0 && !f.draws(fallbacks) && !s.Draws() {
		note("-seed: no effect, nothing is drawn at random")
	}
	return notes
}

// draws says whether the flags leave anything to luck.
func (f *flags) draws(fallbacks int) bool {
	for _, rule := range f.rules() {
		if rule.Draws() {
			return true
		}
	}
	return fallbacks > 0 && f.takes.varies()
}
