// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// Three clusters roll back: the one that failed first, then the one that got the version last. quito never had it, and paris
// rolled back before.
func ExampleRevert() {
	hour := func(n int) time.Time { return noon().Add(time.Duration(n-12) * time.Hour) } // of the day
	abort := rollout.Abort{
		Time: hour(11),
		Failed: []status.Report{
			{Cluster: "berlin", Status: status.Succeeded, Applied: hour(8)},
			{Cluster: "oslo", Status: status.Failed, Applied: hour(8)},
			{Cluster: "lima", Status: status.Progressing, Applied: hour(10)},
			{Cluster: "paris", Status: status.ToApply},
			{Cluster: "quito", Status: status.ToApply},
		},
		Before: []status.Report{
			{Cluster: "berlin", Status: status.ToApply},
			{Cluster: "oslo", Status: status.ToApply},
			{Cluster: "lima", Status: status.ToApply},
			{Cluster: "paris", Status: status.Progressing, Applied: noon()},
			{Cluster: "quito", Status: status.Succeeded, Applied: hour(1)},
		},
	}
	fmt.Println(must(rollout.Revert(clusterv1alpha1.RolloutStrategy{}, shops(), abort, noon(), rollout.Options{})))

	twoAtATime := clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(2)},
	}
	result := must(rollout.Revert(twoAtATime, shops(), abort, noon(), rollout.Options{}))
	fmt.Println(result)
	disposition, _, _ := result.Find("quito")
	fmt.Println("quito", disposition)
	// Output:
	// starting oslo, lima, berlin; in flight paris
	// starting oslo; in flight paris; 2 more clusters blocked: the concurrency limit is reached (2 of 2 in flight or starting): paris is progressing (since 2026-11-21T12:00:00Z), and stays in flight until it is done (no progressDeadline); oslo is starting
	// quito Settled
}

// app is an owner whose controller aborts all where a budget is breached.
type app struct {
	metav1.ObjectMeta
	template  workv1.ManifestWorkSpec
	strategy  clusterv1alpha1.RolloutStrategy
	abort     bool // a user says so
	revisions rollback.Revisions
	status    []metav1.Condition
}

// aborter is the controller of app, with a hub in memory.
type aborter struct {
	app       *app
	groups    *grouping.Groups
	works     map[string]*workv1.ManifestWork
	templates map[string]workv1.ManifestWorkSpec // by revision
	last      *rollout.Result
	at        time.Time
	notes     bool // answers are noted: reports have the time of reading where none is noted yet
}

// The block of rollback/doc.go.

// plan returns what may happen to the works of an owner, which get the template of r.Target(). It returns nothing if it stored
// what has to be stored first. Otherwise the caller carries out the result, and stores the owner's status if that has changed.
// The caller stamps each work with the Attempt of its cluster in the result.
func (c *aborter) plan(ctx context.Context, owner *app, groups *grouping.Groups) (*rollout.Result, error) {
	r := &owner.revisions
	if r.Want(hashOf(owner.template)) {
		// First keep the template under the name of its revision. If that fails, nothing may name the revision.
		if err := c.keepTemplate(ctx, owner); err != nil {
			return nil, err
		}
		return nil, c.updateStatus(ctx, owner)
	}
	records, err := status.RecordsOf(owner)
	if err != nil {
		return nil, err
	}
	update, current := c.reports(owner, r.UpdateRevision), c.reports(owner, r.CurrentRevision)
	opts := rollout.Options{
		RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: c.last, // and Ignored, if the rollout has it
		StoredRecord: &rollout.StoredRecord{Version: r.Target(), Record: records[""]},
	}
	var result *rollout.Result
	if r.AbortedTime == nil {
		if result, err = rollout.Plan(owner.strategy, groups, update, c.now(), opts); err != nil {
			return nil, err
		}
		if (owner.abort || result.Breach != nil) && r.Abort(c.now()) {
			return nil, c.updateStatus(ctx, owner) // store the time before a cluster rolls back
		}
	} else {
		abort := rollout.Abort{Time: r.AbortedTime.Time, Failed: update, Before: current}
		if result, err = rollout.Revert(owner.strategy, groups, abort, c.now(), opts); err != nil {
			return nil, err
		}
	}
	summary := result.Summary() // after an abort always Revert's: Plan also counts clusters that never had the failed version
	if r.AbortedTime != nil && len(result.Start)+len(result.BlockCounts()) == 0 {
		// A cluster that joined gets the version of all others.
		if result, err = rollout.Plan(owner.strategy, groups, current, c.now(), opts); err != nil {
			return nil, err
		}
	}
	c.last = result
	changed, err := (status.Records{"": result.Record}).Note(owner)
	if changed && err == nil {
		err = c.update(ctx, owner)
	}
	if err != nil {
		return nil, err // store the record before you carry out the result
	}
	r.Complete(summary)
	rollback.SetConditions(&owner.status, *r, summary, owner.Generation, c.now())
	return result, nil
}

// The end of the block.

func (c *aborter) now() time.Time { return c.at }

func (c *aborter) keepTemplate(_ context.Context, owner *app) error {
	c.templates[owner.revisions.UpdateRevision] = owner.template
	return nil
}

func (c *aborter) update(_ context.Context, owner *app) error {
	c.app = owner
	return nil
}

func (c *aborter) updateStatus(_ context.Context, owner *app) error {
	c.app = owner
	return nil
}

// reports are about one version of the works.
func (c *aborter) reports(_ *app, version string) (reports []status.Report) {
	for _, work := range c.works {
		state := status.WorkState{Work: work, Version: version}
		if c.notes {
			state.Now = c.at
		}
		if report, ok := status.FromManifestWork(state); ok {
			reports = append(reports, report)
		}
	}
	return reports
}

// reconcile carries out a plan, as in the other example.
func (c *aborter) reconcile() {
	result, err := c.plan(context.Background(), c.app, c.groups)
	if err != nil || result == nil {
		fmt.Println("stored:", c.app.revisions.CurrentRevision, c.app.revisions.UpdateRevision, c.app.revisions.AbortedTime != nil)
		return
	}
	target := c.app.revisions.Target()
	for _, cluster := range slices.Concat(result.InFlight, result.Start) {
		work := c.works[cluster.Name]
		if status.StampOf(work).Version != target {
			fmt.Println("write", cluster.Name, target)
			work.Generation++
		}
		status.StampOf(work).NoteOn(work, target, cluster.Attempt, c.now())
		work.Spec = c.templates[target]
	}
	if len(c.app.status) > 0 {
		fmt.Println(c.app.status[0].Reason+":", c.app.status[0].Message)
	}
}

// answer is what the agent says of a work.
func (c *aborter) answer(cluster string, progressing, degraded metav1.ConditionStatus) {
	work := c.works[cluster]
	work.Status.Conditions = nil
	for kind, is := range map[string]metav1.ConditionStatus{
		workv1.WorkApplied: metav1.ConditionTrue, workv1.WorkProgressing: progressing, workv1.WorkDegraded: degraded,
	} {
		work.Status.Conditions = append(work.Status.Conditions, metav1.Condition{
			Type: kind, Status: is, ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(c.now()),
		})
	}
}

// A controller whose failureStrategy is AbortAll: a new template goes to one cluster after the other, the first of them
// fails, and it rolls back to the template before.
func Example_abort() {
	c := &aborter{
		app:       &app{strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}}},
		works:     map[string]*workv1.ManifestWork{},
		templates: map[string]workv1.ManifestWorkSpec{},
		at:        noon(),
	}
	c.groups, _ = grouping.FromNames(map[grouping.Key][]string{{}: {"oslo", "rome"}})
	v1 := hashOf(c.app.template)
	c.templates[v1], c.app.revisions = c.app.template, rollback.Revisions{CurrentRevision: v1, UpdateRevision: v1}
	for _, cluster := range []string{"oslo", "rome"} {
		c.works[cluster] = &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "app", Generation: 1}}
		status.StampOf(c.works[cluster]).NoteOn(c.works[cluster], v1, 0, c.at.Add(-time.Hour))
		c.answer(cluster, metav1.ConditionFalse, metav1.ConditionFalse)
	}

	c.app.template.Workload.Manifests = make([]workv1.Manifest, 1)
	c.reconcile()
	c.reconcile()
	c.answer("oslo", metav1.ConditionTrue, metav1.ConditionTrue)
	c.at = c.at.Add(time.Minute)
	c.reconcile()
	c.reconcile()
	c.answer("oslo", metav1.ConditionFalse, metav1.ConditionFalse)
	c.reconcile()
	// Output:
	// stored: 0 1 false
	// write oslo 1
	// RolloutProgressing: version 1: 0 of 2 clusters done; the concurrency limit is reached (1 of 1 in flight or starting): oslo is starting
	// stored: 0 1 true
	// write oslo 0
	// RolloutReverting: the rollout of 1 was aborted at 2026-11-21T12:01:00Z; so far 0 of 1 clusters are rolled back to 0; oslo is starting
	// RolloutReverted: the rollout of 1 was aborted at 2026-11-21T12:01:00Z; 1 of 1 clusters are rolled back to 0
}

// R39, R43: a cluster that fails in the rollback is not started again by the attempt that the rollout wanted, as the documented
// duties stamp it. One that is stamped with an earlier attempt is.
func TestTheRollbackStampsTheAttempt(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"oslo"}})
	if err != nil {
		t.Fatal(err)
	}
	aborted := noon().Add(-time.Hour)
	for attempt, again := range []bool{true, true, false} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "oslo", Name: "app", Generation: 2}}
		status.StampOf(work).NoteOn(work, "before", attempt, aborted)
		c := &aborter{works: map[string]*workv1.ManifestWork{"oslo": work}, at: aborted.Add(time.Minute)}
		c.answer("oslo", metav1.ConditionTrue, metav1.ConditionTrue)
		abort := rollout.Abort{Time: aborted, Failed: c.reports(nil, "failed"), Before: c.reports(nil, "before"), StopAtBreach: true}
		strategy := progressive("1", config("0", "10m", 0))
		result, err := rollout.Revert(strategy, groups, abort, noon(), rollout.Options{Attempt: 2})
		if err != nil {
			t.Fatal(err)
		}
		if starts := len(result.Start) > 0; starts != again {
			t.Errorf("attempt %d: %v", attempt, result)
		}
	}
}

// R48: oslo moved while it soaks, and its answer is not noted yet. The record changes with each call. The documented code does
// not wait for a record that stays as it is: it has the answer noted, and then the record stays.
func TestARecordThatChangesAtEachCallHoldsUpNothing(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}}
	strategy.ProgressivePerGroup.MinSuccessTime.Duration = time.Hour
	c := &aborter{app: &app{strategy: strategy}, works: map[string]*workv1.ManifestWork{}, templates: map[string]workv1.ManifestWorkSpec{}, at: noon(), notes: true}
	v1 := hashOf(c.app.template)
	c.templates[v1], c.app.revisions = c.app.template, rollback.Revisions{CurrentRevision: v1, UpdateRevision: v1}
	for _, cluster := range []string{"oslo", "rome"} {
		c.works[cluster] = &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "app", Generation: 1}}
		status.StampOf(c.works[cluster]).NoteOn(c.works[cluster], v1, 0, c.at)
	}
	groups := func(first, second []string) *grouping.Groups {
		g, err := grouping.FromNames(map[grouping.Key][]string{{Index: 0}: first, {Index: 1}: second})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	c.groups = groups([]string{"oslo", "rome"}, nil)
	c.reconcile()
	c.groups = groups([]string{"rome"}, []string{"oslo"})
	c.answer("oslo", metav1.ConditionFalse, metav1.ConditionFalse)
	var records []string
	for range 3 {
		c.at = c.at.Add(time.Second)
		c.reconcile()
		records = append(records, fmt.Sprint(c.app.Annotations))
	}
	if answered := status.StampOf(c.works["oslo"]).Answered; !answered.Equal(noon().Add(time.Second)) {
		t.Errorf("the answer is noted as of %v", answered)
	}
	if records[0] == "map[]" || records[1] != records[2] {
		t.Errorf("the records are\n%s", strings.Join(records, "\n"))
	}
}

// The block in the package's documentation is the code that the example runs.
func TestDocumentedAbortIsTheOneThatRuns(t *testing.T) {
	source, err := os.ReadFile("revert_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("rollback/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if block := blockOf(string(source)); !strings.Contains(string(doc), block) {
		t.Errorf("rollback/doc.go does not have this block:\n%s", block)
	}
}

func hashOf(template workv1.ManifestWorkSpec) string {
	return fmt.Sprint(len(template.Workload.Manifests))
}

// blockOf is the part of a file that rollback/doc.go shows, as it stands there.
func blockOf(source string) string {
	_, block, _ := strings.Cut(source, "// The block of rollback/doc.go.\n\n")
	block, _, _ = strings.Cut(block, "\n// The end of the block.")
	return strings.ReplaceAll("//\t"+strings.ReplaceAll(strings.TrimRight(block, "\n"), "\n", "\n//\t"), "\n//\t\n", "\n//\n")
}
