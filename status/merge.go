package status

import (
	"cmp"
	"strings"
	"time"
)

// Merge makes one report of several reports of one cluster: it returns the one that holds the rollout back most. Two
// objects of one workload on one cluster are what a generated name and a cache that lags leave behind; a rollout
// must neither stop for that nor take the better of the two for the truth. From most to least:
//
//	Failed
//	TimeOut
//	Progressing, ToApply with Applied, any status that is not known
//	ToApply without Applied
//	Succeeded
//	Skip
//
// Among the first three lines a later attempt comes before an earlier one, whatever its status: what failed in an earlier
// attempt has been tried again since. Of reports that are equal in this, it returns the one whose time is later: the later of its Applied and its
// LastTransitionTime. The order of the reports does not matter. Of none it returns the zero Report.
//
// Package rollout merges what one call says of a cluster. Whoever is told of one object at a time, as by a watch,
// merges the reports of all the cluster's objects before handing one on.
func Merge(reports ...Report) Report {
	var merged Report
	for i, r := range reports {
		if i == 0 || r.compare(merged) > 0 {
			merged = r
		}
	}
	return merged
}

// compare is positive where r comes before other in a merge. Only equal reports give 0, so that the order of the
// reports has no say.
func (r Report) compare(other Report) int {
	return cmp.Or(
		cmp.Compare(min(r.holdsBack(), inFlight), min(other.holdsBack(), inFlight)),
		r.compareAttempts(other),
		cmp.Compare(r.holdsBack(), other.holdsBack()),
		r.since().Compare(other.since()),
		r.Applied.Round(0).Compare(other.Applied.Round(0)), // without a monotonic reading, which would have a say
		r.LastTransitionTime.Round(0).Compare(other.LastTransitionTime.Round(0)),
		strings.Compare(string(r.Status), string(other.Status)),
		strings.Compare(r.Cluster, other.Cluster),
		cmp.Compare(r.Attempt, other.Attempt),
	)
}

// inFlight is how much a report holds a rollout back at least whose cluster is in flight or failed.
const inFlight = 3

// compareAttempts puts the later attempt first among clusters that are in flight or failed (R39).
func (r Report) compareAttempts(other Report) int {
	if min(r.holdsBack(), other.holdsBack()) < inFlight {
		return 0
	}
	return cmp.Compare(r.Attempt, other.Attempt)
}

// holdsBack is how much the report holds a rollout back (R1).
func (r Report) holdsBack() int {
	switch {
	case r.Status == Skip:
		return 0
	case r.Status == Succeeded:
		return 1
	case r.Status == ToApply && r.Applied.IsZero():
		return 2
	case r.Status == TimeOut:
		return 4
	case r.Status == Failed:
		return 5
	default:
		return inFlight
	}
}

// since is the time from which deadline and soak run (R27).
func (r Report) since() time.Time {
	return later(r.Applied.Round(0), r.LastTransitionTime.Round(0))
}
