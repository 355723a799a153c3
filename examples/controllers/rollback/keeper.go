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
)

// Keeper keeps the revisions of sets. A nil one keeps none, and its turns do what a controller without this package does.
type Keeper struct {
	Client client.Client // writes
	Live   client.Reader // asks the API server itself: the fields are not in the Go types of the caches
	Now    func() time.Time
}

// Turn is one reconcile of a set. It is not for several goroutines.
type Turn struct {
	// Set is the one that was read, with the template that clusters get now: where a revision is taken back, that of the one before. All
	// else in it is as read.
	Set *workv1alpha1.ManifestWorkReplicaSet

	keeper  *Keeper
	stored  *ManifestWorkReplicaSet
	target  workv1.ManifestWorkSpec
	found   bool              // the update revision was in the history before
	results []*rollout.Result // of ways back, in the order of the placements

	completed bool // the update revision has just become the current one

	exceeded bool // a placement is stopped since more clusters than maxFailures reached the deadline
	aborts   bool // one of those has AbortAll
}

// Begin reads what the enhancement adds to a set, and sees to it that its present template is a revision. It gives nil where the caller has to
// come again soon: the cache that it read the set from is behind, or something was stored that has to stand there first. Last is what it
// gave for this set before, if anything. If the set is the same one since, the API server is not asked.
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

// of gives the turn the set that was read.
func (t *Turn) of(set *workv1alpha1.ManifestWorkReplicaSet) *Turn {
	with := *set // of a cache
	with.Spec.ManifestWorkTemplate = t.target
	t.Set = &with
	return t
}

// Mark makes the work that a cluster is to get one of its revision: with the template, and the label of the hash. Whoever writes to a set
// gets it back with its own template.
func (t *Turn) Mark(work *workv1.ManifestWork) *workv1.ManifestWork {
	if t.keeper != nil {
		work.Spec = t.target
		metav1.SetMetaDataLabel(&work.ObjectMeta, HashLabel, t.stored.Status.Target())
	}
	return work
}

// Abort takes the update revision back, if a placement with AbortAll is stopped by deadlines or a person asks for it, and says whether it stored that.
// Then nothing of the present plans may be carried out. Call it when all placements are planned.
func (t *Turn) Abort(ctx context.Context) (bool, error) {
	if t.keeper == nil || !t.aborts && !t.isAsked() {
		return false, nil
	}
	now, next := t.keeper.Now(), t.stored.deepCopy()
	if !next.Status.Abort(now) {
		return false, nil // as for a first revision
	}
	for _, c := range (standing{set: next, asked: t.isAsked()}).aborted(false) {
		setCondition(&next.Status.Conditions, c, now)
	}
	return true, t.keeper.store(ctx, next)
}

// isAsked says whether a person asks that the update revision be taken back. What was asked of an earlier generation counts for nothing: by
// now the same revision may be wanted again.
func (t *Turn) isAsked() bool {
	return t.Set.Annotations[AbortAnnotation] == strconv.FormatInt(t.Set.Generation, 10)
}

// cannotGoBack says in the status that there is nothing to go back to.
func (k *Keeper) cannotGoBack(ctx context.Context, set *ManifestWorkReplicaSet) error {
	err := fmt.Errorf("ControllerRevision %s/%s is gone: no cluster can go back to it, give the set another template", set.Namespace,
		nameOf(set, set.Status.CurrentRevision))
	c := standing{set: set}.failed(err)
	if setCondition(&set.Status.Conditions, c, k.Now()) {
		if stored := k.store(ctx, set); stored != nil {
			return stored
		}
	}
	return err
}

// read asks the API server for a set with all its fields; nil if it is gone.
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
	// The one that is read as the API's has them in its own field.
	stored.Spec.ManifestWorkReplicaSetSpec.PlacementRefs = nil
	return stored, nil
}

// store writes the status of a set as it is there, unless somebody has changed the set.
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
		status["abortedTime"] = nil // which a merge patch removes
	}
	if set.Status.PlacementsSummary == nil {
		status["placementSummary"] = []any{} // the API wants a list
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

// plain is an object of the kind of sets, by its name alone.
func plain(of metav1.Object) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(workv1alpha1.GroupVersion.String())
	object.SetKind("ManifestWorkReplicaSet")
	object.SetNamespace(of.GetNamespace())
	object.SetName(of.GetName())
	return object
}

// deepCopy copies what may change: the metadata, and the status.
func (s *ManifestWorkReplicaSet) deepCopy() *ManifestWorkReplicaSet {
	with := *s
	s.ObjectMeta.DeepCopyInto(&with.ObjectMeta)
	s.Status.ManifestWorkReplicaSetStatus.DeepCopyInto(&with.Status.ManifestWorkReplicaSetStatus)
	return &with
}
