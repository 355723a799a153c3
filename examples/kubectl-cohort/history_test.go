// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/examples/internal/manifest"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/recording"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// shot is what a hub held at a time.
type shot struct {
	at   time.Time
	text string
}

// recordingOf is a file of a recording.
func recordingOf(t *testing.T, shots ...shot) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "day.rec"))
	if err != nil {
		t.Fatal(err)
	}
	w := recording.NewWriter(file)
	for _, s := range shots {
		var objects []manifest.Object
		if s.text != "" {
			if objects, err = (manifest.Reader{}).Read(strings.NewReader(s.text), "-"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Add(s.at, objects); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// toldMoment is a moment in JSON.
type toldMoment struct {
	Time, Until, What, Message, From string
	WaitsFor                         []string
}

func toldOf(t *testing.T, stdin string, args ...string) (all [][]toldMoment) {
	t.Helper()
	var told struct {
		Rollouts []struct{ Moments []toldMoment }
	}
	if err := json.Unmarshal([]byte(simulateText(t, stdin, append([]string{"history", "-o", "json"}, args...)...)), &told); err != nil {
		t.Fatal(err)
	}
	for _, r := range told.Rollouts {
		all = append(all, r.Moments)
	}
	return all
}

// world plays a controller of works that stamps, minute by minute, until all clusters are done. It gives what the hub held.
func world(t *testing.T, n int, seed uint64, soak time.Duration) (shots []shot, clusters []string) {
	t.Helper()
	luck := rand.New(rand.NewPCG(seed, 1))
	version := writes.VersionOf(versionSpec("v3"))
	for i := range n {
		clusters = append(clusters, fmt.Sprintf("edge-%d", i))
	}
	started, ends := make(map[string]int), make(map[string]int)
	for minute := 0; minute < 60; minute++ {
		dump := func() string {
			documentsOf := []string{thirdVersion(t, soak, nil, "p"), decisionOf(clusters...)}
			for _, name := range clusters {
				since, begun := started[name]
				if !begun {
					continue
				}
				w := liveWork{cluster: name, spec: "v3", stamp: version, stamped: since, status: status.Progressing, since: since}
				if ends[name] <= minute {
					w.status, w.since = status.Succeeded, ends[name]
				}
				documentsOf = append(documentsOf, w.yaml(t))
			}
			return documents(documentsOf...)
		}
		var stands struct {
			MayStart []string
			Summary  struct{ Succeeded, Soaking int }
		}
		text := simulateText(t, dump(), "status", "-o", "json", "-f", "-", "--start", at(minute).Format(time.RFC3339))
		if err := json.Unmarshal([]byte(text), &stands); err != nil {
			t.Fatal(err)
		}
		for _, name := range stands.MayStart {
			started[name], ends[name] = minute, minute+1+luck.IntN(6)
		}
		shots = append(shots, shot{at(minute), dump()})
		if stands.Summary.Succeeded-stands.Summary.Soaking == len(clusters) {
			return shots, clusters
		}
	}
	t.Fatal("no end after an hour")
	return nil, nil
}

// What the objects keep of a rollout that went well is what was recorded of it: the same waits, releases and starts at the same
// times, of each cluster.
func TestTheObjectsKeepWhatWasRecorded(t *testing.T) {
	for seed := range uint64(4) {
		shots, clusters := world(t, 7, seed, time.Duration(seed%2)*2*time.Minute)
		file, end := recordingOf(t, shots...), shots[len(shots)-1]
		for place, name := range clusters {
			recorded := toldOf(t, "", name, "--recording", file)[0]
			kept := toldOf(t, end.text, name, "-f", "-", "--start", end.at.Format(time.RFC3339))[0]
			starts := 0
			for i := range recorded {
				recorded[i].From = ""
				if recorded[i].What == "Starts" {
					starts++
					if first := place < 2; (recorded[i].Message == "") != first {
						t.Errorf("seed %d: %s starts as %q, want a reason for all but the first two", seed, name, recorded[i].Message)
					}
				}
			}
			for i := range kept {
				kept[i].From = ""
			}
			if diff := cmp.Diff(recorded, kept); diff != "" || starts != 1 {
				t.Errorf("seed %d, %s: %d starts, want 1 (-recorded +kept):\n%s", seed, name, starts, diff)
			}
		}
	}
}

// aDay is a recording in which b fails and is fixed, d starts and succeeds, an hour is missing, a new version comes, e takes the place
// of d, and the rollout is deleted.
func aDay(t *testing.T) string {
	t.Helper()
	d := func(conditions ...string) string { return work("d", "01:05", aManifest, conditions...) }
	started := documents(doneSet(), d())
	done := documents(doneSet(), d(condition("Applied", "True", "01:06"), condition("Progressing", "False", "01:06")))
	newer := strings.Replace(done, "manifestWorkTemplate: {workload: {manifests: ["+aManifest+"]}}", "manifestWorkTemplate: {workload: {manifests: ["+strings.Replace(aManifest, "new", "newer", 1)+"]}}", 1)
	return recordingOf(t, shot{at(0), liveSet()}, shot{at(1), liveSet()}, shot{at(2), liveBreach()}, shot{at(3), liveBreach()}, shot{at(4), doneSet()},
		shot{at(5), started}, shot{at(6), started}, shot{at(7), done}, shot{at(60), done}, shot{at(61), newer},
		shot{at(62), strings.Replace(newer, decisionOf("a", "b", "c", "d"), decisionOf("a", "b", "c", "e"), 1)}, shot{at(63), aPlacement})
}

// anEvent is one about ns/set, as kubectl prints those of the core, or as the group events.k8s.io has them.
func anEvent(name, reason, note string, minute int) string {
	if minute%2 == 0 {
		return fmt.Sprintf(`
apiVersion: v1
kind: Event
metadata: {name: %s, namespace: ns}
involvedObject: {apiVersion: work.open-cluster-management.io/v1alpha1, kind: ManifestWorkReplicaSet, namespace: ns, name: set}
reason: %s
message: %q
type: Normal
firstTimestamp: "2025-01-01T00:%02d:01Z"
`, name, reason, note, minute)
	}
	return fmt.Sprintf(`
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: %s, namespace: ns}
regarding: {apiVersion: work.open-cluster-management.io/v1alpha1, kind: ManifestWorkReplicaSet, namespace: ns, name: set}
reason: %s
note: %q
type: Normal
eventTime: "2025-01-01T00:%02d:01.000000Z"
`, name, reason, note, minute)
}

func TestHistoryIsThatInTestdata(t *testing.T) {
	another := documents(liveSet(), strings.Replace(aReplicaSet, "name: set", "name: other", 1))
	told := documents(liveSet(), anEvent("one", "Started", "placement p: started b, b-2", 50), anEvent("two", "Started", "placement p: started b-2", 51),
		anEvent("three", "Stopped", "placement p: stopped: gone failed", 53), strings.Replace(anEvent("four", "Started", "placement p: started b", 52), "name: set", "name: other", 1))
	for _, test := range []struct {
		file, in string
		args     []string
	}{
		{"history-started", liveSet(), append([]string{"b"}, atOneOClock...)},
		{"history-waits", liveSet(), append([]string{"d"}, atOneOClock...)},
		{"history-failed", liveBreach(), append([]string{"b"}, atOneOClock...)},
		{"history-late", liveSet(), []string{"b", "-f", "-", "--start", "2025-01-01T02:00:00Z"}},
		{"history-deselected", liveSet(), append([]string{"gone"}, atOneOClock...)},
		{"history-several", another, append([]string{"a"}, atOneOClock...)},
		{"history-events", told, append([]string{"b"}, atOneOClock...)},
		{"history-policy", "", []string{"store-08", "-f", "testdata/policy/progressive.yaml"}},
		{"history-not-selected", "", append([]string{"lab-1"}, runs()["design"]...)},
	} {
		t.Run(test.file, func(t *testing.T) {
			golden(t, filepath.Join("testdata/output", test.file+".txt"), simulateText(t, test.in, append([]string{"history"}, test.args...)...))
		})
	}
	day := aDay(t)
	dir := regexp.QuoteMeta(filepath.Dir(day))
	for file, args := range map[string][]string{"history-recorded.txt": {"d"}, "history-recorded.json": {"d", "-o", "json"}, "history-recorded-until.txt": {"d", "--at", "01:03"}} {
		got := simulateText(t, "", append([]string{"history", "--recording", day}, args...)...)
		golden(t, filepath.Join("testdata/output", file), regexp.MustCompile(dir).ReplaceAllString(got, ""))
	}
}

// A recording of a policy's rollout has which cluster waited for which, which its objects do not keep.
func TestHistoryOfAPolicy(t *testing.T) {
	replica := func(cluster, reported string, writes ...policyWrite) string {
		return liveReplica{cluster, writes, reported}.yaml(t, true)
	}
	inform := func(minute int) policyWrite { return policyWrite{"v2", "inform", minute, ""} }
	enforce := policyWrite{"v2", "enforce", -5, "NonCompliant -9"}
	others := []string{livePolicy("v2"), aBinding, decisionOf("a", "b", "c"), replica("b", "NonCompliant -9", inform(-10), enforce), replica("c", "NonCompliant -9", inform(-10))}
	before := documents(append(others, replica("a", "", inform(-10), enforce))...)
	after := documents(append(others, replica("a", "Compliant 1", inform(-10), enforce))...)
	told := toldOf(t, "", "c", "--recording", recordingOf(t, shot{at(0), before}, shot{at(1), before}, shot{at(2), after}))[0]
	last := told[len(told)-1]
	if len(told) != 3 || told[0].What != "NotRecorded" || told[1].What != "Waits" || strings.Join(told[1].WaitsFor, " ") != "a b" || last.What != "MayStart" || last.Message != "a is done" {
		t.Errorf("%+v, want that c waits for a and b, and may start when a is done", told)
	}
}

// The clock of a history is UTC, whatever the time zone in which times are written.
func TestHistoryIsInUTC(t *testing.T) {
	there := strings.ReplaceAll(liveSet(), "2025-01-01T00:", "2025-01-01T05:")
	there = regexp.MustCompile(`(2025-01-01T05:\d\d:00)Z`).ReplaceAllString(there, "$1+05:00")
	if !strings.Contains(there, "T05:50:00+05:00") {
		t.Fatal("no time of another zone")
	}
	want := simulateText(t, liveSet(), append([]string{"history", "b"}, atOneOClock...)...)
	if got := simulateText(t, there, "history", "b", "-f", "-", "--start", "2025-01-01T06:00:00+05:00"); got != want {
		t.Errorf("(-UTC +elsewhere):\n%s", cmp.Diff(want, got))
	}
}

func TestHistoryReadsAHub(t *testing.T) {
	events := anEvent("one", "Started", "placement p: started b", 51)
	h := newHub(t, liveNow(documents(liveSet(), strings.ReplaceAll(events, ":01.000000Z", ":00Z"))))
	for _, test := range []struct{ want string }{{"  may start: a is done\n"}, {"  starts\n"}, {"  event: Started: placement p: started b\n"}} {
		if got := simulateText(t, "", "history", "b", "--server", h.URL); !strings.Contains(got, test.want) {
			t.Errorf("no %q in\n%s", test.want, got)
		}
	}
}

func TestHistoryIsRefused(t *testing.T) {
	day := aDay(t)
	nothing := recordingOf(t, shot{at(0), aPlacement}, shot{at(1), aPlacement})
	for _, test := range []struct {
		why, in string
		args    []string
		want    string
	}{
		{"no cluster", "", nil, "history: must be followed by one cluster, found 0"},
		{"two clusters", "", []string{"a", "b"}, "history: must be followed by one cluster, found 2"},
		{"an unknown cluster", "", append([]string{"site-00"}, runs()["design"]...), "history site-00: must be a cluster that is there; did you mean site-001?"},
		{"one that a recording does not have", "", []string{"gon", "--recording", day}, "history gon: must be a cluster that is there; did you mean gone?"},
		{"a recording of no rollout", "", []string{"a", "--recording", nothing}, "until 2025-01-01T01:01:00Z nothing rolls out on the hub"},
		{"a time before the recording", "", []string{"a", "--recording", day, "--at", "00:59"}, "not recorded at 2025-01-01T00:59:00Z: it is from 2025-01-01T01:00:00Z to 2025-01-01T02:03:00Z"},
		{"a time without a recording", liveSet(), []string{"a", "-f", "-", "--at", "00:59"}, "--at: must be given with --recording"},
		{"a recording and files", liveSet(), []string{"a", "-f", "-", "--recording", day}, "--recording: must be given without -f"},
		{"another format", liveSet(), []string{"a", "-f", "-", "-o", "wide"}, "must be text, json or yaml"},
	} {
		if got := refused(t, test.in, append([]string{"history"}, test.args...)...); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}

// A long wait of which much is recorded has its first and last reasons in the text, and all of them in the data.
func TestHistoryShowsTheFirstAndTheLastReasonsOfAWait(t *testing.T) {
	shots, _ := world(t, 14, 2, 2*time.Minute)
	file := recordingOf(t, shots...)
	last := "edge-9" // the last by name
	waits := 0
	for _, m := range toldOf(t, "", last, "--recording", file)[0] {
		if m.What == "Waits" {
			waits++
		}
	}
	text := simulateText(t, "", "history", last, "--recording", file)
	if want := fmt.Sprintf("  … %d more changes …\n", waits-2*waitsShown); waits <= 2*waitsShown || !strings.Contains(text, want) || strings.Count(text, "  waits") != 2*waitsShown {
		t.Errorf("%d waits, no %q in\n%s", waits, want, text)
	}
}

// A deadline that passes while nothing changes on the hub is seen at its time, for the cluster and for those that wait for it.
func TestHistorySeesWhatTimeAloneChanges(t *testing.T) {
	file := recordingOf(t, shot{at(0), liveSet()}, shot{at(10), liveSet()}, shot{at(20), liveSet()}, shot{at(30), liveSet()}, shot{at(40), liveSet()})
	for cluster, want := range map[string]string{"b": "\n01:21   times out\n", "d": "\n01:30   waits: the rollout is stopped: b failed, maxFailures is 0; the rollout continues once b is no longer failed or timed out\n"} {
		if got := simulateText(t, "", "history", cluster, "--recording", file); !strings.HasSuffix(got, want) {
			t.Errorf("%s: no %q at the end of\n%s", cluster, want, got)
		}
	}
}
