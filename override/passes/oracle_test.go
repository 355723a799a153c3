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

// naiveReport is what a started replica tells, and since when that is so (S3, O22).
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

// naiveStarts is which clusters may start, in their order (R8, R10, R11, R12), over groups in the order of their index.
// A cluster where ready is false has yet to go through the first pass, and starts in the next call.
func (l naiveLimits) naiveStarts(groups []naiveGroup, of func(string) (status.RolloutStatus, bool), ready func(string) bool) []string {
	var mandatory, others []naiveGroup
	for _, g := range groups {
		pooled := l.typ == clusterv1alpha1.Progressive && l.mandatory == ""
		if l.mandatory != "" && g.name == l.mandatory || g.index < 0 && !pooled { // R47: a group that nobody knows
			mandatory = append(mandatory, g)
		} else {
			others = append(others, g)
		}
	}
	// A stage with more failures than its budget stops the rollout everywhere.
	failuresIn := func(groups ...naiveGroup) (failures int) {
		for _, g := range groups {
			for _, c := range g.clusters {
				if s, _ := of(c); s == status.Failed || s == status.TimeOut {
					failures++
				}
			}
		}
		return failures
	}
	if l.typ == clusterv1alpha1.Progressive && failuresIn(groups...) > l.maxFailures {
		return nil
	}
	for _, g := range mandatory {
		if failuresIn(g) > 0 {
			return nil
		}
	}
	for _, g := range others {
		if l.typ == clusterv1alpha1.ProgressivePerGroup && failuresIn(g) > l.maxFailures {
			return nil
		}
	}
	for _, g := range mandatory {
		if done, starts := l.naiveGroupStarts(g.clusters, len(g.clusters), 0, of, ready); !done {
			return starts
		}
	}
	if l.typ == clusterv1alpha1.Progressive {
		var pool []string
		for _, g := range others {
			pool = append(pool, g.clusters...)
		}
		_, starts := l.naiveGroupStarts(pool, max(l.maxConcurrency, 1), len(pool), of, ready) // O9: one where it says none
		return starts
	}
	for _, g := range others {
		if done, starts := l.naiveGroupStarts(g.clusters, len(g.clusters), l.maxFailures, of, ready); !done {
			return starts
		}
	}
	return nil
}

// naiveGroupStarts is whether a group is complete (R6), and if not which of its clusters may start.
func (l naiveLimits) naiveGroupStarts(clusters []string, concurrency, budget int, of func(string) (status.RolloutStatus, bool), ready func(string) bool) (bool, []string) {
	unsettled, failures, inFlight := 0, 0, 0
	var first, second []string
	for _, c := range slices.Sorted(slices.Values(clusters)) {
		s, flying := of(c)
		if s == status.ToApply || s == status.Progressing || s == status.Validating || s == status.Succeeded && flying {
			unsettled++
		}
		if s == status.Failed || s == status.TimeOut {
			failures++
		}
		if flying {
			inFlight++
		}
		if s == status.ToApply && ready(c) {
			first = append(first, c)
		} else if s == status.ToApply {
			second = append(second, c)
		}
	}
	if unsettled == 0 && failures <= budget {
		return true, nil
	}
	if failures > budget {
		return false, nil
	}
	var starts []string
	for _, c := range append(first, second...) {
		if inFlight+len(starts) < concurrency {
			starts = append(starts, c)
		}
	}
	return false, slices.DeleteFunc(starts, func(c string) bool { return !ready(c) })
}
