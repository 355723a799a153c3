// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/examples/trial/judge"
)

// auditPolicy is that of the page of package judge.
func auditPolicy(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("judge", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	var policy []string
	for line := range strings.Lines(string(page)) {
		line = strings.TrimPrefix(line, "//\t")
		if strings.HasPrefix(line, "apiVersion: audit") {
			policy = []string{line}
		} else if len(policy) > 0 {
			if strings.HasPrefix(line, "//") {
				return strings.Join(policy, "")
			}
			policy = append(policy, line)
		}
	}
	t.Fatal("the page of package judge has no audit policy")
	return ""
}

// What the judge says of a hub's audit log is what it says of the watches: of every start and removal, with a controller that is right
// and with such as break a strategy. In these worlds nothing is wrong by a time alone, so that order decides. Both know the order, but for one thing:
// the answer to the deletion of an object without finalizers has no resourceVersion. On a busy machine other writes are on their way at the same time,
// and only the watch says which was first. So the watch tells the log that.
func TestAuditLogOfAHub(t *testing.T) {
	dir := t.TempDir()
	audit := apiserver.Audit{Policy: filepath.Join(dir, "policy.yaml"), Log: filepath.Join(dir, "audit.log")}
	if err := os.WriteFile(audit.Policy, []byte(auditPolicy(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	hub := startReal(t, audit, nil)
	seen := &history{}
	newest := map[Kind]int64{}
	var mu sync.Mutex
	hub.wires.mu.Lock()
	hub.wires.all = func(e event) {
		mu.Lock()
		defer mu.Unlock()
		seen.events = append(seen.events, e)
		newest[e.id.kind] = max(newest[e.id.kind], e.rv)
	}
	hub.wires.mu.Unlock()

	duties := []Duty{KeepConcurrency, KeepOrder, KeepConcurrency, KeepOrder}
	atOnce(t, len(duties), len(duties), func(ctx context.Context, i int) {
		if o := hub.record(ctx, draw(uint64(i+1), subject, duties[i]), subject); o.err != nil {
			t.Error(o.err)
		}
	})
	shown(t, hub, &mu, newest)

	mu.Lock()
	defer mu.Unlock()
	seen.until = time.Now()
	watched, err := seen.trace()
	if err != nil {
		t.Fatal(err)
	}
	logged, err := os.ReadFile(audit.Log)
	if err != nil {
		t.Fatal(err)
	}
	ofWatches, ofLog, alone := verdicts(t, watched), verdicts(t, deletionsInOrder(t, logged, seen.events)), verdicts(t, logged)
	if len(ofLog.Holes) > 0 {
		t.Fatalf("the API server gave up requests, and its log does not say what came of them: %v", ofLog.Holes)
	}
	if ofWatches.Starts == 0 || ofWatches.Removals == 0 {
		t.Fatalf("%d starts, %d removals", ofWatches.Starts, ofWatches.Removals)
	}
	want, got := []any{ofWatches.Starts, ofWatches.Removals, said(ofWatches)}, []any{ofLog.Starts, ofLog.Removals, said(ofLog)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("from the audit log: %v\nfrom the watches: %v", got, want)
	}
	if got := []any{alone.Starts, alone.Removals, len(alone.Holes)}; fmt.Sprint(got) != fmt.Sprint([]any{ofWatches.Starts, ofWatches.Removals, 0}) {
		t.Errorf("from the audit log alone: starts, removals and holes are %v, from the watches %v", got, want[:2])
	}
	if len(ofLog.Writers) != 2 || ofLog.Writers["(controller)"] < ofLog.Starts || ofLog.Writers["(user)"] == 0 { // which clears up in the end
		t.Errorf("written by %v", ofLog.Writers)
	}
	t.Logf("%d starts, %d removals, %d findings, %d kB of audit log", ofLog.Starts, ofLog.Removals, len(ofLog.Findings), len(logged)>>10)
}

// deletionsInOrder gives the answer to each deletion of an audit log that has only a Status the object as the watch showed it, with the
// resourceVersion of the deletion.
func deletionsInOrder(t *testing.T, log []byte, events []event) []byte {
	t.Helper()
	gone := map[string]event{}
	for _, e := range events {
		if e.gone {
			gone[string(e.object.GetUID())] = e
		}
	}
	var out bytes.Buffer
	for line := range bytes.Lines(log) {
		var request struct {
			Verb      string
			ObjectRef struct{ Resource string }
			Answer    struct {
				Kind    string
				Details struct{ UID string }
			} `json:"responseObject"`
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal(line, &request); err != nil {
			t.Fatal(err)
		}
		of := watched[request.ObjectRef.Resource].kind
		if request.Verb != "delete" || request.Answer.Kind != "Status" || request.ResponseStatus.Code != 200 || of == "" || of == managedClusters {
			out.Write(line)
			continue
		}
		e, is := gone[request.Answer.Details.UID]
		if !is {
			t.Fatalf("the watch shows no deletion for %s", line)
		}
		out.Write(withObject(t, line, e))
	}
	return out.Bytes()
}

// withObject puts an object that is gone into the answer of a line.
func withObject(t *testing.T, line []byte, e event) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(line, &all); err != nil {
		t.Fatal(err)
	}
	o := e.object.DeepCopyObject().(object)
	now := metav1.NewTime(e.at)
	o.SetDeletionTimestamp(&now)
	o.SetFinalizers(nil)
	all["responseObject"] = o
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func verdicts(t *testing.T, text []byte) *judge.Report {
	t.Helper()
	r, err := judge.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return judge.Judge(r, judge.Options{Lag: time.Nanosecond, Patience: time.Hour})
}

// said lists what was found, in the order of the writes. Grades depend on times.
func said(r *judge.Report) (all []string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind.OfDecisions() {
			continue
		}
		all = append(all, f.Owner+" "+f.Cluster+" "+strings.Split(f.Text, ":")[0])
	}
	slices.Sort(all)
	return all
}

// shown waits until the wire has shown everything that was written so far.
func shown(t *testing.T, hub *realHub, mu *sync.Mutex, newest map[Kind]int64) {
	t.Helper()
	ctx, c := t.Context(), hub.clients("marker")
	meta := metav1.ObjectMeta{Namespace: "marker", Name: "marker"}
	placed, err := c.cluster.ClusterV1beta1().Placements("marker").Create(ctx, &clusterv1beta1.Placement{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	decided, err := c.cluster.ClusterV1beta1().PlacementDecisions("marker").Create(ctx, &clusterv1beta1.PlacementDecision{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	work, err := c.work.WorkV1().ManifestWorks("marker").Create(ctx, &workv1.ManifestWork{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := &replicaSet{ObjectMeta: meta}
	set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "marker"}}
	rolled, err := c.work.WorkV1alpha1().ManifestWorkReplicaSets("marker").Create(ctx, set, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		mu.Lock()
		done := newest[ReplicaSets] >= versionOf(rolled) && newest[Placements] >= versionOf(placed) && newest[Decisions] >= versionOf(decided) && newest[Works] >= versionOf(work)
		mu.Unlock()
		if done {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
