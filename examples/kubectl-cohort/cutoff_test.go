// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// A Behavior says the same as the flags, and the flags come first.
func TestABehaviorCutsClustersOff(t *testing.T) {
	document := "\napiVersion: examples.cohort-ocm.io/v1\nkind: Behavior\nspec: {lease: 7m, clusters: [{names: [a], outcome: CutOff}]}\n"
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"after its lease", document, nil, "\n7m    0        1          0     0       1           2 blocked"},
		{"after that of the flag", document, []string{"--lease", "9m"}, "\n9m    0        1          0     0       1           2 blocked"},
		{"after that of OCM", strings.Replace(document, "lease: 7m, ", "", 1), nil, "\n5m    0        1          0     0       1           2 blocked"},
		{"the same by flags", "", []string{"--cut-off", "a", "--lease", "7m"}, "\n7m    0        1          0     0       1           2 blocked"},
		{"a share", "", []string{"--cut-off", "100%"}, "\n5m    0        1          0     0       1           2 blocked"},
		{"no cluster", "", []string{"--lease", "7m"}, "note: --lease: no effect, no cluster is cut off: --cut-off says which are\n"},
	} {
		got := simulateText(t, documents(aReplicaSet, decisionOf("a", "b", "c"), test.in), append(test.args, "-f", "-")...)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in\n%s", test.why, test.want, got)
		}
	}
}

// Where the taint is tolerated, the cluster stays selected, and never answers.
func TestAPlacementThatToleratesTheTaintKeepsClusters(t *testing.T) {
	for _, test := range []struct{ why, tolerations, want string }{
		{"this taint", "{key: cluster.open-cluster-management.io/unreachable, operator: Exists}", "(1): a\n"},
		{"all taints", "{operator: Exists}", "(1): a\n"},
		{"another", "{key: x, operator: Exists}", ""},
	} {
		placement := strings.Replace(aPlacement, "spec: {}", "spec: {tolerations: ["+test.tolerations+"]}", 1)
		got := simulateText(t, documents(placement, aReplicaSet, aCluster), "-f", "-", "--cut-off", "a")
		note := "note: Placement: it tolerates the taint cluster.open-cluster-management.io/unreachable, so these stay selected when they are cut off "
		if strings.Contains(got, note+test.want) != (test.want != "") || strings.Contains(got, "deselected: a\n") == (test.want != "") {
			t.Errorf("%s: a stays, want %t:\n%s", test.why, test.want != "", got)
		}
	}
}

func TestAPolicyKeepsClustersThatAreCutOff(t *testing.T) {
	got := simulateText(t, documents(aPolicy, aBinding, decisionOf("a", "b")), "-f", "-", "--cut-off", "a")
	if want := "stay selected, since for a Policy it is not played how the scheduler drops them (1): a\n"; !strings.Contains(got, want) || strings.Contains(got, "deselected: ") {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// JSON names deselected clusters, when they got the version, and which objects hang in deletion.
func TestJSONNamesDeselectedClusters(t *testing.T) {
	var report struct {
		Waves []struct {
			After               string
			Deselected, Deleted []string
		}
		End struct {
			Outcome      string
			Unsuccessful []struct {
				Name, Status, Since string
				Deselected          bool
			}
		}
	}
	in := documents(strings.Replace(aReplicaSet, "maxConcurrency: 1", "maxConcurrency: 1, progressDeadline: 30m", 1), decisionOf("a", "b", "c"))
	if err := json.Unmarshal([]byte(simulateText(t, in, "-f", "-", "--cut-off", "b", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	said := make(map[string]string)
	for _, w := range report.Waves {
		if len(w.Deselected) > 0 {
			said["left"] += strings.Join(w.Deselected, " ") + " " + w.After
		}
		if len(w.Deleted) > 0 {
			said["deleted"] += strings.Join(w.Deleted, " ") + " " + w.After
		}
	}
	if said["left"] != "b 15m0s" || said["deleted"] != "b 16m0s" {
		t.Errorf("%v, want b after 15m and 16m", said)
	}
	if u := report.End.Unsuccessful; len(u) != 1 || u[0].Name != "b" || !u[0].Deselected || u[0].Since != "10m0s" || u[0].Status != "TimeOut" || report.End.Outcome != "Breached" {
		t.Errorf("%+v, want b, which was deselected", report.End)
	}
}

// An unselected cluster with a work on the hub stops the rollout, if its agent never answered.
func TestAClusterDeselectedBeforeStopsARolloutUnderWay(t *testing.T) {
	gone := work("gone", "00:01", aManifest, condition("Applied", "True", "00:02"))
	in := documents(strings.Replace(aReplicaSet, "manifestWorkTemplate: {}", "manifestWorkTemplate: {workload: {manifests: ["+aManifest+"]}}", 1), decisionOf("a"), gone)
	in = strings.Replace(in, "maxConcurrency: 1", "maxConcurrency: 1, progressDeadline: 30m", 1)
	got := simulateText(t, in, "-f", "-", "--start", "2025-01-01T01:00:00Z")
	if want := "\nnow: Breached: the rollout is stopped: gone (deselected) failed"; !strings.Contains(got, want) || !strings.Contains(got, "add gone to the ignored clusters (no longer counted as in flight, failed or done)") {
		t.Errorf("no %q in\n%s", want, got)
	}
}
