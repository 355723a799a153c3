package status

import (
	"maps"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// annotationVersion names the version of the workload that the object has.
	annotationVersion = "cohort.open-cluster-management.io/version"
	// annotationApplied names the time at which the object got that version, in RFC 3339 with fractions of a second.
	annotationApplied = "cohort.open-cluster-management.io/applied"
	// annotationAttempt names the attempt at that version, as a decimal number; the first has none.
	annotationAttempt = "cohort.open-cluster-management.io/attempt"
)

// Stamp notes on an object which version of the workload it is about to get, and when, in the annotations
// cohort.open-cluster-management.io/version and cohort.open-cluster-management.io/applied. Call it right before the write
// that carries the version, with the time of that write, not of the plan before it. A version is any text that changes
// with the workload, such as a hash of its template.
//
// An object that already has the version keeps its time and its attempt. So a write for another reason does not put off
// a soak or a deadline. Only a time after now, from a wrong clock, is replaced: it would keep the cluster in flight
// until then. So stamp the object as it was read, with its annotations, and write stamp and version together:
//
//	work = work.DeepCopy()
//	work.Spec = template
//	status.Stamp(work, version, time.Now())
//	err := client.Update(ctx, work)
//
// An object that is made anew for each write, as for server-side apply, has no annotations yet. Give it the time of the
// stored object, if that already has the version and the attempt:
//
//	attempt := 0 // or for a cluster that starts: the attempt that the rollout wants
//	if has, last, applied := status.StampOf(stored); has == version && last >= attempt && !applied.IsZero() && applied.Before(now) {
//		now, attempt = applied, last
//	}
//	status.StampAttempt(work, version, attempt, now)
func Stamp(object metav1.Object, version string, now time.Time) {
	StampAttempt(object, version, 0, now)
}

// StampAttempt does what [Stamp] does, and also notes the attempt at the version, from 0, in the annotation
// cohort.open-cluster-management.io/attempt. A later attempt at a version begins now: its deadline and its soak count from
// now on. The same attempt again, or an earlier one, changes nothing.
//
// Call it for a cluster that starts, with the attempt that the rollout wants. For a cluster in flight call Stamp: it is
// still in an earlier attempt, whose deadline must not begin anew.
func StampAttempt(object metav1.Object, version string, attempt int, now time.Time) {
	has, last, applied := StampOf(object)
	current := has == version && attempt <= last
	if current && !applied.IsZero() && !applied.After(now) {
		return
	}
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = make(map[string]string, 3)
	}
	annotations[annotationVersion] = version
	annotations[annotationApplied] = now.UTC().Format(time.RFC3339Nano)
	switch {
	case current: // only its time is replaced
	case attempt > 0:
		annotations[annotationAttempt] = strconv.Itoa(attempt)
	default:
		delete(annotations, annotationAttempt)
	}
	object.SetAnnotations(annotations)
}

// StampOf reads what [Stamp] and [StampAttempt] noted on an object: the version, the attempt at it, and since when the
// object has both. The version is empty where there is none. The attempt is 0, the first, and the time is zero, where they
// are missing or cannot be read.
func StampOf(object metav1.Object) (version string, attempt int, applied time.Time) {
	annotations := object.GetAnnotations()
	if text, noted := annotations[annotationAttempt]; noted {
		if n, err := strconv.Atoi(text); err == nil {
			attempt = max(n, 0)
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, annotations[annotationApplied]); err == nil {
		applied = at
	}
	return annotations[annotationVersion], attempt, applied
}
