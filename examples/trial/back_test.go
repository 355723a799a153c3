// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// TestRollback shows that a controller that does what the documentation says takes versions back without breaking anything
// (R43, R44, R45, S10, S11).
func TestRollback(t *testing.T) {
	theHub.Rollback(t, aborting)
}

// TestEachDutyOfTheRollback shows that the harness finds a controller that ignores one of the duties.
func TestEachDutyOfTheRollback(t *testing.T) {
	theHub.EachDutyOfRollback(t, aborting)
}

// aborting is the controller that aborts all where a budget is breached, or a person asks for it.
var aborting = &Subject{
	Run: runAborter, Says: saysOfRevisions, RemoveAfter: removeAfter, Placements: 1, Replicas: 2,
	Revision: versionOfTemplate,
	Revisions: func(set *replicaSet, _ []byte) Revisions {
		r := revisionsOf(set)
		of := Revisions{Current: r.CurrentRevision, Update: r.UpdateRevision}
		if r.AbortedTime != nil {
			of.Aborted = r.AbortedTime.Time
		}
		return of
	},
}

// The status of today's API has no field for revisions. So they stand in the message of a condition of their own, and the
// templates of revisions, for which a hub would have ControllerRevisions, in annotations.
const (
	conditionRevisions = "Revisions"
	templateAnnotation = "hub.test/template-"
)

// revisionsOf reads the revisions from a set's status.
func revisionsOf(set *replicaSet) (r rollback.Revisions) {
	if c := meta.FindStatusCondition(set.Status.Conditions, conditionRevisions); c != nil {
		if err := json.Unmarshal([]byte(c.Message), &r); err != nil {
			panic(err)
		}
	}
	return r
}

// saysOfRevisions reads the conditions that rollback.SetConditions sets.
func saysOfRevisions(set *replicaSet) Saying {
	c := meta.FindStatusCondition(set.Status.Conditions, status.ConditionProgressing)
	if c == nil {
		return Saying{}
	}
	return Saying{Message: c.Message, Current: c.ObservedGeneration == set.Generation, Over: c.Status == metav1.ConditionFalse}
}

// aborter is what a reader of the page of rollout writes.
type aborter struct {
	*controller
	templates map[string]workv1.ManifestWorkSpec // only to ignore a duty with
}

func runAborter(ctx context.Context, p *Process) error {
	c := &aborter{controller: newController(p), templates: map[string]workv1.ManifestWorkSpec{}}
	if p.Lock == nil {
		return loop(ctx, p, c.reconcile)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: p.Lock, LeaseDuration: LeaseDuration, RenewDeadline: RenewDeadline, RetryPeriod: RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { _ = loop(ctx, p, c.reconcile) },
			OnStoppedLeading: stop,
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	return nil
}

func (c *aborter) reconcile(ctx context.Context) (time.Duration, error) {
	if err := c.begin(ctx); err != nil {
		return 0, err
	}
	if there, err := c.readsItsWrites(ctx); !there {
		return c.again(), err
	}
	set, err := c.sets.ManifestWorkReplicaSets(c.namespace).Get(c.name)
	if err != nil {
		return 0, err
	}
	groups, err := c.groups(set.Spec.PlacementRefs[0].Name)
	if err != nil {
		return 0, err
	}
	owned, err := c.works.List(labels.SelectorFromSet(labels.Set{label: c.label()}))
	if err != nil {
		return 0, err
	}
	now, owner := time.Now(), set.DeepCopy()
	revisions := revisionsOf(set)
	result, err := c.plan(ctx, owner, &revisions, groups, owned, now)
	if result == nil || err != nil {
		return 0, err
	}

	byCluster := map[string]*workv1.ManifestWork{}
	for _, work := range owned {
		byCluster[work.Namespace] = work
	}
	for _, cluster := range result.Removed {
		if work := byCluster[cluster]; work.DeletionTimestamp == nil {
			err = errors.Join(err, c.remove(ctx, work))
		}
	}
	target := revisions.Target()
	for _, cluster := range slices.Concat(result.InFlight, result.Start) {
		if current, e := c.sets.ManifestWorkReplicaSets(c.namespace).Get(c.name); e != nil || current.Generation != set.Generation {
			return time.Millisecond, errors.Join(err, e)
		}
		to := target
		if c.ignores(DutyNoOther) && !slices.ContainsFunc(owned, func(w *workv1.ManifestWork) bool { return w.Namespace == cluster.Name }) {
			to = revisions.UpdateRevision
		}
		template, e := c.template(set, to)
		if e != nil {
			return 0, errors.Join(err, e)
		}
		err = errors.Join(err, c.apply(ctx, template, byCluster[cluster.Name], cluster.Name, to, now))
	}
	return result.RecheckAfter, errors.Join(err, c.updateStatus(ctx, set, owner, revisions))
}

// plan is the same as on the page of rollout.
func (c *aborter) plan(ctx context.Context, owner *replicaSet, r *rollback.Revisions, groups *grouping.Groups, owned []*workv1.ManifestWork, now time.Time) (*rollout.Result, error) {
	stored := owner.DeepCopy()
	if r.Want(versionOfTemplate(owner)) && !c.ignores(DutyStoreUpdate) {
		if err := c.keepTemplate(ctx, owner); err != nil {
			return nil, err
		}
		return nil, c.updateStatus(ctx, stored, owner, *r)
	}
	records, err := status.RecordsOf(stored)
	if err != nil {
		return nil, err
	}
	strategy, options := owner.Spec.PlacementRefs[0].RolloutStrategy, c.options()
	options.StoredRecord = c.remember(r.Target(), records[""])
	update, current := c.reports(groups, owned, r.UpdateRevision, false), c.reports(groups, owned, r.CurrentRevision, true)
	goesBack := r.AbortedTime != nil
	if goesBack && c.ignores(DutyAbortOnce) && c.last == nil {
		again := metav1.NewTime(now.Truncate(time.Second))
		r.AbortedTime = &again
		return nil, c.updateStatus(ctx, stored, owner, *r)
	}
	var result *rollout.Result
	if !goesBack {
		if result, err = rollout.Plan(strategy, groups, update, now, options); err != nil {
			return nil, err
		}
		asked := owner.Annotations[askAnnotation] == strconv.FormatInt(owner.Generation, 10)
		if goesBack = (asked || result.Breach != nil) && r.Abort(now); !goesBack {
			r.Complete(result.Summary())
		} else if !c.ignores(DutyStoreAbort) {
			return nil, c.updateStatus(ctx, stored, owner, *r)
		}
	}
	if goesBack {
		abort := rollout.Abort{Time: r.AbortedTime.Time, Failed: update, Before: current}
		if result, err = rollout.Revert(c.ignored.Strategy(strategy), groups, abort, now, options); err != nil {
			return nil, err
		}
	}
	rollback.SetConditions(&owner.Status.Conditions, *r, result.Summary(), owner.Generation, now)
	if goesBack && (len(result.Start)+len(result.BlockCounts()) == 0 || c.ignores(DutyMendFirst)) && !c.ignores(DutyJoined) {
		back := result
		if result, err = rollout.Plan(strategy, groups, current, now, options); err != nil {
			return nil, err
		}
		if c.ignores(DutyMendFirst) {
			result.Start = append(result.Start, back.Start...)
		}
	}
	c.last = result
	if stores, err := c.storeRecord(ctx, stored, result.Record); stores || err != nil {
		return nil, err
	}
	return result, nil
}

// storeRecord stores the deselected clusters, if that has changed.
func (c *aborter) storeRecord(ctx context.Context, set *replicaSet, record status.Record) (bool, error) {
	with := set.DeepCopy()
	if changed, err := (status.Records{"": record}).Note(with); !changed || err != nil {
		return false, err
	}
	return true, c.wroteSet(c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).Update(ctx, with, metav1.UpdateOptions{}))
}

// reports are about one version, which clusters go forward to, or back.
func (c *aborter) reports(groups *grouping.Groups, owned []*workv1.ManifestWork, version string, back bool) (reports []status.Report) {
	for _, work := range owned {
		if _, selected := groups.Position(work.Namespace); !selected && c.ignores(DutyLeft) {
			continue
		}
		report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version})
		if back && c.ignores(DutyApplied) {
			report, ok = c.report(work, version)
		}
		if ok {
			reports = append(reports, report)
		}
	}
	return reports
}

// keepTemplate keeps the present template under the name of its revision.
func (c *aborter) keepTemplate(ctx context.Context, owner *replicaSet) error {
	revision := versionOfTemplate(owner)
	if c.ignores(DutyKeepTemplate) {
		c.templates[revision] = owner.Spec.ManifestWorkTemplate
		return nil
	}
	template, err := json.Marshal(owner.Spec.ManifestWorkTemplate)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{templateAnnotation + revision: string(template)}}})
	if err != nil {
		return err
	}
	written, err := c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).Patch(ctx, c.name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err = c.wroteSet(written, err); err == nil {
		owner.ResourceVersion = written.ResourceVersion
	}
	return err
}

// template gives the template of a revision.
func (c *aborter) template(set *replicaSet, revision string) (spec workv1.ManifestWorkSpec, err error) {
	if revision == versionOfTemplate(set) {
		return set.Spec.ManifestWorkTemplate, nil
	}
	if kept, ok := c.templates[revision]; ok {
		return kept, nil
	}
	kept, ok := set.Annotations[templateAnnotation+revision]
	if !ok {
		return spec, fmt.Errorf("the template of revision %q was not kept", revision)
	}
	return spec, json.Unmarshal([]byte(kept), &spec)
}

// updateStatus stores revisions and conditions where they differ from what is stored.
func (c *aborter) updateStatus(ctx context.Context, stored, owner *replicaSet, r rollback.Revisions) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	meta.SetStatusCondition(&owner.Status.Conditions, metav1.Condition{Type: conditionRevisions, Status: metav1.ConditionTrue, Reason: "Kept", Message: string(text)})
	if slices.EqualFunc(stored.Status.Conditions, owner.Status.Conditions, func(a, b metav1.Condition) bool { return a == b }) {
		return nil
	}
	owner.Status.PlacementsSummary = []workv1alpha1.PlacementSummary{}
	return c.wroteSet(c.client.WorkV1alpha1().ManifestWorkReplicaSets(c.namespace).UpdateStatus(ctx, owner, metav1.UpdateOptions{}))
}
