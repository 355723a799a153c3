package hub_test

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

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
	dutyUpdate:         {invKept},
	dutyOneName:        {invOnce},
	dutyRecheck:        {invLate, invLeft},
	dutyStatus:         {invStatus},
	dutyOneWrite:       {invLeft, invMandatory, invOrder, invStatus},
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
