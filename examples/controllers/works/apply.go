// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/examples/controllers/removals"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// stepsOf returns the writes that the plans ask for. Others are works of other owners in the cache, under the name that a
// cluster's work would have.
func (c *controller) stepsOf(owner writes.Owner, placements []*placement, works, others []*work) *writes.Steps[*work] {
	results, name := make([]*rollout.Result, len(placements)), writes.NameOf[*work](owner)
	all := slices.Concat(works, others)
	for i, placed := range placements {
		results[i] = placed.result
		for _, cluster := range placed.result.Start {
			there := kit.Get[work](c.caches.works, cluster.Name, name)
			if there != nil && !owner.Has(there) && !slices.Contains(others, there) {
				all = append(all, there)
			}
		}
	}
	return writes.StepsOf(owner, all, results...)
}

func (c *controller) owner(ctx context.Context, set *replicaSet) (writes.Owner, []*work, error) {
	labelled := c.caches.worksOf(set)
	owner, err := kit.Owner(set, labelled, func() (types.UID, error) {
		var now replicaSet
		err := c.live.Get(ctx, client.ObjectKeyFromObject(set), &now)
		return now.UID, err
	})
	return owner, labelled, err
}

// noteForeign warns once of each object of another owner that is in the way.
func noteForeign(memory *memory, foreign []writes.Foreign) (notes kit.Notes) {
	told := make(map[writes.Foreign]bool, len(foreign))
	for _, object := range foreign {
		if told[object] = true; !memory.foreign[object] {
			notes.Add(kit.Warning, "ForeignObject", object.String())
		}
	}
	memory.foreign = told
	return notes
}

// carryOut makes the steps, as long as the set wants this version.
func (c *controller) carryOut(
	ctx context.Context, set *replicaSet, memory *memory, placements []*placement,
	owner writes.Owner, steps *writes.Steps[*work], version string,
) error {
	var failures kit.Failures
	removed := make(map[*work]bool)
	for step := range steps.While(func() (metav1.Object, error) { return c.shares.InTime(set, c.caches.now) }) {
		switch {
		case step.Verb == writes.VerbDelete:
			removed[step.Object] = true
			failures.Add(step.Cluster.Name, c.remove(ctx, memory, step.Object))
		case step.Start: // a cluster in flight already has all of the version
			placed := placements[step.Plan]
			wanted := memory.turn.Mark(wanted(owner, set, step, placed.ref.Name))
			wanted, err := c.plugins.Prepare(ctx, placed.asks, placed.result, step.Cluster, wanted)
			if err == nil {
				err = manager.Write(ctx, c.client, &memory.written, step.Object, wanted, version, step.Cluster.Attempt, c.now)
			}
			memory.refused.Wrote(step.Cluster.Name, err)
			failures.Add(step.Cluster.Name, err)
		}
	}
	c.edit(ctx, memory, placements, removed, version, &failures)
	return failures.Tell(&c.teller, set)
}

// edit makes writes that change nothing for a cluster: its first answer, if it must be recorded, and the label of its
// placement.
func (c *controller) edit(
	ctx context.Context, memory *memory, placements []*placement, removed map[*work]bool, version string,
	failures *kit.Failures,
) {
	soaks := slices.ContainsFunc(placements, func(placed *placement) bool { return placed.asks.NeedsAnswers(placed.result) })
	for _, placed := range placements {
		failures.Add("(all)", c.plugins.Progress(ctx, placed.asks, placed.result))
		for _, work := range placed.answered {
			if soaks && !removed[work] { // it may also count in the placement that the cluster has left
				failures.Add(work.Namespace, manager.Write(ctx, c.client, &memory.written, work, work, version, 0, c.now))
			}
		}
		for _, work := range placed.moved {
			at, _, selected := placed.result.Find(work.Namespace)
			if selected && !removed[work] && at != rollout.DispositionStarting && at != rollout.DispositionDeselected {
				moved := work.DeepCopy() // the work may have another version
				metav1.SetMetaDataLabel(&moved.ObjectMeta, placementLabel, placed.ref.Name)
				failures.Add(work.Namespace, memory.written.Wrote(moved, c.client.Update(ctx, moved), c.now()))
			}
		}
	}
}

// wanted is the work that a cluster should have.
func wanted(owner writes.Owner, set *replicaSet, step writes.Step[*work], placement string) *work {
	created := &work{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: step.Cluster.Name, Name: step.Name, Labels: map[string]string{placementLabel: placement},
		},
		Spec: set.Spec.ManifestWorkTemplate,
	}
	owner.NoteOn(created)
	return created
}

func (c *controller) remove(ctx context.Context, memory *memory, work *work) error {
	return memory.written.Deleted(work, c.client.Delete(ctx, work, client.Preconditions{UID: &work.UID}), c.now())
}

// store stores the record of deselected clusters in the set if it changed, and returns the set with it. The plan that made
// the record can still be carried out: it removes only clusters whose entry was read back from the set. Waiting for the
// record could last for ever: until a first answer is recorded, each plan dates it to now, and has another record.
func (c *controller) store(
	ctx context.Context, set *replicaSet, memory *memory, placements []*placement,
) (*replicaSet, error) {
	records := make(status.Records, len(placements))
	for _, placed := range placements {
		records[placed.ref.Name] = placed.result.Record
	}
	with := set.DeepCopy()
	if changed, err := records.Note(with); !changed || err != nil {
		return set, err
	}
	return with, c.patch(ctx, set, with, memory)
}

// patch writes what changed in a set's metadata. It fails with a conflict if the cache is stale.
func (c *controller) patch(ctx context.Context, from, to *replicaSet, memory *memory) error {
	err := c.client.Patch(ctx, to, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}))
	return memory.stored.Wrote(to, err, c.now())
}

const finalizer = workv1alpha1.ManifestWorkReplicaSetFinalizer

// addFinalizer returns the set with the finalizer, which keeps the set until its works are gone.
func (c *controller) addFinalizer(ctx context.Context, set *replicaSet, memory *memory) (*replicaSet, error) {
	if controllerutil.ContainsFinalizer(set, finalizer) {
		return set, nil
	}
	with := set.DeepCopy()
	controllerutil.AddFinalizer(with, finalizer)
	return with, c.patch(ctx, set, with, memory)
}

// finalize deletes the works of a set that is being deleted, all at once or in order, and then removes the finalizer.
func (c *controller) finalize(ctx context.Context, set *replicaSet, memory *memory) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(set, finalizer) {
		return reconcile.Result{}, nil
	}
	if c.removals.InOrder(set) {
		if recheck, err := c.behind(ctx, memory); recheck > 0 || err != nil {
			return reconcile.Result{RequeueAfter: recheck}, err
		}
	}
	next, err := c.removals.Next(ctx, removals.Deleted{
		Set: set, Works: c.caches.worksOf(set), Gone: &memory.gone, Live: c.live, Now: c.now(),
		Groups: func() ([]*grouping.Groups, error) { return c.groups(set, memory) },
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	var failures kit.Failures
	for _, work := range next.Delete {
		failures.Add(work.Namespace, c.remove(ctx, memory, work))
	}
	err = errors.Join(failures.Tell(&c.teller, set), next.Tell(ctx, c.client, &c.teller, set, &memory.stored, c.now))
	if err != nil || !next.Last {
		return reconcile.Result{RequeueAfter: writes.Patience}, err // the deletion of each is an event
	}
	without := set.DeepCopy()
	controllerutil.RemoveFinalizer(without, finalizer)
	return reconcile.Result{}, client.IgnoreNotFound(c.patch(ctx, set, without, memory))
}
