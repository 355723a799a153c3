// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

const stored = `{"items": [
	{"kind": "ManifestWorkReplicaSet", "metadata": {"namespace": "apps", "name": "good"}, "spec": {"placementRefs": [
		{"name": "p", "rolloutStrategy": {"type": "Progressive", "progressive": {"maxConcurrency": "10%", "maxFailures": 0, "minSuccessTime": "5m", "progressDeadline": "None"}}}
	]}},
	{"kind": "ManifestWorkReplicaSet", "metadata": {"namespace": "apps", "name": "web"}, "spec": {"placementRefs": [
		{"name": "p", "rolloutStrategy": {"type": "All"}},
		{"name": "q", "rolloutStrategy": {"type": "Progressive", "progressive": {"maxConcurrency": "0%", "maxFailures": "33.3%", "minSuccessTime": "-5m0s"}}}
	]}},
	{"kind": "ClusterManagementAddOn", "metadata": {"name": "logging"}, "spec": {"installStrategy": {"type": "Placements", "placements": [
		{"name": "p", "rolloutStrategy": {"type": "ProgressivePerGroup", "progressivePerGroup": {"maxFailures": "200%", "progressDeadline": "0s"}}}
	]}}}
]}`

func TestAudit(t *testing.T) {
	want := []string{
		`ManifestWorkReplicaSet apps/web: spec.placementRefs[1].rolloutStrategy.progressive.minSuccessTime: Invalid value: "-5m0s"`,
		`ManifestWorkReplicaSet apps/web: spec.placementRefs[1].rolloutStrategy.progressive.maxFailures: Invalid value: "33.3%"`,
		`ManifestWorkReplicaSet apps/web: spec.placementRefs[1].rolloutStrategy.progressive.maxConcurrency: Invalid value: "0%"`,
		`ClusterManagementAddOn /logging: spec.installStrategy.placements[0].rolloutStrategy.progressivePerGroup.progressDeadline: Invalid value: "0s"`,
		`ClusterManagementAddOn /logging: spec.installStrategy.placements[0].rolloutStrategy.progressivePerGroup.maxFailures: Invalid value: "200%"`,
	}
	var out strings.Builder
	faults, err := audit(strings.NewReader(stored), &out)
	if err != nil || faults != len(want) {
		t.Errorf("found %d faults, %v", faults, err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i := range max(len(lines), len(want)) {
		if i >= len(lines) || i >= len(want) || !strings.HasPrefix(lines[i], want[i]) {
			t.Fatalf("got\n%s\nwant lines that begin with\n%s", out.String(), strings.Join(want, "\n"))
		}
	}
}

func TestWhatIsNoListIsAnError(t *testing.T) {
	if _, err := audit(strings.NewReader("No resources found"), new(strings.Builder)); err == nil {
		t.Error("no error")
	}
}
