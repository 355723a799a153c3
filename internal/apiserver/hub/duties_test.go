package hub_test

import (
	"strings"
	"time"

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
	dutySecondLook     duty = "look at the generation again before each write"
	dutyRemove         duty = "delete the workload of those removed"
	dutyUpdate         duty = "update what is there"
	dutyOneName        duty = "give a cluster's workload one name"
	dutyRecheck        duty = "come back after RecheckAfter"
	dutyStatus         duty = "set the status"
	dutyTerminating    duty = "report what is being deleted like what isn't there"
)

// duties are all of them.
var duties = []duty{
	dutyPlacement, dutyVersion, dutyApplied, dutyTimeOfWrite, dutyReadYourWrites, dutySecondLook, dutyRemove, dutyUpdate,
	dutyOneName, dutyRecheck, dutyStatus, dutyTerminating,
}

// report makes the report of a work.
func (c *controller) report(work *workv1.ManifestWork, version string) (status.Report, bool) {
	state := workState{Work: work, Version: version}
	switch c.ignored {
	case dutyVersion:
		state.Has = version
	case dutyTerminating:
		state.Work = work.DeepCopy()
		state.Work.DeletionTimestamp = nil
	case dutyApplied:
		if _, at := stampOf(work); at.IsZero() {
			break
		}
		report, ok := fromManifestWork(state)
		if report.Applied = c.memory[work.Namespace]; report.Applied.IsZero() && report.Status == status.Progressing && !answered(work) {
			report.Status = status.ToApply
		}
		return report, ok
	}
	return fromManifestWork(state)
}

// answered says whether an agent has observed the work's generation.
func answered(work *workv1.ManifestWork) bool {
	for _, c := range work.Status.Conditions {
		if c.Type == workv1.WorkProgressing {
			return c.ObservedGeneration == work.Generation
		}
	}
	return false
}

// stamp notes on a work which version it is given, and when.
func (c *controller) stamp(work *workv1.ManifestWork, version string, planned time.Time) {
	now := time.Now()
	if c.ignores(dutyTimeOfWrite) {
		now = planned
	}
	c.memory[work.Namespace] = now
	stamp(work, version, now)
}

// cutKey is the inverse of joining a namespace and a name.
func cutKey(key string) (namespace, name string, ok bool) { return strings.Cut(key, "/") }
