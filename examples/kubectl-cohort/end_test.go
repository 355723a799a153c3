// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

// Each outcome with its exit status under --exit-code, and the lines that say why.
func TestEachOutcomeHasItsExitStatusAndItsSentence(t *testing.T) {
	named := func(name string) string { return strings.Replace(aCluster, "name: a", "name: "+name, 1) }
	abc := documents(aCluster, named("b"), named("c"), aPlacement, aReplicaSet)
	placement := func(spec string) string {
		return documents(aCluster, named("b"), named("c"), strings.Replace(aPlacement, "spec: {}", "spec: {"+spec+"}", 1), aReplicaSet)
	}
	tolerant := strings.Replace(abc, "maxConcurrency: 1", "maxConcurrency: 1, maxFailures: 1, progressDeadline: 1h", 1)
	for _, test := range []struct {
		why, in string
		args    []string
		status  int
		want    string
	}{
		{"all went well", abc, nil, 0, "after 30m: Complete: 3 of 3 clusters done\n3 of 3 clusters done (100%), aggregate status Succeeded\n"},
		{"some failed, as many as may", tolerant, []string{"--fail", "a"}, 3,
			"after 1h30m: CompleteWithFailures: 2 of 3 clusters done, 1 failed\n  a in group 0: TimeOut\n"},
		{"more failed than may, with others in flight", strings.Replace(abc, "maxConcurrency: 1", "maxConcurrency: 2", 1), []string{"--fail", "a=1m"}, 6,
			"after 1m: Breached: the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; to do, one of: (1) fix the workload on a; (2) retry the failed clusters: raise the rollout's attempt number to 1; (3) raise maxFailures to 1; (4) roll back to the previous version\n  the last change after that: 10m\n  a in group 0: Failed\n  2 of 3 clusters have the version then\n"},
		{"more failed than may, and no cluster is left to start", abc, []string{"--fail", "c=1m"}, 6,
			"after 21m: Breached: the rollout is stopped: c failed, maxFailures is 0; "},
		{"no cluster answers", abc, []string{"--never", "a"}, 5,
			"after 0s: Stuck: the concurrency limit is reached (1 of 1 in flight): a is progressing (since 0s), and stays in flight until it is done (no progressDeadline); to do: set a progressDeadline\n"},
		{"a gate that is never opened", abc, []string{"--gate", "0"}, 4, "after 0s: AtGate: the gate before group 0 is closed; to do: open the gate before group 0\n"},
		{"a selector that no cluster matches", placement("predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {stage: cannary}}}}]"), nil, 7,
			"after 0s: NothingSelected: no cluster is selected\n  3 clusters: no predicate fits (spec.predicates)\n"},
		{"a mistyped cluster set", placement("clusterSets: [retial]"), nil, 7,
			"NothingSelected: no cluster is selected\n  3 clusters: in none of the cluster sets that the Placement names (spec.clusterSets: retial)\n"},
		{"two rules", strings.Replace(placement("predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {stage: x}}}}]"),
			"name: b,", `name: b, deletionTimestamp: "2025-01-01T00:00:00Z",`, 1), nil, 7,
			"\n  1 cluster: being deleted (metadata.deletionTimestamp)\n  2 clusters: no predicate fits (spec.predicates)\n"},
		{"a fleet that the hub does not accept", strings.ReplaceAll(abc, "hubAcceptsClient: true", "hubAcceptsClient: false"), nil, 7,
			"NothingSelected: no cluster is selected\n  3 clusters: not accepted by the hub, which taints it as unreachable (spec.hubAcceptsClient)\n"},
		{"one that a hub selected and does not accept any more", documents(strings.Replace(aCluster, "true", "false", 1), named("b"), aReplicaSet,
			strings.Replace(aDecision, `{clusterName: a, reason: ""}`, `{clusterName: a, reason: ""}, {clusterName: b, reason: ""}`, 1)), []string{"--fail", "a"}, 5,
			"after 0s: Stuck: the concurrency limit is reached (1 of 1 in flight): a is progressing"},
		{"aborted before the end", abc, []string{"--abort-at", "15m"}, 8,
			"after 15m: RolledBack: aborted: 1 of 3 clusters done, 1 in flight, 1 not started\n1 of 3 clusters done, 1 in flight, 1 not started (33%), aggregate status Progressing\n"},
		{"rolled back after a breach", abc, []string{"--fail", "b", "--abort-on-breach"}, 6,
			"Rollback, from 20m: 2 clusters have the version; all roll back at once\n"},
		{"rolled back long after a breach", abc, []string{"--fail", "b", "--abort-at", "5h"}, 6,
			"after 5h10m: Complete: 2 of 2 clusters rolled back, 1 never had the version\n"},
		{"rolled back from one that never answers", abc, []string{"--never", "b", "--abort-at", "5h"}, 8,
			"after 5h10m: Stuck: 1 of 2 clusters rolled back, 1 never had the version\n  b in group 0: Progressing\n"},
		{"empty decisions", documents(aReplicaSet, strings.Replace(aDecision, `{clusterName: a, reason: ""}`, "", 1)), nil, 7,
			"NothingSelected: no cluster is selected\n  the PlacementDecisions name no cluster\n"},
		{"an unbound policy", documents(aCluster, aPlacement, aPolicy), nil, 7,
			"NothingSelected: no cluster is selected\n  1 cluster: no PlacementBinding has the policy as its subject\n"},
		{"a policy that only a sub filter binds", documents(aCluster, aPlacement, strings.Replace(aPolicy, "type: Progressive, progressive: {maxConcurrency: 1}", "", 1),
			strings.Replace(aBinding, "subjects", "subFilter: restricted\nsubjects", 1)), nil, 7, "\n  1 cluster: binding bind is a sub filter, which binds no cluster\n"},
		{"a policy whose placement selects no cluster", documents(aCluster, strings.Replace(aPlacement, "spec: {}", "spec: {clusterSets: [x]}", 1), aPolicy, aBinding), nil, 7,
			"\n  1 cluster: placement p: in none of the cluster sets that the Placement names (spec.clusterSets: x)\n"},
		{"a disabled policy", documents(aCluster, aPlacement, strings.Replace(aPolicy, "disabled: false", "disabled: true", 1), aBinding), nil, 7,
			"\n  1 cluster: the policy is disabled (spec.disabled)\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := cohort(append(test.args, "-f", "-", "--exit-code"), strings.NewReader(test.in), &stdout, &stderr)
			if status != test.status || !strings.Contains(stdout.String(), test.want) || stderr.Len() > 0 {
				t.Errorf("exit status %d, want %d, and\n%s\nin\n%s%s", status, test.status, test.want, stdout.String(), stderr.String())
			}
			if status := cohort(append(test.args, "-f", "-"), strings.NewReader(test.in), &stdout, &stderr); status != 0 {
				t.Errorf("exit status %d without --exit-code, want 0", status)
			}
		})
	}
}
