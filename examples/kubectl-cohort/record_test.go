// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/recording"
)

// A recording answers about each moment as the hub did then, and says what happened when.
func TestARecordingAnswersForThePast(t *testing.T) {
	h := newHub(t, liveNow(liveSet()))
	ctx, stop := context.WithCancel(t.Context())
	h.read = func(lists int) {
		switch lists {
		case 2:
			h.now(liveNow(doneSet()))
		case 3:
			h.now(aPlacement) // what rolled out is gone
		case 4:
			stop()
		}
	}
	file := filepath.Join(t.TempDir(), "day.rec")
	var stdout, stderr bytes.Buffer
	if status := execute(ctx, []string{"record", file, "--interval", "1s", "--server", h.URL}, nil, &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr.String())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recording.Read(file, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	times := r.Times()
	if len(times) != 3 {
		t.Fatalf("%d readings, want 3; %s", len(times), stderr.String())
	}
	at := func(i int) string { return times[i].Format(time.RFC3339) }
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", file, "--at", at(0)}, "1 of 4 clusters done, 1 in flight, 2 not started"},
		{[]string{"replay", file, "--at", at(1)}, "2 of 4 clusters done"},
		{[]string{"status", "--recording", file, "--at", at(0)}, "1 of 4 clusters done, 1 in flight, 2 not started"},
		{[]string{"status", "--recording", file, "--at", times[1].Format("15:04:05"), "-o", "name"}, "manifestworkreplicaset.work.open-cluster-management.io/set"},
		{[]string{"explain", "d", "--recording", file, "--at", at(0)}, "the concurrency limit is reached (1 of 1 in flight): b is progressing"},
		{[]string{"plan", "--recording", file, "--at", at(1), "--max-concurrency", "2"}, "Complete: 4 of 4 clusters done"},
		{[]string{"replay", file}, " ManifestWorkReplicaSet ns/set: b succeeded; 2 of 4 clusters done"},
	} {
		if times[0].Day() != times[2].Day() {
			t.Skip("midnight has passed between")
		}
		if got := simulateText(t, "", test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%v: no %q in\n%s", test.args, test.want, got)
		}
	}
	cut := filepath.Join(t.TempDir(), "cut.rec")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"status", "--recording", file, "--at", at(2)}, "nothing rolls out on the hub"},
		{[]string{"status", "--recording", file, "--at", "2025-01-01T00:00:00Z"}, "not recorded at 2025-01-01T00:00:00Z: it is from " + at(0) + " to " + at(2)},
		{[]string{"status", "--recording", file, "-f", "-"}, "--recording: must be given without -f"},
		{[]string{"status", "--at", "10:15", "-f", "-"}, "--at: must be given with --recording"},
		{[]string{"status", "--at", "soon"}, "--at soon: must be a time of the day such as 10:15, or a time such as "},
		{[]string{"status", "--recording", "record_test.go"}, "record_test.go: must be a recording"},
		{[]string{"record", file, "--server", h.URL}, "file exists"},
		{[]string{"record", cut, "--interval", "1ms"}, "--interval 1ms: must be at least 1s"},
		{[]string{"replay"}, "replay: must be followed by one file"},
	} {
		if got := refused(t, "", test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
	// A recorder that was killed leaves what it had written.
	for _, length := range []int{len(data) - 1, len(data) - 20} {
		r, err := recording.Read(cut, bytes.NewReader(data[:length]))
		if err != nil || len(r.Times()) == 0 || len(r.Times()) > 3 {
			t.Errorf("of %d bytes: %v, want the first readings", length, err)
		}
	}
	if _, err := recording.Read(cut, bytes.NewReader(data[:40])); err == nil || !strings.Contains(err.Error(), "has no reading") {
		t.Errorf("of 40 bytes: %v, want that there is no reading", err)
	}
	if objects, err := r.At(times[0], manifest.Reader{}); err != nil || len(objects) < 5 {
		t.Errorf("%v: %d objects", err, len(objects))
	}
}
