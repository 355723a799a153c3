// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// recordingOf has a rollout of two clusters, one at a time. The second starts so many seconds after the first, which never answers.
func recordingOf(t *testing.T, seconds int) string {
	t.Helper()
	var text bytes.Buffer
	rv := 0
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	write := func(after int, typed, kind, namespace, name, more string) {
		at = at.Add(time.Duration(after) * time.Second)
		l := judge.Line{Type: typed, At: at}
		if kind != "" {
			rv++
			l.Object = json.RawMessage(strings.NewReplacer("KIND", kind, "NAMESPACE", namespace, "NAME", name, "RV", string(rune('0'+rv))).Replace(
				`{"kind":"KIND","metadata":{"namespace":"NAMESPACE","name":"NAME","resourceVersion":"RV","generation":1,`) + more)
		}
		if err := json.NewEncoder(&text).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	write(0, "BEGIN", "", "", "", "")
	write(0, "LISTED", "", "", "", "")
	write(10, "ADDED", "ManifestWorkReplicaSet", "w", "web", `"labels":{}},"spec":{"manifestWorkTemplate":{"workload":{"manifests":[{"v":1}]}},"placementRefs":[{"name":"fleet","rolloutStrategy":{"type":"Progressive","progressive":{"maxConcurrency":1}}}]},"status":{"conditions":[{"type":"x","status":"True"}]}}`)
	write(0, "ADDED", "PlacementDecision", "w", "fleet-0", `"labels":{"cluster.open-cluster-management.io/placement":"fleet"}},"status":{"decisions":[{"clusterName":"a"},{"clusterName":"b"}]}}`)
	write(0, "ADDED", "Placement", "w", "fleet", `"labels":{}},"status":{"numberOfSelectedClusters":2,"decisionGroups":[{"decisionGroupIndex":0,"clusterCount":2,"decisions":["fleet-0"]}]}}`)
	work := `"labels":{"work.open-cluster-management.io/manifestworkreplicaset":"w.web"}},"spec":{"workload":{"manifests":[{"v":1}]}}}`
	write(10, "ADDED", "ManifestWork", "a", "web", work)
	write(seconds, "ADDED", "ManifestWork", "b", "web", work)
	file := filepath.Join(t.TempDir(), "hub.jsonl")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The exit code says what came of it: 0 nothing broken, 1 something, 2 bad input, with one line.
func TestExitCodes(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	broken, fine := recordingOf(t, 9), recordingOf(t, 1)
	whole, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	begun := strings.ReplaceAll(string(whole), `"LISTED"`, `"BOOKMARK"`) // the first list never ended
	for _, tt := range []struct {
		args  []string
		input string
		code  int
		out   string // what is printed, also as an error
	}{
		{[]string{"judge", broken}, "", 1, "instead: the concurrency limit is reached (1 of 1 in flight): a has not reported on this version"},
		{[]string{"judge", "-json", broken}, "", 1, `"kind": "concurrency"`},
		{[]string{"judge", "-html", filepath.Join(missing, "page.html"), broken}, "", 2, "no such file"},
		{[]string{"judge", "-html", missing + ".html", broken}, "", 1, "broken: 1"},
		{[]string{"judge", "-lag", "10s", broken}, "", 0, "suspicious: 1"},
		{[]string{"judge", fine}, "", 0, "broken: 0"},
		{[]string{"judge", missing}, "", 2, "no such file"},
		{[]string{"judge", fine, broken}, "", 2, "there are 2 inputs: expected audit logs, or one recording"},
		{[]string{"judge", "-lag", "0s", fine}, "", 2, "-lag is 0s, expected a positive time"},
		{[]string{"judge", "-patience", "0s", fine}, "", 2, "-patience is 0s, expected a positive time"},
		{[]string{"judge", "-remove-after", "-1s", fine}, "", 2, "-remove-after is -1s, expected 0 or a positive time"},
		{[]string{"judge", "-began", "2026-01-01T00:00:00Z", "-began", "2026-01-01T00:01:00.5Z", fine}, "", 0, "broken: 0"},
		{[]string{"judge", "-began", "noon", fine}, "", 2, `invalid value "noon" for flag -began: expected a time as 2026-01-01T00:00:00Z`},
		{[]string{"judge", "-lag", "soon", fine}, "", 2, `invalid value "soon" for flag -lag: parse error; trial judge -h lists the flags`},
		{[]string{"judge", "-guess", fine}, "", 2, "trial judge: flag provided but not defined: -guess; trial judge -h lists the flags"},
		{[]string{"judge", fine, "-json"}, "", 2, "trial judge: -json stands behind a file, expected flags before all files"},
		{[]string{"judge", "-"}, begun, 2, "trial judge: nothing was judged: no part of it is whole"},
		{[]string{"judge", "-h"}, "", 0, "for how long nothing may happen"},
		{[]string{"-h"}, "", 0, "usage"},
		{[]string{"judge"}, "nonsense\n", 2, "trial judge: line 1: expected a JSON object"},
		{[]string{"judge", "-"}, "", 2, "the recording is empty"},
		{[]string{"excerpt", broken, "7"}, "", 0, `"name":"fleet-0"`},
		{[]string{"excerpt", "-kind", "concurrency", broken, "7"}, "", 0, `"name":"fleet-0"`},
		{[]string{"excerpt", "-kind", "soak", broken, "7"}, "", 2, `nothing of the kind "soak" was found in line 7`},
		{[]string{"excerpt", "-", "7"}, "", 2, "a recording is read twice"},
		{[]string{"excerpt", "7"}, "", 2, "1 arguments, expected a file and the number of a line"},
		{[]string{"excerpt", broken, "x"}, "", 2, `the line is "x", expected a number`},
		{[]string{"record", "-kubeconfig", missing}, "", 2, "no such file"},
		{[]string{"record", "more"}, "", 2, `["more"] is too much`},
		{[]string{"anonymise", missing}, "", 2, "no such file"},
		{[]string{"measure", "-events", "0"}, "", 2, "-events is 0"},
		{[]string{"excerpt", broken, "6"}, "", 2, "nothing was found in line 6"},
		{[]string{"anonymise", broken}, "", 0, `"kind":"ManifestWork"`},
		{[]string{"measure", "-events", "1000", "-clusters", "20"}, "", 0, "0 broken"},
		{[]string{"measure", "-audit", "-events", "1000", "-clusters", "20"}, "", 0, "1000 events"},
		{[]string{"judge", "-"}, `{"kind":"Event","apiVersion":"audit.k8s.io/v1"}` + "\n", 2, "line 1: stageTimestamp is"},
		{[]string{"guess"}, "", 2, `"guess" is not a command`},
		{nil, "", 2, "usage"},
	} {
		var out, errs bytes.Buffer
		code := run(tt.args, strings.NewReader(tt.input), &out, &errs)
		if text := out.String() + errs.String(); code != tt.code || !strings.Contains(text, tt.out) || code == 2 && strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit code %d, want %d, with %q:\n%s", tt.args, code, tt.code, tt.out, text)
		}
	}
}

// An excerpt is judged as the whole recording is.
func TestExcerptIsARecording(t *testing.T) {
	var out bytes.Buffer
	if code := run([]string{"excerpt", recordingOf(t, 9), "7"}, nil, &out, io.Discard); code != fine {
		t.Fatal(code)
	}
	if code := run([]string{"judge"}, &out, io.Discard, io.Discard); code != broken {
		t.Error(code)
	}
}

// What a recorder writes can be read: first what there is, then what happens. A kind that the hub does not have is said. Of ManagedClusters there
// are names and deletions; where the hub refuses them, or lacks them, the rest is recorded all the same.
func TestRecord(t *testing.T) {
	refused := apierrors.NewForbidden(clusters.resource.GroupResource(), "", errors.New("no"))
	lacking := apierrors.NewNotFound(clusters.resource.GroupResource(), "")
	for said, err := range map[string]error{"": nil, "is forbidden: no: which clusters are ignored": refused, "the hub has no managedclusters": lacking} {
		testRecord(t, said, err)
	}
}

func testRecord(t *testing.T, said string, refuses error) {
	kinds := map[schema.GroupVersionResource]string{}
	for _, k := range recorded {
		kinds[k.resource] = k.kind + "List"
	}
	object := func(name, rv string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement"}}
		u.SetNamespace("w")
		u.SetName(name)
		u.SetResourceVersion(rv)
		return u
	}
	cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster", "spec": map[string]any{"secret": "x"}}}
	cluster.SetName("c1")
	cluster.SetResourceVersion("1")
	cluster.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, object("first", "1"), cluster)
	if refuses != nil {
		client.PrependReactor("list", "managedclusters", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refuses })
	}
	ctx, stop := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	r := &recorder{client: client, out: json.NewEncoder(&out), errs: &errs, bookmark: time.Millisecond}
	done := make(chan error)
	go func() { done <- r.run(ctx) }()
	says := func(what string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.Contains(out.String(), what)
	}
	for i := 0; !says(`"name":"second"`); i++ { // the watch may begin later
		placements := client.Resource(recorded[0].resource).Namespace("w")
		_ = placements.Delete(ctx, "second", metav1.DeleteOptions{})
		if _, err := placements.Create(ctx, object("second", "2"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(10 * time.Millisecond); i > 1000 {
			t.Fatal(out.String())
		}
	}
	for !says("BOOKMARK") {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text := out.String(); (refuses == nil) != strings.Contains(text, `"name":"c1"`) || (refuses == nil) != strings.Contains(text, "deletionTimestamp") || strings.Contains(text, "secret") || !strings.Contains(errs.String(), said) {
		t.Errorf("%v: %s\n%s", refuses, text, errs.String())
	}
	recording, err := judge.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if recording.Lines["BEGIN"] != 1 || recording.Lines["LISTED"] != 1 || recording.Lines["Placement"] < 2 {
		t.Error(recording.Lines)
	}
}
