// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout"
)

// Division is what the coordinator hub has to write now.
type Division struct {
	// Grants has the grant to write into the HubShares of each hub that gets one, on top of the HubShares that was passed to [Divide].
	Grants map[string]Grant
	// Free are the shares that no hub has.
	Free rollout.Shares
	// Stopped says why nothing may start on any hub; empty otherwise.
	Stopped string
	// RecheckAfter is how long until shares expire or are to be renewed; 0 if none are.
	RecheckAfter time.Duration
}

// Divide divides the total shares over the hubs. It raises a grant only by shares that no hub can have, and only while each
// HubShares shows the grant that was sent to it last. Shares that go from one hub to another are first lowered in one HubShares, then
// read back, and then raised in the other. A grant that does not show is written again as it is, with the same number.
//
// Sent has for each hub the grant that this process sent last. It is empty when a process begins. Then the first
// grant of each HubShares says what the HubShares says, so that nothing can come through any more that the process before
// had on its way.
//
// Shares of concurrency go to the hubs in proportion to the clusters that they have yet to finish. What a hub cannot use goes to others
// at once. What it uses is asked back only where another hub has less than half of its share. Shares of failures go
// first to hubs with failures that have none, also those that another hub has not used.
//
// The errors (*field.Error) name a negative total, a hub that is missing or comes twice, and a Timing whose Lease is too short.
// Divide takes time n log n in the hubs.
func Divide(total rollout.Shares, hubs []HubShares, sent map[string]Grant, now time.Time, timing Timing) (Division, error) {
	if err := check(total, hubs, timing); err != nil {
		return Division{}, err
	}
	divider := divider{total: total, now: now, timing: timing, hubs: make([]hub, len(hubs))}
	for i := range hubs {
		divider.hubs[i] = newHub(&hubs[i], sent, now)
	}
	slices.SortFunc(divider.hubs, func(a, b hub) int { return cmp.Compare(a.Hub, b.Hub) })
	divider.sum(sent)
	if divider.stopped == "" {
		divider.failures()
		divider.starts()
	}
	return divider.division(), nil
}

func check(total rollout.Shares, hubs []HubShares, timing Timing) error {
	if total.Concurrency < 0 || total.Failures < 0 {
		return field.Invalid(field.NewPath("total"), fmt.Sprintf("%+v", total), "must not be negative")
	}
	shortest := 2 * (timing.ClockError + timing.SlowestWrite)
	if negative := timing.ClockError < 0 || timing.SlowestWrite < 0 || timing.Every < 0; negative || timing.Lease < 2*time.Second || timing.Lease <= shortest {
		return field.Invalid(field.NewPath("timing"), fmt.Sprintf("%+v", timing),
			fmt.Sprintf("must have no negative time, and a lease of at least 2s and more than %v, twice clock error and slowest write", shortest))
	}
	seen := make(map[string]bool, len(hubs))
	for i := range hubs {
		path := field.NewPath("hubs").Index(i).Child("hub")
		switch name := hubs[i].Hub; {
		case name == "":
			return field.Required(path, "must be the name of a hub")
		case seen[name]:
			return field.Duplicate(path, name)
		default:
			seen[name] = true
		}
	}
	return nil
}

// hub is a HubShares with what follows from it.
type hub struct {
	*HubShares
	sent    Grant
	settled bool           // the HubShares shows what was sent last
	read    bool           // the hub has read the grant that the HubShares shows
	silent  bool           // the hub has not, and the grant has expired
	charge  rollout.Shares // what it may hold
	next    rollout.Shares // what it is granted
	want    int            // how many shares of concurrency it can use
	failed  int
	share   int // of the shares of concurrency
}

func newHub(shares *HubShares, sent map[string]Grant, now time.Time) hub {
	last, ok := sent[shares.Hub]
	hub := hub{HubShares: shares, sent: last, charge: shares.charge(), next: shares.Grant.Shares, failed: shares.Report.Failed}
	hub.settled = ok && shares.Grant.is(last)
	hub.read = shares.Report.Grant == shares.Grant.Number
	hub.silent = !hub.read && !now.Before(shares.Grant.Expires.Time)
	switch used := shares.used(); {
	case hub.silent:
		hub.next = rollout.Shares{}
		if used != shares.Report.Taken {
			hub.failed = shares.Seen.Failed
		}
	case hub.read:
		use := &shares.Report.Use
		hub.want = use.InFlight + max(0, use.TimedOut-shares.Report.Taken.Failures) + use.Waiting
		hub.next.Concurrency = min(hub.next.Concurrency, hub.want)
		hub.next.Failures = min(hub.next.Failures, use.Failed+use.InFlight+use.Waiting)
	}
	return hub
}

// divider works out what each hub is granted.
type divider struct {
	total   rollout.Shares
	now     time.Time
	timing  Timing
	hubs    []hub
	free    rollout.Shares // to grant now
	over    rollout.Shares // how many more shares the hubs hold than there are, as where a limit was lowered
	stopped string
}

// sum counts what is free: nothing, unless each HubShares shows what was sent to it (H3, H4).
func (d *divider) sum(sent map[string]Grant) {
	known, failed, held := 0, 0, rollout.Shares{}
	for i := range d.hubs {
		hub := &d.hubs[i]
		held.Concurrency, held.Failures, failed = held.Concurrency+hub.charge.Concurrency, held.Failures+hub.charge.Failures, failed+hub.failed
		if hub.settled {
			known++
		}
	}
	d.over = most(rollout.Shares{}, rollout.Shares{Concurrency: held.Concurrency - d.total.Concurrency, Failures: held.Failures - d.total.Failures})
	if known == len(d.hubs) && known == len(sent) {
		// What the hubs hold too much of one kind is taken off what is free of the other.
		d.free = most(rollout.Shares{}, rollout.Shares{
			Concurrency: d.total.Concurrency - held.Concurrency - d.over.Failures, Failures: d.total.Failures - held.Failures - d.over.Concurrency,
		})
	}
	if failed > d.total.Failures {
		d.stopped = fmt.Sprintf("%d failed over all hubs, and at most %d may", failed, d.total.Failures)
	}
}

// failures divides the shares of failures (H8).
func (d *divider) failures() {
	short, wants := 0, 0
	for i := range d.hubs {
		if hub := &d.hubs[i]; hub.read {
			wants += hub.want
			short += d.giveFail(hub, hub.failed)
		}
	}
	for i := range d.hubs {
		if hub := &d.hubs[i]; hub.read && wants > 0 {
			d.giveFail(hub, min(share(d.total.Failures, hub.want, wants), hub.failed+hub.want))
		}
	}
	d.askFail(max(short, d.over.Failures))
}

// giveFail raises a hub's shares of failures to at least n, as far as there are, and says how many it lacks.
func (d *divider) giveFail(hub *hub, n int) (lacks int) {
	lacks = max(0, n-hub.next.Failures)
	given := min(lacks, d.free.Failures)
	hub.next.Failures, d.free.Failures = hub.next.Failures+given, d.free.Failures-given
	return lacks - given
}

// askFail lowers grants by shares of failures that are not used, n in all: first those of the hub that has most.
func (d *divider) askFail(n int) {
	donors := make([]*hub, 0, len(d.hubs))
	for i := range d.hubs {
		if hub := &d.hubs[i]; hub.read {
			donors = append(donors, hub)
		}
	}
	slices.SortStableFunc(donors, func(a, b *hub) int { return cmp.Compare(b.next.Failures-b.failed, a.next.Failures-a.failed) })
	for _, hub := range donors {
		asked := max(0, min(n, hub.next.Failures-hub.failed))
		hub.next.Failures, n = hub.next.Failures-asked, n-asked
	}
}

// share gives a part of n in the proportion of a part to a whole, rounded down.
func share(n, part, whole int) int {
	return int(int64(n) * int64(part) / int64(whole))
}

// starts divides the shares of concurrency (H8).
func (d *divider) starts() {
	d.shares()
	byLack := make([]*hub, 0, len(d.hubs))
	starving := false
	for i := range d.hubs {
		if hub := &d.hubs[i]; hub.read && hub.want > hub.next.Concurrency {
			byLack, starving = append(byLack, hub), starving || 2*hub.next.Concurrency < hub.share
		}
	}
	slices.SortStableFunc(byLack, func(a, b *hub) int { return cmp.Compare(b.share-b.next.Concurrency, a.share-a.next.Concurrency) })
	none := d.free.Concurrency == 0
	for _, hub := range byLack {
		given := min(d.free.Concurrency, max(0, hub.share-hub.next.Concurrency))
		hub.next.Concurrency, d.free.Concurrency = hub.next.Concurrency+given, d.free.Concurrency-given
	}
	for i := range d.hubs {
		hub := &d.hubs[i]
		if much := hub.next.Concurrency > hub.share+max(1, hub.share/4); hub.read && (d.over.Concurrency > 0 || none && starving && much) {
			hub.next.Concurrency = min(hub.next.Concurrency, hub.share)
		}
	}
}

// shares works out each hub's share of the shares of concurrency: in proportion to what it can use, and at most that. What is left by
// rounding goes to those whose share lost most by it.
func (d *divider) shares() {
	there, wants := d.total.Concurrency, 0
	for i := range d.hubs {
		if hub := &d.hubs[i]; hub.read {
			wants += hub.want
		} else {
			there -= hub.charge.Concurrency
		}
	}
	there = max(0, min(there, wants))
	if there == 0 {
		return
	}
	left, rounded := there, make([]*hub, 0, len(d.hubs))
	for i := range d.hubs {
		if hub := &d.hubs[i]; hub.read {
			hub.share = share(there, hub.want, wants)
			left, rounded = left-hub.share, append(rounded, hub)
		}
	}
	lost := func(hub *hub) int64 { return int64(there) * int64(hub.want) % int64(wants) }
	slices.SortStableFunc(rounded, func(a, b *hub) int { return cmp.Compare(lost(b), lost(a)) })
	for _, hub := range rounded[:left] {
		hub.share++
	}
}

// division gives the grants that have to be written.
func (d *divider) division() Division {
	out := Division{Grants: map[string]Grant{}, Stopped: d.stopped, Free: d.free}
	for i := range d.hubs {
		hub := &d.hubs[i]
		if grant, changed := d.grant(hub); changed {
			out.Grants[hub.Hub] = grant
		} else if at := hub.Grant.Expires.Time; d.now.Before(at) {
			if after := at.Add(-d.timing.Lease / 2); hub.read && d.now.Before(after) {
				at = after
			}
			if wait := at.Sub(d.now); out.RecheckAfter == 0 || wait < out.RecheckAfter {
				out.RecheckAfter = wait
			}
		}
	}
	return out
}

// grant gives what to write into a HubShares, and whether anything has to be (H3, H4, H9).
func (d *divider) grant(hub *hub) (Grant, bool) {
	old := hub.Grant
	switch {
	case hub.settled:
	case hub.sent.Number > old.Number: // it is on its way, or was lost
		return hub.sent, true
	default: // another process wrote last
		old.Number++
		return old, true
	}
	next := Grant{Number: old.Number + 1, Shares: hub.next, Expires: old.Expires, Stopped: d.stopped}
	if hub.read && d.stopped == "" {
		next.Expires = seconds(d.now.Add(d.timing.Lease))
	}
	renews := hub.read && d.stopped == "" && (hub.next != rollout.Shares{}) && !d.now.Before(old.Expires.Add(-d.timing.Lease/2))
	return next, renews || next.Shares != old.Shares || next.Stopped != old.Stopped
}
