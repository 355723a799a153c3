package hub_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// What follows stands in for the library until it has it.

type workState struct {
	Work    *workv1.ManifestWork
	Version string
	Has     string
	Applied time.Time
}

func stamp(o metav1.Object, version string, now time.Time) {
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a["version"], a["applied"] = version, now.UTC().Format(time.RFC3339Nano)
	o.SetAnnotations(a)
}

func stampOf(o metav1.Object) (string, time.Time) {
	at, _ := time.Parse(time.RFC3339Nano, o.GetAnnotations()["applied"])
	return o.GetAnnotations()["version"], at
}

func fromManifestWork(s workState) (status.Report, bool) {
	if s.Work.DeletionTimestamp != nil {
		return status.Report{}, false
	}
	has, applied := stampOf(s.Work)
	if s.Has != "" {
		has = s.Has
	}
	if has != s.Version {
		return status.Report{Cluster: s.Work.Namespace, Status: status.ToApply}, true
	}
	r := status.FromManifestWork(s.Work)
	r.Applied = applied
	if r.Status == status.ToApply {
		r.Status, r.LastTransitionTime = status.Progressing, applied
	}
	if applied.After(r.LastTransitionTime) {
		r.LastTransitionTime = applied
	}
	return r, true
}
