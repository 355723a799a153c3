// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// TestNoHistoryOfAClusterStartsOthersEarlyOrTimesItOutEarly is R27 over all histories of one cluster: when the workload
// was applied, when the cluster's status last changed and to what, and when we look. What was observed before the
// workload was applied speaks of the version before, so that neither its deadline nor its soak may have begun there; and
// neither may end late.
func TestNoHistoryOfAClusterStartsOthersEarlyOrTimesItOutEarly(t *testing.T) {
	const deadline, soak = 10 * time.Minute, 5 * time.Minute
	strategy := perGroup(config("", "10m", soak))
	groups := newFleet(t).group("", "a").group("", "b").read()
	statuses := []status.RolloutStatus{"", status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip}
	times := []time.Duration{-1, 0, 2 * time.Minute, 4 * time.Minute, 7 * time.Minute, 20 * time.Minute} // -1: not known
	histories := 0
	for _, is := range statuses {
		for _, applied := range times {
			for _, transition := range times {
				r := status.Report{Cluster: "a", Status: is}
				began := time.Duration(-1) // of the present version, as far as anybody knows
				if applied >= 0 {
					r.Applied, began = now.Add(applied), max(began, applied)
				}
				if transition >= 0 {
					r.LastTransitionTime, began = now.Add(transition), max(began, transition)
				}
				for at := time.Duration(0); at <= 32*time.Minute; at += time.Minute {
					for _, at := range []time.Duration{at - 1, at} {
						histories++
						h := history{status: is, waits: is == status.ToApply && applied < 0, knows: began >= 0,
							late: at >= began+deadline, soaked: at >= began+soak}
						result, err := rollout.Plan(strategy, groups, []status.Report{r}, now.Add(at), rollout.Options{})
						if err != nil {
							t.Fatal(err)
						}
						if broken := h.check(result); broken != "" {
							t.Fatalf("%v, applied %v, changed %v, seen at %v: %s: %v", is, applied, transition, at, broken, result)
						}
					}
				}
			}
		}
	}
	t.Logf("%d histories", histories)
}

// history is what has to be known of cluster a to know what may happen.
type history struct {
	status                     status.RolloutStatus
	waits, knows, late, soaked bool
}

func (h history) check(r *rollout.Result) string {
	has := func(list []rollout.Cluster, name string) bool {
		return slices.ContainsFunc(list, func(c rollout.Cluster) bool { return c.Name == name })
	}
	undone := false // in flight but for a deadline
	switch h.status {
	case "", status.Progressing, status.Failed:
		undone = true
	case status.ToApply:
		undone = !h.waits
	}
	timesOut := undone && h.knows && h.late
	done := h.status == status.Skip || h.status == status.Succeeded && h.knows && h.soaked
	for _, c := range []struct {
		what      string
		got, want bool
	}{
		{"a timed out", has(r.TimedOut, "a"), timesOut},
		{"a starts", has(r.Start, "a"), h.waits},
		{"b starts", has(r.Start, "b"), done},
		{"a in flight", has(r.InFlight, "a"), undone && !timesOut || h.status == status.Succeeded && !done},
	} {
		if c.got != c.want {
			return fmt.Sprintf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
	return ""
}
