// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout"
)

// HubShares is what the coordinator hub and one hub say to each other about one rollout. It is a value without pointers, but for Seen.
// The zero HubShares of a hub grants and takes nothing.
type HubShares struct {
	// Hub is the name of the hub, unique within the rollout.
	Hub string `json:"hub"`
	// Grant is written by the coordinator hub.
	Grant Grant `json:"grant,omitzero"`
	// Report is written by the hub.
	Report Report `json:"report,omitzero"`
	// Seen is written by an operator; nil as a rule.
	Seen *Seen `json:"seen,omitempty"`
}

// Grant is how many shares a hub may take. Its times are in whole seconds, in UTC.
type Grant struct {
	// Number is one more with each Grant, from 1. It is 0 where nothing was granted yet.
	Number int64 `json:"number"`
	// Shares may be fewer than the hub has taken. Then it gives back those that it does not need.
	rollout.Shares `json:",inline"`
	// Expires is when these shares expire, by the clock of the coordinator hub.
	Expires metav1.Time `json:"expires,omitzero"`
	// Stopped says why nothing may start on any hub; empty otherwise. It is a sentence without its full stop.
	Stopped string `json:"stopped,omitempty"`
}

// Report is what a hub has taken, and what it does with that. Its times are in whole seconds, in UTC.
type Report struct {
	// Number is one more with each Report, from 1. It is 0 where nothing was reported yet.
	Number int64 `json:"number"`
	// Grant is the number of the Grant that the hub has read.
	Grant int64 `json:"grant"`
	// Taken are the shares that the hub may use without asking. It never has more clusters in flight than Taken.Concurrency, nor more
	// exposed than Taken.Concurrency + Taken.Failures.
	Taken rollout.Shares `json:"taken"`
	// Use is how the clusters stood when the report was made.
	Use `json:",inline"`
	// Since is the time from which the hub wants more shares of concurrency than it has, or has more than it uses. It is zero if neither is so.
	Since metav1.Time `json:"since,omitzero"`
	// Time is when the report was made.
	Time metav1.Time `json:"time,omitzero"`
}

// Use counts the clusters of a hub's rollout that count ([UseOf]).
type Use struct {
	// Clusters is how many there are.
	Clusters int `json:"clusters"`
	// Waiting is how many have not started.
	Waiting int `json:"waiting"`
	// InFlight is how many hold a slot: they were started and have neither soaked nor timed out.
	InFlight int `json:"inFlight"`
	// Failed is how many failed, in flight or not.
	Failed int `json:"failed"`
	// TimedOut is how many of Failed hold no slot.
	TimedOut int `json:"timedOut"`
}

// Seen is what an operator saw on a hub that is silent. It counts instead of the Report with that number, if Time is not before
// Grant.Expires: from then on the hub starts nothing. It means nothing once the hub reports again.
type Seen struct {
	// Report is the number of the hub's last Report.
	Report int64 `json:"report"`
	// InFlight and Failed count clusters on the hub, as in [Use].
	InFlight int `json:"inFlight"`
	Failed   int `json:"failed"`
	// Time is when the operator looked, by the clock of the coordinator hub.
	Time metav1.Time `json:"time"`
}

// Timing has the times that the coordinator hub and all hubs agree on.
type Timing struct {
	// Lease is for how long shares are granted. They are renewed when half of it has passed, if the hub has read the last Grant. So
	// a hub that is cut off goes on for at most one and a half times as long. It must be more than twice ClockError and SlowestWrite
	// together, and at least two seconds.
	Lease time.Duration
	// ClockError is the largest difference between the clock of a hub and that of the coordinator hub.
	ClockError time.Duration
	// SlowestWrite is the longest time from a call of May until the last start that it allowed is stored, also by a process that ends
	// meanwhile. A plan with many starts therefore asks May again in between. A client's timeout does not bound it: what the API server has
	// accepted may still be stored.
	SlowestWrite time.Duration
	// Every is how often at most a hub reports what changed, and how often at most shares are moved between hubs that use them.
	// What must not wait does not wait for it. 0 is at once.
	Every time.Duration
}

// most gives the larger number of each kind.
func most(a, b rollout.Shares) rollout.Shares {
	return rollout.Shares{Concurrency: max(a.Concurrency, b.Concurrency), Failures: max(a.Failures, b.Failures)}
}

// charge is how many shares the hub may hold, now or until it reports again, whatever was sent to it (H2, H9).
func (h *HubShares) charge() rollout.Shares { return most(h.Grant.Shares, h.used()) }

// used is how many shares the hub has taken, as far as the HubShares tells (H9).
func (h *HubShares) used() rollout.Shares {
	taken := h.Report.Taken
	seen := h.Seen
	if seen == nil || seen.Report != h.Report.Number || seen.Time.Time.Before(h.Grant.Expires.Time) {
		return taken
	}
	fail := min(seen.Failed, taken.Failures)
	return rollout.Shares{Concurrency: seen.InFlight + seen.Failed - fail, Failures: fail}
}

// is says whether two grants are the same. Times in an object have no more than seconds, and another location.
func (g Grant) is(other Grant) bool {
	same := g.Expires.Equal(&other.Expires)
	g.Expires, other.Expires = metav1.Time{}, metav1.Time{}
	return same && g == other
}

// is says whether two reports are the same.
func (r Report) is(other Report) bool {
	same := r.Time.Equal(&other.Time) && r.Since.Equal(&other.Since)
	r.Time, other.Time, r.Since, other.Since = metav1.Time{}, metav1.Time{}, metav1.Time{}, metav1.Time{}
	return same && r == other
}

// seconds gives a time as an object keeps it.
func seconds(at time.Time) metav1.Time { return metav1.NewTime(at.UTC().Truncate(time.Second)) }
