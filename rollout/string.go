// SPDX-License-Identifier: Apache-2.0

package rollout

import "strings"

// String gives the result in a line: `starting c, d; in flight a, b; 3 clusters blocked: waiting for group 1: 0 of 2 done;
// c, d are starting; recheck after 5m0s`.
func (r *Result) String() string {
	parts := r.actions(r.InFlight)
	stopped := r.Breach != nil
	for _, count := range r.counted((*Result).briefBlock) {
		parts = append(parts, count.String())
		stopped = stopped && count.Reason.Type != BlockBreached
	}
	if stopped { // nothing waits, or for another reason
		parts = append(parts, r.Breach.String())
	}
	if parts = r.appendRecheck(parts); len(parts) == 0 {
		return "nothing to start or to remove"
	}
	return strings.Join(parts, "; ")
}

// actions says in words what a controller has to act upon.
func (next *Next) actions(inFlight []Cluster) (parts []string) {
	for _, list := range []struct {
		what     string
		clusters []Cluster
	}{{"starting", next.Start}, {"in flight", inFlight}, {"timed out", next.TimedOut}} {
		if len(list.clusters) > 0 {
			parts = append(parts, list.what+" "+inWords(list.clusters))
		}
	}
	if len(next.Removed) > 0 {
		parts = append(parts, "removing the workload from "+strings.Join(next.Removed, ", "))
	}
	if len(next.PendingRemoval) > 0 {
		parts = append(parts, "removing the workload later from "+strings.Join(next.PendingRemoval, ", "))
	}
	return parts
}

func inWords(clusters []Cluster) string {
	names := make([]string, len(clusters))
	for i := range clusters {
		names[i] = clusters[i].Name
	}
	return strings.Join(names, ", ")
}

func (next *Next) appendRecheck(parts []string) []string {
	if next.RecheckAfter > 0 {
		parts = append(parts, "recheck after "+next.RecheckAfter.String())
	}
	return parts
}
