// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// validatedSet is a hub on which a plugin validates clusters: a and b have version v3 and have succeeded, c and d have v2 and wait. A has
// the verdict; none if it is empty.
func validatedSet(t *testing.T, verdict string) string {
	t.Helper()
	v2, v3 := versionOf("v2"), versionOf("v3")
	texts := []string{thirdVersion(t, 0, func(set *workv1alpha1.ManifestWorkReplicaSet) {
		set.ResourceVersion = "7"
		set.Annotations = map[string]string{"cohort.open-cluster-management.io/plugin": "mesh"}
	}, "p"), decisionOf("a", "b", "c", "d")}
	for _, w := range []liveWork{
		{cluster: "a", spec: "v3", stamp: v3, stamped: -20, status: status.Succeeded, since: -15, verdict: verdict},
		{cluster: "b", spec: "v3", stamp: v3, stamped: -12, status: status.Succeeded, since: -10},
		{cluster: "c", spec: "v2", stamp: v2, stamped: -90, status: status.Succeeded, since: -80},
		{cluster: "d", spec: "v2", stamp: v2, stamped: -90, status: status.Succeeded, since: -80},
	} {
		texts = append(texts, w.yaml(t))
	}
	return documents(texts...)
}

// verdictOn is what a plugin or a person said of a, about the version v3 unless it is about another.
func verdictOn(result, message, version, time string) string {
	return fmt.Sprintf(`{"result":%q,"message":%q,"version":%q,"time":%q}`, result, message, version, time)
}

// A cluster that succeeded is in flight until it is found good. A no is a failure with its reason, and a verdict about another version,
// or one that was not given, is none. Each answer says so.
func TestValidationCountsInEveryAnswer(t *testing.T) {
	v3 := versionOf("v3")
	yes := verdictOn("SUCCEEDED", "", v3, "2025-01-01T00:50:00Z")
	for _, test := range []struct {
		why, verdict string
		args         []string
		want         []string
	}{
		{"there is no verdict", "", []string{"status"}, []string{"\n0 of 4 clusters done, 2 in flight (of these 2 waiting for validation), 2 not started\n", "validated by the plugin mesh",
			"a: waits for validation and times out at 01:15", "\n  2 clusters: the concurrency limit is reached (2 of 2 in flight): a, b wait for validation; the first (a) times out at 01:15", "kubectl cohort validate ns/set a yes\n"}},
		{"a cluster that is validated says until when", "", []string{"explain", "b"}, []string{"succeeds, and waits for validation\n", "waits for validation and times out at 01:20; to do: validate the version on b, and record the verdict\n", "succeeds and is done: it is found good\n"}},
		{"its past has it", "", []string{"history", "b"}, []string{"\n00:48   starts\n", "\n00:50   succeeds, and waits for validation\n"}},
		{"a was found good, and c is next", yes, []string{"status"}, []string{"\n1 of 4 clusters done, 1 in flight (of these 1 waiting for validation), 2 not started\n", "\nmay start now (1): c\n"}},
		{"it was being validated before", yes, []string{"history", "a"}, []string{"\n00:40   starts\n", "\n00:45   succeeds, and waits for validation\n", "\n00:50   succeeds and is done\n"}},
		{"a was found bad, and all stops for that reason", verdictOn("FAILED", "the mesh has no route", v3, "2025-01-01T00:50:00Z"), []string{"explain", "c"}, []string{"the mesh has no route"}},
		{"of a version before, it counts for nothing", verdictOn("SUCCEEDED", "", versionOf("v2"), "2025-01-01T00:50:00Z"), []string{"status"}, []string{"2 waiting for validation"}},
		{"of before the write, it counts for nothing", verdictOn("SUCCEEDED", "", v3, "2024-12-31T00:50:00Z"), []string{"status"}, []string{"2 waiting for validation"}},
		{"a person wrote it, without a time", `{"result":"SUCCEEDED","version":"` + v3 + `"}`, []string{"status"}, []string{"1 waiting for validation"}},
		{"the value is invalid, so the controller starts no cluster", `{"result":"GOOD","version":"` + v3 + `"}`, []string{"status"}, []string{
			`ManifestWork a/set: metadata.annotations[cohort.open-cluster-management.io/verdict].result: Unsupported value: "GOOD"`, "no cluster starts as long as that stands there", "the rollout is paused"}},
	} {
		got := simulateText(t, validatedSet(t, test.verdict), append(test.args, "-f", "-", "--start", "2025-01-01T01:00:00Z")...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
	}
}

// Without the name of a plugin no verdict counts, as its controller asks no plugin.
func TestNoVerdictCountsWhereNoPluginIsAsked(t *testing.T) {
	dump := strings.Replace(validatedSet(t, verdictOn("FAILED", "", versionOf("v3"), "2025-01-01T00:50:00Z")), "cohort.open-cluster-management.io/plugin", "example.com/plugin", 1)
	if got := simulateText(t, dump, "status", "-f", "-", "--start", "2025-01-01T01:00:00Z"); !strings.Contains(got, "\n2 of 4 clusters done, 2 not started\n") {
		t.Errorf("the verdict counts:\n%s", got)
	}
	loaded := strings.Replace(validatedSet(t, ""), "\nstatus:\n", "\nstatus:\n  conditions: [{type: PluginLoaded, status: \"False\", reason: Failed, message: mesh plugin is not registered, lastTransitionTime: null}]\n", 1)
	if got := simulateText(t, loaded, "status", "-f", "-", "--start", "2025-01-01T01:00:00Z"); !strings.Contains(got, "note: its controller says in the condition PluginLoaded: mesh plugin is not registered\n") {
		t.Errorf("nothing says why nothing goes on:\n%s", got)
	}
}

// A freeze and an allowlist count in each answer, as they count for the controllers that read them.
func TestFreezesAndAllowlistsCountInEveryAnswer(t *testing.T) {
	v3 := versionOf("v3")
	for _, test := range []struct {
		annotations map[string]string
		args        []string
		want        []string
	}{
		{map[string]string{"freeze": "c maintenance of store 7"}, []string{"status", "set"}, []string{"\nmay start now (1): d\n", `1 cluster: c is frozen with no end: "maintenance of store 7"`, "\n  to do:  kubectl cohort unfreeze ns/set c\n", "forecast: Blocked at ", "\n  1 cluster: c"}},
		{map[string]string{"freeze": "c=2025-01-01T03:00:00Z"}, []string{"explain", "c"}, []string{"c is frozen until ", "; to do: unfreeze c\n", "starts: its freeze ends\n"}},
		{map[string]string{"freeze": "c=1999-01-05T06:00:00Z"}, []string{"status", "set"}, []string{"\nmay start now (1): c\n"}},
		{map[string]string{"freeze": "unknown"}, []string{"status", "set"}, []string{"warning: ", "unknown"}},
		{map[string]string{"allowlist": "d of " + v3}, []string{"status", "set"}, []string{"\nmay start now (1): d\n", "c is not in the allowlist", "\n  to do:  kubectl cohort allow ns/set c\n"}},
		{map[string]string{"allowlist": "d of another"}, []string{"explain"}, []string{"c, d are not in the allowlist", "kubectl cohort allow ns/set c d\n"}},
		{map[string]string{"block": "c"}, []string{"plan"}, []string{"Blocked: ", "unfreeze c"}},
		{map[string]string{"freeze": "c"}, []string{"status", "set", "-o", "json"}, []string{`"outcome": "Blocked"`, `"type": "ClusterFrozen"`}},
	} {
		h := newHub(t, decidedSet(t, test.annotations, status.Succeeded))
		got := simulateText(t, "", append(test.args, "--server", h.URL)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v %v: no %q in\n%s", test.annotations, test.args, want, got)
			}
		}
	}
}

// What is said of a dump of a live hub with freezes, an allowlist and validation is kept, in all forms.
func TestADumpWithHoldsAndVerdicts(t *testing.T) {
	const now = "2026-11-24T19:15:00Z"
	for name, args := range map[string][]string{
		"status-validating":   {"status", "-f", "testdata/live/validating.yaml"},
		"explain-validating":  {"explain", "prod-01", "-f", "testdata/live/validating.yaml"},
		"explain-frozen":      {"explain", "prod-06", "-f", "testdata/live/validating.yaml"},
		"explain-not-allowed": {"explain", "-f", "testdata/live/validating.yaml"},
		"history-validating":  {"history", "prod-00", "-f", "testdata/live/validating.yaml"},
		"status-not-good":     {"status", "-f", "testdata/live/refused.yaml"},
		"explain-not-good":    {"explain", "prod-01", "-f", "testdata/live/refused.yaml"},
		"plan-validating":     {"plan", "-f", "testdata/live/validating.yaml"},
		"exposure-validating": {"exposure", "-f", "testdata/live/validating.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "testdata/output/"+name+".txt", simulateText(t, "", append(args, "--start", now)...))
		})
	}
	page := simulateText(t, "", "report", "-", "-f", "testdata/live/validating.yaml", "--start", now)
	for _, want := range []string{`<i class="key validating"></i>validating`, `<i class="key frozen"></i>frozen`, "1 of 8 clusters done, 4 in flight (of these 3 waiting for validation), 3 not started",
		"prod-06 is frozen until", "prod-05, prod-07 are not in the allowlist"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// A policy's cluster is frozen as one of a ManifestWorkReplicaSet is.
func TestAClusterOfAPolicyIsHeld(t *testing.T) {
	text, err := os.ReadFile("testdata/policy/progressive.yaml")
	if err != nil {
		t.Fatal(err)
	}
	held := strings.Replace(string(text), "metadata:\n  name: no-root-login", "metadata:\n  annotations: {cohort.open-cluster-management.io/freeze: store-09 shop closed}\n  name: no-root-login", 1)
	got := simulateText(t, held, "status", "-f", "-")
	for _, want := range []string{`1 cluster: store-09 is frozen with no end: "shop closed"; to do: unfreeze store-09; waiting for mandatory group 0 "canary"`, "forecast: Blocked at "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
