package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// rolledOut is the condition PlacementRolledOut of rollouts to several placements.
func rolledOut(placements []PlacementProgress, generation int64) metav1.Condition {
	ended, selected := true, false
	for i := range placements {
		s := &placements[i].Summary
		ended = ended && s.Breach == "" && s.Aggregate() != Progressing
		selected = selected || s.Total() > 0
	}
	reason := workv1alpha1.ReasonProgressing
	switch {
	case ended && selected:
		reason = workv1alpha1.ReasonComplete
	case ended:
		reason = ReasonNoClusterSelected
	}
	return metav1.Condition{
		Type:               workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut,
		Status:             conditionStatus(ended),
		Reason:             reason,
		Message:            progressOf(placements),
		ObservedGeneration: generation,
	}
}

// progressOf says how far the rollouts to several placements are.
func progressOf(placements []PlacementProgress) string {
	switch len(placements) {
	case 0:
		return "no placement is rolled out to"
	case 1:
		return placements[0].Summary.String()
	}
	each := make([]string, len(placements))
	for i := range placements {
		each[i] = fmt.Sprintf("placement %q: %v", placements[i].Name, placements[i].Summary)
	}
	return bounded(each)
}
