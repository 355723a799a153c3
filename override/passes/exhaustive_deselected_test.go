// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/internal/seeded"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// smallReplicas are the kinds of replicas of one cluster, of version 1 unless they say more.
var smallReplicas = []func(now time.Time) *passes.Replica{
	func(time.Time) *passes.Replica { return nil },
	func(time.Time) *passes.Replica { return &passes.Replica{Version: "v0", Action: policyv1.Enforce} },
	func(time.Time) *passes.Replica { return &passes.Replica{Version: "v1", Action: policyv1.Inform} },
	func(now time.Time) *passes.Replica {
		return &passes.Replica{Version: "v1", Action: policyv1.Inform, Compliance: policyv1.Compliant, ComplianceTime: now}
	},
	func(now time.Time) *passes.Replica {
		return &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-2 * time.Minute)}
	},
	func(now time.Time) *passes.Replica { // it times out
		return &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-10 * time.Minute)}
	},
	func(now time.Time) *passes.Replica { // it failed
		return &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-2 * time.Minute), Compliance: policyv1.NonCompliant, ComplianceTime: now}
	},
	func(now time.Time) *passes.Replica { // it soaks
		return &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-2 * time.Minute), Compliance: policyv1.Compliant, ComplianceTime: now}
	},
	func(now time.Time) *passes.Replica { // it is being validated
		r := &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-2 * time.Minute), Compliance: policyv1.Compliant, ComplianceTime: now.Add(-2 * time.Minute)}
		r.Verdict = &status.Verdict{}
		return r
	},
	func(now time.Time) *passes.Replica { // it was not found good
		r := &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-2 * time.Minute), Compliance: policyv1.Compliant, ComplianceTime: now.Add(-2 * time.Minute)}
		r.Verdict = &status.Verdict{Version: "v1", Result: status.ValidationFailed, Time: now.Add(-time.Minute)}
		return r
	},
	func(now time.Time) *passes.Replica { // it soaks since it was found good
		r := &passes.Replica{Version: "v1", Action: policyv1.Enforce, Applied: now.Add(-2 * time.Minute), Compliance: policyv1.Compliant, ComplianceTime: now.Add(-2 * time.Minute)}
		r.Verdict = &status.Verdict{Version: "v1", Result: status.ValidationSucceeded, Time: now.Add(-time.Minute)}
		return r
	},
	func(now time.Time) *passes.Replica { // it complies, as it may where it was not found good
		return &passes.Replica{Version: "v1", Action: policyv1.Inform, Compliance: policyv1.Compliant, ComplianceTime: now, Verdict: &status.Verdict{}}
	},
}

// smallEntries are the kinds of entries of one cluster.
var smallEntries = []func(now time.Time) *status.DeselectedCluster{
	func(time.Time) *status.DeselectedCluster { return nil },
	func(now time.Time) *status.DeselectedCluster {
		return &status.DeselectedCluster{Report: status.Report{Status: status.TimeOut, Applied: now.Add(-9 * time.Minute), LastTransitionTime: now.Add(-9 * time.Minute)}}
	},
	func(now time.Time) *status.DeselectedCluster { // it times out, and without a deadline it keeps its slot
		return &status.DeselectedCluster{Report: status.Report{Status: status.Failed, Applied: now.Add(-11 * time.Minute), LastTransitionTime: now.Add(-10 * time.Minute)}}
	},
	func(now time.Time) *status.DeselectedCluster {
		return &status.DeselectedCluster{Report: status.Report{Status: status.Progressing, Applied: now.Add(-3 * time.Minute), LastTransitionTime: now.Add(-3 * time.Minute)}}
	},
	func(now time.Time) *status.DeselectedCluster { // it was being validated
		return &status.DeselectedCluster{Report: status.Report{Status: status.Validating, Applied: now.Add(-9 * time.Minute), LastTransitionTime: now.Add(-3 * time.Minute)}}
	},
	func(now time.Time) *status.DeselectedCluster { // it times out
		return &status.DeselectedCluster{Report: status.Report{Status: status.Progressing, Applied: now.Add(-10 * time.Minute), LastTransitionTime: now.Add(-10 * time.Minute)}}
	},
	func(now time.Time) *status.DeselectedCluster {
		return &status.DeselectedCluster{Report: status.Report{Status: status.Succeeded, Applied: now.Add(-9 * time.Minute), LastTransitionTime: now.Add(-4 * time.Minute)}}
	},
	func(now time.Time) *status.DeselectedCluster { // it has soaked
		return &status.DeselectedCluster{Report: status.Report{Status: status.Succeeded, Applied: now.Add(-9 * time.Minute), LastTransitionTime: now.Add(-5 * time.Minute)}}
	},
}

// O11, O16, O19, R65, R66: each world of two clusters, bound or not, with each kind of replica and of entry, under each kind of strategy. The
// weekly run looks at all of these worlds; other runs at each of some, and with the tag "exhaustive" at as many that the seed says.
func TestEachSmallWorldOfClustersThatLeft(t *testing.T) {
	names, step := strings.Split("ab", ""), exhaustive.Of(401, 23, 1)
	firsts := []int{0}
	if exhaustive.On && !exhaustive.Whole {
		firsts = append(firsts, 1+int(seeded.Seed()%uint64(step-1)))
	}
	kinds := 2 * len(smallReplicas) * len(smallEntries)
	var limits []naiveLimits
	for _, l := range []naiveLimits{
		{typ: clusterv1alpha1.Progressive, maxConcurrency: 1},
		{typ: clusterv1alpha1.Progressive, maxConcurrency: 2, maxFailures: 1, failAtOnce: true},
		{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, maxFailures: 1, mandatory: "canary"},
		{typ: clusterv1alpha1.ProgressivePerGroup, failAtOnce: true},
		{typ: clusterv1alpha1.ProgressivePerGroup, maxFailures: 1},
	} {
		l.soak = 5 * time.Minute
		limits = append(limits, l)
		l.deadline = 10 * time.Minute
		limits = append(limits, l)
	}
	worlds := 1
	for range names {
		worlds *= kinds
	}
	for _, l := range limits {
		for _, remembers := range []bool{false, true} {
			for _, first := range firsts {
				for world := first; world < worlds; world += step {
					smallWorld(t, l, names, world, remembers)
				}
			}
		}
	}
}

// smallWorld looks at one world, until nothing is asked for.
func smallWorld(t *testing.T, limits naiveLimits, names []string, world int, remembers bool) {
	w := newWorld(t, policyv1.Enforce, limits)
	w.record.Version = "v1"
	pick := func(n int) int {
		kind := world % n
		world /= n
		return kind
	}
	var canary, others, left []string
	for _, name := range names {
		if r := smallReplicas[pick(len(smallReplicas))](w.now); r != nil {
			r.Cluster = name
			w.replicas[name] = r
		}
		if e := smallEntries[pick(len(smallEntries))](w.now); e != nil {
			e.Cluster, e.Group = name, grouping.Key{Index: 1}
			if name == "a" {
				e.Group = grouping.Key{Index: 0, Name: "canary"}
			}
			w.record.Deselected = append(w.record.Deselected, *e)
		}
		switch {
		case pick(2) == 0:
			left = append(left, name)
		case name == "a":
			canary = append(canary, name)
		default:
			others = append(others, name)
		}
	}
	if len(w.record.Deselected) == len(names) { // it was made when they were deselected, and has the groups of that time (R66)
		w.record.Exposed = len(names)
	}
	w.bind("b", "canary: "+strings.Join(canary, " ")+" | : "+strings.Join(others, " "))
	if remembers { // a call from before the clusters were deselected
		record, replicas := w.record, w.replicas
		w.place("b", "canary: "+strings.Join(append(left, canary...), " ")+" | : "+strings.Join(others, " "))
		w.call(rollout.Options{})
		w.record, w.replicas, w.owedOf = record, replicas, ""
		w.place("b", "canary: "+strings.Join(canary, " ")+" | : "+strings.Join(others, " "))
	}
	w.settle()
}
