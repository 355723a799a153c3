// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// Before a freeze, unfreeze, allow or start-first the command says what follows. Where nothing would change, it says that.
func TestAPersonIsToldWhatFollowsOfOneCluster(t *testing.T) {
	v3 := versionOf("v3")
	for _, test := range []struct {
		why         string
		annotations map[string]string
		args        []string
		want        []string
	}{
		{"d goes on in its place", nil, []string{"freeze", "set", "c", "--reason", "maintenance of store 7", "--until", "12h"}, []string{
			`ManifestWorkReplicaSet ns/set: freeze c by "maintenance of store 7" until 20`, " UTC; no cluster waits for them\n", "1 cluster starts at once: d\n", "1 cluster does not start now: c\n", `1 cluster waits: c is frozen until `, `: "maintenance of store 7"; `}},
		{"others wait for it", nil, []string{"freeze", "set", "c", "--block"}, []string{"freeze c; others wait for them\n", "forecast: Blocked at "}},
		{"a cluster that has the version keeps it", nil, []string{"freeze", "set", "a"}, []string{"but:      a has the version, and keeps it: the freeze is for another attempt or version\n"}},
		{"another reason is another freeze", map[string]string{"freeze": "c one reason"}, []string{"freeze", "set", "c", "--reason", "another"}, []string{`freeze c by "another"; no cluster`}},
		{"the same freeze is there", map[string]string{"freeze": "c one reason"}, []string{"freeze", "set", "c", "--reason", "one reason"}, []string{"ManifestWorkReplicaSet ns/set: c is frozen so already, nothing is written\n"}},
		{"it waits for its turn again", map[string]string{"freeze": "c;d"}, []string{"unfreeze", "set", "c"}, []string{"unfreeze c\n", "1 cluster starts at once: c\n", "1 cluster waits: d is frozen"}},
		{"both freezes of it end", map[string]string{"freeze": "c one", "block": "c two"}, []string{"unfreeze", "set", "c", "b"}, []string{"unfreeze c\n", "1 cluster starts at once: c\n"}},
		{"it is not frozen", map[string]string{"freeze": "d"}, []string{"unfreeze", "set", "c"}, []string{"c is not frozen, nothing is written\n"}},
		{"a deselected cluster is unfrozen", map[string]string{"freeze": "gone"}, []string{"unfreeze", "set", "gone"}, []string{"unfreeze gone\n", "no cluster starts at once\n"}},

		{"the first allow begins an allowlist: c does not start any more", nil, []string{"allow", "set", "d"}, []string{
			"allow 1 cluster for version " + v3 + ": d\n", "1 cluster starts at once: d\n", "1 cluster does not start now: c\n", "c is not in the allowlist"}},
		{"all that are there", map[string]string{"allowlist": "d of another"}, []string{"allow", "set"}, []string{"allow 4 clusters for version " + v3 + ": a b c d\n", "1 cluster starts at once: c\n"}},
		{"one more", map[string]string{"allowlist": "a,b,d of " + v3}, []string{"allow", "set", "c", "d"}, []string{"allow 1 cluster for version " + v3 + ": c\n", "1 cluster does not start now: d\n"}},
		{"they are allowed", map[string]string{"allowlist": "a,b,c,d of " + v3}, []string{"allow", "set", "c", "d"}, []string{"c, d are allowed for version " + v3 + " already, nothing is written\n"}},
		{"all are allowed", map[string]string{"allowlist": "a,b,c,d of " + v3}, []string{"allow", "set"}, []string{"all clusters are allowed for version " + v3 + " already, nothing is written\n"}},
		{"each reason is told", map[string]string{"allowlist": "a,b,c of " + v3}, []string{"freeze", "set", "c"}, []string{"then:     1 cluster waits: c is frozen", "then:     1 cluster waits: d is not in the allowlist"}},
		{"the allowlist ends", map[string]string{"allowlist": "d of another"}, []string{"allow", "set", "--and-later"}, []string{"allow all clusters, those that join later, and later versions\n", "1 cluster starts at once: c\n"}},
		{"there is no allowlist to end", nil, []string{"allow", "set", "--and-later"}, []string{"there is no allowlist: all clusters start, nothing is written\n"}},
		{"a cluster that is allowed and frozen waits, and the reason is named", map[string]string{"allowlist": "a,b of " + v3, "freeze": "c;d"}, []string{"allow", "set", "c"}, []string{"no cluster starts at once\n", "c, d are frozen with no end; to do: unfreeze c, d"}},

		{"past a gate and a freeze", map[string]string{"gates": "0", "freeze": "d"}, []string{"start-first", "set", "d"}, []string{
			"start d first, with version " + v3 + "; the freezes of these end; the gate before group 0 opens; all others that do not have it wait to be allowed\n", "1 cluster starts at once: d\n", "c is not in the allowlist"}},
		{"what was allowed waits again", map[string]string{"allowlist": "c of " + v3}, []string{"start-first", "set", "d"}, []string{"wait to be allowed, also c\n", "1 cluster starts at once: d\n"}},
		{"a pause is no gate", map[string]string{"pause": "true"}, []string{"start-first", "set", "d"}, []string{"no cluster starts at once\n", "the rollout is paused; to do: resume"}},
		{"it is first", map[string]string{"allowlist": "a,b,d of " + v3}, []string{"start-first", "set", "d"}, []string{"d is first already, nothing is written\n"}},
		{"it has the version", nil, []string{"start-first", "set", "a"}, []string{"a has version " + v3 + ", nothing is written\n"}},

		{"it is so", nil, []string{"resume", "set"}, []string{"it is not paused, nothing is written\n"}},
		{"it is so already", map[string]string{"pause": "true"}, []string{"pause", "set"}, []string{"it is paused already, nothing is written\n"}},
		{"it counts no more already", map[string]string{"ignore": "c"}, []string{"ignore", "set", "c"}, []string{"c is ignored already, nothing is written\n"}},
		{"the gate is open already", map[string]string{"gates": "0,prod", "open-gates": "0 of " + v3}, []string{"open-gate", "set", "0"}, []string{"the gate before group 0 is open for version " + v3 + " already, nothing is written\n"}},
	} {
		h := newHub(t, decidedSet(t, test.annotations, status.Succeeded))
		got := simulateText(t, "", append(test.args, "--dry-run", "--server", h.URL)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
	}
}

// A rollback waits for no approval: gates open for the version before, and all clusters are allowed for it.
func TestAbortWaitsForNoApproval(t *testing.T) {
	h := newHub(t, decidedSet(t, map[string]string{"gates": "0,prod", "open-gates": "0 of " + versionOf("v3"), "allowlist": "a,b of " + versionOf("v3")}, status.Failed))
	got := simulateText(t, "", "abort", "set", "--dry-run", "--server", h.URL)
	for _, want := range []string{"to the template of 2 clusters that wait; gates and the allowlist do not block that\n", "2 clusters start at once: a b\n", "forecast: Complete"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A closed gate says which clusters its opening starts now, and what else blocks these where it starts no cluster.
func TestAGateSaysWhatItsOpeningDoes(t *testing.T) {
	v3 := versionOf("v3")
	for _, test := range []struct {
		why         string
		annotations map[string]string
		a           status.RolloutStatus
		args        []string
		want        string
	}{
		{"which clusters it starts", map[string]string{"gates": "0"}, status.Succeeded, []string{"status", "set"}, "\n  gate 0: opening it starts 1 cluster now: c\n  to do:  kubectl cohort open-gate ns/set 0\n"},
		{"a pause blocks, too", map[string]string{"gates": "0", "pause": "true"}, status.Succeeded, []string{"explain"}, "\n  gate 0: opening it starts no cluster now: the rollout is paused\n"},
		{"a pause blocks, too, and opening says so", map[string]string{"gates": "0", "pause": "true"}, status.Succeeded, []string{"open-gate", "set", "--dry-run"}, "  then:     no cluster starts at once\n  but:      the gate is not all that blocks: the rollout is paused\n"},
		{"no cluster is allowed", map[string]string{"gates": "0", "allowlist": "c of another"}, status.Succeeded, []string{"open-gate", "set", "--dry-run"},
			"  now:      1 of 4 clusters done, 1 in flight, 2 not started\n  then:     no cluster starts at once\n  but:      the gate is not all that blocks: c, d are not in the allowlist\n"},
		{"a failure stops all", map[string]string{"gates": "0"}, status.Failed, []string{"open-gate", "set", "--dry-run"}, "  but:      the gate is not all that blocks: the rollout is stopped: a failed"},
		{"no group has it", map[string]string{"gates": "0,prod", "open-gates": "0 of " + v3}, status.Succeeded, []string{"open-gate", "set", "--dry-run"}, "  but:      no cluster waits behind it now\n"},
		{"as data", map[string]string{"gates": "0", "pause": "true"}, status.Succeeded, []string{"status", "set", "-o", "yaml"}, "gates:\n- gate: \"0\"\n  message: the rollout is paused\n  otherwise:\n    type: Paused\n"},
	} {
		h := newHub(t, decidedSet(t, test.annotations, test.a))
		if got := simulateText(t, "", append(test.args, "--server", h.URL)...); !strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in\n%s", test.why, test.want, got)
		}
	}
}

// What a person says of a cluster is about its version and attempt, and stands in its work.
func TestAPersonValidatesACluster(t *testing.T) {
	v3 := versionOf("v3")
	said := func(result, message string) string {
		return recent(verdictOn(result, message, v3, "2025-01-01T00:50:00Z"))
	}
	for _, test := range []struct {
		why, verdict string
		args         []string
		want         []string
	}{
		{"yes", "", []string{"a", "yes"}, []string{"ManifestWorkReplicaSet ns/set: a is good with version " + v3 + "\n", "now:      0 of 4 clusters done, 2 in flight (of these 2 waiting for validation), 2 not started\n", "1 cluster starts at once: c\n"}},
		{"no", "", []string{"a", "no", "--reason", "no route"}, []string{"a is not good with version " + v3 + ": no route\n", "no cluster starts at once\n", "2 clusters wait: the rollout is stopped: a failed, ", `; a: "no route"; to do, one of: (1) fix the workload on a;`}},
		{"a person has the last word", said("SUCCEEDED", ""), []string{"a", "no", "--reason", "no route"}, []string{"1 cluster does not start now: c\n"}},
		{"or takes a no back", said("FAILED", "no route"), []string{"a", "yes"}, []string{"1 cluster starts at once: c\n"}},
		{"it was said already", said("SUCCEEDED", ""), []string{"a", "yes"}, []string{"a is validated so already, nothing is written\n"}},
		{"a verdict on another version says nothing", strings.Replace(said("SUCCEEDED", ""), v3, "other", 1), []string{"a", "yes"}, []string{"1 cluster starts at once: c\n"}},
	} {
		h := newHub(t, recent(validatedSet(t, test.verdict)))
		got := simulateText(t, "", append([]string{"validate", "set", "--dry-run", "--server", h.URL}, test.args...)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
	}
}

// A meaningless command is refused in a line that says what must be.
func TestWhatAPersonCannotDecide(t *testing.T) {
	set, validated := decidedSet(t, nil, status.Succeeded), recent(validatedSet(t, ""))
	for _, test := range []struct {
		text string
		args []string
		want string
	}{
		{set, []string{"freeze", "set"}, "freeze: must be followed by ROLLOUT CLUSTER..."},
		{set, []string{"freeze", "set", "unknown"}, "freeze ManifestWorkReplicaSet ns/set: unknown: must be a cluster of the rollout"},
		{set, []string{"freeze", "set", "c", "--reason", "one; two"}, `--reason "one; two": must be one line without a semicolon`},
		{set, []string{"freeze", "set", "c", "--until", "2020-01-01T00:00:00Z"}, "--until 2020-01-01T00:00:00Z: must be after now, 20"},
		{set, []string{"freeze", "set", "c", "--until", "monday"}, "--until monday: must be a time in RFC 3339 such as 2026-01-05T06:00:00Z, or for how long, such as 12h"},
		{set, []string{"unfreeze", "set", "unknown"}, "unknown: must be a cluster of the rollout"},
		{set, []string{"allow", "set", "unknown"}, "unknown: must be a cluster of the rollout"},
		{set, []string{"allow", "set", "c", "--and-later"}, "--and-later: must be given without clusters"},
		{set, []string{"start-first", "set"}, "start-first: must be followed by ROLLOUT CLUSTER..."},
		{set, []string{"start-first", "set", "unknown"}, "unknown: must be a cluster of the rollout"},
		{set, []string{"validate", "set", "a", "yes"}, "no plugin validates its clusters: it has no annotation cohort.open-cluster-management.io/plugin, so no plugin is asked for a verdict"},
		{validated, []string{"validate", "set", "a"}, "validate: must be followed by ROLLOUT CLUSTER yes|no"},
		{validated, []string{"validate", "set", "a", "maybe"}, "maybe: must be yes or no"},
		{validated, []string{"validate", "set", "a", "no"}, "no: must have a --reason, which explanations repeat"},
		{validated, []string{"validate", "set", "c", "yes"}, "c: must have succeeded with version " + versionOf("v3") + ", and waits for that version"},
		{validated, []string{"validate", "set", "unknown", "yes"}, "unknown: must be a cluster of the rollout"},
		{validated, []string{"validate", "set", "a", "yes"}, "not confirmed, nothing is written"},
	} {
		h := newHub(t, test.text)
		if got := refusedAsked(t, append(test.args, "--server", h.URL)...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
}

// refusedAsked is what a command says that is refused, perhaps after it asked and was told no.
func refusedAsked(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := cohort(args, strings.NewReader("no\n"), &stdout, &stderr); code != 2 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%v: exit status %d: %s%s", args, code, stdout.String(), stderr.String())
	}
	return stderr.String()
}

// While a version is rolled back, a verdict is about the version that the cluster rolled back to.
func TestAPersonValidatesAClusterThatRolledBack(t *testing.T) {
	set := decidedSet(t, map[string]string{"plugin": "mesh"}, status.Succeeded)
	h := newHub(t, strings.Replace(set, "\nstatus:\n", "\nstatus:\n  updateRevision: r2\n  currentRevision: r1\n  abortedTime: \"2025-01-01T00:50:00Z\"\n", 1))
	got := simulateText(t, "", "validate", "set", "c", "yes", "--server", h.URL, "--dry-run")
	if want := "c is good with version " + versionOf("v2") + "\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got := refused(t, "", "validate", "set", "a", "yes", "--server", h.URL, "-y"); !strings.Contains(got, "a: has version "+versionOf("v3")+", which is rolled back") {
		t.Error(got)
	}
}

// A user of a hub reads of that hub and not of files, is not told that it is old, and gets the command for a gate also where nothing is
// written yet. Where a controller writes without stamps, or no annotation asks for anything, there is no such command.
func TestAHubIsNoFile(t *testing.T) {
	long := func(annotations string, works ...liveWork) string {
		texts := []string{thirdVersion(t, 0, func(set *workv1alpha1.ManifestWorkReplicaSet) {
			set.Annotations = map[string]string{"cohort.open-cluster-management.io/" + annotations: "0"}
		}, "p"), decisionOf("a", "b")}
		for _, w := range works {
			texts = append(texts, w.yaml(t))
		}
		return documents(texts...)
	}
	done := liveWork{cluster: "a", spec: "v3", stamp: versionOf("v3"), stamped: -20, status: status.Succeeded, since: -10}
	unstamped := done
	unstamped.stamp = ""
	const command = "\n  to do:  kubectl cohort open-gate ns/set 0\n"
	for _, test := range []struct {
		why, dump string
		args      []string
		gate      bool
		stands    string
	}{
		{"nothing is written", long("gates"), nil, true, ""},
		{"one is done, long ago", long("gates", done), nil, true, "\nnote: from here on: 1 object on the hub says where the rollout stands\n"},
		{"another controller has written", long("gates", unstamped), nil, false, "\nnote: from here on: 1 object on the hub says where the rollout stands\n"},
		{"the gate is a question of what if", long("other"), []string{"--gate", "0"}, false, ""},
	} {
		got := simulateText(t, "", append([]string{"status", "set", "--server", newHub(t, test.dump).URL}, test.args...)...)
		if strings.Contains(got, command) != test.gate || !strings.Contains(got, "the gate before group 0 is closed") || strings.Contains(got, "the files") || !strings.Contains(got, test.stands) {
			t.Errorf("%s: command %v, and %q in\n%s", test.why, test.gate, test.stands, got)
		}
	}
}

// What is missing is missing in the files, or on the hub that was read.
func TestWhatIsMissingIsMissingWhereItWasRead(t *testing.T) {
	free := strings.Replace(aReplicaSet, "{maxConcurrency: 1}", "{}", 1)
	inSet := strings.Replace(aPlacement, "spec: {}", "spec: {clusterSets: [far]}", 1)
	rule := strings.NewReplacer("kind: Placement, name: p", "kind: PlacementRule, name: rule", "cluster.open", "apps.open")
	for _, test := range []struct{ in, want string }{
		{documents(free, aDecision), "no Placement %s: where the strategy has no maxConcurrency"},
		{documents(free), "placement ns/p: %s neither a Placement of this name nor PlacementDecisions of it"},
		{documents(free, aPlacement), "Placement ns/p: %s neither PlacementDecisions of it nor ManagedClusters to select"},
		{documents(free, aPlacement, aCluster, decisionOf("a", "b")), "PlacementDecision: no ManagedCluster %s has this name (1): b"},
		{documents(free, inSet, aCluster), "ManagedClusterSetBinding: none %s, so all cluster sets"},
		{documents(free, inSet, aCluster), "spec.clusterSets: no ManagedCluster %s is in far"},
		{documents(aPolicy, aPlacement, aCluster), "no PlacementBinding %s has the policy as its subject"},
		{documents(aPolicy, aBinding, aCluster), "placementRef: %s neither a Placement ns/p nor PlacementDecisions of it"},
		{documents(aPolicy, rule.Replace(aBinding), aCluster), "placementRef: %s no PlacementRule ns/rule"},
		{documents(aPolicy, rule.Replace(aBinding), aRule[:strings.Index(aRule, "status:")], aCluster), "no status.decisions %s, which is all that is read of a PlacementRule: it selects no cluster"},
	} {
		for _, from := range []struct {
			args       []string
			where, has string
		}{{[]string{"-f", "-"}, "in the files", "the files have"}, {[]string{"--server", newHub(t, test.in).URL}, "on the hub", "the hub has"}} {
			var stdout, stderr strings.Builder
			cohort(append([]string{"plan"}, from.args...), strings.NewReader(test.in), &stdout, &stderr)
			got, where := stdout.String()+stderr.String(), from.where
			if strings.Contains(test.want, "%s neither") || strings.Contains(test.want, "%s no PlacementRule") {
				where = from.has
			}
			if from.where == "on the hub" && strings.HasSuffix(test.want, "ManagedClusters to select") {
				test.want, where = "%sno PlacementDecision is found", "" // a scheduler writes them there, so they are missing
			}
			if want := fmt.Sprintf(test.want, where); !strings.Contains(got, want) || from.where == "on the hub" && strings.Contains(got, "files") {
				t.Errorf("want %q in\n%s", want, got)
			}
		}
	}
}

// A cluster that has not succeeded cannot be validated, and the command says what the cluster does.
func TestAClusterThatHasNotSucceededIsNotValidated(t *testing.T) {
	v3 := versionOf("v3")
	for want, w := range map[string]liveWork{
		"has not reported on this version": {spec: "v3", stamp: v3, stamped: -5, status: status.Succeeded, since: -80, unobserved: true}, "is progressing": {spec: "v3", stamp: v3, stamped: -5, status: status.Progressing, since: -4},
		"has failed": {spec: "v3", stamp: v3, stamped: -5, status: status.Failed, since: -4},
	} {
		w.cluster = "a"
		set := thirdVersion(t, 0, func(set *workv1alpha1.ManifestWorkReplicaSet) {
			set.Annotations = map[string]string{"cohort.open-cluster-management.io/plugin": "mesh"}
		}, "p")
		h := newHub(t, recent(documents(set, decisionOf("a", "b"), w.yaml(t))))
		if got := refusedAsked(t, "validate", "set", "a", "yes", "--server", h.URL); !strings.Contains(got, "a: must have succeeded with version "+v3+", and "+want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
