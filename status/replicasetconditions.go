// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/internal/condition"
)

// setReplicaSetConditions sets the three conditions of a ManifestWorkReplicaSet and says whether it changed any.
func setReplicaSetConditions(conditions *[]metav1.Condition, placements []PlacementProgress, generation int64, now time.Time) bool {
	changed := false
	for _, c := range []metav1.Condition{placementVerified(placements), worksApplied(placements), rolledOut(placements)} {
		c.ObservedGeneration = generation
		changed = condition.Set(conditions, c, now) || changed
	}
	return changed
}

// placementVerified says whether every placement selects clusters. A placement without decisions is named before one
// that selects nothing, since less is known about it.
func placementVerified(placements []PlacementProgress) metav1.Condition {
	var incomplete, empty, all []string
	for i := range placements {
		progress := &placements[i]
		switch {
		case progress.Summary.Incomplete != "":
			incomplete = append(incomplete, progress.say(placements, progress.Summary.Incomplete))
		case progress.Summary.selected() == 0:
			empty = append(empty, progress.say(placements, progress.Summary.Counts.sentence()))
		default:
			all = append(all, progress.say(placements, fmt.Sprintf("%d clusters are selected", progress.Summary.selected())))
		}
	}
	reason, message := workv1alpha1.ReasonAsExpected, all
	switch {
	case len(placements) == 0:
		reason, message = workv1alpha1.ReasonPlacementDecisionNotFound, []string{noPlacement}
	case len(incomplete) > 0:
		reason, message = workv1alpha1.ReasonPlacementDecisionNotFound, incomplete
	case len(empty) > 0:
		reason, message = workv1alpha1.ReasonPlacementDecisionEmpty, empty
	}
	return metav1.Condition{
		Type:    workv1alpha1.ManifestWorkReplicaSetConditionPlacementVerified,
		Status:  condition.Status(reason == workv1alpha1.ReasonAsExpected),
		Reason:  reason,
		Message: clauses.Bounded(message),
	}
}

// worksApplied says whether every selected cluster has its work in the present version.
func worksApplied(placements []PlacementProgress) metav1.Condition {
	var all Counts
	var incomplete []string
	stopped, version := false, ""
	for i := range placements {
		progress := &placements[i]
		summary := &progress.Summary
		all = all.Add(summary.WithoutMoved())
		if summary.Incomplete != "" {
			incomplete = append(incomplete, progress.say(placements, summary.Incomplete))
		}
		if summary.Version != "" {
			version = " " + summary.Version // of the set, so the same for all placements
		}
		stopped = stopped || summary.Breach != "" && summary.ToApply > 0
	}
	reason := workv1alpha1.ReasonAsExpected
	switch {
	case stopped:
		reason = workv1alpha1.ReasonNotAsExpected
	case len(incomplete) > 0 || all.ToApply > 0:
		reason = workv1alpha1.ReasonProcessing
	case all.Total() == 0:
		reason = all.nothingRan()
	}
	message := incomplete // it is unknown whether a cluster of these waits
	switch {
	case all.Total() > 0:
		have := fmt.Sprintf("%d of %d clusters have the current version%s", all.updated(), all.Total()-all.Deselected, version) + clauses.Number(all.Ignored, "more ignored")
		message = append([]string{have}, incomplete...)
	case len(incomplete) == 0:
		message = []string{all.sentence()}
	}
	return metav1.Condition{
		Type:    workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied,
		Status:  condition.Status(!stopped && len(incomplete) == 0 && all.ToApply == 0),
		Reason:  reason,
		Message: clauses.Bounded(message),
	}
}

// rolledOut says whether every rollout is at its end within its budget.
func rolledOut(placements []PlacementProgress) metav1.Condition {
	ended := true
	var all Counts
	for i := range placements {
		summary := &placements[i].Summary
		ended = ended && summary.Breach == "" && summary.Aggregate() != Progressing
		all = all.Add(summary.WithoutMoved())
	}
	reason := workv1alpha1.ReasonProgressing
	switch {
	case ended && all.Total() > 0:
		reason = workv1alpha1.ReasonComplete
	case ended:
		reason = all.nothingRan()
	}
	return metav1.Condition{
		Type:    workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut,
		Status:  condition.Status(ended),
		Reason:  reason,
		Message: progressOf(placements),
	}
}

const noPlacement = "no placement is rolled out to"

// progressOf says how far the rollouts to several placements are.
func progressOf(placements []PlacementProgress) string {
	if len(placements) == 0 {
		return noPlacement
	}
	each := make([]string, len(placements))
	for i := range placements {
		progress := &placements[i]
		each[i] = progress.say(placements, progress.Summary.String())
	}
	return clauses.Bounded(each)
}

// say puts the placement's name before a text about it, where there are several.
func (p *PlacementProgress) say(among []PlacementProgress, what string) string {
	if len(among) == 1 {
		return what
	}
	return fmt.Sprintf("placement %s: %s", p.Name, what)
}
