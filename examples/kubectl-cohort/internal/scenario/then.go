// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// Kept is what the objects of a rollout say of its past. Each keeps when it got the version, and its last change; what came
// between these two, what was before an attempt, and how other versions went, none says.
type Kept struct {
	// Since is the first time of which anything is known. It is zero where nothing is: Missing says why.
	Since   time.Time
	Missing string
	// Moments are the times since then at which a cluster got the version or came to stand as it does, in order.
	Moments []time.Time
}

// Kept says what is known of the past.
func (s *Scenario) Kept() (k Kept) {
	switch {
	case s.Policy != nil:
		return Kept{Missing: "the replicated policies keep the times of their last write alone"}
	case !s.Live:
		return Kept{Missing: "no object says where the rollout stands"}
	}
	var again time.Time // of the last attempt that is not the first
	undated := 0
	for i := range s.Observed {
		r := &s.Observed[i]
		switch {
		case !hasVersion(r):
		case r.Applied.IsZero():
			undated++
		default:
			k.Moments = append(k.Moments, r.Applied, Since(r))
			if at := s.succeeded(r.Cluster); at.After(r.Applied) {
				k.Moments = append(k.Moments, at)
			}
			if r.Attempt > 0 {
				again = later(again, r.Applied)
			}
		}
	}
	switch {
	case undated > 0:
		return Kept{Missing: fmt.Sprintf("%d of the clusters with the version do not say when they got it", undated)}
	case len(k.Moments) == 0:
		return Kept{Missing: "no cluster has the version"}
	}
	slices.SortFunc(k.Moments, time.Time.Compare)
	k.Moments = slices.CompactFunc(k.Moments, time.Time.Equal)
	k.Moments = slices.DeleteFunc(k.Moments, func(at time.Time) bool { return at.Before(again) })
	k.Since = k.Moments[0]
	return k
}

// Then is the rollout as it was at a time, as far as its objects keep that: with the strategy and the clusters of now. It is given
// as a controller saw it that wrote at that time, and as it was when it had written.
func (s *Scenario) Then(at time.Time) (seen, written *Scenario) {
	return s.with(func(r *status.Report) bool { return !r.Applied.Before(at) }, at), s.with(func(r *status.Report) bool { return r.Applied.After(at) }, at)
}

// with is the rollout at a time, at which some wait.
func (s *Scenario) with(waits func(*status.Report) bool, at time.Time) *Scenario {
	then := *s
	then.Asked.Pause = false // the time is unknown it began
	then.Observed = slices.Clone(s.Observed)
	for i := range then.Observed {
		switch r := &then.Observed[i]; {
		case !hasVersion(r):
		case waits(r):
			*r = status.Report{Cluster: r.Cluster, Status: status.ToApply}
		case Since(r).After(at):
			before := status.Report{Cluster: r.Cluster, Status: status.Progressing, Applied: r.Applied, LastTransitionTime: r.Applied, Attempt: r.Attempt}
			if succeeded := s.succeeded(r.Cluster); !succeeded.IsZero() && !succeeded.After(at) {
				before.Status, before.LastTransitionTime = status.Validating, succeeded
			}
			*r = before
		}
	}
	return &then
}

func hasVersion(r *status.Report) bool { return r.Status != status.ToApply || !r.Applied.IsZero() }

// Since is when a cluster came to stand as its report says; zero if unknown.
func Since(r *status.Report) time.Time {
	since := later(r.Applied, r.LastTransitionTime)
	if r.Status == status.Succeeded || r.Status == status.Validating {
		since = later(since, r.Answered)
	}
	return since
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
