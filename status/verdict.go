// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/clauses"
)

// annotationVerdict holds the Verdict on the cluster of an object, as JSON.
const annotationVerdict = "cohort.open-cluster-management.io/verdict"

// ValidationResult is what a validator says of a cluster. The values are those of OCM's enhancement 231. Any other
// value counts as ValidationInProgress.
type ValidationResult string

const (
	// ValidationSucceeded says that the cluster may count as Succeeded.
	ValidationSucceeded ValidationResult = "SUCCEEDED"
	// ValidationFailed says that the cluster is Failed.
	ValidationFailed ValidationResult = "FAILED"
	// ValidationInProgress says that nothing is known yet.
	ValidationInProgress ValidationResult = "INPROGRESS"
)

// Verdict is what a validator says of one cluster: a test, the check of a mesh, a user.
type Verdict struct {
	// Cluster is the name of the ManagedCluster. The annotation of an object does not have it.
	Cluster string `json:"cluster,omitempty"`
	// Version and Attempt are those of the workload that was validated.
	Version string           `json:"version"`
	Attempt int              `json:"attempt,omitempty"`
	Result  ValidationResult `json:"result"`
	// Message says why, for a user.
	Message string `json:"message,omitempty"`
	// Time is when the controller got the verdict, by its own clock. A verdict without a time counts for nothing.
	Time time.Time `json:"time,omitzero"`
}

// Judge gives the reports of clusters that have to be validated: a cluster that succeeded has to be found good, too. It is one of
// these, by the verdict on it:
//
//	none, or ValidationInProgress   Validating, since the success
//	ValidationFailed                Failed, since the verdict, or since the success if that is later
//	ValidationSucceeded             Succeeded, since the verdict, or since the success if that is later
//
// A progress deadline thus starts over with the success, and a soak with the verdict. All other reports stay as they are: a validator is not asked while a cluster is Progressing. The reports are about the version, as [FromManifestWork] makes them.
//
// A verdict counts if it is about the version and about the attempt of the report, and not from before the report's Applied, in
// whole seconds: the same version may have been rolled out before. Of several that count, the latest does. Of equal times, a
// failure comes before what is in progress, and that before a success. Of equal results the one does whose message comes last by its
// bytes. The message of that verdict becomes the one of the report, whatever its result, in one line of at most 200 characters. Without
// a verdict that counts, the report of a success has no message.
//
// The given reports are not changed. It takes time linear in reports and verdicts.
func Judge(reports []Report, version string, verdicts []Verdict) []Report {
	counts := make(map[string][]Verdict, len(verdicts))
	for _, verdict := range verdicts {
		if verdict.Version == version && !verdict.Time.IsZero() {
			counts[verdict.Cluster] = append(counts[verdict.Cluster], verdict)
		}
	}
	judged := slices.Clone(reports)
	for i := range judged {
		if report := &judged[i]; report.Status == Succeeded {
			report.judge(counts[report.Cluster])
		}
	}
	return judged
}

// judge changes the report of a success to what the verdicts about its version say.
func (r *Report) judge(verdicts []Verdict) {
	var last Verdict
	for _, verdict := range verdicts {
		if max(verdict.Attempt, 0) != max(r.Attempt, 0) || verdict.Time.Before(r.Applied.Truncate(time.Second)) {
			continue
		}
		at := verdict.Time.Round(0)
		if cmp.Or(at.Compare(last.Time), cmp.Compare(verdict.Result.rank(), last.Result.rank()), strings.Compare(verdict.Message, last.Message)) > 0 {
			last, last.Time = verdict, at
		}
	}
	r.Message = clauses.Line(last.Message)
	switch since := later(last.Time, r.since()); last.Result {
	case ValidationSucceeded:
		r.LastTransitionTime = since
	case ValidationFailed:
		r.Status, r.LastTransitionTime = Failed, since
	default:
		r.Status = Validating
	}
}

// rank puts the result first that holds a rollout back most.
func (result ValidationResult) rank() int {
	switch result {
	case ValidationFailed:
		return 2
	case ValidationSucceeded:
		return 0
	default:
		return 1
	}
}

// VerdictOf reads the verdict from an object's annotation cohort.open-cluster-management.io/verdict, for the object's cluster. There is
// none, the zero Verdict, where it is missing. A person may write it without a time, such as
//
//	{"result": "SUCCEEDED", "version": "5c0ffee"}
//
// Then Time is now, the time of reading. It is where the time is one to come, from a wrong clock. Note the verdict in the object
// then, or a soak that begins with it never ends. It is an error, a *field.Error, if the annotation has no verdict.
func VerdictOf(object metav1.Object, cluster string, now time.Time) (Verdict, error) {
	text, noted := object.GetAnnotations()[annotationVerdict]
	if !noted {
		return Verdict{}, nil
	}
	var verdict Verdict
	path := field.NewPath("metadata", "annotations").Key(annotationVerdict)
	if err := json.Unmarshal([]byte(text), &verdict); err != nil {
		return Verdict{}, field.Invalid(path, shortened(text), "must be the JSON of a verdict: "+err.Error())
	}
	switch {
	case verdict.Result != ValidationSucceeded && verdict.Result != ValidationFailed && verdict.Result != ValidationInProgress:
		return Verdict{}, field.NotSupported(path.Child("result"), verdict.Result, []ValidationResult{ValidationSucceeded, ValidationFailed, ValidationInProgress})
	case verdict.Version == "":
		return Verdict{}, field.Required(path.Child("version"), "must be the version that was validated")
	case verdict.Attempt < 0:
		return Verdict{}, field.Invalid(path.Child("attempt"), verdict.Attempt, "must not be negative")
	}
	if verdict.Cluster = cluster; verdict.Time.IsZero() || !now.IsZero() && verdict.Time.After(now) {
		verdict.Time = now
	}
	verdict.Time = verdict.Time.Round(0).UTC()
	return verdict, nil
}

// NoteOn writes the verdict to the annotation of an object, and says whether that changed anything. A verdict that says the same
// of the same version and attempt as the one that stands there keeps that one's time. A repeated answer restarts no soak. But where the object's [Stamp] says that the version was written since, or the object was created since from a backup, the verdict
// gets its own time: what was said before that counts for nothing. The map of the annotations is replaced where it changes, since a cache may share it.
func (v Verdict) NoteOn(object metav1.Object) (changed bool) {
	v.Cluster = ""
	v.Time = v.Time.Round(0).UTC()
	before, err := VerdictOf(object, "", time.Time{})
	applied := noted(object).Applied
	if !applied.IsZero() {
		applied = later(applied, object.GetCreationTimestamp().Time)
	}
	stale := before.Time.Before(applied.Truncate(time.Second))
	if again := v; err == nil && !before.Time.IsZero() && !before.Time.After(v.Time) && !stale {
		if again.Time = before.Time; again == before {
			return false
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return false // a time after the year 9999, which no clock has
	}
	if object.GetAnnotations()[annotationVerdict] == string(text) {
		return false
	}
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = make(map[string]string, 1)
	}
	annotations[annotationVerdict] = string(text)
	object.SetAnnotations(annotations)
	return true
}
