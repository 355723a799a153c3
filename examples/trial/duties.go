// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Duty is one that the documentation of rollout or status gives to a controller, or that a strategy does.
type Duty string

const (
	DutyPlacement      Duty = "read the decisions together with their placement"
	DutyVersion        Duty = "say which version of the workload a work has"
	DutyApplied        Duty = "note in the object when its version was applied, so that a restart doesn't forget it"
	DutyTimeOfWrite    Duty = "note the time of the write, not of the plan"
	DutyFirstLook      Duty = "ask the API server, when a process begins, what those before it wrote"
	DutyReadYourWrites Duty = "plan from reads that have your own writes"
	DutyLostAnswer     Duty = "read what you wrote where the answer was lost"
	DutySecondLook     Duty = "look at the generation again before each write"
	DutyRemove         Duty = "delete the workload of those removed"
	DutyRemoveLate     Duty = "give Plan the result before, to remove late"
	DutyUpdate         Duty = "update what is there"
	DutyOneName        Duty = "give a cluster's workload one name"
	DutyRecheck        Duty = "come back after RecheckAfter"
	DutyStatus         Duty = "set the status"
	DutyOneWrite       Duty = "note the version with the write that carries it"
)

// Duties are all of them, with the invariants that a controller breaks which ignores one. Where a test finds another
// one broken, it says so, but doesn't take it for a proof.
var Duties = map[Duty][]Invariant{
	DutyPlacement:      {invComplete, invKept},
	DutyVersion:        {invLeft, invMandatory, invOrder, invConcurrency},
	DutyApplied:        {invLate, invLeft, invConcurrency},
	DutyTimeOfWrite:    {invDeadline, invOrder},
	DutyFirstLook:      {invConcurrency, invOnce, invMandatory, invOrder, invBudget, invVersion},
	DutyReadYourWrites: {invConcurrency},
	DutyLostAnswer:     {invConcurrency, invOnce},
	DutySecondLook:     {invVersion},
	DutyRemove:         {invLeft},
	DutyRemoveLate:     {invKept},
	DutyUpdate:         {invKept},
	DutyOneName:        {invOnce},
	DutyRecheck:        {invLate, invLeft},
	DutyStatus:         {invStatus},
	DutyOneWrite:       {invLeft, invMandatory, invOrder, invStatus},
}

// What a strategy says is the library's to keep. A controller that hands it another one shows that the observer would
// see it if the library didn't.
const (
	KeepSoak        Duty = "let a success soak"
	KeepDeadline    Duty = "wait for the deadline"
	KeepBudget      Duty = "stop at a breach"
	KeepConcurrency Duty = "start no more than MaxConcurrency"
	KeepMandatory   Duty = "wait for mandatory groups"
	KeepOrder       Duty = "go group by group"
)

// StrategyDuties are those, with the invariants that are broken without them.
var StrategyDuties = map[Duty][]Invariant{
	KeepSoak:        {invSoak},
	KeepDeadline:    {invDeadline},
	KeepBudget:      {invBudget},
	KeepConcurrency: {invConcurrency},
	KeepMandatory:   {invMandatory},
	KeepOrder:       {invOrder},
}

// Strategy is the strategy of a controller that ignores a duty.
func (d Duty) Strategy(s clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s = *s.DeepCopy()
	config, _, mandatory, limit := parts(&s)
	switch d {
	case KeepSoak:
		config.MinSuccessTime.Duration = 0
	case KeepDeadline:
		config.ProgressDeadline = "2s"
	case KeepBudget:
		config.MaxFailures = intstr.FromString("100%")
	case KeepConcurrency:
		*limit = intstr.FromInt(limit.IntValue() + 1)
	case KeepMandatory:
		*mandatory = nil
	case KeepOrder:
		s = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: *config, MaxConcurrency: intstr.FromString("100%")}}
	}
	return s
}
