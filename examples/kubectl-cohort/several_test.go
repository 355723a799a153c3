// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A dump holds whatever a hub has. Each rollout is played by itself, or the one that --rollout names.
func TestSeveralRolloutsArePlayedOneAfterTheOther(t *testing.T) {
	other := strings.NewReplacer("name: p", "name: q").Replace(aPlacement)
	second := strings.NewReplacer("name: set", "name: other", "name: p", "name: q").Replace(aReplicaSet)
	two := strings.Replace(aReplicaSet, "[{name: p,", "[{name: q, rolloutStrategy: {type: All}}, {name: p,", 1)
	manual := strings.NewReplacer("type: Placements", "type: Manual", "name: addon", "name: manual").Replace(anAddOn)
	b := strings.Replace(aCluster, "name: a", "name: b", 1)
	dump := documents(aPolicy, aBinding, second, aCluster, b, aPlacement, other, aReplicaSet, anAddOn, manual)
	for _, test := range []struct {
		why, in string
		args    []string
		want    []string
	}{
		{"all of them, by kind and name", dump, nil, []string{"ClusterManagementAddOn addon", "ManifestWorkReplicaSet ns/other", "ManifestWorkReplicaSet ns/set", "Policy ns/pol"}},
		{"one by its name", dump, []string{"--rollout", "set"}, []string{"ManifestWorkReplicaSet ns/set"}},
		{"one by its namespace and name", dump, []string{"--rollout", "ns/other"}, []string{"ManifestWorkReplicaSet ns/other"}},
		{"one by its kind and name", dump, []string{"--rollout", "policy/pol"}, []string{"Policy ns/pol"}},
		{"a kind", dump, []string{"--rollout", "ManifestWorkReplicaSet"}, []string{"ManifestWorkReplicaSet ns/other", "ManifestWorkReplicaSet ns/set"}},
		{"those to a placement", dump, []string{"--placement", "q"}, []string{"ManifestWorkReplicaSet ns/other"}},
		{"the placements of one", documents(aCluster, b, aPlacement, other, two), nil,
			[]string{"ManifestWorkReplicaSet ns/set to placement ns/q", "ManifestWorkReplicaSet ns/set to placement ns/p"}},
		{"one placement of it", documents(aCluster, b, aPlacement, other, two), []string{"--placement", "p"}, []string{"ManifestWorkReplicaSet ns/set to placement ns/p"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			type report struct{ Rollout struct{ Object string } }
			var all struct {
				report
				Rollouts []report
			}
			if err := json.Unmarshal([]byte(simulateText(t, test.in, append(test.args, "-f", "-", "-o", "json")...)), &all); err != nil {
				t.Fatal(err)
			}
			var got []string
			if all.report != (report{}) {
				all.Rollouts = append(all.Rollouts, all.report)
			}
			for _, r := range all.Rollouts {
				got = append(got, r.Rollout.Object)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	text := simulateText(t, dump, "-f", "-")
	for want, times := range map[string]int{"\n────────\n\n": 3, "note: ClusterManagementAddOn: installed by hand, without a rollout (1)\n": 1, "Complete: ": 4} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%q stands %d times, want %d, in\n%s", want, got, times, text)
		}
	}
}

func TestAClusterOfTwoPlacementsBelongsToTheFirst(t *testing.T) {
	other := strings.NewReplacer("name: p", "name: q").Replace(aPlacement)
	two := strings.Replace(aReplicaSet, "[{name: p,", "[{name: q, rolloutStrategy: {type: All}}, {name: p,", 1)
	got := simulateText(t, documents(aCluster, aPlacement, other, two), "-f", "-")
	if want := "NothingSelected: no cluster is selected\n  1 cluster: in an earlier placement of ManifestWorkReplicaSet ns/set\n"; !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// Where the group of a decision is unknown, nothing starts.
func TestADecisionOfNoGroupHoldsAll(t *testing.T) {
	odd := strings.Replace(aDecision, `decision-group-index: "0"`, `decision-group-index: "first"`, 1)
	got := simulateText(t, documents(aStrategy, odd), "-f", "-")
	if want := `PlacementDecision p-decision-1 has the value "first" in its label cluster.open-cluster-management.io/decision-group-index, but that must be a number`; !strings.Contains(got, "after 0s: Stuck: the PlacementDecisions are only partially observed ("+want+")") {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// Decisions from before decision groups have no index, and are one group.
func TestDecisionsWithoutAnIndexAreGroupZero(t *testing.T) {
	old := strings.Replace(aDecision, `, cluster.open-cluster-management.io/decision-group-index: "0"`, "", 1)
	got := simulateText(t, documents(aReplicaSet, old), "-f", "-")
	if want := "0      -     1         p-decision-1 (1)\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

func TestTheWorstOutcomeIsTheExitStatus(t *testing.T) {
	second := strings.NewReplacer("name: set", "name: other", "name: p", "name: q").Replace(aReplicaSet)
	empty := strings.NewReplacer("name: p", "name: q", "spec: {}", "spec: {clusterSets: [x]}").Replace(aPlacement)
	var stdout, stderr strings.Builder
	if status := cohort([]string{"-f", "-", "--exit-code"}, strings.NewReader(documents(aCluster, aPlacement, empty, aReplicaSet, second)), &stdout, &stderr); status != 7 {
		t.Errorf("exit status %d, want 7 for the one that selects nothing\n%s%s", status, stdout.String(), stderr.String())
	}
}
