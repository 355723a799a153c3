// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"strings"
	"time"
)

// Merge returns, of several reports of one cluster, the report that holds the rollout back most. A cluster can have two
// objects of one workload where names are generated and a cache lags. A rollout must not stop for that, nor trust the
// better of the two. From most to least:
//
//	Failed
//	TimeOut
//	Progressing, ToApply with Applied, any status that is not known
//	Validating
//	ToApply without Applied
//	Succeeded
//	Skip
//
// Within the first four lines a later attempt comes before an earlier one, whatever its status: what failed in an earlier
// attempt has been tried again since. Among reports that are equal in this, Merge returns the one with the latest time, which
// is the later of its Applied and its LastTransitionTime, for Succeeded and Validating also of its Answered. It is Deleting if all reports
// are: an object that stays counts. The order of the reports does not matter. Without reports Merge returns the zero Report.
//
// Package rollout merges the reports of a cluster that it gets in one call. A caller that hears of one object at a
// time, as from a watch, has to merge the reports of all objects of the cluster before it passes one on.
func Merge(reports ...Report) Report {
	var merged Report
	deleting := true
	for i, report := range reports {
		deleting = deleting && report.Deleting
		if i == 0 || report.compare(merged) > 0 {
			merged = report
		}
	}
	merged.Deleting = deleting && len(reports) > 0
	return merged
}

// compare is positive where r comes before other in a merge. Only equal reports give 0, so the order of the reports
// does not matter.
func (r Report) compare(other Report) int {
	return cmp.Or(
		cmp.Compare(min(r.holdsBack(), inFlight), min(other.holdsBack(), inFlight)),
		r.compareAttempts(other),
		cmp.Compare(r.holdsBack(), other.holdsBack()),
		r.since().Compare(other.since()),
		r.Applied.Round(0).Compare(other.Applied.Round(0)), // without the monotonic reading, which would matter
		cmp.Compare(max(r.Attempt, 0), max(other.Attempt, 0)),
		strings.Compare(string(r.Reason), string(other.Reason)), // Untracked last
		r.LastTransitionTime.Round(0).Compare(other.LastTransitionTime.Round(0)),
		strings.Compare(string(r.Status), string(other.Status)),
		strings.Compare(r.Cluster, other.Cluster),
		cmp.Compare(r.Attempt, other.Attempt),
		r.Answered.Round(0).Compare(other.Answered.Round(0)),
		strings.Compare(r.Message, other.Message),
	)
}

// inFlight is the least that the report of a cluster holds a rollout back if the cluster is in flight or failed.
const inFlight = 3

// compareAttempts puts the later attempt first among clusters that are in flight or failed (R39). An attempt below the first
// is the first.
func (r Report) compareAttempts(other Report) int {
	if min(r.holdsBack(), other.holdsBack()) < inFlight {
		return 0
	}
	return cmp.Compare(max(r.Attempt, 0), max(other.Attempt, 0))
}

// holdsBack gives how much the report holds a rollout back (R1).
func (r Report) holdsBack() int {
	switch {
	case r.Status == Skip:
		return 0
	case r.Status == Succeeded:
		return 1
	case r.Status == ToApply && r.Applied.IsZero():
		return 2
	case r.Status == Validating:
		return inFlight
	case r.Status == TimeOut:
		return inFlight + 2
	case r.Status == Failed:
		return inFlight + 3
	default:
		return inFlight + 1
	}
}

// since gives the time from which deadline and soak run (R27).
func (r Report) since() time.Time {
	since := later(r.Applied.Round(0), r.LastTransitionTime.Round(0))
	if (r.Status == Succeeded || r.Status == Validating) && !r.Applied.IsZero() {
		since = later(since, r.Answered.Round(0))
	}
	return since
}
