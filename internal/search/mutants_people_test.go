// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// peopleMutants lack a rule on validation, on frozen clusters or on allowlists, or a duty about verdicts.
var peopleMutants = []mutant{
	{name: "takes a cluster in validation for done (R58)", world: "validation", broken: "concurrency", planner: validating(func(r *status.Report) {
		r.Status, r.LastTransitionTime = status.Succeeded, time.Unix(0, 0)
		r.Applied = r.LastTransitionTime
	})},
	{name: "soaks while it is validated (R58)", world: "validation", broken: "concurrency", planner: validating(func(r *status.Report) { r.Status = status.Succeeded })},
	{name: "has no deadline for a validation (R58)", world: "validation", broken: "breach", planner: validating(func(r *status.Report) {
		r.LastTransitionTime, r.Applied = time.Time{}, time.Time{}
	})},
	{name: "lets the deadline of a validation run from the write (R58)", world: "validation", broken: "breach", planner: validating(func(r *status.Report) {
		r.LastTransitionTime = time.Time{}
	})},
	{name: "takes a cluster in validation for failed (R58)", world: "validation", broken: "breach", planner: validating(func(r *status.Report) { r.Status = status.Failed })},
	{name: "soaks from the success (S12)", world: "validation", broken: "concurrency", planner: plan, duty: soaksFromTheYes},
	{name: "takes a no for silence (S12)", world: "validation", broken: "breach", planner: plan, duty: hearsTheNo},
	{name: "lets a verdict on another version count (S12)", world: "verdicts that are late", broken: "concurrency", planner: plan, duty: asksForVersion},
	{name: "lets a verdict on another attempt count (S12)", late: true, world: "verdicts that are late", broken: "breach", planner: plan, duty: asksForAttempt},
	{name: "lets a verdict from before the write count (S12)", late: true, world: "verdicts that are late", broken: "concurrency", planner: plan, duty: asksForTime},
	{name: "forgets verdicts when it restarts (S12)", world: "validation", broken: "exposure", planner: plan, duty: keepsVerdicts},

	{name: "ignores freezes (R59)", world: "freezes and an allowlist", broken: "freeze", planner: without("Freezes")},
	{name: "lets every freeze block its group (R59)", world: "freezes and an allowlist", broken: "blocked", planner: withHolds(func(h *rollout.ClusterFreeze) { h.Blocks = true })},
	{name: "lets no freeze block its group (R59)", world: "freezes and an allowlist", broken: "order", planner: withHolds(func(h *rollout.ClusterFreeze) { h.Blocks = false })},
	{name: "freezes without an end (R59)", world: "freezes and an allowlist", broken: "sleeps", planner: withHolds(func(h *rollout.ClusterFreeze) { h.Until = time.Time{} })},
	{name: "lets a freeze end a moment early (R59)", world: "freezes and an allowlist", broken: "time", planner: withHolds(func(h *rollout.ClusterFreeze) {
		if !h.Until.IsZero() {
			h.Until = h.Until.Add(-1)
		}
	})},
	{name: "freezes a cluster that has the workload (R59)", late: true, world: "freezes and an allowlist", broken: "in flight", planner: told(func(in *input, r *rollout.Result) {
		r.InFlight = slices.DeleteFunc(r.InFlight, func(c rollout.Cluster) bool {
			return slices.ContainsFunc(in.options.Freezes, func(h rollout.ClusterFreeze) bool { return h.Cluster == c.Name })
		})
	})},
	{name: "gives no reason for a freeze (R59)", world: "freezes and an allowlist", broken: "sentence", planner: told(func(in *input, r *rollout.Result) {
		in.options.Freezes, in.options.Paused = nil, true
		if wrong, err := plan(*in); err == nil {
			wrong.Next, wrong.InFlight = r.Next, r.InFlight
			*r = *wrong
		}
	})},
	{name: "starts clusters that are not on the allowlist (R60)", world: "freezes and an allowlist", broken: "freeze", planner: without("Allowlist")},
	{name: "waits for clusters that are not on the allowlist (R60)", world: "freezes and an allowlist", broken: "blocked", planner: given(func(in *input) {
		for _, name := range names {
			if !slices.Contains(in.options.Allowlist, name) {
				in.options.Freezes = append(in.options.Freezes, rollout.ClusterFreeze{Cluster: name, Blocks: true})
			}
		}
	})},
}

// validating makes a planner that reads clusters in validation otherwise.
func validating(alter func(*status.Report)) planner {
	return reported(func(_ *input, r *status.Report) {
		if r.Status == status.Validating {
			alter(r)
		}
	})
}

// withHolds makes a planner that reads freezes otherwise.
func withHolds(alter func(*rollout.ClusterFreeze)) planner {
	return given(func(in *input) {
		in.options.Freezes = slices.Clone(in.options.Freezes)
		for i := range in.options.Freezes {
			alter(&in.options.Freezes[i])
		}
	})
}
