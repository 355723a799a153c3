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
func ReportOf(r *status.Report) Report {
	since := SinceOf(r)
	return Report{Kind: KindOf(r), Since: since, Attempt: max(r.Attempt, 0), Applied: AppliedOf(r, since)}
}

// Equals says whether two reports say the same.
func (r Report) Equals(other Report) bool {
	return r.Kind.Plain() == other.Kind.Plain() && r.Attempt == other.Attempt && r.Since.Equal(other.Since) && r.Applied.Equal(other.Applied)
}

// ToStatus gives a report of a cluster with the given status and the times of r.
func (r Report) ToStatus(cluster string, as status.RolloutStatus) status.Report {
	s := status.Report{Cluster: cluster, Status: as, Attempt: r.Attempt}
	if !r.Since.IsZero() {
		s.Applied = r.Applied.UTC()
	}
	if r.Since.After(r.Applied) && as != status.Skip {
		s.LastTransitionTime = r.Since.UTC()
	}
	return s
}

// StartedAt says when the cluster started; zero if it did not, or if that is unknown (R36).
func (r Report) StartedAt() time.Time {
	if r.Kind.IsWaiting() || r.Kind == KindSkipped || r.Since.IsZero() {
		return time.Time{}
	}
	return r.Applied
}

// SinceOf gives the time from which a report counts. A success counts from its first answer, if that was noted, and so does its validation
// (R5, R58).
func SinceOf(r *status.Report) time.Time {
	since := r.LastTransitionTime.Round(0) // so that all of them can be compared
	if r.Applied.IsZero() {
		return since
	}
	if r.Applied.After(since) {
		since = r.Applied.Round(0)
	}
	if (r.Status == status.Succeeded || r.Status == status.Validating) && r.Answered.After(since) {
		since = r.Answered.Round(0)
	}
	return since
}

// AppliedOf says when the cluster got the present version: its since where the report does not say.
func AppliedOf(r *status.Report, since time.Time) time.Time {
	if r.Applied.IsZero() {
		return since
	}
	return r.Applied.Round(0)
}
