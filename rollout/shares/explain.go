// SPDX-License-Identifier: Apache-2.0

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
func Explain(hub string, hubs []HubShares, now time.Time) string {
	var shares *HubShares
	for i := range hubs {
		if hubs[i].Hub == hub {
			shares = &hubs[i]
		}
	}
	if shares == nil || shares.Report.Waiting == 0 {
		return ""
	}
	taken, use := shares.Report.Taken, shares.Report.Use
	var parts []string
	switch {
	case shares.Grant.Stopped != "":
		return "blocked: " + shares.Grant.Stopped
	case !now.Before(shares.Grant.Expires.Time) && (shares.Grant.Shares != rollout.Shares{} || taken != rollout.Shares{}):
		return "blocked: the shares of this hub expired at " + inUTC(shares.Grant.Expires.Time)
	case use.Failed > taken.Failures:
		parts = append(parts, fmt.Sprintf("blocked: %d failed, and this hub's share of failures is %d", use.Failed, taken.Failures))
		parts = append(parts, others(hubs, hub, now, func(hubShares *HubShares) (has, unused int) {
			return hubShares.Report.Taken.Failures, hubShares.Report.Taken.Failures - hubShares.Report.Failed
		})...)
	case use.InFlight+use.Waiting > taken.Concurrency:
		if parts = append(parts, "blocked: this hub's share of concurrency is 0"); taken.Concurrency > 0 {
			parts[0] = fmt.Sprintf("blocked: this hub's share of concurrency is %d, and %d clusters are not done", taken.Concurrency, use.InFlight+use.Waiting)
		}
		parts = append(parts, others(hubs, hub, now, func(hubShares *HubShares) (has, idle int) {
			if report := &hubShares.Report; standing(report.Taken, hubShares.Grant.Shares, report.Use) == unused {
				idle = report.Taken.Concurrency - report.InFlight
			}
			return hubShares.Report.Taken.Concurrency, idle
		})...)
	default:
		return ""
	}
	if !shares.Report.Since.IsZero() {
		parts = append(parts, "asked at "+inUTC(shares.Report.Since.Time))
	}
	return strings.Join(parts, "; ")
}

// others names up to three of the other hubs that have shares which they do not use, or which cannot be used while the hub is silent.
func others(all []HubShares, hub string, now time.Time, of func(*HubShares) (has, unused int)) (parts []string) {
	more, hubs := 0, slices.Clone(all)
	slices.SortFunc(hubs, func(a, b HubShares) int { return strings.Compare(a.Hub, b.Hub) })
	for i := range hubs {
		shares := &hubs[i]
		has, unused := of(shares)
		silent := shares.Report.Grant != shares.Grant.Number && !now.Before(shares.Grant.Expires.Time)
		switch {
		case shares.Hub == hub || !silent && unused <= 0 || has <= 0:
		case len(parts) == 3:
			more++
		case silent:
			parts = append(parts, fmt.Sprintf("%s has %d and is silent since %s", shares.Hub, has, inUTC(shares.Report.Time.Time)))
		default:
			since := shares.Report.Since
			if since.IsZero() {
				since = shares.Report.Time
			}
			parts = append(parts, fmt.Sprintf("%s has %d unused since %s", shares.Hub, unused, inUTC(since.Time)))
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

func inUTC(at time.Time) string { return at.UTC().Format(time.RFC3339) }
