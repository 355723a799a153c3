package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// FromManifestWork reads the report of the work's cluster, which is the work's namespace, from the
// work's conditions (S1). In this order:
//
//	Applied is not True, or not for the work's generation            ToApply
//	Progressing is missing, or has not observed the generation       ToApply
//	Degraded is there and has not observed the generation            ToApply
//	Progressing True, Degraded True                                  Failed
//	Progressing True or Unknown                                      Progressing
//	Progressing False                                                Succeeded
//
// LastTransitionTime is that of the condition that decided: Degraded for Failed, the zero time where
// the deciding condition is missing. The work is not changed; nil gives ToApply without a cluster.
func FromManifestWork(work *workv1.ManifestWork) Report {
	if work == nil {
		return Report{Status: ToApply}
	}
	status, decisive := manifestWork(work)
	report := Report{Cluster: work.Namespace, Status: status}
	if decisive != nil {
		report.LastTransitionTime = decisive.LastTransitionTime.Time
	}
	return report
}

// manifestWork returns the status and the condition that decided it, nil if that one is missing.
func manifestWork(work *workv1.ManifestWork) (RolloutStatus, *metav1.Condition) {
	find := func(conditionType string) (*metav1.Condition, bool) {
		c := meta.FindStatusCondition(work.Status.Conditions, conditionType)
		return c, c != nil && c.ObservedGeneration == work.Generation
	}
	applied, current := find(workv1.WorkApplied)
	if !current || applied.Status != metav1.ConditionTrue {
		return ToApply, applied
	}
	progressing, current := find(workv1.WorkProgressing)
	if !current {
		return ToApply, progressing
	}
	degraded, current := find(workv1.WorkDegraded)
	if degraded != nil && !current {
		return ToApply, degraded
	}

	switch {
	case progressing.Status == metav1.ConditionFalse:
		return Succeeded, progressing
	case progressing.Status == metav1.ConditionTrue && degraded != nil && degraded.Status == metav1.ConditionTrue:
		return Failed, degraded
	default:
		return Progressing, progressing
	}
}
