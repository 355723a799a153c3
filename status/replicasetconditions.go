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
		p := &placements[i]
		switch {
		case p.Summary.Incomplete != "":
			incomplete = append(incomplete, p.say(placements, p.Summary.Incomplete))
		case p.Summary.selected() == 0:
			empty = append(empty, p.say(placements, p.Summary.Counts.sentence()))
		default:
			all = append(all, p.say(placements, fmt.Sprintf("%d clusters are selected", p.Summary.selected())))
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
		p := &placements[i]
		s := &p.Summary
		all = all.Add(s.WithoutMoved())
		if s.Incomplete != "" {
			incomplete = append(incomplete, p.say(placements, s.Incomplete))
		}
		if s.Version != "" {
			version = " " + s.Version // of the set, so the same for all placements
		}
		stopped = stopped || s.Breach != "" && s.ToApply > 0
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
		s := &placements[i].Summary
		ended = ended && s.Breach == "" && s.Aggregate() != Progressing
		all = all.Add(s.WithoutMoved())
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
		p := &placements[i]
		each[i] = p.say(placements, p.Summary.String())
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
