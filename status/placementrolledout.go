package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// rolledOut is the condition PlacementRolledOut of rollouts to several placements.
func rolledOut(placements []PlacementProgress, generation int64) metav1.Condition {
	complete := true
	var messages []string
	if len(placements) == 0 {
		messages = []string{"no placement is rolled out to"}
	}
	for i := range placements {
		s := &placements[i].Summary
		complete = complete && s.Breach == "" && s.Aggregate() != Progressing
		if len(placements) == 1 {
			messages = append(messages, s.String())
		} else {
			messages = append(messages, fmt.Sprintf("placement %q: %s", placements[i].Name, s))
		}
	}
	reason := workv1alpha1.ReasonProgressing
	if complete {
		reason = workv1alpha1.ReasonComplete
	}
	return metav1.Condition{
		Type:               workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut,
		Status:             conditionStatus(complete),
		Reason:             reason,
		Message:            strings.Join(messages, "; "),
		ObservedGeneration: generation,
	}
}
