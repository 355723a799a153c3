package hub_test

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A duty is one that the documentation of rollout or status gives to a controller.
type duty string

const (
	dutyPlacement      duty = "read the decisions together with their placement"
	dutyVersion        duty = "say which version of the workload a work has"
	dutyApplied        duty = "note in the object when its version was applied, so that a restart doesn't forget it"
	dutyTimeOfWrite    duty = "note the time of the write, not of the plan"
	dutyReadYourWrites duty = "plan from reads that have your own writes"
	dutyLostAnswer     duty = "read what you wrote where the answer was lost"
	dutySecondLook     duty = "look at the generation again before each write"
	dutyRemove         duty = "delete the workload of those removed"
	dutyRemoveLate     duty = "give Plan the result before, to remove late"
	dutyUpdate         duty = "update what is there"
	dutyOneName        duty = "give a cluster's workload one name"
	dutyRecheck        duty = "come back after RecheckAfter"
	dutyStatus         duty = "set the status"
	dutyOneWrite       duty = "note the version with the write that carries it"
)

// duties are all of them, with the invariants that a controller breaks which ignores one. Where a test finds another
// one broken, it says so, but doesn't take it for a proof.
var duties = map[duty][]invariant{
	dutyPlacement:      {invComplete, invKept},
	dutyVersion:        {invLeft, invMandatory, invOrder, invConcurrency},
	dutyApplied:        {invLate, invLeft, invConcurrency},
	dutyTimeOfWrite:    {invDeadline, invOrder},
	dutyReadYourWrites: {invConcurrency},
	dutyLostAnswer:     {invConcurrency, invOnce},
	dutySecondLook:     {invVersion},
	dutyRemove:         {invLeft},
	dutyRemoveLate:     {invKept},
	dutyUpdate:         {invKept},
	dutyOneName:        {invOnce},
	dutyRecheck:        {invLate, invLeft},
	dutyStatus:         {invStatus},
	dutyOneWrite:       {invLeft, invMandatory, invOrder, invStatus},
}

// What a strategy says is the library's to keep. A controller that hands it another one shows that the observer would
// see it if the library didn't.
const (
	keepSoak        duty = "let a success soak"
	keepDeadline    duty = "wait for the deadline"
	keepBudget      duty = "stop at a breach"
	keepConcurrency duty = "start no more than MaxConcurrency"
	keepMandatory   duty = "wait for mandatory groups"
	keepOrder       duty = "go group by group"
)

// strategyDuties are those, with the invariants that are broken without them.
var strategyDuties = map[duty][]invariant{
	keepSoak:        {invSoak},
	keepDeadline:    {invDeadline},
	keepBudget:      {invBudget},
	keepConcurrency: {invConcurrency},
	keepMandatory:   {invMandatory},
	keepOrder:       {invOrder},
}

// strategy is the one that the controller goes by.
func (c *controller) strategy(s clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
	s = *s.DeepCopy()
	config, _, mandatory, limit := parts(&s)
	switch c.ignored {
	case keepSoak:
		config.MinSuccessTime.Duration = 0
	case keepDeadline:
		config.ProgressDeadline = "2s"
	case keepBudget:
		config.MaxFailures = intstr.FromString("100%")
	case keepConcurrency:
		*limit = intstr.FromInt(limit.IntValue() + 1)
	case keepMandatory:
		*mandatory = nil
	case keepOrder:
		s = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: *config, MaxConcurrency: intstr.FromString("100%")}}
	}
	return s
}

// removeAfter is for how long a cluster has to be out of the decisions until it loses its work.
const removeAfter = 2 * time.Second

// options are those that the documentation asks for.
func (c *controller) options() []rollout.Option {
	if c.ignores(dutyRemoveLate) {
		return nil
	}
	return []rollout.Option{rollout.RemoveAfter(removeAfter, c.last)}
}

// report makes the report of a work.
func (c *controller) report(work *workv1.ManifestWork, version string) (status.Report, bool) {
	state := status.WorkState{Work: work, Version: version}
	switch c.ignored {
	case dutyVersion:
		state.Has = version
	case dutyApplied:
		report, ok := status.FromManifestWork(state)
		report.Applied = c.memory[work.Namespace]
		return report, ok
	}
	return status.FromManifestWork(state)
}

// stamp notes on a work which version it is given, and when.
func (c *controller) stamp(work *workv1.ManifestWork, version string, planned time.Time) {
	now := time.Now()
	if c.ignores(dutyTimeOfWrite) {
		now = planned
	}
	c.memory[work.Namespace] = now
	status.Stamp(work, version, now)
}

// announce notes the version on a work in a write of its own, before the one that carries it.
func (c *controller) announce(ctx context.Context, old *workv1.ManifestWork, version string) (*workv1.ManifestWork, error) {
	work := old.DeepCopy()
	c.stamp(work, version, time.Now())
	return c.client.WorkV1().ManifestWorks(work.Namespace).Update(ctx, work, metav1.UpdateOptions{})
}
