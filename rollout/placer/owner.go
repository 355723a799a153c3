// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// OwnerLabel is on each ManifestWork that this package writes. Its value is a hash of the owner's kind, namespace and name,
// which may be longer than a label's value. The annotation of package writes has them in full.
//
// Before a controller of this package takes over ManifestWorks that another one wrote, label each with the hash of its owner,
// and stop the other one. Those with the wanted spec then count as they are, and are not written again. A shell prints the hash:
//
//	printf %s FleetConfig.apps.example.com/NAMESPACE/NAME | sha256sum | cut -c -32
const OwnerLabel = "cohort.open-cluster-management.io/owner-hash"

// ownerAnnotation is where package writes notes the owner: kind.group/namespace/name/uid.
const ownerAnnotation = "cohort.open-cluster-management.io/owner"

// hashOf is the value of OwnerLabel.
func (r *reconciler) hashOf(owner types.NamespacedName) string {
	return hash(r.groupKind().String() + "/" + owner.Namespace + "/" + owner.Name)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// ownerNotedBy is the owner of this kind in an object's annotation.
func (r *reconciler) ownerNotedBy(object metav1.Object) (types.NamespacedName, bool) {
	parts := strings.Split(object.GetAnnotations()[ownerAnnotation], "/")
	if len(parts) != 4 || parts[0] != r.groupKind().String() {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: parts[1], Name: parts[2]}, true
}

// hashesOf are the hashes under which a ManifestWork is indexed: of its label, and of its annotation.
func (r *reconciler) hashesOf(work client.Object) []string {
	var hashes []string
	if hash, ok := work.GetLabels()[OwnerLabel]; ok {
		hashes = append(hashes, hash)
	}
	owner, ok := r.ownerNotedBy(work)
	if !ok {
		return hashes
	}
	if hash := r.hashOf(owner); !slices.Contains(hashes, hash) {
		hashes = append(hashes, hash)
	}
	return hashes
}

// named is an owner of which only the namespace and the name are known.
func (r *reconciler) named(key types.NamespacedName) writes.Owner {
	return r.ownerOf(&metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name})
}

func (r *reconciler) ownerOf(object metav1.Object) writes.Owner {
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	return writes.Owner{
		Kind:   r.groupKind(),
		Object: object,
		Labels: map[string]string{OwnerLabel: r.hashOf(key)},
	}
}

// ownerWith is the owner of ManifestWorks. Its Former has the earlier owners of the same name that ManifestWorks note, once
// a live read shows that this owner has the name now: then the earlier ones are gone for good.
func (r *reconciler) ownerWith(ctx context.Context, object client.Object, state *ownerState, works []*workv1.ManifestWork) (writes.Owner, error) {
	owner := r.ownerOf(object)
	former := formerOf(owner, works)
	isGone := func(uid types.UID) bool { return slices.Contains(state.former, uid) }
	if !slices.ContainsFunc(former, func(uid types.UID) bool { return !isGone(uid) }) {
		owner.Former = former
		return owner, nil
	}
	now, err := r.liveMetadata(ctx, client.ObjectKeyFromObject(object))
	if err != nil {
		return owner, fmt.Errorf("asking whether an earlier owner is gone: %w", err)
	}
	if now.UID == object.GetUID() {
		owner.Former, state.former = former, former
	}
	return owner, nil
}

func formerOf(owner writes.Owner, works []*workv1.ManifestWork) []types.UID {
	var former []types.UID
	for _, work := range works {
		uid, same := owner.Noted(work)
		if same && uid != owner.Object.GetUID() && !slices.Contains(former, uid) {
			former = append(former, uid)
		}
	}
	return former
}
