// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What changed between two dumps, in each kind of change, and nothing else.
func TestDiffSaysWhatChanged(t *testing.T) {
	done := strings.Replace(liveSet(), condition("Progressing", "True", "00:51"), condition("Progressing", "False", "00:58"), 1)
	started := documents(liveSet(), work("d", "00:59", aManifest))
	otherVersion := strings.Replace(liveSet(), "manifestWorkTemplate: {workload: {manifests: ["+aManifest+"]}}", "manifestWorkTemplate: {workload: {manifests: ["+anOlderManifest+"]}}", 1)
	moved := strings.Replace(liveSet(), decisionOf("a", "b", "c", "d"), decisionOf("a", "b", "c", "e"), 1)
	dir := t.TempDir()
	for _, test := range []struct {
		why, was, is string
		args         []string
		want         []string
		never        string
	}{
		{"nothing", liveSet(), liveSet(), nil, []string{"\n  nothing changed\n"}, "\n  started ("},
		{"a success", liveSet(), done, nil, []string{"at 2025-01-01T00:51:00Z: 1 of 4 clusters done, 1 in flight, 2 not started\n", "\n  succeeded (1): b\n"}, "nothing changed"},
		{"a start", liveSet(), started, nil, []string{"\n  started (1): d\n"}, "succeeded"},
		{"a failure that breaches", liveSet(), liveBreach(), nil, []string{"\n  failed (1): b\n", "\n  the rollout is stopped: b failed, maxFailures is 0; the rollout continues once b is no longer failed or timed out\n"}, ""},
		{"a recovery", liveBreach(), done, nil, []string{"\n  recovered (1): b\n", "\n  goes on: maxFailures is not exceeded any more, and the rollout continues\n"}, ""},
		{"a deadline that passed between", liveSet(), liveSet(), []string{"--new-at", "2025-01-01T02:00:00Z"}, []string{"\n  timed out (1): b\n"}, "nothing changed"},
		{"a new version, which c has had before", otherVersion, liveSet(), nil, []string{"\n  changed: spec.manifestWorkTemplate\n"}, "\n  started ("},
		{"another strategy", liveSet(), strings.Replace(liveSet(), "maxConcurrency: 1", "maxConcurrency: 2", 1), nil, []string{"\n  changed: spec.placementRefs\n"}, "\n  started ("},
		{"other clusters", liveSet(), moved, nil, []string{"\n  selected (1): e\n  deselected (1): d\n"}, ""},
		{"another rollout", liveSet(), strings.ReplaceAll(liveSet(), "name: set, namespace: ns", "name: other, namespace: ns"), nil, []string{"ns/other\n  is new\n", "ns/set\n", "\n  is gone\n"}, "changed"},
	} {
		old, new := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
		for file, text := range map[string]string{old: test.was, new: test.is} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := simulateText(t, "", append([]string{"diff", old, new}, test.args...)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.why, want, got)
			}
		}
		if test.never != "" && strings.Contains(got, test.never) {
			t.Errorf("%s: %q in\n%s", test.why, test.never, got)
		}
		if data := simulateText(t, "", append([]string{"diff", old, new, "-o", "json"}, test.args...)...); !json.Valid([]byte(data)) {
			t.Errorf("%s: no JSON: %s", test.why, data)
		}
	}
	for want, args := range map[string][]string{
		"must be followed by two files":             {},
		"--new-at: must be given with NEW":          {"one.yaml", "--new-at", "10:15"},
		"which is no recording, the time must have": {filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml"), "--old-at", "10:15"},
	} {
		if got := refused(t, "", append([]string{"diff"}, args...)...); !strings.Contains(got, want) {
			t.Errorf("%v: %s", args, got)
		}
	}
}

// What changed since a dump or a moment of a recording is told of the hub as it is now.
func TestDiffUntilNow(t *testing.T) {
	h := newHub(t, liveNow(liveSet()))
	dir := t.TempDir()
	dump, file := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "day.rec")
	if err := os.WriteFile(dump, []byte(liveNow(liveSet())), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	h.read = func(lists int) {
		if lists == 2 {
			h.now(liveNow(strings.Replace(doneSet(), "name: set, namespace: ns", `name: set, namespace: ns, annotations: {cohort.open-cluster-management.io/pause: "true"}`, 1)))
		}
		if lists == 3 {
			stop()
		}
	}
	var stdout, stderr bytes.Buffer
	if status := execute(ctx, []string{"record", file, "--interval", "1s", "--server", h.URL}, nil, &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr.String())
	}
	h.read = func(int) {}
	for _, args := range [][]string{{dump, "--server", h.URL}, {file, "--server", h.URL}, {file, file}, {dump, file}} {
		got := simulateText(t, "", append([]string{"diff"}, args...)...)
		if !strings.Contains(got, "\n  succeeded (1): b\n") || !strings.Contains(got, "\n  changed: metadata.annotations[cohort.open-cluster-management.io/pause]\n") {
			t.Errorf("%v: b has succeeded and it was paused, and it says\n%s", args, got)
		}
	}
}
