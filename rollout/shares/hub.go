// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout"
)

// May gives the shares that a hub may use now, for [rollout.Options].Shares. Both are 0 where nothing may start: the shares have
// expired or will before a start is written, the coordinator hub stopped the rollout, or the HubShares does not show yet the report
// that this process sent last. The clock is the hub's.
//
// The copy of the HubShares may be old.
func (h HubShares) May(sent Report, now time.Time, timing Timing) rollout.Shares {
	end := h.Grant.Expires.Add(-timing.ClockError - timing.SlowestWrite)
	if !h.Report.is(sent) || h.Grant.Stopped != "" || !now.Before(end) {
		return rollout.Shares{}
	}
	return rollout.Shares{Concurrency: min(h.Grant.Concurrency, h.Report.Taken.Concurrency), Failures: h.Report.Taken.Failures}
}

// Next gives the report that the hub has to write now, and whether it has to. Use is how its clusters stand. The report is written
// if this process has not written one yet, or its last one does not show; if there is a new Grant; and, once Timing.Every has
// passed, if the shares that the hub takes, the failures or the number of clusters changed.
//
// A hub takes what it was granted and can use. It gives back what it cannot use any more, and what it is asked for and does
// not need for clusters that are in flight or failed.
func (h HubShares) Next(sent Report, use Use, now time.Time, timing Timing) (Report, bool) {
	old := h.Report
	next := Report{Number: old.Number + 1, Grant: h.Grant.Number, Taken: h.take(use), Use: use, Since: old.Since, Time: seconds(now)}
	was, is := standing(old.Taken, h.Grant.Shares, old.Use), standing(next.Taken, h.Grant.Shares, use)
	switch {
	case is == content:
		next.Since = metav1.Time{}
	case is != was:
		next.Since = seconds(now)
	}
	switch {
	case !old.is(sent) || old.Grant != h.Grant.Number:
		return next, true
	case now.Before(old.Time.Add(timing.Every)):
		return Report{}, false
	case next.Taken != old.Taken || use.Failed != old.Failed || use.Clusters != old.Clusters || is != was:
		return next, true
	}
	return Report{}, false
}

// take gives the shares that the hub takes, or keeps (H5 to H7).
func (h *HubShares) take(use Use) rollout.Shares {
	granted, held := h.Grant.Shares, most(h.Grant.Shares, h.Report.Taken)
	// Used shares stay, and so do those of failed clusters that are in flight again where they have no share of concurrency.
	burnt := max(use.Failed, use.InFlight+use.TimedOut-held.Concurrency)
	taken := rollout.Shares{Failures: max(min(granted.Failures, use.Failed+use.InFlight+use.Waiting), min(held.Failures, burnt))}
	needed := use.InFlight + max(0, use.TimedOut-taken.Failures)
	taken.Concurrency = max(min(granted.Concurrency, needed+use.Waiting), needed)
	return taken
}

// How a hub stands with its shares of concurrency.
const (
	content = iota
	asks    // it could use more
	unused  // it has more than it uses
)

func standing(taken, granted rollout.Shares, use Use) int {
	switch {
	case use.Waiting > 0 && use.InFlight+use.Waiting > granted.Concurrency:
		return asks
	case max(taken.Concurrency, granted.Concurrency) > use.InFlight:
		return unused
	}
	return content
}

// UseOf counts the clusters of a result, where the caller starts what it says.
func UseOf(result *rollout.Result) Use {
	counts := result.Counts
	return Use{
		Clusters: counts.Total(),
		Waiting:  counts.Blocked,
		InFlight: counts.InFlight() + counts.ToApply - counts.Blocked,
		Failed:   counts.Failures(),
		TimedOut: counts.TimeOut,
	}
}
