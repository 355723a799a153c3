package status

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The annotations that Stamp writes.
const (
	// AnnotationVersion names the version of the workload that the object has.
	AnnotationVersion = "cohort.open-cluster-management.io/version"
	// AnnotationApplied names the time at which the object got that version, in RFC 3339 with fractions of a second.
	AnnotationApplied = "cohort.open-cluster-management.io/applied"
)

// Stamp notes on an object, in annotations, which version of the workload it is about to get and when. Call it right
// before the write that carries the version, with the time of the write and not of the plan that led to it. A
// version is any text that changes with the workload, such as a hash of its template.
//
// An object that already has the version keeps its time, so that writing it again for another reason ends no soak and
// no deadline later. So stamp the object as it was read, with its annotations, and write stamp and version at once:
//
//	work = work.DeepCopy()
//	work.Spec = template
//	status.Stamp(work, version, time.Now())
//	err := client.Update(ctx, work)
func Stamp(object metav1.Object, version string, now time.Time) {
	if has, applied := StampOf(object); has == version && !applied.IsZero() {
		return
	}
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = make(map[string]string, 2)
	}
	annotations[AnnotationVersion] = version
	annotations[AnnotationApplied] = now.UTC().Format(time.RFC3339Nano)
	object.SetAnnotations(annotations)
}

// StampOf reads what Stamp wrote on an object: the version, empty where there is none, and since when the object has
// it, the zero time where that is missing or cannot be read.
func StampOf(object metav1.Object) (version string, applied time.Time) {
	annotations := object.GetAnnotations()
	applied, err := time.Parse(time.RFC3339Nano, annotations[AnnotationApplied])
	if err != nil {
		applied = time.Time{}
	}
	return annotations[AnnotationVersion], applied
}
