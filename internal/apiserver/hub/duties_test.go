package hub

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// options are those that the documentation asks for.
func (c *controller) options() []rollout.Option {
	if c.ignores(DutyRemoveLate) {
		return nil
	}
	return []rollout.Option{rollout.RemoveAfter(removeAfter, c.last)}
}

// report makes the report of a work.
func (c *controller) report(work *workv1.ManifestWork, version string) (status.Report, bool) {
	state := status.WorkState{Work: work, Version: version}
	switch c.ignored {
	case DutyVersion:
		state.Has = version
	case DutyApplied:
		report, ok := status.FromManifestWork(state)
		report.Applied = c.memory[work.Namespace]
		return report, ok
	}
	return status.FromManifestWork(state)
}

// stamp notes on a work which version it is given, and when.
func (c *controller) stamp(work *workv1.ManifestWork, version string, planned time.Time) {
	now := time.Now()
	if c.ignores(DutyTimeOfWrite) {
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
