// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// decisionOf is a PlacementDecision of p with these clusters.
func decisionOf(clusters ...string) string {
	var all []string
	for _, name := range clusters {
		all = append(all, fmt.Sprintf("{clusterName: %s, reason: \"\"}", name))
	}
	return strings.Replace(aDecision, `{clusterName: a, reason: ""}`, strings.Join(all, ", "), 1)
}

// work is what the hub has of the ManifestWorkReplicaSet ns/set for a cluster, created at that time of 2025-01-01.
func work(cluster, created, manifests string, conditions ...string) string {
	return fmt.Sprintf(`
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: set
  namespace: %s
  generation: 1
  creationTimestamp: "2025-01-01T%s:00Z"
  labels: {work.open-cluster-management.io/manifestworkreplicaset: ns.set, work.open-cluster-management.io/placementname: p}
spec: {workload: {manifests: [%s]}}
status: {conditions: [%s]}
`, cluster, created, manifests, strings.Join(conditions, ", "))
}

func condition(name, status, at string) string {
	return fmt.Sprintf(`{type: %s, status: %q, observedGeneration: 1, reason: Known, message: "", lastTransitionTime: "2025-01-01T%s:00Z"}`, name, status, at)
}

const (
	aManifest       = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, data: {a: new}}"
	anOlderManifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, data: {a: old}}"
)

// liveSet is a ManifestWorkReplicaSet half way: a has succeeded, b is at it since 00:50, c has another version, d nothing,
// and gone, which has succeeded, is deselected.
func liveSet() string {
	set := strings.NewReplacer("manifestWorkTemplate: {}", "manifestWorkTemplate: {workload: {manifests: ["+aManifest+"]}}",
		"maxConcurrency: 1", "maxConcurrency: 1, progressDeadline: 30m").Replace(aReplicaSet)
	return documents(set, decisionOf("a", "b", "c", "d"),
		work("a", "00:10", aManifest, condition("Applied", "True", "00:11"), condition("Progressing", "False", "00:15")),
		work("b", "00:50", aManifest, condition("Applied", "True", "00:51"), condition("Progressing", "True", "00:51")),
		work("c", "00:01", anOlderManifest, condition("Applied", "True", "00:02"), condition("Progressing", "False", "00:05")),
		work("gone", "00:01", aManifest, condition("Applied", "True", "00:02"), condition("Progressing", "False", "00:05")))
}

func TestARolloutUnderWayGoesOnFromThere(t *testing.T) {
	for _, test := range []struct {
		why  string
		args []string
		want []string
	}{
		{"b finishes 15 minutes after it got the version, then come c, which has an object already, and d", []string{"--takes", "15m"}, []string{
			"note: from here on: 4 objects in the files say where the rollout stands\n",
			"note: not selected, so that the workload is removed there (1): gone\n",
			"\nnow: 2025-01-01 01:00:00, all times are in UTC\n",
			"\nnow    0        1          1     0       2 blocked: the concurrency limit is reached (1 of 1 in flight): b is progressing and times out at 01:21\n",
			"\n01:05  1        1          2     0       1 blocked: the concurrency limit is reached (1 of 1 in flight): c is progressing", "\nat 01:35, after 35m: Complete: 4 of 4 clusters done"}},
		{"a took 5 minutes and gone 4, which b has had twice over", nil, []string{"\nnote: --takes: 4m-5m, as the 2 clusters that are done took\n",
			"\n01:01     1        1          2     0       1 blocked: the concurrency limit is reached (1 of 1 in flight): c is progressing", "\nat 01:09:30, after 9m30s: Complete: 4 of 4 clusters done"}},
		{"why nothing moves", []string{"--never", "b"}, []string{
			"\nnow    0        1          1     0       0          2 blocked: the concurrency limit is reached (1 of 1 in flight): b is progressing and times out at 01:21\n",
			"at 01:21, after 21m: Breached: the rollout is stopped: b failed, maxFailures is 0; the rollout continues once b is no longer failed or timed out; to do, one of: (1) fix the workload on b; (2) retry the failed clusters: raise the rollout's attempt number to 1; (3) raise maxFailures to 1; (4) roll back to the previous version\n"}},
		{"a cluster that has it", []string{"explain", "b"}, []string{
			"\nnow: 2025-01-01 01:00:00, all times are in UTC\n", "took\n\n00:50   starts\nnow     is progressing and times out at 01:21\n01:01   succeeds and is done\n"}},
		{"a cluster that is done", []string{"explain", "a"}, []string{"\n\n00:10   starts\n00:15   succeeds and is done\n"}},
		{"a cluster that waits", []string{"explain", "d"}, []string{"\nnow      waits until 01:05:29\n", "\n01:01      the concurrency limit is reached (1 of 1 in flight): c", "\n01:05:29 starts: c is done\n"}},
	} {
		t.Run(test.why, func(t *testing.T) {
			got := simulateText(t, liveSet(), append(test.args, "-f", "-", "--start", "2025-01-01T01:00:00Z")...)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// Clusters fail as often as they did so far, if enough have settled, unless a flag says which clusters fail.
func TestTheFailRateIsLearned(t *testing.T) {
	set := strings.NewReplacer("manifestWorkTemplate: {}", "manifestWorkTemplate: {workload: {manifests: ["+aManifest+"]}}",
		"maxConcurrency: 1", "maxConcurrency: 1, maxFailures: 100%").Replace(aReplicaSet)
	settled := func(n int) string {
		names, objects := []string{"d"}, []string{set}
		for i := range n {
			name := fmt.Sprintf("c%d", i)
			done := condition("Progressing", "False", fmt.Sprintf("00:%d", 15+i))
			if i < 2 {
				done = condition("Progressing", "True", "00:15") + ", " + condition("Degraded", "True", "00:20")
			}
			names = append(names, name)
			objects = append(objects, work(name, "00:10", aManifest, condition("Applied", "True", "00:11"), done))
		}
		return documents(append(objects, decisionOf(names...))...)
	}
	for _, test := range []struct {
		settled     int
		args        []string
		fails, take string
	}{
		{10, nil, "20%, as 2 of 10", "7m-14m, as the 8"},
		{10, []string{"--takes", "5m"}, "20%, as 2 of 10", ""},
		{10, []string{"--fail-rate", "50%"}, "", "7m-14m, as the 8"},
		{10, []string{"--fail", "d"}, "", "7m-14m, as the 8"},
		{9, nil, "", "7m-13m, as the 7"}, // two of nine may be chance
		{14, nil, "14.29%, as 2 of 14", "8m-17m, as most of the 12"},
	} {
		got := simulateText(t, settled(test.settled), append(test.args, "-f", "-", "--start", "2025-01-01T01:00:00Z")...)
		for note, want := range map[string]string{"\nnote: --fail-rate: ": test.fails, "\nnote: --takes: ": test.take} {
			if _, said, found := strings.Cut(got, note); found != (want != "") || !strings.HasPrefix(said, want) {
				t.Errorf("%d settled, %v: want %q after %q in\n%s", test.settled, test.args, want, note, got)
			}
		}
	}
	for _, command := range []string{"compare", "exposure"} {
		got := simulateText(t, settled(10), command, "-f", "-")
		if want := "\nnote: --takes: 7m-14m, as the 8 clusters that are done took\n"; !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
}

// Where clusters are validated, the chance not to be found good is learned apart from the one to fail.
func TestTheRateOfNoesIsLearned(t *testing.T) {
	objects, names := []string{thirdVersion(t, 0, func(set *workv1alpha1.ManifestWorkReplicaSet) {
		set.Annotations = map[string]string{"cohort.open-cluster-management.io/plugin": "mesh"}
		set.Spec.PlacementRefs[0].RolloutStrategy = strategyOf(t, "{type: Progressive, progressive: {maxConcurrency: 3, maxFailures: 100%}}")
	}, "p")}, []string{"z"}
	for i := range 14 {
		w := liveWork{cluster: fmt.Sprintf("c%02d", i), spec: "v3", stamp: versionOf("v3"), stamped: -40, status: status.Succeeded, since: -30,
			verdict: verdictOn("SUCCEEDED", "", versionOf("v3"), at(-28).Format(time.RFC3339))}
		switch i {
		case 0:
			w.verdict = verdictOn("FAILED", "no route", versionOf("v3"), at(-28).Format(time.RFC3339))
		case 1:
			w.verdict = ""
		case 2, 3:
			w.status = status.Failed
		}
		names, objects = append(names, w.cluster), append(objects, w.yaml(t))
	}
	dump := documents(append(objects, decisionOf(names...))...)
	const fails, notGood = "\nnote: --fail-rate: 14.29%, as 2 of 14 clusters failed that have settled; which others fail is drawn\n", "\nnote: --not-good-rate: 9.091%, as 1 of 11 clusters with a verdict were not found good; which others are not is drawn\n"
	for _, test := range []struct {
		args    []string
		learned bool
	}{{nil, true}, {[]string{"compare"}, true}, {[]string{"--not-good", "z"}, false}, {[]string{"--not-good-rate", "0%"}, false}, {[]string{"--never-validated", "1"}, false}, {[]string{"--fail", "z"}, false},
		{[]string{"compare", "--not-good-rate", "1%"}, false}} {
		args := append(test.args, "-f", "-")
		if len(test.args) == 0 || test.args[0] != "compare" {
			args = append(args, "--start", "2025-01-01T01:00:00Z")
		}
		got := simulateText(t, dump, args...)
		times := "\nnote: --takes: 10m, as most of the 12 clusters that succeeded took\nnote: --validates: 2m, as long as it took to judge most of the 11 clusters that have a verdict\n"
		if strings.Contains(got, fails) != test.learned || strings.Contains(got, notGood) != test.learned || !strings.Contains(got, times) {
			t.Errorf("%v: learned %v, want\n%s%s%s in\n%s", test.args, test.learned, times, fails, notGood, got)
		}
	}
}

// What the dump says of the past is told with its times, and with what to do about a failure.
func TestExplainTellsThePastAsItWas(t *testing.T) {
	in := strings.Replace(liveSet(), "maxConcurrency: 1,", "maxConcurrency: 1, minSuccessTime: 10m, maxFailures: 1,", 1)
	failed := strings.Replace(in, condition("Progressing", "True", "00:51"), condition("Progressing", "True", "00:51")+", "+condition("Degraded", "True", "00:55"), 1)
	many := strings.Replace(failed, ", maxFailures: 1", "", 1)
	for _, test := range []struct {
		why, in, at, cluster, want string
	}{
		{"it stayed succeeded long enough", in, "01:00", "a", "\n\n00:10   starts\n00:15   succeeds\n00:25   is done\n"},
		{"it has to stay succeeded for a while", in, "00:20", "a", "00:10   starts\n00:15   succeeds\nnow     succeeded and has to stay so (minSuccessTime) until 00:25\n00:25   is done\n"},
		{"its deadline has passed", in, "02:00", "b", "00:50   starts\n01:21   times out; to do, one of: (1) fix the workload on b; (2) retry the failed clusters: raise the rollout's attempt number to 1\n"},
		{"it failed, which is tolerated", failed, "01:00", "b",
			"00:50   starts\n00:55   fails; to do, one of: (1) fix the workload on b; (2) retry the failed clusters: raise the rollout's attempt number to 1\nnow     has failed and times out at 01:25\n01:25   times out\n"},
		{"it failed, and that stops the rollout", many, "01:00", "b",
			"00:55   fails; to do, one of: (1) fix the workload on b; (2) retry the failed clusters: raise the rollout's attempt number to 1; (3) raise maxFailures to 1; (4) roll back to the previous version\n"},
		{"on another day", in, "02T01:00", "a", "2025-01-01 00:10 starts\n"},
	} {
		at := "2025-01-01T" + test.at
		if strings.Contains(test.at, "T") {
			at = "2025-01-" + test.at
		}
		got := simulateText(t, test.in, "-f", "-", "--start", at+":00Z", "explain", test.cluster)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: no\n%s\nin\n%s", test.why, test.want, got)
		}
	}
}

func TestARolloutUnderWayGoesOnNow(t *testing.T) {
	got := simulateText(t, liveSet(), "-f", "-")
	for _, want := range []string{"\nnow: Breached: the rollout is stopped: b failed",
		"\nnote: the newest time in the files is 2025-01-01 00:51, ", " days ago: where they are as old as that, --start says when it goes on\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("b has timed out long ago, yet no %q in\n%s", want, got)
		}
	}
	for _, start := range []string{"2025-01-01T01:45:00Z", "2025-01-02T01:45:00Z"} { // with a given start there is no note
		if got := simulateText(t, liveSet(), "-f", "-", "--start", start); strings.Contains(got, "the newest time in the files") {
			t.Errorf("--start %s, and a note in\n%s", start, got)
		}
	}
}

// The add-on manager notes in the ClusterManagementAddOn what each placement shall have.
func TestAddOnsGoOnFromTheirConfiguration(t *testing.T) {
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		config := func(hash string) string {
			return fmt.Sprintf("{group: g, resource: r, desiredConfig: {name: c, specHash: %s}, lastObservedGeneration: 1, lastAppliedConfig: {name: c, specHash: %s}}", hash, hash)
		}
		if version == "v1alpha1" {
			config = func(hash string) string {
				return fmt.Sprintf("{group: g, resource: r, name: c, desiredConfig: {name: c, specHash: %s}, lastObservedGeneration: 1, lastAppliedConfig: {name: c, specHash: %s}}", hash, hash)
			}
		}
		addOn := func(cluster, hash string) string {
			return fmt.Sprintf("\napiVersion: addon.open-cluster-management.io/%s\nkind: ManagedClusterAddOn\nmetadata: {name: addon, namespace: %s}\nspec: {}\nstatus: {configReferences: [%s]}\n",
				version, cluster, config(hash))
		}
		manager := strings.NewReplacer("v1alpha1", version, "rolloutStrategy: {type: All}", "rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1}}").Replace(anAddOn) +
			"status: {installProgressions: [{name: p, namespace: ns, configReferences: [{group: g, resource: r, desiredConfig: {name: c, specHash: new}, lastKnownGoodConfig: null, lastAppliedConfig: null}]}]}\n"
		in := documents(manager, decisionOf("a", "b", "c"), addOn("a", "new"), addOn("b", "old"))
		explained := simulateText(t, in, "-f", "-", "--start", "2025-01-01T01:00:00Z", "explain", "a")
		if want := "\nearlier started (time not recorded)\nearlier succeeded and is done (time not recorded)\n"; !strings.Contains(explained, want) {
			t.Errorf("%s: an add-on says no times, yet no %q in\n%s", version, want, explained)
		}
		got := simulateText(t, in, "-f", "-", "--start", "2025-01-01T01:00:00Z")
		for _, want := range []string{"from here on: 2 objects", "\nnow    1        1          1     0       1 blocked: ", "at 01:20, after 20m: Complete: 3 of 3"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", version, want, got)
			}
		}
	}
}

func TestAPolicyGoesOnFromItsReplicas(t *testing.T) {
	replica := func(cluster, action, compliance string) string {
		text := strings.NewReplacer("name: pol, namespace: ns", fmt.Sprintf(
			`name: ns.pol, namespace: %s, generation: 1, creationTimestamp: "2025-01-01T00:30:00Z", labels: {policy.open-cluster-management.io/root-policy: ns.pol}`, cluster),
			"remediationAction: enforce", "remediationAction: "+action).Replace(aPolicy)
		return text + "status: {compliant: " + compliance + "}\n"
	}
	in := documents(aPolicy, aBinding, decisionOf("a", "b", "c"), replica("a", "enforce", "Compliant"), replica("b", "inform", "NonCompliant"))
	got := simulateText(t, in, "-f", "-", "--start", "2025-01-01T01:00:00Z")
	for _, want := range []string{
		"from here on: 2 objects", "inform/ToApply: c\n", "enforce/Succeeded: a\n", "enforce/Progressing: b\n", "at 01:20, after 20m: Complete: 3 of 3",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A replicated policy says when it came and when the cluster reported; a policy's clusters are not tried again.
func TestExplainTellsThePastOfAPolicy(t *testing.T) {
	replica := func(cluster, compliance string) string {
		return strings.NewReplacer("name: pol, namespace: ns", fmt.Sprintf(
			`name: ns.pol, namespace: %s, generation: 1, creationTimestamp: "2025-01-01T00:30:00Z", labels: {policy.open-cluster-management.io/root-policy: ns.pol}`, cluster)).Replace(aPolicy) +
			fmt.Sprintf("status: {compliant: %[1]s, details: [{compliant: %[1]s, history: [{lastTimestamp: \"2025-01-01T00:40:00Z\", message: %[1]s}]}]}\n", compliance)
	}
	in := documents(failsAtOnce(t, aPolicy), aBinding, decisionOf("a", "b", "c"), replica("a", "Compliant"), replica("b", "NonCompliant"))
	for cluster, want := range map[string]string{
		"a": "\n00:30   starts\n00:40   succeeds and is done\n",
		"b": "\n00:30   starts\n00:40   fails: \"NonCompliant\"; to do, one of: (1) fix the workload on b; (2) raise maxFailures to 1\nnow     has failed\n",
	} {
		if got := simulateText(t, in, "-f", "-", "--start", "2025-01-01T01:00:00Z", "explain", cluster); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Parts of seconds are in no text, whatever the times of the input.
func TestTimesAreInWholeSeconds(t *testing.T) {
	for _, args := range [][]string{nil, {"explain", "d"}, {"--abort-at", "4m"}} {
		got := simulateText(t, liveSet(), append(args, "-f", "-", "--start", "2025-01-01T01:00:00.46Z")...)
		if regexp.MustCompile(`\d\.\d+s|\d:\d\d\.\d`).MatchString(got) {
			t.Errorf("parts of seconds in\n%s", got)
		}
	}
	if got := simulateText(t, fleet(), "-f", "-", "--fail", "a=90.5s"); !strings.Contains(got, "\n1m31s  ") || strings.Contains(got, "30.5s  ") {
		t.Errorf("parts of seconds in\n%s", got)
	}
}

// A propagator writes dependencies in its own way and fills hub templates in; another object is another version.
func TestAReplicaHasTheVersionOfItsTemplates(t *testing.T) {
	template := func(value, dependency string) string {
		return "policy-templates: [{objectDefinition: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: '" + value +
			"'}}, extraDependencies: [{apiVersion: policy.open-cluster-management.io/v1, kind: Policy, name: " + dependency + ", compliance: Compliant}]}]"
	}
	root := func(value string) string {
		return strings.Replace(aPolicy, "policy-templates: []", template(value, "other"), 1)
	}
	replica := strings.NewReplacer("name: pol, namespace: ns", `name: ns.pol, namespace: a, labels: {policy.open-cluster-management.io/root-policy: ns.pol}`,
		"policy-templates: []", template("new", "ns.other")).Replace(aPolicy) + "status: {compliant: Compliant, details: [{templateMeta: {name: x}, compliant: Compliant}]}\n"
	for _, test := range []struct{ why, root, want string }{
		{"the same", root("new"), "\nnow: Complete: "},
		{"a hub template", root(`{{hub fromConfigMap "" "" "" hub}}`), "\nnow: Complete: "},
		{"another object", root("newer"), "after 10m: Complete: "},
	} {
		got := simulateText(t, documents(test.root, aBinding, aDecision, replica), "-f", "-", "--start", "2025-01-01T01:00:00Z")
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in\n%s", test.why, test.want, got)
		}
	}
}

// Neither exposure nor compare says that it goes on from where the rollout stands where it does not.
func TestWhatBeginsAnewSaysSo(t *testing.T) {
	for _, test := range []struct {
		why  string
		args []string
		want string
	}{
		{"a is done, b may fail, and one more at a time", []string{"exposure"}, "\n\nNow: 1 of 4 clusters done, 1 with the version and not done, 2 waiting.\n" +
			"From here on, clusters with a version that does not work on them: at most 1.\n\nA rollout that begins anew:\nAt most 1 of 4 clusters get"},
		{"all but a may get it at once", []string{"exposure", "-o", "json"}, `"now": {
    "clusters": 4,
    "done": 1,
    "exposed": 1,
    "waiting": 2,
    "atMost": 1
  }`},
		{"a comparison", []string{"compare"}, "\nnote: compare: begins anew, though 4 objects in the files say where the rollout stands\n"},
	} {
		args := append(test.args, "-f", "-")
		if test.args[0] == "exposure" {
			args = append(args, "--start", "2025-01-01T01:00:00Z")
		}
		got := simulateText(t, liveSet(), args...)
		if !strings.Contains(got, test.want) || strings.Contains(got, "note: from here on") {
			t.Errorf("%s: no %q in\n%s", test.why, test.want, got)
		}
	}
	all := strings.Replace(liveSet(), "type: Progressive", "type: All", 1)
	if got, want := simulateText(t, all, "exposure", "-f", "-", "--start", "2025-01-01T01:00:00Z"), "does not work on them: at most 3.\n"; !strings.Contains(got, want) {
		t.Errorf("all but a may get it at once, yet no %q in\n%s", want, got)
	}
}

// Objects of other rollouts are counted, not lost.
func TestLiveObjectsOfNoRolloutAreNoted(t *testing.T) {
	other := strings.Replace(work("a", "00:10", aManifest), "ns.set", "ns.other", 1)
	got := simulateText(t, documents(aReplicaSet, aDecision, other), "-f", "-")
	if want := "note: ManifestWork, ManagedClusterAddOn, replicated Policy: of no rollout here, not used (1)\n"; !strings.Contains(got, want) || strings.Contains(got, "from here on") {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// A cluster that stands in two decisions is on its way from one to the other: a controller waits for that, and so does this.
func TestAClusterOfTwoDecisionsHoldsTheRollout(t *testing.T) {
	second := strings.NewReplacer("p-decision-1", "p-decision-2", `index: "0"`, `index: "1"`).Replace(decisionOf("a", "b"))
	got := simulateText(t, documents(aPlacement, aReplicaSet, decisionOf("a"), second), "-f", "-")
	for _, want := range []string{"note: PlacementDecision: a stands in p-decision-1 and p-decision-2 and counts in group 0\n", "after 0s: Stuck: the PlacementDecisions are only partially observed (placement p: the PlacementDecisions of group 1 list 2 clusters, but the status of the Placement says 1); to do: wait until the PlacementDecisions are written\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A cluster that had the version before the simulation rolls back as well; one with an older one stays as it is.
func TestARolloutUnderWayIsRolledBack(t *testing.T) {
	got := simulateText(t, liveSet(), "-f", "-", "--start", "2025-01-01T01:00:00Z", "--abort-at", "4m", "--takes", "15m")
	for _, want := range []string{
		"Rollback, from 01:04: 2 clusters have the version; all roll back at once\n",
		"at 01:19, after 19m: Complete: 2 of 2 clusters rolled back, 2 never had the version\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := simulateText(t, liveSet(), "-f", "-", "--start", "2025-01-01T01:00:00Z", "--abort-at", "4m", "--takes", "15m", "explain", "c"); !strings.Contains(got, "stays as it is: it never had the version\n") {
		t.Errorf("c has an older version, and in\n%s", got)
	}
}
