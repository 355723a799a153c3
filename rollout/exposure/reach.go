// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"math"
	"math/bits"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// prospect is a schedule before anything starts.
type prospect struct {
	rollout.Schedule
	warnings []rollout.Warning // of the plan
	options  *rollout.Options
	ramp     int // 0: none
	groups   *grouping.Groups
	stageOf  []int // of each group
	ignored  []int // for each group how many clusters are ignored; nil where none are
	baseline []int // for each stage how many clusters that count are in no budget (R38); nil where all are in one
	others   []int // for each stage how many clusters count in the stages that do not come after it; nil without a ramp
}

// newProspect plans the rollout without reports, and adds what a plan does not have.
func newProspect(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, opts *rollout.Options) (*prospect, error) {
	anew := *opts
	anew.Order, anew.Previous, anew.StoredRecord, anew.Attempt = nil, nil, nil, 0
	plan, err := rollout.Plan(strategy, groups, nil, time.Time{}, anew)
	if err != nil {
		return nil, err
	}
	prospect := &prospect{Schedule: plan.Schedule, warnings: plan.Warnings, options: opts, groups: groups, stageOf: make([]int, groups.Len())}
	stages := make(map[grouping.Key]int, groups.Len())
	for i := range prospect.Stages {
		for _, key := range prospect.Stages[i].Groups {
			stages[key] = i
		}
	}
	for group := range prospect.stageOf {
		prospect.stageOf[group] = stages[groups.Key(group)]
	}
	prospect.except()
	if opts.Ramp != nil {
		prospect.ramp, prospect.others = *opts.Ramp, prospect.notBehind()
	}
	return prospect, nil
}

// except counts the ignored clusters, and those of the baseline.
func (p *prospect) except() {
	if len(p.options.Ignored) > 0 {
		p.ignored = make([]int, p.groups.Len())
	}
	if len(p.options.FailedBefore) > 0 {
		p.baseline = make([]int, len(p.Stages))
	}
	seen := make(map[int]bool) // the positions that were named
	for i, name := range slices.Concat(p.options.Ignored, p.options.FailedBefore) {
		position, is := p.groups.Position(name)
		if !is || seen[position] {
			continue
		}
		seen[position] = true
		if group := p.groups.GroupAt(position); i < len(p.options.Ignored) {
			p.ignored[group]++
		} else {
			p.baseline[p.stageOf[group]]++
		}
	}
}

// numCounted gives how many clusters count.
func (p *prospect) numCounted() (n int) {
	for i := range p.Stages {
		n += p.counted(i)
	}
	return n
}

// notBehind gives for each stage how many clusters count in the other stages that do not come after it. In a graph it
// takes 64 stages at a time, one bit each, and looks at all that come after them.
func (p *prospect) notBehind() []int {
	others, all := make([]int, len(p.Stages)), 0
	for i := range p.Stages {
		others[i] = all
		all += p.counted(i)
	}
	if p.After == nil {
		return others
	}
	is := make([]uint64, len(p.Stages)) // for each stage which of the 64 it is or comes after
	first := 0
	for some := range slices.Chunk(others, 64) {
		clear(is)
		for i := range some {
			is[first+i], some[i] = 1<<i, all
		}
		for i := first; i < len(is); i++ {
			for _, before := range p.After[i] {
				is[i] |= is[before]
			}
			for left := is[i]; left != 0; left &= left - 1 {
				some[bits.TrailingZeros64(left)] -= p.counted(i)
			}
		}
		first += len(some)
	}
	return others
}

// exposureOver puts together what Of gives, for valid input.
func (p *prospect) exposureOver(life Span, now time.Time) Exposure {
	reach, finish := p.reach(), p.finish(life, now)
	exposure := Exposure{
		Clusters: p.numCounted(), Exposed: reach.exposed, ExposedIfAllFail: reach.ifAllFail, InFlight: reach.inFlight,
		Stages: make([]Stage, len(p.Stages)), Warnings: p.warnings, Weaknesses: p.weaknesses(),
	}
	for i, stage := range p.Stages {
		exposure.Stages[i] = Stage{Stage: stage, Exposed: p.mostExposed(i), InFlight: p.mostInFlight(i), Finish: finish[i]}
		exposure.Finish = Span{max(exposure.Finish.Shortest, finish[i].Shortest), max(exposure.Finish.Longest, finish[i].Longest)}
	}
	if exposure.Clusters > 0 { // also where stages side by side share the starts
		exposure.Finish.Shortest = max(exposure.Finish.Shortest, plus(p.startsTake(exposure.Clusters), plus(life.Shortest, p.MinSuccessTime)))
	}
	return exposure
}

// reach has the most clusters of all stages that can be exposed and in flight.
type reach struct {
	exposed, ifAllFail, inFlight int
}

// reach computes R40 for all stages.
func (p *prospect) reach() reach {
	return reach{
		exposed:   p.most(p.releases()),
		inFlight:  p.most(p.options.FailedFreesSlot),
		ifAllFail: p.reachIfAllFail(),
	}
}

// releases says whether failed clusters free their slots, at once or at their deadline.
func (p *prospect) releases() bool { return p.options.FailedFreesSlot || p.ProgressDeadline != nil }

// most gives the most clusters of all stages that count at the same time. A cluster counts if it has a slot or has failed;
// failed clusters keep their slots unless free is set. While a stage is active, the tolerated failures of the stages before it
// count, too.
//
// With a ramp, where stages go side by side, it is only a bound: the smaller of what the ramp allows for all together
// and what is possible without it.
func (p *prospect) most(free bool) (most int) {
	failed, passed, all := 0, 0, 0 // how many clusters of the stages before
	for i := range p.Stages {
		n, tolerated := p.counted(i), p.tolerated(i)
		if slots := p.slots(i); free {
			most = max(most, failed+tolerated+min(slots, n-tolerated, p.rampOf(passed-failed+n-tolerated)))
			failed += tolerated
		} else {
			failed = min(failed, p.rampOf(passed+1)-1) // or no later cluster starts: the first, too, needs a slot
			ramp := p.rampOf(passed + n)
			most = max(most, min(failed+min(slots, n), ramp))
			failed = min(failed+min(slots, n, tolerated), ramp)
		}
		passed += n
		all += tolerated
	}
	if p.After == nil {
		return most
	}
	if !free {
		all = 0
	}
	most = p.together(func(i int) load {
		most := p.mostOf(i, free)
		return load{most, min(p.tolerated(i), most)}
	})
	return min(most-all, p.rampOf(passed-all)) + all
}

// reachIfAllFail computes R40 for a version with which no cluster succeeds: it continues only where all clusters of a
// stage may fail.
func (p *prospect) reachIfAllFail() (reached int) {
	stops := make([]bool, len(p.Stages)) // whether the version stops at a stage or before it
	ramp := p.rampOf(0)                  // how many slots the ramp still allows
	for i := range p.Stages {
		if slices.ContainsFunc(stages.DirectlyBefore(p.After, i), func(before int) bool { return stops[before] }) {
			stops[i] = true
			continue
		}
		n, tolerated := p.counted(i), p.tolerated(i)
		failed := 0 // without a slot
		if p.releases() {
			failed = tolerated
		}
		slots := min(p.slots(i), n-failed, ramp)
		ramp -= slots
		reached += failed + slots
		stops[i] = min(tolerated, failed+slots) < n
	}
	return reached
}

// slots gives how many clusters of a stage may have a slot by its own limit.
func (p *prospect) slots(stage int) int { return p.Stages[stage].MaxConcurrency }

// rampOf gives how many clusters of the fleet may have a slot by R35 if n have one or have soaked: half of n, or the
// initial number. Without a ramp any number may.
func (p *prospect) rampOf(n int) int {
	if p.ramp == 0 {
		return math.MaxInt
	}
	return max(p.ramp, n/2)
}

// counted gives how many clusters of a stage count.
func (p *prospect) counted(stage int) int {
	return p.Stages[stage].Clusters - p.Stages[stage].Ignored
}

// budgeted gives how many clusters of a stage are in a budget.
func (p *prospect) budgeted(stage int) int {
	n := p.counted(stage)
	if p.baseline != nil {
		n -= p.baseline[stage]
	}
	return n
}

// budget gives how many of those may fail while the stage is active. Under Progressive these are as many as may fail of
// all clusters, since no earlier stage tolerates a failure (R11, R12).
func (p *prospect) budget(stage int) int {
	if p.Type == clusterv1alpha1.Progressive && !p.Stages[stage].Mandatory {
		return p.MaxFailures
	}
	return p.Stages[stage].MaxFailures
}

// tolerated gives how many clusters of a stage may have failed without stopping anything.
func (p *prospect) tolerated(stage int) int {
	n := p.budgeted(stage)
	return min(p.budget(stage), n) + p.counted(stage) - n
}

// mostExposed computes R40 for a stage. A cluster starts only if it gets one of the slots and the failures are within
// the budget. An exposed cluster without a slot has failed. Slots and budget together therefore bound the exposed clusters. The
// bound is reached if failed clusters free their slots and the budget is used up while others are in flight.
func (p *prospect) mostExposed(stage int) int { return p.mostOf(stage, p.releases()) }

// mostInFlight computes R40 for a stage. Failed clusters are in flight, with a slot or without.
func (p *prospect) mostInFlight(stage int) int { return p.mostOf(stage, p.options.FailedFreesSlot) }

// mostOf does for a stage alone what most does. All stages that do not come after it may have soaked.
func (p *prospect) mostOf(stage int, free bool) int {
	n, failed, soaked := p.counted(stage), 0, 0
	if free {
		failed = p.tolerated(stage)
	}
	if p.others != nil {
		soaked = p.others[stage]
	}
	return failed + min(p.slots(stage), n-failed, p.rampOf(soaked+n-failed))
}

// isOutOfReach says whether no number of failures in a stage exceeds its budget. Under All, stages have none.
func (p *prospect) isOutOfReach(stage int) bool {
	return p.Type != clusterv1alpha1.All && p.counted(stage) > 0 && p.budget(stage) >= min(p.budgeted(stage), p.mostExposed(stage))
}

// isProtected says whether enough failures in any one stage stop the rollout.
func (p *prospect) isProtected() bool {
	for i := range p.Stages {
		if p.isOutOfReach(i) {
			return false
		}
	}
	return true
}
