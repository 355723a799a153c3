// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atOneOClock is the time at which liveSet stands as it does.
var atOneOClock = []string{"-f", "-", "--start", "2025-01-01T01:00:00Z"}

// liveBreach is liveSet where b has failed.
func liveBreach() string {
	return strings.Replace(liveSet(), condition("Progressing", "True", "00:51"), condition("Progressing", "True", "00:51")+", "+condition("Degraded", "True", "00:55"), 1)
}

func TestStatusIsThatInTestdata(t *testing.T) {
	another := documents(liveSet(), strings.Replace(aReplicaSet, "name: set", "name: other", 1))
	for _, test := range []struct {
		file, in string
		args     []string
	}{
		{"status", liveSet(), []string{"status", "set"}},
		{"status-breached", liveBreach(), []string{"status"}},
		{"status-faster", liveSet(), []string{"status", "--max-concurrency", "3"}},
		{"status-several", another, []string{"status"}},
		{"status-wide", another, []string{"status", "-o", "wide"}},
		{"status-name", another, []string{"status", "-o", "name"}},
		{"status-yaml", liveSet(), []string{"status", "-o", "yaml"}},
		{"explain-all", liveSet(), []string{"explain"}},
		{"explain-all-breached", liveBreach(), []string{"explain"}},
	} {
		t.Run(test.file, func(t *testing.T) {
			golden(t, filepath.Join("testdata/output", test.file+".txt"), simulateText(t, test.in, append(test.args, atOneOClock...)...))
		})
	}
	golden(t, "testdata/output/status-design.txt", simulateText(t, "", append([]string{"status"}, runs()["design"]...)...))
	golden(t, "testdata/output/status-policy.txt", simulateText(t, "", "status", "-f", "testdata/policy/progressive.yaml"))
}

// What status says of now is what the first wave of the plan begins with.
func TestStatusAgreesWithThePlan(t *testing.T) {
	for _, in := range []string{liveSet(), liveBreach()} {
		var now struct {
			MayStart []string
			Summary  map[string]any
		}
		var plan struct {
			Waves []struct {
				Started []string
				Counts  map[string]any
			}
		}
		for command, into := range map[string]any{"status": &now, "plan": &plan} {
			if err := json.Unmarshal([]byte(simulateText(t, in, append([]string{command, "-o", "json"}, atOneOClock...)...)), into); err != nil {
				t.Fatal(err)
			}
		}
		first := plan.Waves[0]
		if got, want := strings.Join(now.MayStart, " "), strings.Join(first.Started, " "); got != want {
			t.Errorf("may start: %q, and the plan starts %q", got, want)
		}
		for _, count := range []string{"succeeded", "failed", "timeOut", "soaking"} {
			if now.Summary[count] != first.Counts[count] {
				t.Errorf("%s: %v, and in the plan %v", count, now.Summary[count], first.Counts[count])
			}
		}
	}
}

func TestWhatIf(t *testing.T) {
	others := filepath.Join(t.TempDir(), "others.yaml")
	if err := os.WriteFile(others, []byte(strings.Replace(aStrategy, "maxConcurrency: 1", "maxConcurrency: 4", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	perGroup := strings.Replace(liveSet(), "type: Progressive, progressive: {maxConcurrency: 1, progressDeadline: 30m}", "type: ProgressivePerGroup", 1)
	all := strings.Replace(liveSet(), "type: Progressive, progressive: {maxConcurrency: 1, progressDeadline: 30m}", "type: All", 1)
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"as it is", liveSet(), nil, "now 0 1"},
		{"more at a time", liveSet(), []string{"--max-concurrency", "2"}, "now 1 2"},
		{"a share", liveSet(), []string{"--max-concurrency", "75%"}, "now 2 3"},
		{"another strategy", liveSet(), []string{"--strategy", others}, "now 2 3"},
		{"another strategy with fewer at a time", liveSet(), []string{"--strategy", others, "--max-concurrency", "2"}, "now 1 2"},
		{"a failure that stops it", liveBreach(), nil, "Breached"},
		{"a failure that may be", liveBreach(), []string{"--max-failures", "1", "--fail-rate", "0%"}, "CompleteWithFailures"},
		{"no cluster in the version before", all, nil, "Complete"},
	} {
		if got := simulateText(t, test.in, append(test.args, atOneOClock...)...); !strings.Contains(strings.Join(strings.Fields(got), " "), test.want) {
			t.Errorf("%s: no %q in\n%s", test.why, test.want, got)
		}
	}
	for _, test := range []struct {
		in   string
		args []string
		want string
	}{
		{liveSet(), []string{"--max-concurrency", "0%"}, "ManifestWorkReplicaSet ns/set: --max-concurrency 0%: must be"},
		{liveSet(), []string{"--max-failures", "many"}, "ManifestWorkReplicaSet ns/set: --max-failures many: must be"},
		{perGroup, []string{"--max-concurrency", "2"}, "--max-concurrency: a strategy of type ProgressivePerGroup has none"},
		{all, []string{"--max-concurrency", "2"}, "--max-concurrency: a strategy of type All has none"},
		{all, []string{"--max-failures", "2"}, "--max-failures: under a strategy of type All any number may fail"},
		{liveSet(), []string{"--strategy", "testdata/design/strategies.yaml"}, "RolloutStrategies: must have one"},
		{liveSet(), []string{"-n", "other"}, "--namespace other: none of ManifestWorkReplicaSet ns/set is in it"},
	} {
		if got := refused(t, test.in, append(test.args, atOneOClock...)...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
	if got := simulateText(t, liveSet(), append([]string{"-n", "ns"}, atOneOClock...)...); !strings.Contains(got, "set") {
		t.Errorf("nothing of the namespace:\n%s", got)
	}
}

// Several clusters are told of one after the other, each in the rollouts that it has a part in.
func TestExplainTakesSeveralClusters(t *testing.T) {
	toQ := strings.NewReplacer("name: set", "name: other", "name: p,", "name: q,", "name: p-", "name: q-", "placement: p", "placement: q")
	in := documents(liveSet(), toQ.Replace(aReplicaSet), toQ.Replace(decisionOf("b", "x")))
	got := simulateText(t, in, append([]string{"explain", "d", "b"}, atOneOClock...)...)
	for want, times := range map[string]int{"d is in group 0 of ManifestWorkReplicaSet ns/set\n": 1, "d is in group": 1, "note: --takes: 4m": 2,
		"b is in group 0 of ManifestWorkReplicaSet ns/set\n": 1, "b is in group 0 of ManifestWorkReplicaSet ns/other\n": 1} {
		if n := strings.Count(got, want); n != times {
			t.Errorf("%d times %q, want %d, in\n%s", n, want, times, got)
		}
	}
}

func TestVersionAndCompletion(t *testing.T) {
	if got := simulateText(t, "", "version"); !strings.HasPrefix(got, "kubectl-cohort ") || !strings.Contains(got, "github.com/cohort-ocm/cohort ") {
		t.Errorf("version: %s", got)
	}
	if got := simulateText(t, "", "completion", "bash"); !strings.Contains(got, "kubectl-cohort") {
		t.Errorf("completion: %s", got)
	}
	var stdout bytes.Buffer
	if status := run([]string{"__complete", "pla"}, nil, &stdout, io.Discard); status != 0 || !strings.HasPrefix(stdout.String(), "plan\t") {
		t.Errorf("completion of a command: %d, %s", status, stdout.String())
	}
}
