package shares

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
)

// Explain says in a sentence without its full stop why no more clusters start on a hub, and what other hubs have that it lacks:
// `blocked: this hub's share of concurrency is 0; hub-eu has 3 unused since 2026-01-02T10:15:00Z; asked at 2026-01-02T10:16:00Z`.
// It is empty if nothing waits or more may start, and if no HubShares is of that hub. The coordinator hub has the shares of
// all; a hub may pass its own alone. Now is only compared with when shares expire.
func Explain(hub string, accounts []HubShares, now time.Time) string {
	var a *HubShares
	for i := range accounts {
		if accounts[i].Hub == hub {
			a = &accounts[i]
		}
	}
	if a == nil || a.Report.Waiting == 0 {
		return ""
	}
	taken, use := a.Report.Taken, a.Report.Use
	var parts []string
	switch {
	case a.Grant.Stopped != "":
		return "blocked: " + a.Grant.Stopped
	case !now.Before(a.Grant.Expires.Time) && (a.Grant.Shares != rollout.Shares{} || taken != rollout.Shares{}):
		return "blocked: the shares of this hub expired at " + inUTC(a.Grant.Expires.Time)
	case use.Failed > taken.Failures:
		parts = append(parts, fmt.Sprintf("blocked: %d failed, and this hub's share of failures is %d", use.Failed, taken.Failures))
		parts = append(parts, others(accounts, hub, now, func(a *HubShares) (has, unused int) {
			return a.Report.Taken.Failures, a.Report.Taken.Failures - a.Report.Failed
		})...)
	case use.InFlight+use.Waiting > taken.Concurrency:
		if parts = append(parts, "blocked: this hub's share of concurrency is 0"); taken.Concurrency > 0 {
			parts[0] = fmt.Sprintf("blocked: this hub's share of concurrency is %d, and %d clusters are not done", taken.Concurrency, use.InFlight+use.Waiting)
		}
		parts = append(parts, others(accounts, hub, now, func(a *HubShares) (has, idle int) {
			if r := &a.Report; standing(r.Taken, a.Grant.Shares, r.Use) == unused {
				idle = r.Taken.Concurrency - r.InFlight
			}
			return a.Report.Taken.Concurrency, idle
		})...)
	default:
		return ""
	}
	if !a.Report.Since.IsZero() {
		parts = append(parts, "asked at "+inUTC(a.Report.Since.Time))
	}
	return strings.Join(parts, "; ")
}

// others names up to three of the other hubs that have shares which they do not use, or which cannot be used while the hub is silent.
func others(all []HubShares, hub string, now time.Time, of func(*HubShares) (has, unused int)) (parts []string) {
	more, accounts := 0, slices.Clone(all)
	slices.SortFunc(accounts, func(a, b HubShares) int { return strings.Compare(a.Hub, b.Hub) })
	for i := range accounts {
		a := &accounts[i]
		has, unused := of(a)
		silent := a.Report.Grant != a.Grant.Number && !now.Before(a.Grant.Expires.Time)
		switch {
		case a.Hub == hub || !silent && unused <= 0 || has <= 0:
		case len(parts) == 3:
			more++
		case silent:
			parts = append(parts, fmt.Sprintf("%s has %d and is silent since %s", a.Hub, has, inUTC(a.Report.Time.Time)))
		default:
			since := a.Report.Since
			if since.IsZero() {
				since = a.Report.Time
			}
			parts = append(parts, fmt.Sprintf("%s has %d unused since %s", a.Hub, unused, inUTC(since.Time)))
		}
	}
	switch {
	case more == 1:
		parts = append(parts, "1 more hub has some")
	case more > 1:
		parts = append(parts, fmt.Sprintf("%d more hubs have some", more))
	}
	return parts
}

func inUTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }
