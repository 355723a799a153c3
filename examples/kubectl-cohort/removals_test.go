// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// leavingSet is the rollout of liveSet with two groups: a and b are in the first, c and d in the second. B is on its way out, it is unknown
// the group of gone, and the record of the owner has the second group for left. D has nothing.
func leavingSet(t *testing.T) string {
	t.Helper()
	second := strings.NewReplacer("p-decision-1", "p-decision-2", `index: "0"`, `index: "1"`)
	var template workv1.ManifestWorkSpec
	if err := yaml.Unmarshal([]byte("workload: {manifests: ["+aManifest+"]}"), &template); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"p":{"version":%q,"left":[{"cluster":"left","status":"Progressing","group":{"index":1}}]}}`, writes.VersionOf(template))
	in := strings.Replace(liveSet(), "metadata: {name: set,", "metadata: {annotations: {cohort.open-cluster-management.io/left: '"+record+"'}, name: set,", 1)
	in = strings.Replace(in, decisionOf("a", "b", "c", "d"), documents(decisionOf("a", "b"), second.Replace(decisionOf("c", "d"))), 1)
	in = strings.Replace(in, "type: Progressive, progressive: {maxConcurrency: 1, ", "type: ProgressivePerGroup, progressivePerGroup: {", 1)
	in = strings.Replace(in, "  namespace: b\n", "  namespace: b\n  deletionTimestamp: \"2025-01-01T00:59:00Z\"\n", 1)
	return documents(in, work("left", "00:01", aManifest, condition("Applied", "True", "00:02")))
}

func TestRemovalsSayWhichGoWhen(t *testing.T) {
	shops := []string{"-f", "testdata/regions/shops.yaml", "--at-a-time", "2"}
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"the groups in the reverse order, and no cluster waits for shop-madrid", "", append(shops, "--ignore", "shop-madrid"), `: all of it goes, at most 2 clusters at a time
note: no object says which clusters have the workload: it is as if all had it that are selected

to delete now: shop-boston shop-denver
not waited for: shop-madrid

WAVE  GROUP                 CLUSTERS
1     group 4 "prod-us"     shop-boston shop-denver
2     group 3 "staging-us"  staging-us-1
3     group 2 "prod-eu"     shop-berlin shop-madrid shop-paris
4     group 1 "staging-eu"  staging-eu-1
5     group 0 "canary"      canary-1 canary-2
last  ManifestWorkReplicaSet retail/tills itself, once no cluster has anything of it
`},
		{"in the order of the flag", "", append(shops, "--group-order", "canary after prod-us"), "\n1     group 0 \"canary\"      canary-1 canary-2\n2     group 4 \"prod-us\"     shop-boston shop-denver\n3     group 3 \"staging-us\"  staging-us-1\n      group 2 \"prod-eu\"     shop-berlin\n"},
		{"a group alone", "", append(shops, "--group", "prod-eu"), ": group prod-eu goes, at most 2 clusters at a time\nnote: no object says which clusters have the workload: it is as if all had it that are selected\n" +
			"\nto delete now: shop-berlin shop-madrid\n\nWAVE  GROUP              CLUSTERS\n1     group 2 \"prod-eu\"  shop-berlin shop-madrid\n2     group 2 \"prod-eu\"  shop-paris\n"},
		{"more waves than a table has rows", "", []string{"-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml"},
			"\n1-150    group 2                     site-001 site-002 site-003 site-004 site-005 site-006 site-007 site-008 site-009 site-010 and 140 more\n151-300  group 3 "},
		{"one is on its way out, and takes the place", leavingSet(t), []string{"-f", "-"}, `
on their way out: b
to delete now: none, before one that is on its way out is gone

WAVE  GROUP             CLUSTERS
1     not in any group  gone
2     group 1           c
3     group 1           left
4     group 0           a
last  ManifestWorkReplicaSet ns/set itself, once no cluster has anything of it
`},
		{"two places", leavingSet(t), []string{"-f", "-", "--at-a-time", "2"}, "\nto delete now: gone\n\nWAVE  GROUP             CLUSTERS\n1     not in any group  gone\n2     group 1           c left\n3     group 0           a\n"},
		{"a dead agent blocks no cluster", leavingSet(t), []string{"-f", "-", "--ignore", "b"}, "\non their way out: b\nto delete now: gone\nnot waited for: b\n"},
		{"a record of another version counts for nothing", strings.Replace(leavingSet(t), `{"version":"`, `{"version":"other`, 1), []string{"-f", "-", "--at-a-time", "9"},
			"\n1     not in any group  gone left\n2     group 1           c\n"},
		{"data", leavingSet(t), []string{"-f", "-", "-o", "json", "--group", "1"}, `  "atATime": 1,
  "group": "1",
  "now": [
    "c"
  ],
  "waves": [
    [
      {
        "group": {
          "index": 1
        },
        "clusters": [
          "c"
        ]
      }
    ],
`},
	} {
		if got := simulateText(t, test.in, append([]string{"removals", "--at-a-time", "1"}, test.args...)...); !strings.Contains(got, test.want) {
			t.Errorf("%s: no\n%s\nin\n%s", test.why, test.want, got)
		}
	}
	// A hub that has no object of it says that no cluster has it; files need not have these objects.
	h := newHub(t, documents(aCluster, aReplicaSet, aDecision))
	if got, want := simulateText(t, "", "removals", "--server", h.URL), "\nto delete now: no cluster has it\nlast  ManifestWorkReplicaSet ns/set itself"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

func TestRemovalsRefuse(t *testing.T) {
	for flag, want := range map[string]string{
		"--at-a-time=0":     "--at-a-time 0: must be at least 1\n",
		"--group=prod":      `--group prod: must be the index or the name of a group: group 0 "canary", group 1 "staging-eu"`,
		"--ignore=x":        "--ignore x: must name a cluster",
		"--group-order=x":   "must say which groups come after which",
		"--max-failures=10": "--max-failures: no such flag",
		"x":                 `unexpected argument "x"`,
	} {
		var stdout, stderr bytes.Buffer
		status := run([]string{"removals", "-f", "testdata/regions/shops.yaml", flag}, nil, &stdout, &stderr)
		if status != exitInput || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, want %q", flag, status, stderr.String(), want)
		}
	}
}

// A cluster with a replicated policy that only informs, and that waits for its turn, has it all the same.
func TestRemovalsOfAPolicyNameWaitingClusters(t *testing.T) {
	dump := []string{livePolicy("v2"), aBinding, decisionOf("a", "b", "c", "d")}
	for _, r := range []liveReplica{
		{"a", []policyWrite{{"v2", "enforce", -30, ""}}, "Compliant -29"}, {"b", []policyWrite{{"v2", "inform", -10, ""}}, ""}, {"e", []policyWrite{{"v2", "enforce", -5, ""}}, ""},
	} {
		dump = append(dump, r.yaml(t, true))
	}
	const want = "\n1     not in any group  e\n2     group 0           a b\nlast  Policy ns/pol itself"
	if got := simulateText(t, documents(dump...), "removals", "-f", "-", "--at-a-time", "9"); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}
