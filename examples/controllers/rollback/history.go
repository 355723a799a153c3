// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// snapshot is the content of a ControllerRevision: a template, and the first generation of the set that had it.
type snapshot struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		ManifestWorkTemplate workv1.ManifestWorkSpec `json:"manifestWorkTemplate"`
	} `json:"spec"`
}

// revision is a ControllerRevision of a set, with its decoded content.
type revision struct {
	*appsv1.ControllerRevision
	snapshot
}

func (r *revision) hash() string { return r.Labels[HashLabel] }

func nameOf(set metav1.Object, hash string) string { return set.GetName() + "-" + hash }

// read decodes a ControllerRevision. An unreadable one is an error: clusters may have to roll back to it.
func read(object *appsv1.ControllerRevision) (*revision, error) {
	r := &revision{ControllerRevision: object}
	if err := json.Unmarshal(object.Data.Raw, &r.snapshot); err != nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s has no template of a ManifestWorkReplicaSet in its data: %w", object.Namespace, object.Name, err)
	}
	return r, nil
}

// history are a set's revisions, the oldest first: by number, and then by name.
type history []*revision

// historyOf lists the revisions that a set controls.
func (k *Keeper) historyOf(ctx context.Context, set *ManifestWorkReplicaSet) (history, error) {
	var list appsv1.ControllerRevisionList
	err := k.Live.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabels{kit.OwnerLabel: kit.OwnerValue(set)})
	if err != nil {
		return nil, err
	}
	var all history
	for i := range list.Items {
		if !metav1.IsControlledBy(&list.Items[i], set) {
			continue // of a deleted set of the same name: the garbage collector deletes it
		}
		r, err := read(&list.Items[i])
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *revision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// of finds a revision by its content, whatever its hash; nil if there is none. Of several the newest counts.
func (h history) of(template *workv1.ManifestWorkSpec) *revision {
	for _, r := range slices.Backward(h) {
		if sameTemplate(&r.Spec.ManifestWorkTemplate, template) {
			return r
		}
	}
	return nil
}

// named finds a revision by its hash; nil if there is none.
func (h history) named(hash string) *revision {
	i := slices.IndexFunc(h, func(r *revision) bool { return hash != "" && r.hash() == hash })
	if i < 0 {
		return nil
	}
	return h[i]
}

// isFound says whether a revision is wanted again after a later one: the later one was undone.
func (h history) isFound(known *revision) bool {
	return slices.ContainsFunc(h, func(other *revision) bool { return other.Metadata.Generation > known.Metadata.Generation })
}

// excess are the revisions to delete, the oldest first: those that no cluster should have, except for the newest ones
// within the limit.
func (h history) excess(limit int, live ...string) []*revision {
	dead := slices.DeleteFunc(slices.Clone(h), func(known *revision) bool { return slices.Contains(live, known.hash()) })
	return dead[:max(0, len(dead)-max(0, limit))]
}

// sameTemplate says whether two templates are equal as JSON. An API server may store raw JSON with its keys in another
// order.
func sameTemplate(a, b *workv1.ManifestWorkSpec) bool {
	if equality.Semantic.DeepEqual(a, b) {
		return true
	}
	var values [2]any
	for i, spec := range []*workv1.ManifestWorkSpec{a, b} {
		text, err := json.Marshal(spec)
		if err != nil || json.Unmarshal(text, &values[i]) != nil {
			return false
		}
	}
	return equality.Semantic.DeepEqual(values[0], values[1])
}

// keep makes the present template of a set the newest revision in its history, and returns that revision. If another
// content has the hash, it returns nil: the collision is counted in the set, and the next hash is another one.
func (k *Keeper) keep(ctx context.Context, set *ManifestWorkReplicaSet, all history) (*revision, error) {
	template := &set.Spec.ManifestWorkTemplate
	newest := int64(0)
	if len(all) > 0 {
		newest = all[len(all)-1].Revision
	}
	if present := all.of(template); present != nil {
		if present.Revision == newest {
			return present, nil
		}
		present.ControllerRevision = present.DeepCopy()
		present.Revision = newest + 1
		return present, k.Client.Update(ctx, present.ControllerRevision)
	}
	made, err := newRevision(set, newest+1)
	if err != nil {
		return nil, err
	}
	if err := k.Client.Create(ctx, made.ControllerRevision); !apierrors.IsAlreadyExists(err) {
		return made, err
	}
	var there appsv1.ControllerRevision
	if err := k.Live.Get(ctx, client.ObjectKeyFromObject(made), &there); err != nil {
		return nil, err
	}
	if other, err := read(&there); err == nil && metav1.IsControlledBy(&there, set) && sameTemplate(&other.Spec.ManifestWorkTemplate, template) {
		return other, nil // created before, with a lost answer
	}
	count := int32(1)
	if set.Status.CollisionCount != nil {
		count += *set.Status.CollisionCount
	}
	set.Status.CollisionCount = &count
	return nil, k.store(ctx, set)
}

// newRevision makes a revision of the present template.
func newRevision(set *ManifestWorkReplicaSet, number int64) (*revision, error) {
	r := &revision{}
	r.Metadata.Generation = set.Generation
	r.Spec.ManifestWorkTemplate = set.Spec.ManifestWorkTemplate
	data, err := json.Marshal(r.snapshot)
	if err != nil {
		return nil, err
	}
	hash := ComputeHash(&set.Spec.ManifestWorkTemplate, set.Status.CollisionCount)
	r.ControllerRevision = &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: nameOf(set, hash),
			Labels:          map[string]string{HashLabel: hash, kit.OwnerLabel: kit.OwnerValue(set)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("ManifestWorkReplicaSet"))},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}
	return r, nil
}

// prune deletes the revisions over the limit.
func (k *Keeper) prune(ctx context.Context, set *ManifestWorkReplicaSet, all history) error {
	limit := 10
	if set.Spec.RevisionHistoryLimit != nil {
		limit = int(*set.Spec.RevisionHistoryLimit)
	}
	for _, r := range all.excess(limit, set.Status.CurrentRevision, set.Status.UpdateRevision) {
		if err := k.Client.Delete(ctx, r.ControllerRevision, client.Preconditions{UID: &r.UID}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
