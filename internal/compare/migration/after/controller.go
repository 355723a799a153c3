// SPDX-License-Identifier: Apache-2.0

// Package controller rolls a workload out as ManifestWorks, with Cohort itself.
package controller

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Reconcile says where the workload, in the wanted version, is to be applied and deleted, and when to come back. What is
// applied carries the version: status.StampOf(work).NoteOn(work, version, cluster.Attempt, time.Now()) right before each write,
// where work is adopted, too. The owner is the caller's own copy, which is to be stored if its annotations have changed.
func Reconcile(owner metav1.Object, placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision, strategy clusterv1alpha1.RolloutStrategy, works []*workv1.ManifestWork, template workv1.ManifestWorkSpec, version string, now time.Time) (apply, remove []string, requeueAfter time.Duration, err error) {
	groups, err := grouping.Read(placement, decisions) // which knows whether the decisions are complete
	if err != nil {
		return nil, nil, 0, err
	}
	var reports []status.Report
	for _, work := range works {
		work = status.Adopt(work, template, version) // what sdk-go's controller wrote is not written again
		if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version}); ok {
			reports = append(reports, report)
		}
	}
	records, err := status.RecordsOf(owner)
	if err != nil {
		return nil, nil, 0, err
	}
	storedRecord := &rollout.StoredRecord{Version: version, Record: records[""]} // deselected clusters with the version count
	// RemoveAfter, Previous and Ignored need what a controller keeps between two calls; this function keeps nothing.
	result, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{StoredRecord: storedRecord})
	if err != nil {
		return nil, nil, 0, err // names the field of the strategy
	}
	if changed, err := (status.Records{"": result.Record}).Note(owner); changed || err != nil {
		return nil, nil, time.Millisecond, err // store the owner, and come back
	}
	for _, c := range result.InFlight {
		apply = append(apply, c.Name)
	}
	for _, c := range result.Start {
		apply = append(apply, c.Name)
	}
	return apply, result.Removed, result.RecheckAfter, nil
}
