// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// mutants has one for every rule about starting, blocking and removing, and for duties of a controller.
var mutants = slices.Concat(startingMutants, leftMutants, peopleMutants)

// startingMutants lack a rule on selected clusters, or a duty.
var startingMutants = []mutant{
	{name: "does not read its own writes (duty 3)", world: "late cache", broken: "twice", planner: plan, duty: "own writes"},
	{name: "starts others in place of those that it wrote (duty 3)", world: "late cache", broken: "concurrency", planner: plan, duty: "own writes"},
	{name: "does not look after a lost answer (duty 3)", world: "late cache", broken: "concurrency", planner: plan, duty: "lost answers"},
	{name: "ignores MaxConcurrency (R11)", world: "deadline and soak", broken: "concurrency", planner: given(func(in *input) {
		in.strategy.Progressive.MaxConcurrency = intstr.FromString("100%")
	})},
	{name: "starts one more than MaxConcurrency (R11)", world: "deadline and soak", broken: "concurrency", planner: given(func(in *input) {
		in.strategy.Progressive.MaxConcurrency.IntVal++
	})},
	{name: "starts one less than MaxConcurrency (R11)", world: "deadline and soak", broken: "blocked", planner: given(func(in *input) {
		in.strategy.Progressive.MaxConcurrency.IntVal--
	})},
	{name: "takes a silent agent for one that waits (R27)", world: "deadline and soak", broken: "twice", planner: reported(func(_ *input, r *status.Report) {
		if r.Status == status.ToApply {
			r.Applied = time.Time{}
		}
	})},
	{name: "soaks from a success of the version before (R27)", world: "versions", broken: "concurrency", planner: reported(func(_ *input, r *status.Report) {
		if r.Status != status.ToApply {
			r.Applied = time.Time{}
		}
	})},
	{name: "gives a failed cluster's slot to the next (R25)", world: "deadline and soak", broken: "concurrency", planner: given(func(in *input) {
		in.options.FailedFreesSlot = true
	})},
	{name: "keeps a failed cluster's slot (R25)", world: "slots come free", broken: "blocked", planner: without("FailedFreesSlot")},
	{name: "forgets clusters in flight in a later group (R3)", world: "groups that change", broken: "in flight", planner: told(func(in *input, r *rollout.Result) {
		r.InFlight = slices.DeleteFunc(r.InFlight, func(c rollout.Cluster) bool { return c.Group.Index == 1 })
	})},
	{name: "counts no soak (R5)", world: "deadline and soak", broken: "concurrency", planner: configured(func(c *clusterv1alpha1.RolloutConfig) {
		c.MinSuccessTime = metav1.Duration{}
	})},
	{name: "soaks for ever (R5)", world: "deadline and soak", broken: "in flight", planner: configured(func(c *clusterv1alpha1.RolloutConfig) {
		c.MinSuccessTime.Duration *= 100
	})},
	{name: "has no deadline (R4)", world: "deadline and soak", broken: "in flight", planner: configured(func(c *clusterv1alpha1.RolloutConfig) {
		c.ProgressDeadline = ""
	})},
	{name: "times out a moment early (R4)", world: "deadline and soak", broken: "time", planner: given(func(in *input) {
		in.now = in.now.Add(1)
	})},
	{name: "times out a moment late (R4)", world: "deadline and soak", broken: "in flight", planner: given(func(in *input) {
		in.now = in.now.Add(-1)
	})},
	{name: "does not come back (R19)", world: "deadline and soak", broken: "sleeps", planner: told(func(_ *input, r *rollout.Result) {
		r.RecheckAfter = 0
	})},
	{name: "comes back too late (R19)", world: "deadline and soak", broken: "sleeps", planner: told(func(_ *input, r *rollout.Result) {
		r.RecheckAfter *= 2
	})},
	{name: "ignores MaxFailures (R10)", world: "groups", broken: "stop", planner: configured(func(c *clusterv1alpha1.RolloutConfig) {
		c.MaxFailures = intstr.FromString("100%")
	})},
	{name: "tolerates one more failure (R11)", world: "deadline and soak", broken: "stop", planner: configured(func(c *clusterv1alpha1.RolloutConfig) {
		c.MaxFailures.IntVal++
	})},
	{name: "tolerates one less failure (R15)", world: "deadline and soak", broken: "breach", planner: configured(func(c *clusterv1alpha1.RolloutConfig) {
		c.MaxFailures.IntVal--
	})},
	{name: "forgets a breach in a later group (R10)", world: "groups that change", broken: "stop", planner: forgetsLater},
	{name: "forgets a breach in an earlier group (R10)", world: "groups", broken: "stop", planner: reported(func(in *input, r *status.Report) {
		if r.Status == status.Failed && in.groupOf(r.Cluster) == 0 {
			r.Status = status.Succeeded
		}
	})},
	{name: "takes a breach for the end of a group (R6)", world: "groups", broken: "stop", planner: reported(func(in *input, r *status.Report) {
		if r.Status == status.Failed {
			r.Status = status.Skip
		}
	})},
	{name: "does not wait for the canary (R12)", world: "canary", broken: "order", planner: given(func(in *input) {
		_, m := fields(&in.strategy)
		m.MandatoryDecisionGroups = nil
	})},
	{name: "tolerates a failed canary (R12)", world: "canary", broken: "stop", planner: reported(func(in *input, r *status.Report) {
		if r.Status == status.Failed && in.groupOf(r.Cluster) == 0 {
			r.Status = status.Skip
		}
	})},
	{name: "takes the groups for one (R10)", world: "groups", broken: "order", planner: given(func(in *input) {
		in.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: in.strategy.ProgressivePerGroup.RolloutConfig,
		}}
	})},
	{name: "goes on while a group runs (R10)", world: "groups", broken: "order", planner: reported(func(in *input, r *status.Report) {
		if r.Status == status.Progressing && in.groupOf(r.Cluster) == 0 {
			r.Status = status.Skip
		}
	})},
	{name: "goes backwards through the groups (R10)", world: "groups", broken: "order", planner: given(func(in *input) {
		turned := map[grouping.Key][]string{}
		for key, d := range in.groups.All() {
			key.Index = none - 1 - key.Index
			turned[key] = append(turned[key], d.ClusterName)
		}
		in.groups, _ = grouping.FromNames(turned)
	})},
	{name: "ignores gates (R23)", world: "gates", broken: "order", planner: given(func(in *input) {
		in.options.Gates = nil
	})},
	{name: "takes a gate for no barrier (R23)", world: "gates", broken: "order", planner: gateOfItsGroup},
	{name: "opens a gate a moment early (R23)", world: "a window", broken: "time", planner: given(func(in *input) {
		for i := range in.options.Gates {
			in.options.Gates[i].Opens = now.Add(3*tick - 1)
		}
	})},
	{name: "ignores a pause (R22)", world: "gates", broken: "stop", planner: without("Paused")},
	{name: "ignores MaxConcurrencyPerGroup (R24)", world: "slots come free", broken: "concurrency", planner: without("MaxConcurrencyPerGroup")},
	{name: "starts while groups are incomplete (R28)", world: "decisions rewritten", broken: "stop", planner: trustsDecisions(true, false)},
	{name: "removes while groups are incomplete (R7)", world: "decisions rewritten", broken: "removal", planner: trustsDecisions(false, true)},
	{name: "removes at once (R32)", world: "decisions rewritten", broken: "removal", planner: given(func(in *input) { in.grace = 0 })},
	{name: "lets a cluster stay half its time (R32)", late: true, world: "decisions rewritten", broken: "grace", planner: given(func(in *input) { in.grace /= 2 })},
	{name: "removes a moment early (R32)", world: "decisions rewritten", broken: "time", planner: given(func(in *input) { in.grace-- })},
	{name: "forgets since when a cluster is deselected (R32)", world: "decisions rewritten", broken: "circle", planner: given(func(in *input) { in.previous = nil })},
	{name: "never removes (R7)", world: "groups that change", broken: "stays", planner: told(func(_ *input, r *rollout.Result) { r.Removed = nil })},
	{name: "ignores MaxRemoved (R30)", late: true, world: "many are deselected", broken: "removal", planner: without("MaxRemoved")},
	{name: "exposes more than is said (R40)", late: true, world: "exposure of a pool", broken: "exposure", planner: given(func(in *input) {
		in.strategy.Progressive.MaxConcurrency.IntVal++
	})},
	{name: "does not know the graph (R33)", world: "groups in a graph", broken: "blocked", planner: without("GroupOrder")},
	{name: "knows no order of groups (R33)", world: "groups in a graph", broken: "order", planner: given(func(in *input) {
		in.options.GroupOrder = rollout.GroupOrder{}
	})},
	{name: "stops all groups at a gate (R33)", world: "groups in any order", broken: "blocked", planner: without("GroupOrder")},
	{name: "counts all clusters (R37)", world: "ignored clusters", broken: "blocked", planner: without("Ignored")},
	{name: "starts ignored clusters before their turn (R37)", world: "ignored clusters", broken: "order", planner: told(func(in *input, r *rollout.Result) {
		for c := range r.Blocked() {
			if c.Name == "c" {
				r.Start = append(r.Start, c)
			}
		}
	})},
	{name: "counts all failures (R38)", world: "failures that do not count", broken: "breach", planner: without("FailedBefore")},
	{name: "counts no failure (R38)", late: true, world: "failures that do not count", broken: "stop", planner: given(func(in *input) {
		in.options.FailedBefore = names[:]
	})},
	{name: "brings the version before to all (R43)", world: "rollback", broken: "touches", planner: given(func(in *input) { in.abort = nil })},
	{name: "takes all that have the version before for untouched (R43)", late: true, world: "rollback", broken: "concurrency", planner: rolledBack(
		func(a *rollout.Abort) { a.Time = now })},
	{name: "rolls failed clusters back last (R44)", late: true, world: "rollback", broken: "turn", planner: rolledBack(func(a *rollout.Abort) {
		for i := range a.Failed {
			if a.Failed[i].Status == status.Failed {
				a.Failed[i].Status, a.Failed[i].Applied = status.Succeeded, time.Unix(0, 0)
			}
		}
	})},
	{name: "stops the rollback at a breach (R45)", late: true, world: "rollback", broken: "breach", planner: rolledBack(
		func(a *rollout.Abort) { a.StopAtBreach = true })},
	{name: "does not wait between groups (R34)", world: "waits between groups", broken: "order", planner: without("WaitBetweenGroups")},
	{name: "waits for ever between groups (R34)", world: "waits between groups", broken: "blocked", planner: given(func(in *input) {
		in.options.WaitBetweenGroups = metav1.Duration{Duration: time.Hour}
	})},
	{name: "waits a moment less between groups (R34)", world: "waits between groups", broken: "time", planner: given(func(in *input) {
		in.options.WaitBetweenGroups = metav1.Duration{Duration: 2*tick - 1}
	})},
	{name: "starts all at once (R35)", world: "a ramp", broken: "pace", planner: without("Ramp")},
	{name: "lets the ramp begin higher (R35)", world: "a ramp", broken: "pace", planner: given(func(in *input) {
		two := 2
		in.options.Ramp = &two
	})},
	{name: "starts too many in a time (R36)", world: "starts spread over time", broken: "pace", planner: without("MaxStarts")},
	{name: "forgets starts a moment early (R36)", world: "starts spread over time", broken: "time", planner: given(func(in *input) {
		in.options.MaxStarts = &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: 2*tick - 1}}
	})},
	{name: "forgets starts too late (R36)", world: "starts spread over time", broken: "blocked", planner: given(func(in *input) {
		in.options.MaxStarts = &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: 2*tick + 1}}
	})},
	{name: "ignores shares (R57)", world: "shares", broken: "pace", planner: without("Shares")},
	{name: "starts without a share of concurrency (R57)", world: "shares", broken: "stop", planner: given(func(in *input) {
		if in.options.Shares.Concurrency == 0 {
			in.options.Shares = nil
		}
	})},
	{name: "starts beyond its share of failures (R57)", world: "shares", broken: "stop", planner: given(func(in *input) { in.options.Shares.Failures++ })},
	{name: "leaves a part of its share unused (R57)", world: "shares", broken: "blocked", planner: given(func(in *input) {
		in.options.Shares.Concurrency = max(0, in.options.Shares.Concurrency-1)
	})},
	{name: "exposes more than its shares (R57)", late: true, world: "shares", broken: "exposure", planner: given(func(in *input) { in.options.Shares.Failures++ })},
	{name: "tries nothing again (R39)", world: "attempts", broken: "blocked", planner: without("Attempt")},
	{name: "tries again while an attempt runs (R39)", world: "attempts", broken: "twice", planner: reported(func(_ *input, r *status.Report) {
		if r.Status == status.Failed {
			r.Attempt = 0
		}
	})},
	{name: "counts a failure of the attempt before (R39)", world: "attempts", broken: "breach", planner: reported(func(_ *input, r *status.Report) {
		if r.Attempt++; r.Status != status.Failed {
			r.Attempt = 0
		}
	})},
	{name: "blames another cluster (R29)", world: "deadline and soak", broken: "sentence", planner: told(func(in *input, r *rollout.Result) {
		other := *in
		other.reports = slices.Clone(in.reports)
		done := slices.IndexFunc(other.reports, func(r status.Report) bool { return r.Status == status.Succeeded })
		silent := slices.IndexFunc(other.reports, func(r status.Report) bool { return r.Status == status.ToApply && !r.Applied.IsZero() })
		if done < 0 || silent < 0 {
			return
		}
		other.reports[done].Cluster, other.reports[silent].Cluster = other.reports[silent].Cluster, other.reports[done].Cluster
		if wrong, err := plan(other); err == nil {
			wrong.Next, wrong.InFlight = r.Next, r.InFlight
			*r = *wrong
		}
	})},
	{name: "explains nothing (R29)", world: "deadline and soak", broken: "silence", planner: func(in input) (*rollout.Result, error) {
		r, err := plan(in)
		if err != nil {
			return nil, err
		}
		return &rollout.Result{Next: r.Next, InFlight: r.InFlight}, nil
	}},
	{name: "starts clusters in flight (R3)", world: "deadline and soak", broken: "twice", planner: told(func(_ *input, r *rollout.Result) {
		r.Start = append(r.Start, r.InFlight...)
	})},
	{name: "starts those that failed again (R2)", world: "deadline and soak", broken: "twice", planner: told(func(_ *input, r *rollout.Result) {
		r.Start = append(r.Start, r.TimedOut...)
	})},
}
