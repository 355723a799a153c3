// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// decidedSet is a stamped hub: a and b have version v3, where a has failed, c and d have v2 and wait. The owner has annotations.
func decidedSet(t *testing.T, annotations map[string]string, a status.RolloutStatus) string {
	t.Helper()
	set := thirdVersion(t, 0, func(set *workv1alpha1.ManifestWorkReplicaSet) {
		set.ResourceVersion = "7"
		set.Annotations = make(map[string]string)
		for name, value := range annotations {
			set.Annotations["cohort.open-cluster-management.io/"+name] = value
		}
	}, "p")
	texts := []string{set, decisionOf("a", "b", "c", "d")}
	for _, w := range []liveWork{
		{cluster: "a", spec: "v3", stamp: versionOf("v3"), stamped: -20, status: a, since: -10},
		{cluster: "b", spec: "v3", stamp: versionOf("v3"), stamped: -5, status: status.Progressing, since: -4},
		{cluster: "c", spec: "v2", stamp: versionOf("v2"), stamped: -90, status: status.Succeeded, since: -80},
		{cluster: "d", spec: "v2", stamp: versionOf("v2"), stamped: -90, status: status.Succeeded, since: -80},
	} {
		texts = append(texts, w.yaml(t))
	}
	return recent(documents(texts...))
}

// recent is a text with times that are as long before now as they were before one o'clock.
func recent(text string) string {
	return regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllStringFunc(text, func(moment string) string {
		then, _ := time.Parse(time.RFC3339, moment)
		return time.Now().UTC().Add(then.Sub(atOne)).Format(time.RFC3339)
	})
}

func versionOf(text string) string { return writes.VersionOf(versionSpec(text)) }

// Before it writes a decision, the command says what follows: which clusters start, which wait, how far a bad version can get, and how it ends.
func TestADecisionSaysWhatFollows(t *testing.T) {
	v3 := versionOf("v3")
	for _, test := range []struct {
		why         string
		annotations map[string]string
		a           status.RolloutStatus
		args        []string
		want        []string
	}{
		{"a pause starts no cluster", nil, status.Succeeded, []string{"pause", "set"}, []string{
			"ManifestWorkReplicaSet ns/set: pause\n", "now:      1 of 4 clusters done, 1 in flight, 2 not started\n", "then:     no cluster starts at once\n",
			"then:     1 cluster does not start now: c\n", "1 cluster in flight goes on", "stays on the 1 cluster that has it and are not done"}},
		{"a resumed rollout starts the next", map[string]string{"pause": "true"}, status.Succeeded, []string{"resume", "set"}, []string{
			"1 cluster starts at once: c\n", "1 cluster waits: the concurrency limit is reached (2 of 2 in flight or starting)", "can get to 2 of 4 clusters at most; 1 of these have it", "forecast: Complete at"}},
		{"a gate is opened for a version", map[string]string{"gates": "0"}, status.Succeeded, []string{"open-gate", "set"}, []string{
			"open the gate before group 0, for version " + v3, "1 cluster starts at once: c\n"}},
		{"another attempt", nil, status.Failed, []string{"retry", "set"}, []string{
			"attempt 1 at version " + v3 + ", where it failed: a\n", "1 cluster starts at once: a\n"}},
		{"after an attempt the next", map[string]string{"retry": "4 of " + v3}, status.Failed, []string{"retry", "set"}, nil},
		{"an ignored cluster stops nothing", nil, status.Failed, []string{"ignore", "set", "a"}, []string{"ignore a\n", "1 cluster starts at once: c\n"}},
		{"the template before comes from clusters that wait", nil, status.Failed, []string{"abort", "set"}, []string{
			"roll version " + v3 + " back to the template of 2 clusters that wait\n", "2 clusters start at once: a b\n", "forecast: Complete"}},
	} {
		h := newHub(t, decidedSet(t, test.annotations, test.a))
		if test.want == nil {
			if got := refused(t, "", append(test.args, "--dry-run", "--server", h.URL)...); !strings.Contains(got, "no cluster failed or timed out") {
				t.Errorf("%s: %s", test.why, got)
			}
			continue
		}
		got := simulateText(t, "", append(test.args, "--dry-run", "--server", h.URL)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
	}
}

// Where a controller keeps revisions it is asked to roll one back: all that have it roll back at once.
func TestAbortAsksTheControllerThatKeepsRevisions(t *testing.T) {
	set := func(status string) string {
		return strings.Replace(decidedSet(t, nil, "Failed"), "\nstatus:\n", "\nstatus:\n"+status, 1)
	}
	h := newHub(t, set("  updateRevision: r2\n  currentRevision: r1\n"))
	got := simulateText(t, "", "abort", "set", "--dry-run", "--server", h.URL)
	for _, want := range []string{"roll revision r2 back to revision r1\n", "2 clusters that have the version roll back at once: a b\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for name, want := range map[string]string{ // a frozen cluster keeps it until that ends, and with a pause all do
		"freeze": "1 cluster that has the version rolls back at once: b\n  but:      1 is frozen, and rolls back when that ends: a\n",
		"pause":  "then:     no cluster rolls back while the rollout is paused; 2 clusters have the version: a b\n",
	} {
		value := map[string]string{"freeze": "a its site;b=2020-01-01T00:00:00Z", "pause": "true"}[name]
		h.now(strings.Replace(decidedSet(t, map[string]string{name: value}, "Failed"), "\nstatus:\n", "\nstatus:\n  updateRevision: r2\n  currentRevision: r1\n", 1))
		if got := simulateText(t, "", "abort", "set", "--dry-run", "--server", h.URL); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	h.now(set("  updateRevision: r1\n  currentRevision: r1\n"))
	if got := refused(t, "", "abort", "set", "--server", h.URL); !strings.Contains(got, "revision r1 is the only one that clusters had") {
		t.Error(got)
	}
	h.now(set("  updateRevision: r2\n  currentRevision: r1\n  abortedTime: \"2025-01-01T00:50:00Z\"\n  conditions: [{type: Progressing, message: 0 of 2 clusters rolled back}]\n"))
	if got := simulateText(t, "", "status", "set", "--server", h.URL); !strings.Contains(got, "note: revision r2 is rolled back since ") ||
		!strings.Contains(got, "note: of the rollback the controller says: 0 of 2 clusters rolled back\n") || strings.Contains(got, "may start now") || strings.Contains(got, "kubectl cohort") {
		t.Errorf("a version that is rolled back is told as one that goes on:\n%s", got)
	}
	if got := simulateText(t, "", "explain", "c", "--server", h.URL); !strings.Contains(got, "note: of the rollback the controller says: 0 of 2") || strings.Contains(got, "paused") || strings.Contains(got, "waits") {
		t.Errorf("a cluster that waits for a version that is rolled back is told to wait:\n%s", got)
	}
}

// The table of several placements says once that the owner's version is rolled back.
func TestTheTableSaysThatAVersionIsRolledBack(t *testing.T) {
	set := strings.Replace(thirdVersion(t, 0, nil, "p", "q"), "\nstatus:\n", "\nstatus:\n  updateRevision: r2\n  currentRevision: r1\n  abortedTime: \"2025-01-01T00:50:00Z\"\n", 1)
	other := strings.NewReplacer("p-decision-1", "q-decision-1", "placement: p", "placement: q").Replace(decisionOf("b"))
	h := newHub(t, documents(set, decisionOf("a"), other))
	if got := simulateText(t, "", "status", "set", "--server", h.URL); strings.Count(got, "note: revision r2 is rolled back since ") != 1 || strings.Count(got, "ManifestWorkReplicaSet ns/set to placement") != 2 {
		t.Error(got)
	}
}

// What cannot be decided is refused before the user is asked, and what is not confirmed is not written.
func TestDecisionsThatAreRefused(t *testing.T) {
	unstamped := strings.ReplaceAll(decidedSet(t, nil, status.Succeeded), "cohort.open-cluster-management.io/version", "example.com/other")
	for _, test := range []struct {
		text string
		args []string
		want string
	}{
		{unstamped, []string{"pause", "set"}, "none of the 4 objects that were written for it has the stamp of a controller that reads these annotations"},
		{decidedSet(t, map[string]string{"pause": "soon"}, status.Succeeded), []string{"resume", "set"}, `metadata.annotations[cohort.open-cluster-management.io/pause]: Unsupported value: "soon"`},
		{decidedSet(t, nil, status.Succeeded), []string{"open-gate", "set"}, "no gate is closed"},
		{decidedSet(t, map[string]string{"gates": "0,prod"}, status.Succeeded), []string{"open-gate", "set"}, "must be followed by the gates to open, of 0, prod"},
		{decidedSet(t, map[string]string{"gates": "0,prod"}, status.Succeeded), []string{"open-gate", "set", "prot"}, `prot: must be a closed gate, of 0, prod; did you mean`},
		{decidedSet(t, nil, status.Succeeded), []string{"retry", "set"}, "no cluster failed or timed out"},
		{decidedSet(t, nil, status.Succeeded), []string{"ignore", "set", "unknown"}, "unknown: must be a cluster of the rollout"},
		{decidedSet(t, nil, status.Succeeded), []string{"ignore", "set"}, "ignore: must be followed by ROLLOUT CLUSTER..."},
		{decidedSet(t, nil, status.Succeeded), []string{"pause", "sett"}, "--rollout sett: must be one of"},
		{documents(liveNow(liveSet()), ""), []string{"abort", "set", "more"}, "abort: must be followed by ROLLOUT"},
	} {
		h := newHub(t, test.text)
		if got := refused(t, "no\n", append(test.args, "--server", h.URL)...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
}

// What people decided counts in each answer about the hub, as it counts for its controllers.
func TestApprovalsCountInEveryAnswer(t *testing.T) {
	v3 := versionOf("v3")
	for _, test := range []struct {
		annotations map[string]string
		a           status.RolloutStatus
		args        []string
		want        string
	}{
		{map[string]string{"pause": "true"}, status.Succeeded, []string{"status", "set"}, "\n  2 clusters: the rollout is paused"},
		{map[string]string{"pause": "true"}, status.Succeeded, []string{"explain"}, "\n  to do:  kubectl cohort resume ns/set\n"},
		{map[string]string{"gates": "0"}, status.Succeeded, []string{"status", "set"}, "\n  to do:  kubectl cohort open-gate ns/set 0\n"},
		{nil, status.Failed, []string{"status", "set"}, "\n  to do:  kubectl cohort retry ns/set\n  or:     kubectl cohort abort ns/set\n"},
		{map[string]string{"pause": "yes"}, status.Succeeded, []string{"status", "set"}, `Unsupported value: "yes": supported values: "true", "false": no cluster starts as long as that stands there`},
		{map[string]string{"gates": "0"}, status.Succeeded, []string{"explain", "c"}, "the gate before group 0 is closed"},
		{map[string]string{"gates": "0", "open-gates": "0 of " + v3}, status.Succeeded, []string{"status", "set"}, "\nmay start now (1): c\n"},
		{map[string]string{"gates": "0", "open-gates": "0 of v2"}, status.Succeeded, []string{"status", "set"}, "the gate before group 0 is closed"},
		{map[string]string{"retry": "1 of " + v3}, status.Failed, []string{"status", "set"}, "\nmay start now (1): a\n"},
		{map[string]string{"retry": "1 of " + v3}, status.Failed, []string{"plan"}, "attempt 1 begins: retry a\n"},
		{map[string]string{"retry": "1 of another"}, status.Failed, []string{"status", "set"}, "\nfailed (1): a\n"},
		{map[string]string{"ignore": "a"}, status.Failed, []string{"status", "set"}, "\nmay start now (1): c\n"},
	} {
		h := newHub(t, decidedSet(t, test.annotations, test.a))
		if got := simulateText(t, "", append(test.args, "--server", h.URL)...); !strings.Contains(got, test.want) {
			t.Errorf("%v %v: no %q in\n%s", test.annotations, test.args, test.want, got)
		}
	}
}

// Several rollouts of one name are not decided about at once, and what is not confirmed is not written.
func TestADecisionIsAboutOneObjectAndConfirmed(t *testing.T) {
	other := strings.NewReplacer("namespace: ns\n", "namespace: other\n", "namespace: ns,", "namespace: other,").Replace(documents(thirdVersion(t, 0, nil, "p"), decisionOf("a")))
	for _, test := range []struct{ text, stdin, want string }{
		{documents(decidedSet(t, nil, status.Succeeded), other), "y\n", "set: must name one object that rolls out, not ManifestWorkReplicaSet/ns/set and ManifestWorkReplicaSet/other/set"},
		{decidedSet(t, nil, status.Succeeded), "no\n", "Write this to ManifestWorkReplicaSet ns/set? [y/N] error: pause: not confirmed, nothing is written"},
		{decidedSet(t, nil, status.Succeeded), "", "pause: not confirmed, nothing is written"},
	} {
		h := newHub(t, test.text)
		var stdout, stderr bytes.Buffer
		if code := cohort([]string{"pause", "set", "--server", h.URL}, strings.NewReader(test.stdin), &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%d: %s%s, want %s", code, stdout.String(), stderr.String(), test.want)
		}
	}
}

// A cluster that waits is listed as kubectl lists names, or with all names.
func TestExplainListsWaitingClusters(t *testing.T) {
	var names []string
	for i := range 15 {
		names = append(names, fmt.Sprintf("c%02d", i))
	}
	in := documents(aReplicaSet, decisionOf(names...))
	if got := simulateText(t, in, "explain", "-f", "-", "-o", "name"); strings.Count(got, "\n") != 14 || !strings.HasPrefix(got, "managedcluster.cluster.open-cluster-management.io/c01\n") {
		t.Errorf("want those that wait, and not c00, which may start:\n%s", got)
	}
	if short, wide := simulateText(t, in, "explain", "-f", "-"), simulateText(t, in, "explain", "-f", "-", "-o", "wide"); strings.Contains(short, "c14") || !strings.Contains(wide, " c14\n") {
		t.Errorf("want all names in\n%s\nand some in\n%s", wide, short)
	}
	if got := refused(t, in, "explain", "c01", "-f", "-", "-o", "name"); got != "-o name: must be given without a cluster" {
		t.Error(got)
	}
}
