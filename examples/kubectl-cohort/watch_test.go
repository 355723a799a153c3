// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/output"
)

// fakeHub serves lists of the objects in a text of YAML, which a test may change.
type fakeHub struct {
	sync.Mutex
	*httptest.Server
	text  string
	lists int // of what rolls out
	read  func(lists int)
}

func newHub(t *testing.T, text string) *fakeHub {
	t.Helper()
	h := &fakeHub{text: text, read: func(int) {}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// now has the hub hold other objects.
func (h *fakeHub) now(text string) {
	h.Lock()
	defer h.Unlock()
	h.text = text
}

// ServeHTTP lists the objects of a resource, which is named after its kind.
func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	namespace := ""
	if len(path) == 6 && path[3] == "namespaces" {
		namespace, path = path[4], append(path[:3], path[5])
	}
	if r.Method != http.MethodGet || len(path) != 4 || path[0] != "apis" {
		http.NotFound(w, r)
		return
	}
	if path[3] == "manifestworkreplicasets" {
		h.lists++
		h.read(h.lists)
	}
	h.Lock()
	defer h.Unlock()
	wanted, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
	items := []any{}
	for document := range strings.SplitSeq(h.text, "---") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil || object == nil {
			continue
		}
		if object["apiVersion"] == path[1]+"/"+path[2] && strings.Replace(strings.ToLower(fmt.Sprint(object["kind"]))+"s", "ys", "ies", 1) == path[3] &&
			(namespace == "" || object["metadata"].(map[string]any)["namespace"] == namespace) && wanted.Matches(labelsOf(object)) {
			items = append(items, object)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}

func labelsOf(object map[string]any) labels.Set {
	found, _, _ := unstructured.NestedStringMap(object, "metadata", "labels")
	return found
}

// liveNow is liveSet with times that are as long before now as they were before one o'clock.
func liveNow(text string) string {
	for minute := range 60 {
		at := time.Now().UTC().Add(time.Duration(minute-60) * time.Minute).Format(time.RFC3339)
		text = strings.ReplaceAll(text, fmt.Sprintf("2025-01-01T00:%02d:00Z", minute), at)
	}
	return text
}

// doneSet is liveSet when b has succeeded.
func doneSet() string {
	return strings.Replace(liveSet(), condition("Progressing", "True", "00:51"), condition("Progressing", "False", "00:58"), 1)
}

// A hub is read where no file is given, by every command alike.
func TestCommandsReadAHub(t *testing.T) {
	h := newHub(t, liveNow(liveSet()))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"status"}, "\n1 of 4 clusters done, 1 in flight, 2 not started\n"},
		{[]string{"status", "set", "--max-concurrency", "2"}, "\nmay start now (1): c\n"},
		{[]string{"status", "-o", "name", "-n", "ns"}, "manifestworkreplicaset.work.open-cluster-management.io/set\n"},
		{[]string{"explain", "d"}, "\nnow      waits until "},
		{[]string{"explain"}, "\n  2 clusters: the concurrency limit is reached (1 of 1 in flight): b is progressing"},
		{[]string{"plan"}, "Complete: 4 of 4 clusters done\n"},
		{[]string{"exposure"}, "Now: 1 of 4 clusters done"},
		{[]string{"compare", "--strategy", "testdata/design/strategies.yaml"}, "\nVerdict: "},
	} {
		if got := simulateText(t, "", append(test.args, "--server", h.URL)...); !strings.Contains(got, test.want) && !strings.Contains(got, strings.ReplaceAll(test.want, "      ", "   ")) {
			t.Errorf("%v: no %q in\n%s", test.args, test.want, got)
		}
	}
	for _, test := range []struct {
		text string
		args []string
		want string
	}{
		{liveSet(), []string{"status", "other"}, "--rollout other: must be one of ManifestWorkReplicaSet ns/set"},
		{aPlacement, []string{"status"}, "nothing rolls out on the hub: "},
		{aPlacement, []string{"plan", "-n", "ns"}, " in namespace ns"},
		{aReplicaSet, []string{"status"}, "ManifestWorkReplicaSet ns/set: placement ns/p: "},
	} {
		h.now(test.text)
		if got := refused(t, "", append(test.args, "--server", h.URL)...); !strings.Contains(got, test.want) {
			t.Errorf("%v: %s, want %s", test.args, got, test.want)
		}
	}
	h.now(documents(liveNow(liveSet()), strings.NewReplacer("name: set", "name: lost", "[{name: p,", "[{name: nowhere,").Replace(aReplicaSet)))
	if got, want := simulateText(t, "", "status", "--server", h.URL), "note: left out: manifestworkreplicasets.work.open-cluster-management.io: ManifestWorkReplicaSet ns/lost: placement ns/nowhere: "; !strings.Contains(got, want) || !strings.Contains(got, "1 of 4 clusters done") {
		t.Errorf("no %s in\n%s", want, got)
	}
}

// Outside a terminal a watch says what changes, and ends without an error when it is interrupted.
func TestAWatchSaysWhatChanges(t *testing.T) {
	h := newHub(t, liveNow(liveSet()))
	ctx, stop := context.WithCancel(t.Context())
	h.read = func(lists int) {
		switch lists {
		case 2:
			h.now(liveNow(doneSet()))
		case 3:
			stop()
		}
	}
	var stdout, stderr bytes.Buffer
	if status := execute(ctx, []string{"status", "--watch", "--interval", "1s", "--server", h.URL}, nil, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("exit status %d: %s", status, stderr.String())
	}
	_, after, found := strings.Cut(stdout.String(), "forecast: ")
	if _, line, _ := strings.Cut(after, "\n"); !found || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, " ManifestWorkReplicaSet ns/set: b succeeded; 2 of 4 clusters done, 2 not started\n") {
		t.Errorf("want one line with a success behind the status:\n%s", stdout.String())
	}
	for want, args := range map[string][]string{
		"without -f and --start":      {"-f", "x"},
		"without -o json":             {"-o", "json"},
		"--interval 0s: must be at l": {"--interval", "0s"},
	} {
		if got := refused(t, "", append([]string{"status", "-w"}, args...)...); !strings.Contains(got, want) {
			t.Errorf("%v: %s", args, got)
		}
	}
}

// A screen shows as much of the text as it has room for, and nothing of what was there before.
func TestAScreenIsRedrawnInPlace(t *testing.T) {
	var b bytes.Buffer
	draw := func(w io.Writer) error {
		return write(w, []output.Standing{{Rollout: "x"}, {Rollout: strings.Repeat("ä", 30)}}, "")
	}
	if err := redraw(&b, draw, 20, 3); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, "\x1b[H") || strings.Count(got, "\x1b[K\r\n") != 2 || !strings.HasSuffix(got, "\x1b[J") {
		t.Errorf("got %q", got)
	}
	for line := range strings.SplitSeq(b.String(), "\x1b[K\r\n") {
		if n := len([]rune(strings.TrimPrefix(line, "\x1b[H"))); n > 20 {
			t.Errorf("%d characters in a line of 20: %q", n, line)
		}
	}
}

// In a real terminal a watch shows the present alone.
func TestAWatchInATerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil || testing.Short() {
		t.Skip("it needs tmux, and builds the program")
	}
	h := newHub(t, liveNow(liveSet()))
	dir := t.TempDir()
	binary, socket := filepath.Join(dir, "kubectl-cohort"), filepath.Join(dir, "tmux")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tmux := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", os.DevNull}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-x", "100", "-y", "24", binary+" status --watch --interval 1s --server "+h.URL)
	defer exec.Command("tmux", "-S", socket, "kill-server").Run()
	shows := func(want, never string) {
		t.Helper()
		var screen string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if screen = tmux("capture-pane", "-p"); strings.Contains(screen, want) && !strings.Contains(screen, never) {
				return
			}
		}
		t.Fatalf("within a minute never %q and not %q; it shows\n%s", want, never, screen)
	}
	shows("1 of 4 clusters done, 1 in flight", "2 of 4")
	shows("└─ group 0 1/4 ", "2 of 4") // next to a picture of the past and of what is expected, with a line between
	if screen := tmux("capture-pane", "-p"); !regexp.MustCompile(`└─ group 0 1/4 +[·░▁-█]+│[·░▁-█]+\n`).MatchString(screen) || !strings.Contains(screen, "b is progressing and times out at ") || !strings.Contains(screen, " now") {
		t.Errorf("no tree with a picture in\n%s", screen)
	}
	h.now(liveNow(doneSet()))
	shows("2 of 4 clusters done", "1 of 4 clusters done")
	tmux("send-keys", "C-c")
	for range 100 {
		if exec.Command("tmux", "-S", socket, "has-session").Run() != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("it does not end when it is interrupted")
}
