// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// act carries out what the documented plan says, until nothing more has to be stored first. Agents let go of their works at once.
func (c *aborter) act(t *testing.T, selected ...string) (*rollout.Result, status.Record) {
	t.Helper()
	c.groups = selecting(t, false, selected...)
	for range 5 {
		result, err := c.plan(t.Context(), c.app, c.groups)
		if err != nil {
			t.Fatal(err)
		}
		if result == nil {
			continue
		}
		for _, cluster := range result.Removed {
			delete(c.works, cluster)
		}
		for _, cluster := range slices.Concat(result.InFlight, result.Start) {
			work := c.works[cluster.Name]
			if work == nil {
				work = &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: "app"}}
				c.works[cluster.Name] = work
			}
			if status.StampOf(work).Version != c.app.revisions.Target() {
				work.Generation++
			}
			status.StampOf(work).NoteOn(work, c.app.revisions.Target(), cluster.Attempt, c.now())
		}
		records, err := status.RecordsOf(c.app)
		if err != nil {
			t.Fatal(err)
		}
		return result, records[""]
	}
	t.Fatal("it stores and stores")
	return nil, status.Record{}
}

// R48, R49: clusters fail one after the other, leave, and let go of their works. The controller of the documentation does not
// forget their failures: the second exceeds the budget, so the version does not become the current one, and the rollback is
// open.
func TestTheDocumentedRollbackRemembersFailedAndDeselectedClusters(t *testing.T) {
	c := &aborter{
		app:       &app{strategy: progressive("1", config("1", "10m", 0))},
		works:     map[string]*workv1.ManifestWork{},
		templates: map[string]workv1.ManifestWorkSpec{},
		at:        noon(),
	}
	c.app.template.Workload.Manifests = make([]workv1.Manifest, 2)
	c.app.revisions = rollback.Revisions{CurrentRevision: "1", UpdateRevision: "1"}
	fleet := []string{"a", "b", "c", "d"}
	for i, cluster := range fleet[:2] {
		c.act(t, fleet[i:]...) // starts the cluster
		c.answer(cluster, metav1.ConditionTrue, metav1.ConditionTrue)
		c.at = c.at.Add(time.Minute)
		if c.act(t, fleet[i:]...); c.app.revisions.AbortedTime != nil {
			break
		}
		c.act(t, fleet[i+1:]...) // the cluster left
		c.at = c.at.Add(time.Minute)
		if _, record := c.act(t, fleet[i+1:]...); len(record.Deselected) != i+1 || c.works[cluster] != nil {
			t.Fatalf("%s left: record %v, works %v; want its failure, and no work of it", cluster, record, c.works)
		}
		c.at = c.at.Add(10 * time.Minute) // its slot is free
	}
	if r := c.app.revisions; r.AbortedTime == nil || r.CurrentRevision != "1" {
		t.Errorf("revisions %+v, want the second failure to abort the update", r)
	}
	c.act(t, fleet[1:]...)
	c.answer("b", metav1.ConditionFalse, metav1.ConditionFalse)
	c.act(t, fleet[1:]...)
	if got := status.StampOf(c.works["b"]).Version; got != "1" || c.works["c"] == nil {
		t.Errorf("b has version %q, and the works are %v; want b to have gone back, and c to get the version before", got, c.works)
	}
}

// R43: the record of the failed version keeps no cluster from rolling back, whichever version it is passed for: neither its failures nor
// those for which it had no room.
func TestARecordOfTheFailedVersionPreventsNoRollback(t *testing.T) {
	abort := rollout.Abort{Time: now.Add(-time.Hour)}
	record := status.Record{Version: "v2", More: 44}
	for _, cluster := range []string{"a", "b"} {
		report := status.Report{Cluster: cluster, Status: status.Failed, Applied: now.Add(-2 * time.Hour), LastTransitionTime: now.Add(-2 * time.Hour)}
		abort.Failed = append(abort.Failed, report)
		abort.Before = append(abort.Before, status.Report{Cluster: cluster, Status: status.ToApply})
		record.Deselected = append(record.Deselected, status.DeselectedCluster{Report: report})
	}
	for _, version := range []string{"v1", "v2"} {
		memory := &rollout.StoredRecord{Version: version, Record: record}
		r, err := rollout.Revert(all("10m"), selecting(t, false, "a", "b"), abort, now, rollout.Options{StoredRecord: memory})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Start) != 2 || len(r.Record.Deselected) != 0 || r.Record.More != 0 || r.Record.Version != version {
			t.Errorf("a record for %s: %v, record %v; want both to start, and an empty record", version, r, r.Record)
		}
	}
}

// R43, R49: a cluster which rolled back, failed, and left counts in the rollback by the record of the version before, also where it is selected
// again without a work.
func TestAFailureInARollbackIsRemembered(t *testing.T) {
	abort := rollout.Abort{
		Time:         now.Add(-time.Hour),
		Failed:       []status.Report{{Cluster: "b", Status: status.Failed, Applied: now.Add(-2 * time.Hour)}},
		Before:       []status.Report{{Cluster: "b", Status: status.ToApply}},
		StopAtBreach: true,
	}
	memory := &rollout.StoredRecord{Version: "v1", Record: status.Record{Version: "v1", Deselected: []status.DeselectedCluster{
		{Report: status.Report{Cluster: "a", Status: status.TimeOut, Applied: now.Add(-30 * time.Minute)}, Group: grouping.Key{}},
	}}}
	for _, selected := range [][]string{{"b"}, {"a", "b"}} {
		r, err := rollout.Revert(progressive("1", config("", "10m", 0)), selecting(t, false, selected...), abort, now, rollout.Options{StoredRecord: memory})
		if err != nil {
			t.Fatal(err)
		}
		if r.Breach == nil || len(r.Start) != 0 || len(r.Record.Deselected) != 1 {
			t.Errorf("%v selected: %v, record %v; want it stopped by a", selected, r, r.Record)
		}
	}
}
