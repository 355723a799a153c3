// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// naiveGroups joins the groups of the bindings by R26 and O6: names of clusters, group by group, each
// group with its name. Groups are by the names of the bindings, in the order of their index.
func naiveGroups(bindings []override.Binding, groups map[string][]naiveGroup) []naiveGroup {
	bindings = slices.Clone(bindings)
	slices.SortFunc(bindings, func(a, b override.Binding) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	var joined []naiveGroup
	seen := map[string]bool{}
	for _, b := range bindings {
		take := func(index int, name string, clusters []string) naiveGroup {
			taken := naiveGroup{binding: b.Name, index: index, name: name}
			for _, c := range clusters {
				if !slices.Contains(b.Excluded, c) && !seen[c] {
					seen[c] = true
					taken.clusters = append(taken.clusters, c)
				}
			}
			return taken
		}
		for i, g := range groups[b.Name] {
			joined = append(joined, take(i, g.name, g.clusters))
		}
	}
	return joined
}

type naiveGroup struct {
	binding  string
	index    int
	name     string
	clusters []string
}

// naiveLimits is a strategy in the words of the rules. Mandatory is the name of the mandatory groups.
type naiveLimits struct {
	typ            clusterv1alpha1.RolloutType
	maxConcurrency int
	maxFailures    int
	mandatory      string
	deadline, soak time.Duration // 0: none
	failAtOnce     bool
}

// naiveStatus is the rollout status of a cluster of an enforced policy under a progressive strategy (S3, R4),
// and whether it is in flight (R3).
func (l naiveLimits) naiveStatus(r *passes.Replica, version string, action policyv1.RemediationAction, now time.Time) (s status.RolloutStatus, inFlight bool) {
	if r == nil || r.Version != version || !strings.EqualFold(string(r.Action), string(action)) {
		return status.ToApply, false // O9
	}
	s, since := l.naiveReport(r)
	return l.naiveLimit(s, since, now)
}

// naiveLimit applies soak and deadline.
func (l naiveLimits) naiveLimit(s status.RolloutStatus, since, now time.Time) (status.RolloutStatus, bool) {
	if s == status.Succeeded {
		return s, now.Sub(since) < l.soak // R5
	}
	if l.deadline > 0 && now.Sub(since) >= l.deadline { // R4
		return status.TimeOut, false
	}
	return s, true
}

// naiveReport is the report of a started replica, with its time (S3, O22).
func (l naiveLimits) naiveReport(r *passes.Replica) (s status.RolloutStatus, since time.Time) {
	s, since = status.Progressing, r.Applied
	if r.Generation == r.LastEvaluatedGeneration && (r.Compliance == "Compliant" || r.Compliance == "NonCompliant") {
		switch {
		case r.Compliance == "Compliant":
			s = status.Succeeded
		case l.failAtOnce:
			s = status.Failed
		}
		if s != status.Progressing && r.ComplianceTime.After(since) {
			since = r.ComplianceTime
		}
	}
	return naiveJudge(r, s, since)
}

// naiveJudge is what the verdict makes of that (O22, S12).
func naiveJudge(r *passes.Replica, s status.RolloutStatus, since time.Time) (status.RolloutStatus, time.Time) {
	if s != status.Succeeded || r.Verdict == nil {
		return s, since
	}
	said := r.Verdict.Result
	if r.Verdict.Version != r.Version || r.Verdict.Attempt != 0 || r.Verdict.Time.IsZero() || r.Verdict.Time.Before(r.Applied.Truncate(time.Second)) {
		said = ""
	}
	switch said {
	case status.ValidationFailed:
		s = status.Failed
	case status.ValidationSucceeded:
	default:
		return status.Validating, since
	}
	if r.Verdict.Time.After(since) {
		since = r.Verdict.Time
	}
	return s, since
}

// naiveShown is how the policy API shows a status (O22), and TimeOut of a replica that does not comply (S3).
func naiveShown(s status.RolloutStatus, r *passes.Replica) status.RolloutStatus {
	if s == "TimeOut" && r != nil && r.Generation == r.LastEvaluatedGeneration && r.Compliance == "NonCompliant" {
		return "Failed"
	}
	if s == "Validating" {
		return "Progressing"
	}
	return s
}

// naiveStarts is which clusters of a fleet may start, in their order (R8, R10, R11, R12, R65, R66).
// A cluster that is not ready has yet to go through the first pass, and starts in the next call.
func (l naiveLimits) naiveStarts(f naiveFleet) []string {
	// A stage with more failures than its budget stops the rollout everywhere.
	failuresIn := func(clusters []string) (failures int) {
		for _, c := range clusters {
			if s, _ := f.of(c); s == status.Failed || s == status.TimeOut {
				failures++
			}
		}
		return failures
	}
	if l.typ == clusterv1alpha1.Progressive && failuresIn(f.everyone()) > l.maxFailures {
		return nil
	}
	if len(f.lasting) > 0 {
		return nil
	}
	stages := l.naiveStages(f.groups)
	if slices.ContainsFunc(stages, func(stage naiveStage) bool { return failuresIn(stage.clusters) > stage.budget }) {
		return nil
	}
	for i, stage := range stages {
		if waiting, inFlight, settled := f.naiveStandings(stage); !settled {
			n := min(stage.concurrency-inFlight, f.naivePlaces(stage), f.naiveRoom(l, stages, i), len(waiting))
			return slices.DeleteFunc(waiting[:max(n, 0)], func(c string) bool { return !f.ready(c) })
		}
	}
	return nil
}

// naiveStandings are the waiting clusters of a stage in the order in which they start (R8), how many have a slot, and whether all are
// settled (R6).
func (f naiveFleet) naiveStandings(stage naiveStage) (waiting []string, inFlight int, settled bool) {
	settled = true
	var first, second []string
	for _, c := range slices.Sorted(slices.Values(stage.clusters)) {
		s, flying := f.of(c)
		if s == status.ToApply || s == status.Progressing || s == status.Validating || s == status.Succeeded && flying {
			settled = false
		}
		if flying {
			inFlight++
		}
		if s == status.ToApply && f.ready(c) {
			first = append(first, c)
		} else if s == status.ToApply {
			second = append(second, c)
		}
	}
	return append(first, second...), inFlight, settled
}
