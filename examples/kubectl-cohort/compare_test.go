// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var compareDesign = []string{"compare", "-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml",
	"--strategy", "testdata/design/strategies.yaml", "--takes", "5m-20m", "--fail-rate", "0.3%", "--runs", "50", "--seed", "7"}

func TestCompareIsThatInTestdata(t *testing.T) {
	golden(t, filepath.Join("testdata", "output", "compare.txt"), simulateText(t, "", compareDesign...))
	golden(t, filepath.Join("testdata", "output", "compare.json"), simulateText(t, "", append(compareDesign[:len(compareDesign):len(compareDesign)], "-o", "json")...))
}

// JSON has the whole strategy, where the text has its beginning.
func TestCompareCutsNothingInJSON(t *testing.T) {
	var placement strings.Builder
	for i := range 12 {
		fmt.Fprintf(&placement, "{groupName: a-group-with-quite-a-long-name-%02d, groupClusterSelector: {labelSelector: {matchLabels: {n: '%d'}}}}, ", i, i)
	}
	in := documents(aReplicaSet, strings.Replace(aPlacement, "spec: {}", "spec: {decisionStrategy: {groupStrategy: {decisionGroups: ["+placement.String()+"]}}}", 1))
	for i := range 12 {
		in = documents(in, strings.NewReplacer("name: a", fmt.Sprintf("name: a%d", i), "stage: canary", fmt.Sprintf("n: '%d'", i)).Replace(aCluster))
	}
	if got := simulateText(t, in, "compare", "-f", "-", "-o", "json"); !strings.Contains(got, "a-group-with-quite-a-long-name-11") || strings.Contains(got, "…") {
		t.Errorf("the strategy is cut in\n%s", got)
	}
	if got := simulateText(t, in, "compare", "-f", "-"); !strings.Contains(got, "…\n") {
		t.Errorf("the strategy is not cut in\n%s", got)
	}
}

func TestCompareDrawsWhatItSays(t *testing.T) {
	dir := t.TempDir()
	svg, png := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.png")
	simulateText(t, "", append(compareDesign[:len(compareDesign):len(compareDesign)], "--svg", svg, "--png", png)...)
	text, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">careful<", ">per group<", ">at once<", ">320 of 320, at worst 320, not stopped<", ">a bad version reaches<"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in the picture", want)
		}
	}
	if data, err := os.ReadFile(png); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("no PNG: %v", err)
	}
}

func TestCompareRefusesWhatItCannotCompare(t *testing.T) {
	t.Setenv("KUBECONFIG", "/dev/null")
	design := compareDesign[1:5]
	for _, test := range []struct {
		why, stdin string
		args       []string
		want       string
	}{
		{"no file", "", nil, "no file given"},
		{"a range that goes backwards", "", []string{"--takes", "20m-5m"}, "must not begin with more than it ends with"},
		{"a rate of more than all", "", []string{"--fail-rate", "120%"}, "must be a chance such as 0.3%"},
		{"rates of more than all together", "", []string{"--fail-rate", "60%", "--never-rate", "60%"}, "must not be more than 100% together"},
		{"no run", "", []string{"--runs", "0"}, "--runs 0: must be from 1 to"},
		{"a word too much", "", []string{"x"}, `unexpected argument "x"`},
		{"a strategy of another kind", "apiVersion: v1\nkind: ConfigMap\n", append(design[:4:4], "--strategy", "-"), `stdin:1: ConfigMap: kind: Unsupported value`},
		{"a strategy that is wrong", "apiVersion: cluster.open-cluster-management.io/v1alpha1\nkind: RolloutStrategy\ntype: Progressive\nprogressive: {maxFailures: -1}\n",
			append(design[:4:4], "--strategy", "-"), "stdin:1: RolloutStrategy: progressive.maxFailures"},
		{"a policy that informs", documents(aCluster, aPlacement, aBinding, strings.Replace(aPolicy, "enforce", "inform", 1)), []string{"-f", "-"},
			"compare: Policy ns/pol informs, which it does everywhere at once by any strategy: must be a policy that enforces"},
		{"a rollout to no cluster", documents(aCluster, strings.Replace(aPlacement, "spec: {}", "spec: {clusterSets: [x]}", 1), aReplicaSet), []string{"-f", "-"},
			"compare: ManifestWorkReplicaSet ns/set selects no cluster"},
		{"one picture of two", documents(aCluster, aPlacement, aReplicaSet, strings.Replace(aReplicaSet, "name: set", "name: other", 1)), []string{"-f", "-", "--svg", "x.svg"},
			"--svg and --png: a picture has one of the 2 rollouts: must be given with --rollout"},
		{"a rollout that is not there", "", append(design[:4:4], "--rollout", "x"), "--rollout x: must be one of ManifestWorkReplicaSet ztp-acm-ns/ztp-mwrset"},
	} {
		var stdout, stderr bytes.Buffer
		status := cohort(append([]string{"compare"}, test.args...), strings.NewReader(test.stdin), &stdout, &stderr)
		if status != exitInput || !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, want %q", test.why, status, stderr.String(), test.want)
		}
	}
}

func TestCompareHelps(t *testing.T) {
	if got := simulateText(t, "", "compare", "-h"); !strings.Contains(got, "--strategy") || !strings.Contains(got, "kind: RolloutStrategy") {
		t.Errorf("got %s", got)
	}
}

// Several rollouts are compared one by one, and a policy by what becomes of each strategy for it.
func TestCompareTakesPoliciesAndSeveralRollouts(t *testing.T) {
	var fleet []string
	for _, name := range []string{"a", "b", "c", "d"} {
		fleet = append(fleet, strings.Replace(aCluster, "name: a", "name: "+name, 1))
	}
	in := documents(append(fleet, aPlacement, aReplicaSet, aPolicy, aBinding)...)
	strategies := filepath.Join(t.TempDir(), "strategies.yaml")
	if err := os.WriteFile(strategies, []byte(strings.Replace(aStrategy, "progressive: {maxConcurrency: 1}", "metadata: {name: unlimited}", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := simulateText(t, in, "compare", "-f", "-", "--strategy", strategies, "--bad-rate", "0%")
	for _, want := range []string{
		"ns/set 40m 40m", "unlimited 10m 10m", // all at once
		"ns/pol 40m 40m", "unlimited 40m 40m", // a policy takes one at a time where no number is given
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Count(got, "STRATEGY") != 2 || !strings.Contains(got, "p: 4 clusters, 1 run,") {
		t.Errorf("want two tables in\n%s", got)
	}
	var all struct {
		Rollouts []struct{ Strategies []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(simulateText(t, in, "compare", "-f", "-", "-o", "json")), &all); err != nil || len(all.Rollouts) != 2 || all.Rollouts[1].Strategies[0].Name != "ns/pol" {
		t.Errorf("%v: %+v", err, all)
	}
}

func TestCompareSaysWhatHasNoPartInIt(t *testing.T) {
	got := simulateText(t, documents(liveSet(), aBehavior), "compare", "-f", "-")
	for _, want := range []string{"note: compare: begins anew, though 4 objects in the files say", "note: compare: the Behavior has no part in it"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// One that nothing reaches never answers, in no run.
func TestCompareKnowsClustersThatTheHubDoesNotAccept(t *testing.T) {
	in := documents(strings.Replace(aCluster, "true", "false", 1), aReplicaSet, aDecision)
	got := simulateText(t, in, "compare", "-f", "-", "--runs", "9")
	if want := "ns/set never never 0% 100% 1"; !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}
