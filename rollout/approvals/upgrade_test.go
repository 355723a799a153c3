// SPDX-License-Identifier: Apache-2.0

package approvals_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/status"
)

// storedByEarlierProcess are the annotations of an owner as a process of commit 9677fd3d wrote them, with its own code, before the
// words changed. Version v2 rolls out to c0 to c7 in the group prod. c0 failed, c1 is in flight; both were deselected, and their
// objects are gone. An operator froze c2, ignores c3, and allows c0 to c5.
var storedByEarlierProcess = map[string]string{
	"cohort.open-cluster-management.io/give-up":  "c3",
	"cohort.open-cluster-management.io/hold":     "c2=2026-11-29T10:00:00Z maintenance of store 2, and more",
	"cohort.open-cluster-management.io/left":     `{"":{"version":"v2","left":[{"cluster":"c0","status":"TimeOut","lastTransitionTime":"2026-11-28T10:01:00Z","applied":"2026-11-28T10:00:00Z","group":{"index":0,"name":"prod"}},{"cluster":"c1","status":"Progressing","applied":"2026-11-28T10:05:00Z","group":{"index":0,"name":"prod"}}],"exposed":3}}`,
	"cohort.open-cluster-management.io/reviewed": "c0,c1,c2,c3,c4,c5 of v2",
}

// earlierProcess is what a process of that commit reads from an owner, with the keys and the JSON that it knew. It has no type of
// this library.
type earlierProcess struct {
	GiveUp, Hold, Reviewed string
	Records                map[string]earlierRecord
}

type earlierRecord struct {
	Version string `json:"version,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Left    []struct {
		Cluster            string    `json:"cluster"`
		Status             string    `json:"status,omitempty"`
		LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
		Applied            time.Time `json:"applied,omitzero"`
		Group              struct {
			Index int32  `json:"index"`
			Name  string `json:"name,omitempty"`
		} `json:"group"`
	} `json:"left,omitempty"`
	Exposed int `json:"exposed,omitempty"`
}

func earlierProcessReads(t *testing.T, owner *metav1.ObjectMeta) (read earlierProcess) {
	t.Helper()
	const prefix = "cohort.open-cluster-management.io/"
	read.GiveUp, read.Hold, read.Reviewed = owner.Annotations[prefix+"give-up"], owner.Annotations[prefix+"hold"], owner.Annotations[prefix+"reviewed"]
	if err := json.Unmarshal([]byte(owner.Annotations[prefix+"left"]), &read.Records); err != nil {
		t.Fatal(err)
	}
	return read
}

// withStatus lists the clusters on record with a status, in the group that they count in.
func (read earlierProcess) withStatus(status string) string {
	var clusters []string
	for _, left := range read.Records[""].Left {
		if left.Status == status && left.Group.Name == "prod" && !left.Applied.IsZero() {
			clusters = append(clusters, left.Cluster)
		}
	}
	return strings.Join(clusters, " ")
}

// planned makes the plan of a process of this version, and stores its record in the owner. A process that just started has no
// previous result.
func planned(t *testing.T, owner *metav1.ObjectMeta, previous *rollout.Result, maxConcurrency, maxFailures int32, now time.Time, selected string, reports ...status.Report) *rollout.Result {
	t.Helper()
	records, err := status.RecordsOf(owner)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := approvals.Of(owner)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := grouping.FromNames(map[grouping.Key][]string{named("prod"): strings.Fields(selected)})
	if err != nil {
		t.Fatal(err)
	}
	options := asked.Options("", "v2")
	options.Previous = previous
	options.StoredRecord = &rollout.StoredRecord{Version: "v2", Record: records[""], AtOnce: true}
	result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		MaxConcurrency: intstr.FromInt32(maxConcurrency),
		RolloutConfig:  clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m", MaxFailures: intstr.FromInt32(maxFailures)},
	}}, groups, reports, now, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (status.Records{"": result.Record}).Note(owner); err != nil {
		t.Fatal(err)
	}
	return result
}

func started(result *rollout.Result) string {
	var clusters []string
	for _, cluster := range result.Start {
		clusters = append(clusters, cluster.Name)
	}
	return strings.Join(clusters, " ")
}

// R48, R53: a controller is upgraded in mid-rollout. The process of this version forgets nothing that the earlier process stored.
func TestAnUpgradeInMidRolloutForgetsNothing(t *testing.T) {
	now := time.Date(2026, 11, 28, 10, 13, 0, 0, time.UTC)
	for _, test := range []struct {
		why                         string
		maxConcurrency, maxFailures int32
		want                        string
	}{
		{"c1 has a slot; c3 is ignored and needs none", 2, 1, "c3 c4"},
		{"c2 is frozen, c6 and c7 are not on the allowlist", 9, 1, "c3 c4 c5"},
		{"c0 failed", 9, 0, ""},
	} {
		owner := &metav1.ObjectMeta{Annotations: maps.Clone(storedByEarlierProcess)}
		if got := started(planned(t, owner, nil, test.maxConcurrency, test.maxFailures, now, "c2 c3 c4 c5 c6 c7")); got != test.want {
			t.Errorf("%s: it starts %q, want %q", test.why, got, test.want)
		}
		before, after := earlierProcessReads(t, &metav1.ObjectMeta{Annotations: storedByEarlierProcess}), earlierProcessReads(t, owner)
		isExposed := cmp.FilterPath(func(path cmp.Path) bool { return path.Last().String() == ".Exposed" }, cmp.Ignore()) // more with more slots
		if diff := cmp.Diff(before, after, isExposed); diff != "" {
			t.Errorf("%s: the earlier process reads (-before +after)\n%s", test.why, diff)
		}
	}
}

// R48, R53: a controller is upgraded in mid-rollout, and the earlier process takes over again. It reads each failure, each cluster in
// flight, and each approval, also those that came meanwhile.
func TestARollbackOfAControllerForgetsNothing(t *testing.T) {
	owner := &metav1.ObjectMeta{Annotations: maps.Clone(storedByEarlierProcess)}
	before := earlierProcessReads(t, owner)
	if before.withStatus("TimeOut") != "c0" || before.withStatus("Progressing") != "c1" {
		t.Fatalf("the earlier process reads not even what it wrote: %+v", before)
	}

	// c4 started, failed and is deselected. c5 started and is deselected, too.
	at := time.Date(2026, 11, 28, 10, 13, 0, 0, time.UTC)
	failed := status.Report{Cluster: "c4", Status: status.Failed, Applied: at, LastTransitionTime: at.Add(time.Minute)}
	inFlight := status.Report{Cluster: "c5", Status: status.Progressing, Applied: at.Add(10 * time.Minute), LastTransitionTime: at.Add(10 * time.Minute)}
	last := planned(t, owner, nil, 9, 1, at.Add(11*time.Minute), "c2 c3 c4 c5 c6 c7", failed, inFlight)
	planned(t, owner, last, 9, 1, at.Add(12*time.Minute), "c2 c3 c6 c7", failed, inFlight)

	// An operator freezes c6, ignores c7 and allows it, with a command of this version.
	asked, err := approvals.Of(owner)
	if err != nil {
		t.Fatal(err)
	}
	asked.Freezes = append(asked.Freezes, rollout.ClusterFreeze{Cluster: "c6"})
	asked.Ignored = append(asked.Ignored, "c7")
	asked.Allowlist.Clusters = append(asked.Allowlist.Clusters, "c7")
	if _, err := asked.Note(owner); err != nil {
		t.Fatal(err)
	}

	after := earlierProcessReads(t, owner)
	if got := after.withStatus("TimeOut"); got != "c0 c1 c4" { // c1 timed out meanwhile
		t.Errorf("the earlier process knows the failures of %q", got)
	}
	if got := after.withStatus("Progressing"); got != "c5" {
		t.Errorf("the earlier process knows that %q are in flight", got)
	}
	if record := after.Records[""]; record.Version != "v2" || record.Exposed < before.Records[""].Exposed {
		t.Errorf("the earlier process reads version %q and %d exposed clusters", record.Version, record.Exposed)
	}
	after.Records = nil
	want := earlierProcess{GiveUp: "c3,c7", Hold: "c2=2026-11-29T10:00:00Z maintenance of store 2, and more;c6", Reviewed: "c0,c1,c2,c3,c4,c5,c7 of v2"}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("what the operators decided (-want +got)\n%s", diff)
	}
}
