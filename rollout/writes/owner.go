// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// annotationOwner notes the owner of an object: group kind, namespace, name and UID, with slashes between them.
const annotationOwner = "cohort.open-cluster-management.io/owner"

// Owner is the object for which a controller writes objects, such as a ManifestWorkReplicaSet. Owners of two kinds may have
// the same namespace and name, and a later owner may have the kind, namespace and name of an earlier one. Therefore objects
// note all three and the UID, in the annotation cohort.open-cluster-management.io/owner. An object that notes another owner
// is never touched.
type Owner struct {
	Kind schema.GroupKind
	// Object is the owner as it was read.
	Object metav1.Object
	// Labels are on each of the owner's objects, and select them in lists. They identify an object from before objects
	// noted their owner: it has all of these labels, and no label of another controller with the same value. (Such a
	// label's key has another prefix.) Without Labels such an object belongs to no owner.
	Labels map[string]string
	// Former are the UIDs of earlier owners of this kind, namespace and name. They are gone, because a live read found
	// Object under that name. Their objects are this owner's.
	Former []types.UID
}

// NoteOn notes the owner on an object, and adds the owner's labels. Changed maps are replaced. If an object's owner is
// known by other means, pass a copy that notes it to [StepsOf].
func (owner Owner) NoteOn(object metav1.Object) {
	object.SetLabels(with(object.GetLabels(), owner.Labels))
	object.SetAnnotations(with(object.GetAnnotations(), map[string]string{annotationOwner: owner.key() + string(owner.Object.GetUID())}))
}

// Has says whether an object is the owner's: by its annotation, by an owner reference, or by its labels.
func (owner Owner) Has(object metav1.Object) bool { return owner.claimOn(object) == owned }

// Noted returns the UID in the annotation of an object; false if the annotation has not this kind, namespace and name.
func (owner Owner) Noted(object metav1.Object) (types.UID, bool) {
	uid, same := strings.CutPrefix(object.GetAnnotations()[annotationOwner], owner.key())
	return types.UID(uid), same
}

// key is the annotation of all owners with this kind, namespace and name, without the UID.
func (owner Owner) key() string {
	return owner.Kind.String() + "/" + owner.Object.GetNamespace() + "/" + owner.Object.GetName() + "/"
}

// claim is the relation of an owner to an object.
type claim int8

const (
	owned     claim = iota
	foreign         // another owner's
	former          // an earlier owner's of the same kind, namespace and name
	ambiguous       // the owner's or another's
)

// claimOn says which owner an object belongs to (W17).
func (owner Owner) claimOn(object metav1.Object) claim {
	if uid, same := owner.Noted(object); same {
		if uid == owner.Object.GetUID() || slices.Contains(owner.Former, uid) {
			return owned
		}
		return former
	}
	if object.GetAnnotations()[annotationOwner] != "" {
		return foreign
	}
	for _, ref := range object.GetOwnerReferences() {
		if ref.UID != "" && ref.UID == owner.Object.GetUID() {
			return owned
		}
	}
	switch labelled, others := owner.labelled(object); {
	case labelled && !others:
		return owned
	case labelled || len(owner.Labels) == 0 && object.GetName() == oldNameOf(owner.Object):
		return ambiguous
	default:
		return foreign
	}
}

// labelled says whether an object has the owner's labels, and whether another controller has labelled it with the same value.
func (owner Owner) labelled(object metav1.Object) (own, others bool) {
	labels := object.GetLabels()
	for key, value := range owner.Labels {
		if had, has := labels[key]; !has || had != value {
			return false, false
		}
		for other, same := range labels {
			others = others || same == value && prefixOf(other) != prefixOf(key)
		}
	}
	return len(owner.Labels) > 0, others
}

func prefixOf(key string) string {
	prefix, _, prefixed := strings.Cut(key, "/")
	if !prefixed {
		return ""
	}
	return prefix
}

// isOthers says whether an object that was read is certainly not the one that was sent: it notes another owner, or it notes
// none and has no label of the sent object (W17). If the sent object notes no owner, the answer is false.
func isOthers(sent, read metav1.Object) bool {
	wanted, noted := sent.GetAnnotations()[annotationOwner], read.GetAnnotations()[annotationOwner]
	if wanted == "" || noted == wanted {
		return false
	}
	if noted != "" {
		return cutUID(noted) != cutUID(wanted)
	}
	for key, value := range sent.GetLabels() {
		if had, has := read.GetLabels()[key]; has && had == value {
			return false
		}
	}
	return true
}

func cutUID(note string) string { return note[:strings.LastIndexByte(note, '/')+1] }

// NameOf returns the name of an owner's object in the namespace of a cluster. Existing are the objects that are there. If
// one of them is the owner's, it is that one's name. Otherwise the name follows from the owner, so that a create that is
// repeated does not make a second object. It ends in a hash of kind, namespace and name, since hyphens alone would not
// distinguish a-b/c from a/b-c. If another owner's object has that name, the UID is hashed, too. A name has at most 253
// characters.
func NameOf[T object](owner Owner, existing ...T) string {
	var own T
	taken := make(map[string]bool, len(existing))
	for _, object := range existing {
		if taken[object.GetName()] = true; owner.Has(object) && (isNil(own) || rather("", object, own) < 0) {
			own = object
		}
	}
	if !isNil(own) {
		return own.GetName()
	}
	name := nameOf(owner.Object, owner.key())
	for n := 0; taken[name]; n++ {
		name = nameOf(owner.Object, fmt.Sprint(owner.key(), owner.Object.GetUID(), "/", n))
	}
	return name
}

// oldNameOf is the name of objects from before names depended on the kind.
func oldNameOf(owner metav1.Object) string {
	return nameOf(owner, owner.GetNamespace()+"."+owner.GetName())
}

// nameOf is an owner's name with a hash that makes it unique.
func nameOf(owner metav1.Object, unique string) string {
	const most = 253 - 1 - 8
	name, sum := owner.GetName(), sha256.Sum256([]byte(unique))
	if len(name) > most {
		name = strings.TrimRight(name[:most], ".-") // what follows begins with a hyphen
	}
	return name + "-" + hex.EncodeToString(sum[:4])
}

// Foreign is an object in the place of an owner's object, or with the owner's labels, that belongs to another owner or may
// do so. It is not touched.
type Foreign struct {
	Cluster, Name string
	// Owner is the object's annotation: the group kind, namespace, name and UID of its owner, with slashes between them. It
	// is empty if there is none.
	Owner string
	// Blocks says that the cluster does not start while the object is there: another object could run the same workload
	// twice. The object belongs to an earlier owner of the same kind, namespace and name, or may be the owner's own.
	Blocks bool
}

// String is a sentence without its full stop: `a: web-3184d5ed belongs to FleetConfig.example.com/apps/web/1, and is left alone`.
func (f Foreign) String() string {
	text := f.Cluster + ": " + f.Name
	switch {
	case f.Blocks && f.Owner != "":
		return text + " belongs to " + f.Owner + ", an earlier owner of that name: nothing starts there until the object is gone or loses the annotation " + annotationOwner
	case f.Blocks:
		return text + " may belong to another owner of the same name: nothing starts there until the object is gone or has the annotation " + annotationOwner
	case f.Owner != "":
		return text + " belongs to " + f.Owner + ", and is left alone"
	default:
		return text + " has no owner annotation, and is left alone"
	}
}

func compareForeign(a, b Foreign) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name))
}
