// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// options are those that the documentation asks for.
func (c *controller) options() rollout.Options {
	if c.ignores(DutyRemoveLate) {
		return rollout.Options{}
	}
	if c.ignores(DutyBefore) {
		return rollout.Options{RemoveAfter: metav1.Duration{Duration: removeAfter}}
	}
	return rollout.Options{RemoveAfter: metav1.Duration{Duration: removeAfter}, Previous: c.last}
}

// ignoredClusters leaves ignored clusters out of all counts, also those ignored by deleting the ManagedCluster of a deselected one.
func (c *controller) ignoredClusters(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, record status.Record) ([]string, error) {
	if c.ignores(DutyIgnored) {
		return nil, nil
	}
	names := strings.Split(set.Annotations[ignoreAnnotation], ",")
	for _, left := range record.Deselected {
		_, err := c.clusters.ClusterV1().ManagedClusters().Get(ctx, left.Cluster, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			names = append(names, left.Cluster)
		} else if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// remember hands Plan the record of deselected clusters.
func (c *controller) remember(version string, record status.Record) *rollout.StoredRecord {
	if c.ignores(DutyRecord) {
		return nil
	}
	return &rollout.StoredRecord{Version: version, Record: record}
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
	status.StampOf(work).NoteOn(work, version, 0, now)
}

// announce notes the version on a work in a write of its own, before the one that carries it.
func (c *controller) announce(ctx context.Context, old *workv1.ManifestWork, version string) (*workv1.ManifestWork, error) {
	work := old.DeepCopy()
	c.stamp(work, version, time.Now())
	return c.client.WorkV1().ManifestWorks(work.Namespace).Update(ctx, work, metav1.UpdateOptions{})
}
