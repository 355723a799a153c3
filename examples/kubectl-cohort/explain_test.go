// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// event and wave are what explain and the report say in JSON.
type event struct {
	After, What, Until, Released string
	Explanation                  []link
	Changes                      []struct {
		After       string
		Explanation []link
	}
}

type link struct {
	Reason   struct{ Type string }
	Blockers []struct{ Name string }
}

type wave struct {
	After                                            string
	Started, Succeeded, Failed, TimedOut, Deselected []string
}

// What explain says of a cluster is what the report says of it: for every cluster of the fixtures, under any flags.
func TestExplainAgreesWithTheReport(t *testing.T) {
	fixtures := map[string]string{"addon/list.yaml": "cluster%d", "recovers/telco.yaml": "antenna-%02d", "policy/progressive.yaml": "store-%02d",
		"canary-fails/retail.yaml": "shop-%02d"}
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.SampledFrom([]string{"addon/list.yaml", "recovers/telco.yaml", "policy/progressive.yaml", "canary-fails/retail.yaml"}).Draw(t, "file")
		cluster := fmt.Sprintf(fixtures[file], rapid.IntRange(1, 8).Draw(t, "cluster"))
		args := []string{"-o", "json", "-f", "testdata/" + file, "--seed", fmt.Sprint(rapid.IntRange(1, 99).Draw(t, "seed")),
			"--fail-share", fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "failures"))}
		if rapid.Bool().Draw(t, "recover") {
			args = append(args, "--recover", "25m")
		}
		if rapid.Bool().Draw(t, "retry") {
			args = append(args, "--retry", fmt.Sprintf("%d/20m", rapid.IntRange(1, 2).Draw(t, "times")))
		}
		if rapid.Bool().Draw(t, "cut off") {
			args = append(args, "--cut-off", rapid.SampledFrom([]string{"3", "100%", cluster}).Draw(t, "cut off"), "--lease", rapid.SampledFrom([]string{"3m", "2h"}).Draw(t, "lease"))
		}
		if rapid.Bool().Draw(t, "gate") {
			args = append(args, "--gate", rapid.SampledFrom([]string{"0=15m", "1=2h", "1"}).Draw(t, "which"))
		}
		var report struct {
			Placement struct{ Stored bool }
			Waves     []wave
			End       struct{ Outcome string }
		}
		var explained struct {
			Selected                bool
			Outcome, Started, Ended string
			Events                  []event
		}
		decode := func(into any, args ...string) {
			var stdout, stderr strings.Builder
			if status := cohort(args, strings.NewReader(""), &stdout, &stderr); status != 0 {
				t.Fatalf("exit status %d, %s", status, stderr.String())
			}
			if err := json.Unmarshal([]byte(stdout.String()), into); err != nil {
				t.Fatal(err)
			}
		}
		decode(&report, args...)
		decode(&explained, append(args, "explain", cluster)...)
		if explained.Outcome != report.End.Outcome {
			t.Fatalf("outcome %s, the report has %s", explained.Outcome, report.End.Outcome)
		}
		var want, got []string
		for _, w := range report.Waves {
			for _, of := range []struct {
				what     string
				clusters []string
			}{{"Starts", w.Started}, {"Deselected", w.Deselected}, {"Succeeds", w.Succeeded}, {"Fails", w.Failed}, {"TimesOut", w.TimedOut}} {
				if slices.Contains(of.clusters, cluster) {
					want = append(want, of.what+" "+w.After)
				}
			}
		}
		for i, e := range explained.Events {
			switch e.What {
			case "Waits":
				if len(e.Explanation) == 0 {
					t.Fatalf("it waits at %s, and nothing says why", e.After)
				}
				wantBlockers(t, e, report.Waves)
				if last := i == len(explained.Events)-1; last != (e.Until == "") || !last && explained.Events[i+1].After != e.Until {
					t.Fatalf("it waits at %s until %q: %v", e.After, e.Until, explained.Events)
				}
			case "Starts":
				if i > 0 && e.Released == "" {
					t.Fatalf("nothing says what released it at %s: %v", e.After, explained.Events)
				}
				fallthrough
			case "Succeeds", "Fails", "TimesOut", "Deselected":
				got = append(got, e.What+" "+e.After)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: explain has %v, the report has %v", cluster, got, want)
		}
	})
}

// A cluster that recovers while it waits to be tried again does not start a second time.
func TestExplainAClusterThatRecoversWithoutAnotherTry(t *testing.T) {
	var stdout, stderr strings.Builder
	args := []string{"-o", "json", "-f", "testdata/addon/list.yaml", "--seed", "1", "--fail-share", "4", "--recover", "25m", "--retry", "1/20m",
		"--cut-off", "3", "--lease", "2h", "explain", "cluster1"}
	var explained struct{ Events []event }
	if status := cohort(args, strings.NewReader(""), &stdout, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	if err := json.Unmarshal([]byte(stdout.String()), &explained); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range explained.Events {
		got = append(got, e.What+" "+e.After)
	}
	if want := []string{"Waits 0s", "Starts 1h0m0s", "Fails 1h10m0s", "Waits 1h30m0s", "Succeeds 1h35m0s", "Done 1h40m0s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// holders wants the clusters that a cluster waits for at a time to have the version by then.
func wantBlockers(t *rapid.T, e event, waves []wave) {
	check := func(at string, why []link) {
		now, err := time.ParseDuration(at)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, w := range waves {
			if after, err := time.ParseDuration(w.After); err == nil && after <= now {
				have = append(have, w.Started...)
			}
		}
		for _, l := range why {
			for _, b := range l.Blockers {
				if !slices.Contains(have, b.Name) {
					t.Fatalf("the wait at %s is for %s, which has not started by then", at, b.Name)
				}
			}
		}
	}
	check(e.After, e.Explanation)
	for _, change := range e.Changes {
		check(change.After, change.Explanation)
	}
}

// Of many changes the first three and the last three are shown.
func TestExplainSaysHowAWaitChanges(t *testing.T) {
	in := []string{aPlacement, strings.Replace(aReplicaSet, "maxConcurrency: 1", "maxConcurrency: 2", 1)}
	for i := range 20 {
		in = append(in, strings.Replace(aCluster, "name: a", fmt.Sprintf("name: c%02d", i), 1))
	}
	got := simulateText(t, documents(in...), "-f", "-", "explain", "c19")
	for _, want := range []string{
		"\n0s      waits until 1h30m\n          the concurrency limit is reached (2 of 2 in flight): c00, c01 are progressing",
		"\n10m       the concurrency limit is reached (2 of 2 in flight): c02, c03 are progressing", "\n30m       the concurrency limit is reached", "\n          … 2 more changes …\n1h        the concurrency limit is reached",
		"\n1h20m     the concurrency limit is reached (2 of 2 in flight): c16, c17 are progressing", "\n1h30m   starts: c16 is done, c17 is done\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A wait that time does not end may be ended by a user, and sometimes by nothing.
func TestExplainSaysWhatEndsAWait(t *testing.T) {
	late := strings.Replace(fleet(), "maxConcurrency: 2, maxFailures: 2", "maxConcurrency: 1, progressDeadline: 1000000h", 1)
	never := strings.Replace(late, ", progressDeadline: 1000000h", "", 1)
	for in, want := range map[string]string{never: "\n0s      waits until a user acts\n", late: "\n0s      waits, and nothing ends that\n"} {
		if got := simulateText(t, in, "-f", "-", "--never", "a", "explain", "c"); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestExplainNeedsAClusterThatIsThere(t *testing.T) {
	file := []string{"-f", "testdata/recovers/telco.yaml"}
	for _, test := range []struct {
		args []string
		want string
	}{
		{append(file, "explain", "antenna-8"), "explain antenna-8: must be a cluster that is there; did you mean antenna-08?"},
		{append(file, "explain", "antenna-08", "--chart"), "--chart: no such flag"},
	} {
		if got := refused(t, "", test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%q\ngot:  %s\nwant: %s", test.args, got, test.want)
		}
	}
}

// Of several placements the one that selects the cluster tells, also where there is no ManagedCluster to be read. The workload belongs to
// the owner of all placements, so each of them has a report of it.
func TestExplainIsAboutThePlacementThatSelectsTheCluster(t *testing.T) {
	of := func(placement, cluster string) string {
		return strings.NewReplacer("p-decision-1", placement+"-decision-1", "placement: p", "placement: "+placement, "clusterName: a", "clusterName: "+cluster).Replace(aDecision)
	}
	const first = "{name: p, rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1}}}"
	set := strings.NewReplacer("manifestWorkTemplate: {}", "manifestWorkTemplate: {workload: {manifests: ["+aManifest+"]}}",
		first, first+", "+strings.Replace(first, "name: p", "name: q", 1)).Replace(aReplicaSet)
	in := documents(set, of("p", "a"), of("q", "b"), work("a", "00:10", aManifest), work("b", "00:10", anOlderManifest), work("gone", "00:10", aManifest))
	for cluster, want := range map[string]string{
		"a":    "a is in group 0 of ManifestWorkReplicaSet ns/set to placement ns/p\n  PlacementDecision p-decision-1 has it",
		"b":    "b is in group 0 of ManifestWorkReplicaSet ns/set to placement ns/q\n  PlacementDecision q-decision-1 has it",
		"gone": "gone is not selected by ManifestWorkReplicaSet ns/set to placement ns/p\n  no PlacementDecision has it",
	} {
		got := simulateText(t, in, "-f", "-", "explain", cluster)
		if !strings.Contains(got, want) || cluster != "gone" && strings.Contains(got, "is not selected") {
			t.Errorf("no %q alone in\n%s", want, got)
		}
	}
}

// The reason why a cluster is where it is, in each kind of input.
func TestExplainSaysWhyAClusterIsInItsGroup(t *testing.T) {
	named := strings.Replace(aPlacement, "spec: {}", "spec: {decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2, decisionGroups: [{groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {stage: canary}}}}]}}}", 1)
	inform := strings.NewReplacer("enforce", "inform", "type: Progressive, progressive: {maxConcurrency: 1}", "").Replace(aPolicy)
	for _, test := range []struct{ why, in, want string }{
		{"an entry of the Placement", documents(aCluster, named, aReplicaSet), "a is in group 0 \"canary\" of ManifestWorkReplicaSet ns/set\n" +
			"  spec.decisionStrategy.groupStrategy.decisionGroups[0] selects it: stage=canary; a group has at most 2 clusters, by name\n"},
		{"what is left over", documents(strings.Replace(aCluster, "stage: canary", "stage: live", 1), named, aReplicaSet),
			"a is in group 0 of ManifestWorkReplicaSet ns/set\n  no entry of spec.decisionStrategy.groupStrategy.decisionGroups selects it; a group"},
		{"no groups", documents(aCluster, aPlacement, aReplicaSet), "\n  the Placement names no groups\n"},
		{"a stored decision", documents(aDecision, aReplicaSet), "\n  PlacementDecision p-decision-1 has it\n"},
		{"no stored decision", documents(aCluster, strings.Replace(aDecision, "clusterName: a", "clusterName: b", 1), aReplicaSet),
			"a is not selected by ManifestWorkReplicaSet ns/set\n  no PlacementDecision has it\n"},
		{"a rule of the Placement", documents(aCluster, strings.Replace(aPlacement, "spec: {}", "spec: {numberOfClusters: 0}", 1), aReplicaSet),
			"a is not selected by ManifestWorkReplicaSet ns/set\n  there are enough others (spec.numberOfClusters)\n"},
		{"a binding", documents(aCluster, aPlacement, aPolicy, aBinding), "a is in group 0 of Policy ns/pol\n  a: enforce by the policy, bound by bind\n"},
		{"a sub filter", documents(aCluster, aPlacement, inform, strings.Replace(aBinding, "subjects", "subFilter: restricted\nsubjects", 1)),
			"a is not selected by Policy ns/pol\n  binding bind: a sub filter, which binds no cluster\n"},
		{"a PolicySet", documents(aCluster, aPlacement, inform, strings.Replace(aPolicySet, "clusterNames: [b]", "clusterNames: [a]", 1),
			strings.Replace(aBinding, "kind: Policy, name: pol", "kind: PolicySet, name: set", 1)), "\n  binding bind: a PolicySet excludes it\n"},
		{"a placement of a policy", documents(aCluster, strings.Replace(aPlacement, "spec: {}", "spec: {clusterSets: [x]}", 1), aPolicy, aBinding),
			"\n  binding bind: placement p: in none of the cluster sets"},
		{"no binding", documents(aCluster, aPlacement, aPolicy), "\n  no PlacementBinding has the policy as its subject"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := simulateText(t, test.in, "-f", "-", "explain", "a"); !strings.Contains(got, test.want) {
				t.Errorf("no %s in\n%s", test.want, got)
			}
		})
	}
}

func TestExplainTellsOfASecondWait(t *testing.T) {
	in := strings.Replace(fleet(), "maxConcurrency: 2, maxFailures: 2", "maxConcurrency: 1, maxFailures: 2, progressDeadline: 30m", 1)
	got := simulateText(t, in, "-f", "-", "--fail", "[abc]=5m", "--retry", "1/1h", "--fail-attempts", "1", "explain", "c")
	want := "1h10m   starts: b times out\n1h15m   fails; to do, one of: (1) fix the workload on c; (2) retry the failed clusters: raise the rollout's attempt number to 1; (3) raise maxFailures to 3; (4) roll back to the previous version\n1h45m   times out\n2h15m   waits until 2h25m\n"
	if !strings.Contains(got, want) || strings.Count(got, " starts: ") != 2 {
		t.Errorf("no\n%s\nand a second start in\n%s", want, got)
	}
}
