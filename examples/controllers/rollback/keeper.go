// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Keeper keeps the revisions of sets. A nil Keeper keeps none, and its turns behave as without this package.
type Keeper struct {
	Client client.Client // to write with
	Live   client.Reader // to read from the API server: the Go types of the caches lack the fields
	Now    func() time.Time
}

// Turn is one reconcile of a set. It is not safe for concurrent use.
type Turn struct {
	// Set is the set as it was read, with the template that clusters get now: during a rollback, that of the revision
	// before.
	Set *workv1alpha1.ManifestWorkReplicaSet
	// Refused are the refused writes for clusters, which the plan's sentences tell.
	Refused writes.Refusals

	keeper  *Keeper
	stored  *ManifestWorkReplicaSet
	target  workv1.ManifestWorkSpec
	found   bool              // the update revision was already in the history
	results []*rollout.Result // of rollbacks, in the order of the placements

	completed bool // the update revision has just become the current one

	exceeded bool // a placement is stopped: more clusters than maxFailures reached the deadline
	aborts   bool // such a placement has AbortAll
}

// Begin reads the enhancement's fields of a set, and makes its present template a revision. It returns nil if the caller
// must requeue soon: the cache that has the set is stale, or something was stored that must be read back first. Last is the
// Turn of this set before, if any. If the set has not changed since, nothing is read live.
func (k *Keeper) Begin(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, last *Turn) (*Turn, error) {
	if k == nil {
		return &Turn{Set: set}, nil
	}
	if last != nil && last.stored.UID == set.UID && last.stored.ResourceVersion == set.ResourceVersion {
		return (&Turn{keeper: k, stored: last.stored, target: last.target, found: last.found}).of(set), nil
	}
	stored, err := k.read(ctx, set)
	if err != nil || stored == nil || stored.UID != set.UID || stored.ResourceVersion != set.ResourceVersion {
		return nil, err
	}
	h, err := k.historyOf(ctx, stored)
	if err != nil {
		return nil, err
	}
	present, err := k.keep(ctx, stored, h)
	if err != nil || present == nil {
		return nil, err
	}
	t := &Turn{keeper: k, stored: stored, target: present.Spec.ManifestWorkTemplate, found: h.isFound(present)}
	if stored.Status.Want(present.hash()) {
		begun := standing{set: stored, found: t.found}.begun()
		setCondition(&stored.Status.Conditions, begun, k.Now())
		return nil, k.store(ctx, stored)
	}
	if stored.Status.AbortedTime != nil {
		before := h.named(stored.Status.CurrentRevision)
		if before == nil {
			return nil, k.cannotGoBack(ctx, stored)
		}
		t.target = before.Spec.ManifestWorkTemplate
	}
	return t.of(set), k.prune(ctx, stored, h)
}

// of makes a turn with the set that was read.
func (t *Turn) of(set *workv1alpha1.ManifestWorkReplicaSet) *Turn {
	with := *set // a copy: set is shared with the cache
	with.Spec.ManifestWorkTemplate = t.target
	t.Set = &with
	return t
}

// Mark makes a work one of its revision: it sets the template, and the label with the hash. The template is the turn's: an
// update of the set overwrites the one in Set with the stored one.
func (t *Turn) Mark(work *workv1.ManifestWork) *workv1.ManifestWork {
	if t.keeper != nil {
		work.Spec = t.target
		metav1.SetMetaDataLabel(&work.ObjectMeta, HashLabel, t.stored.Status.Target())
	}
	return work
}

// Abort starts a rollback of the update revision if deadlines stop a placement with AbortAll, or an operator asks for it,
// and says whether it stored that. If so, make no writes of the present plans. Call it after all placements are planned.
func (t *Turn) Abort(ctx context.Context) (bool, error) {
	if t.keeper == nil || !t.aborts && !t.isAsked() {
		return false, nil
	}
	now, next := t.keeper.Now(), t.stored.deepCopy()
	if !next.Status.Abort(now) {
		return false, nil // such as for the first revision
	}
	for _, condition := range (standing{set: next, asked: t.isAsked()}).aborted(false) {
		setCondition(&next.Status.Conditions, condition, now)
	}
	return true, t.keeper.store(ctx, next)
}

// isAsked says whether an operator asks for a rollback of the update revision. A request for an earlier generation does not
// count: the same revision may be wanted again by now.
func (t *Turn) isAsked() bool {
	return t.Set.Annotations[AbortAnnotation] == strconv.FormatInt(t.Set.Generation, 10)
}

// cannotGoBack says in the status that there is no revision to roll back to.
func (k *Keeper) cannotGoBack(ctx context.Context, set *ManifestWorkReplicaSet) error {
	err := fmt.Errorf("ControllerRevision %s/%s is missing, so no cluster can roll back to it: give the set another template", set.Namespace,
		nameOf(set, set.Status.CurrentRevision))
	condition := standing{set: set}.failed(err)
	if setCondition(&set.Status.Conditions, condition, k.Now()) {
		if stored := k.store(ctx, set); stored != nil {
			return stored
		}
	}
	return err
}

// read reads a set with all its fields from the API server; nil if it is gone.
func (k *Keeper) read(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet) (*ManifestWorkReplicaSet, error) {
	object := plain(set)
	if err := k.Live.Get(ctx, client.ObjectKeyFromObject(set), object); err != nil {
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return nil, err
	}
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	stored := &ManifestWorkReplicaSet{}
	if err := json.Unmarshal(text, stored); err != nil {
		return nil, err
	}
	// The embedded API type has them in its own field.
	stored.Spec.ManifestWorkReplicaSetSpec.PlacementRefs = nil
	return stored, nil
}

// store writes the status of a set. It fails with a conflict if the set has changed.
func (k *Keeper) store(ctx context.Context, set *ManifestWorkReplicaSet) error {
	status := map[string]any{}
	text, err := json.Marshal(set.Status)
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	if err != nil {
		return err
	}
	if set.Status.AbortedTime == nil {
		status["abortedTime"] = nil // a merge patch removes null fields
	}
	if set.Status.PlacementsSummary == nil {
		status["placementSummary"] = []any{} // the API requires a list
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": set.ResourceVersion}, "status": status})
	if err != nil {
		return err
	}
	object := plain(set)
	if err := k.Client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return err
	}
	set.ResourceVersion = object.GetResourceVersion()
	return nil
}

// plain is an object of the set's kind with only its name.
func plain(of metav1.Object) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(workv1alpha1.GroupVersion.String())
	object.SetKind("ManifestWorkReplicaSet")
	object.SetNamespace(of.GetNamespace())
	object.SetName(of.GetName())
	return object
}

// deepCopy copies the parts that may change: metadata and status.
func (set *ManifestWorkReplicaSet) deepCopy() *ManifestWorkReplicaSet {
	with := *set
	set.ObjectMeta.DeepCopyInto(&with.ObjectMeta)
	set.Status.ManifestWorkReplicaSetStatus.DeepCopyInto(&with.Status.ManifestWorkReplicaSetStatus)
	return &with
}
