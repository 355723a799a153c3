// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// Report is what counts of a report. The zero Report is none.
type Report struct {
	Kind    Kind
	Since   time.Time // from when it counts
	Attempt int       // not negative
	Applied time.Time // when the cluster got the version; Since where the report does not say
}

// ReportOf reads a report.
func ReportOf(report *status.Report) Report {
	since := SinceOf(report)
	return Report{Kind: KindOf(report), Since: since, Attempt: max(report.Attempt, 0), Applied: AppliedOf(report, since)}
}

// Equals says whether two reports say the same.
func (observed Report) Equals(other Report) bool {
	return observed.Kind.Plain() == other.Kind.Plain() && observed.Attempt == other.Attempt && observed.Since.Equal(other.Since) && observed.Applied.Equal(other.Applied)
}

// ToStatus gives a report of a cluster with the given status and the times of the observed one.
func (observed Report) ToStatus(cluster string, as status.RolloutStatus) status.Report {
	report := status.Report{Cluster: cluster, Status: as, Attempt: observed.Attempt}
	if !observed.Since.IsZero() {
		report.Applied = observed.Applied.UTC()
	}
	if observed.Since.After(observed.Applied) && as != status.Skip {
		report.LastTransitionTime = observed.Since.UTC()
	}
	return report
}

// StartedAt says when the cluster started; zero if it did not, or if that is unknown (R36).
func (observed Report) StartedAt() time.Time {
	if observed.Kind.IsWaiting() || observed.Kind == KindSkipped || observed.Since.IsZero() {
		return time.Time{}
	}
	return observed.Applied
}

// SinceOf gives the time from which a report counts. A success counts from its first answer, if that was noted, and so does its validation
// (R5, R58).
func SinceOf(report *status.Report) time.Time {
	since := report.LastTransitionTime.Round(0) // so that all of them can be compared
	if report.Applied.IsZero() {
		return since
	}
	if report.Applied.After(since) {
		since = report.Applied.Round(0)
	}
	if (report.Status == status.Succeeded || report.Status == status.Validating) && report.Answered.After(since) {
		since = report.Answered.Round(0)
	}
	return since
}

// AppliedOf says when the cluster got the present version: its since where the report does not say.
func AppliedOf(report *status.Report, since time.Time) time.Time {
	if report.Applied.IsZero() {
		return since
	}
	return report.Applied.Round(0)
}
