// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/internal/oldaddon"
)

// The annotations of a stamp. Times are in RFC 3339 with fractions of a second; one that is unknown has no annotation.
const (
	annotationVersion    = "cohort.open-cluster-management.io/version"
	annotationAttempt    = "cohort.open-cluster-management.io/attempt" // a decimal number; the first attempt has none
	annotationApplied    = "cohort.open-cluster-management.io/applied"
	annotationAnswered   = "cohort.open-cluster-management.io/answered"
	annotationTransition = "cohort.open-cluster-management.io/transition"
)

// Stamp is what a controller notes on an object about the version of the workload that it has. A controller makes the
// stamp for each write from the stamp before, right before the write, and writes it together with the version:
//
//	work = work.DeepCopy()
//	status.StampOf(work).NoteOn(work, version, cluster.Attempt, time.Now())
//	work.Spec = template
//	err := client.Update(ctx, work)
//
// This is right for a cluster that starts, for one in flight, and for one that only needs its answer noted. An object
// that is made anew for each write, as for server-side apply, gets the stamp that follows from the stored object:
//
//	status.StampOf(stored).NoteOn(work, version, cluster.Attempt, time.Now())
//
// Copy the stored annotations to it first where the write removes those that it lacks. OCM's applier of ManifestWorks does so:
// it compares annotations exactly. A work without a stamp goes through [Adopt] first.
//
// A stamp is believed. If a user edits the spec of a stamped object by hand, the edit stays until another version is wanted.
//
// The annotations are cohort.open-cluster-management.io/version, attempt, applied, answered and transition.
type Stamp struct {
	// Version is any text that changes with the workload, such as a hash of its template. It is empty where the object has
	// no stamp.
	Version string

	// Attempt is the number of the attempt at the version, from 0.
	Attempt int

	// Applied is when the object got version and attempt. It is zero where that is unknown.
	Applied time.Time

	// Answered is when the controller first saw an answer of the cluster to version and attempt. It is zero where that was
	// not noted.
	Answered time.Time

	// Transition is the last transition that was known when Applied began. What has this time, or an earlier one, was so
	// before. The clock of the agent may be ahead, so that Applied alone does not tell.
	Transition time.Time

	// Seen is how the object stands now, whatever its version: Status and LastTransitionTime. It is not noted.
	// StampOf reads it from a ManifestWork and a ManagedClusterAddOn. For another object set it before you call NoteOn.
	Seen Report
}

// StampOf reads the stamp of an object, and how the object stands. The attempt is 0 and times are zero where they are
// missing or cannot be read.
func StampOf(object metav1.Object) Stamp {
	stamp := noted(object)
	switch o := object.(type) {
	case *workv1.ManifestWork:
		stands := WorkState{Work: o}.stands()
		stamp.Seen.Status, stamp.Seen.LastTransitionTime = stands.Status, stands.LastTransitionTime
	case *addonv1beta1.ManagedClusterAddOn:
		stamp.Seen = seenAddOn(o.Status.ConfigReferences, o.Status.Conditions)
	case *addonv1alpha1.ManagedClusterAddOn:
		stamp.Seen = seenAddOn(oldaddon.References(o.Status.ConfigReferences), o.Status.Conditions)
	}
	return stamp
}

// NoteOn writes to the annotations of an object the stamp for a write that brings the version to it at the time now, and
// returns that stamp. The receiver is the stamp of the object as it is stored. The time is that of the write, not of the
// plan before it. The attempt is the one that the rollout gives for the cluster (rollout.Cluster); 0 where nothing is tried
// again.
//
// Another version, or a later attempt, begins now. Otherwise the object keeps its time and its attempt, so a write for
// another reason puts off neither a soak nor a deadline. Only a time after now, from a wrong clock, is replaced: it would
// keep the cluster in flight until then. Where the cluster has answered, Answered becomes now, unless it is noted already.
//
// The map of the annotations is replaced where it changes, since a cache may share it.
func (stamp Stamp) NoteOn(object metav1.Object, version string, attempt int, now time.Time) Stamp {
	stamp = stamp.next(version, attempt, now)
	stamp.write(object)
	return stamp
}

func (stamp Stamp) next(version string, attempt int, now time.Time) Stamp {
	now = now.Round(0).UTC()
	if stamp.Version != version || attempt > stamp.Attempt {
		last := later(stamp.Transition, stamp.Seen.LastTransitionTime.Round(0).UTC())
		return Stamp{Version: version, Attempt: max(attempt, 0), Applied: now, Transition: last, Seen: stamp.Seen}
	}
	if stamp.Applied.IsZero() || stamp.Applied.After(now) {
		stamp.Applied = now
	}
	if stamp.Seen.hasAnswered() {
		stamp.Answered = stamp.answered(now)
	}
	return stamp
}

// Report completes the report that a function of your own makes of an object with the wanted version. Attempt, Applied and
// Answered become those of the stamp; Applied stays where the report has one. A failure from before a later attempt becomes
// Progressing: while a cluster stays failed its conditions do not move, so only the deadline tells whether the attempt
// failed, too.
//
// Give the time of reading as now if you note answers, as WorkState says, and otherwise the zero time.
func (stamp Stamp) Report(report Report, now time.Time) Report {
	if report.Attempt = stamp.Attempt; report.Applied.IsZero() {
		report.Applied = stamp.Applied
	}
	if report.hasAnswered() && !stamp.Applied.IsZero() {
		report.Answered = stamp.answered(now)
	}
	if report.Status == Failed && report.Attempt > 0 && !(report.LastTransitionTime.After(report.Applied) && report.LastTransitionTime.After(stamp.Transition)) {
		report.Status = Progressing
		if report.LastTransitionTime.After(report.Applied) { // by a clock ahead; the deadline runs from the write
			report.LastTransitionTime = report.Applied
		}
	}
	return report
}

// hasAnswered says whether a cluster has said something about the version of the report.
func (r *Report) hasAnswered() bool { return r.Status != "" && r.Status != ToApply }

// answered gives the time of the first answer as it is noted, or else now. A time to come is from a wrong clock.
func (stamp *Stamp) answered(now time.Time) time.Time {
	if stamp.Answered.IsZero() || !now.IsZero() && stamp.Answered.After(now) {
		return now.Round(0).UTC()
	}
	return stamp.Answered
}

// write replaces the annotations of an object that a stamp has.
func (stamp Stamp) write(object metav1.Object) {
	if noted(object) == stamp.withoutSeen() {
		return
	}
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = make(map[string]string, 3)
	}
	annotations[annotationVersion] = stamp.Version
	delete(annotations, annotationAttempt)
	if stamp.Attempt > 0 {
		annotations[annotationAttempt] = strconv.Itoa(stamp.Attempt)
	}
	for key, at := range map[string]time.Time{annotationApplied: stamp.Applied, annotationAnswered: stamp.Answered, annotationTransition: stamp.Transition} {
		if delete(annotations, key); !at.IsZero() {
			annotations[key] = at.UTC().Format(time.RFC3339Nano)
		}
	}
	object.SetAnnotations(annotations)
}

func (stamp Stamp) withoutSeen() Stamp {
	stamp.Seen = Report{}
	return stamp
}

// noted reads what the annotations say.
func noted(object metav1.Object) Stamp {
	annotations := object.GetAnnotations()
	at := func(key string) time.Time {
		text, ok := annotations[key]
		if !ok {
			return time.Time{}
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return time.Time{}
		}
		return at.UTC()
	}
	stamp := Stamp{Version: annotations[annotationVersion], Applied: at(annotationApplied), Answered: at(annotationAnswered), Transition: at(annotationTransition)}
	if text, ok := annotations[annotationAttempt]; ok {
		if n, err := strconv.Atoi(text); err == nil {
			stamp.Attempt = max(n, 0)
		}
	}
	return stamp
}

// seenAddOn gives how an add-on stands. Its condition may be what the controller wrote, so only a success is an answer.
func seenAddOn(references []addonv1beta1.ConfigReference, conditions []metav1.Condition) Report {
	seen := Report{Status: ToApply}
	if condition := meta.FindStatusCondition(conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing); condition != nil {
		seen.LastTransitionTime = condition.LastTransitionTime.Time
	}
	if allApplied(references) {
		seen.Status = Succeeded
	}
	return seen
}
