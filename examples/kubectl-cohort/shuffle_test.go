// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// started are the clusters of a plan in the order in which they start.
func started(t *testing.T, in string, args ...string) (names []string) {
	t.Helper()
	var report struct{ Waves []struct{ Started []string } }
	if err := json.Unmarshal([]byte(simulateText(t, in, append([]string{"-f", "-", "-o", "json"}, args...)...)), &report); err != nil {
		t.Fatal(err)
	}
	for _, wave := range report.Waves {
		names = append(names, wave.Started...)
	}
	return names
}

// With --shuffle clusters start as rollout.Shuffled says, by the seed of the flag or by the version of the stamps.
func TestShuffledClustersStartInTheOrderOfTheSeed(t *testing.T) {
	var names, texts []string
	for i := range 9 {
		names = append(names, fmt.Sprint("c", i))
		texts = append(texts, strings.Replace(aCluster, "name: a", "name: "+names[i], 1))
	}
	fresh := documents(append(texts, aPlacement, aReplicaSet)...) // one cluster at a time
	stamped := documents(thirdVersion(t, 0, nil, "p"), decisionOf(names...), liveWork{cluster: "c0", spec: "v3", stamp: versionOf("v3"), stamped: -20, status: "Succeeded", since: -10}.yaml(t))
	for _, test := range []struct{ in, flag, seed string }{
		{fresh, "--shuffle=v2", "v2"}, {fresh, "--shuffle=v3", "v3"}, {fresh, "--shuffle", writes.VersionOf(workv1.ManifestWorkSpec{})},
		{stamped, "--shuffle", versionOf("v3")}, {stamped, "--shuffle=v2", "v2"},
	} {
		got := started(t, test.in, test.flag, "--start", "2025-01-01T01:00:00Z")
		want := slices.SortedFunc(slices.Values(names), rollout.Shuffled(test.seed))
		want = slices.DeleteFunc(want, func(name string) bool { return !slices.Contains(got, name) })
		if len(got) < 8 || !slices.Equal(got, want) || slices.IsSorted(got) {
			t.Errorf("%s: %v start, want %v", test.flag, got, want)
		}
	}
}

func TestAShuffleSaysTheOrderAndWhereThereIsNone(t *testing.T) {
	const regions, addon = "testdata/regions/shops.yaml", "testdata/addon/list.yaml"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"plan", "-f", regions, "--shuffle=v2", "--max-starts", "1/1h"}, "note: --shuffle: the seed \"v2\" gives each cluster its turn within its group: " +
			"group 0 \"canary\": canary-1 canary-2; group 1 \"staging-eu\": staging-eu-1; group 2 \"prod-eu\": shop-paris shop-berlin shop-madrid; " +
			"group 3 \"staging-us\": staging-us-1; group 4 \"prod-us\": shop-denver shop-boston\n"},
		{[]string{"plan", "-f", regions, "--shuffle=v2"}, "note: --shuffle: no effect, all clusters of a stage may start at once\n"},
		{[]string{"exposure", "-f", regions, "--shuffle=v2"}, "note: --shuffle: no effect, the numbers are of any order\n"},
		{[]string{"plan", "-f", "testdata/design/clusters.yaml", "-f", "testdata/design/placement.yaml", "--shuffle=v2"}, " and 140 more\n"},
	} {
		if got := simulateText(t, "", test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%v: no %q in\n%s", test.args, test.want, got)
		}
	}
	// Clusters with another version come before those that never had one, and a cluster with the version has had its turn.
	if got, want := simulateText(t, liveSet(), "plan", "-f", "-", "--shuffle=v1"), "within its group: group 0: c d\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	for _, command := range []string{"plan", "compare", "exposure", "status"} {
		for flag, want := range map[string]string{
			"--shuffle":  "--shuffle: must have a seed, as in --shuffle=v2: nothing says which version ClusterManagementAddOn cert-exporter wants\n",
			"--shuffle=": "--shuffle \"\": must have a seed behind the =, or stand without an = for the version that is wanted",
		} {
			var stdout, stderr bytes.Buffer
			if status := run([]string{command, "-f", addon, flag}, nil, &stdout, &stderr); status != exitInput || !strings.Contains(stderr.String(), want) {
				t.Errorf("%s %s: exit status %d, %q, want %q", command, flag, status, stderr.String(), want)
			}
		}
	}
}
