package writes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// annotationOwner notes whose an object is: the group kind, the namespace, the name and the UID of its owner, with slashes between them.
const annotationOwner = "cohort.open-cluster-management.io/owner"

// Owner is for what a controller writes objects: an object of a kind, such as a ManifestWorkReplicaSet. Owners of two kinds may have
// the same namespace and name, and a later owner may have all three of an earlier one. So objects note all of that and the UID, in
// the annotation cohort.open-cluster-management.io/owner. What another owner has noted is never touched.
type Owner struct {
	Kind schema.GroupKind
	// Object is the owner as it was read.
	Object metav1.Object
	// Labels are those that each of the owner's objects has, and by which they are listed. They tell the owner of an object that
	// was written before objects noted their owner: it has all of them, and no label with the same value that another controller
	// wrote. Such a label has a key with another prefix. Without Labels such an object is nobody's.
	Labels map[string]string
	// Former are the UIDs of earlier owners of this kind, namespace and name that are known to be gone, because the API server has
	// Object under that name. Their objects are this owner's.
	Former []types.UID
}

// NoteOn has an object note its owner, and gives it the owner's labels. The maps are replaced where they change. An object whose owner
// is known otherwise can be given to [StepsOf] as a copy that notes it.
func (o Owner) NoteOn(object metav1.Object) {
	object.SetLabels(with(object.GetLabels(), o.Labels))
	object.SetAnnotations(with(object.GetAnnotations(), map[string]string{annotationOwner: o.key() + string(o.Object.GetUID())}))
}

// Has says whether an object is the owner's: because it notes that, because it has an owner reference to it, or by its labels.
func (o Owner) Has(object metav1.Object) bool { return o.claimOn(object) == owned }

// Noted gives the UID that an object notes of an owner with this kind, namespace and name; false where it notes no such owner.
func (o Owner) Noted(object metav1.Object) (types.UID, bool) {
	uid, same := strings.CutPrefix(object.GetAnnotations()[annotationOwner], o.key())
	return types.UID(uid), same
}

// key is what the objects of all owners with this kind, namespace and name note before the UID.
func (o Owner) key() string {
	return o.Kind.String() + "/" + o.Object.GetNamespace() + "/" + o.Object.GetName() + "/"
}

// claim is what an owner has to do with an object.
type claim int8

const (
	owned    claim = iota
	foreign        // it is another's
	former         // it is an earlier owner's with the same kind, namespace and name
	doubtful       // it may be the owner's or another's
)

// claimOn says whose an object is (W17).
func (o Owner) claimOn(object metav1.Object) claim {
	if uid, same := o.Noted(object); same {
		if uid == o.Object.GetUID() || hasUID(o.Former, uid) {
			return owned
		}
		return former
	}
	if object.GetAnnotations()[annotationOwner] != "" {
		return foreign
	}
	for _, ref := range object.GetOwnerReferences() {
		if ref.UID != "" && ref.UID == o.Object.GetUID() {
			return owned
		}
	}
	switch labelled, others := o.labelled(object); {
	case labelled && !others:
		return owned
	case labelled || len(o.Labels) == 0 && object.GetName() == oldNameOf(o.Object):
		return doubtful
	default:
		return foreign
	}
}

func hasUID(all []types.UID, uid types.UID) bool {
	for _, u := range all {
		if u == uid {
			return true
		}
	}
	return false
}

// labelled says whether an object has the owner's labels, and whether another controller has labelled it with the same value.
func (o Owner) labelled(object metav1.Object) (own, others bool) {
	labels := object.GetLabels()
	for key, value := range o.Labels {
		if had, has := labels[key]; !has || had != value {
			return false, false
		}
		for other, same := range labels {
			others = others || same == value && prefixOf(other) != prefixOf(key)
		}
	}
	return len(o.Labels) > 0, others
}

func prefixOf(key string) string {
	prefix, _, prefixed := strings.Cut(key, "/")
	if !prefixed {
		return ""
	}
	return prefix
}

// isOthers says whether an object that was read is certainly not the one that a process has sent: it notes another owner, or none and has
// no label of that one (W17). Where what was sent notes no owner, nothing is known.
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

// NameOf is a name for an object of an owner in the namespace of a cluster, in which there are the given objects: that of the owner's object
// among them, or else one that follows from the owner, so that whoever creates the object twice creates one. Owners of two kinds or in
// two namespaces have two names, whatever they are called: a hash tells apart what hyphens would not, such as a-b/c and a/b-c.
// Where another owner's object has that name, it is another one, which follows from the UID, too. It has at most 253 characters, as
// names may.
func NameOf[T object](owner Owner, there ...T) string {
	var own T
	taken := make(map[string]bool, len(there))
	for _, object := range there {
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

// oldNameOf is the name that objects had before names knew of kinds.
func oldNameOf(owner metav1.Object) string {
	return nameOf(owner, owner.GetNamespace()+"."+owner.GetName())
}

// nameOf makes a name of an owner's name and of what tells it from others.
func nameOf(owner metav1.Object, unique string) string {
	const most = 253 - 1 - 8
	name, sum := owner.GetName(), sha256.Sum256([]byte(unique))
	if len(name) > most {
		name = strings.TrimRight(name[:most], ".-") // what follows begins with a hyphen
	}
	return name + "-" + hex.EncodeToString(sum[:4])
}

// Foreign is an object that was found where an owner's would be, or with its labels, and that is not touched.
type Foreign struct {
	Cluster, Name string
	// Owner is what the object notes: the group kind, namespace, name and UID of its owner, with slashes between them. It is empty
	// where the object notes none.
	Owner string
	// Holds says that the cluster does not start while the object is there, as another one beside it could be a second one of the same
	// workload: it is an earlier owner's of the same kind, namespace and name, or it may be the owner's own.
	Holds bool
}

// String is a sentence without its full stop: `a: web-3184d5ed belongs to FleetConfig.example.com/apps/web/1, and is left alone`.
func (f Foreign) String() string {
	s := f.Cluster + ": " + f.Name
	switch {
	case f.Holds && f.Owner != "":
		return s + " belongs to " + f.Owner + ", an earlier owner of that name: nothing starts there until the object is gone or loses the annotation " + annotationOwner
	case f.Holds:
		return s + " may belong to another owner of the same name: nothing starts there until the object is gone or has the annotation " + annotationOwner
	case f.Owner != "":
		return s + " belongs to " + f.Owner + ", and is left alone"
	default:
		return s + " does not say whose it is, and is left alone"
	}
}

// compareForeign is the order in which foreign objects are given.
func compareForeign(a, b Foreign) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name))
}
