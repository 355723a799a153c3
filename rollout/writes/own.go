// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"cmp"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Patience is how long a cache may take to show a write before the API server is asked. It is also the longest wait for the
// event of such a write.
const Patience = 10 * time.Second

// Own has the writes of a process to objects of one kind, and its live reads, for as long as the cache does not show them.
// T is the type in the cache, such as *workv1.ManifestWork. The zero value is ready to use. An Own is not safe for
// concurrent use: keep one for each owner, and reconcile an owner in one goroutine at a time. With a single worker, one Own
// can serve all owners.
//
// Own keeps the objects that it is given, and does not change them.
type Own[T object] struct {
	marks map[types.NamespacedName]mark[T]
}

// object is any type with metadata. Its only nil value must be the zero value.
type object interface {
	comparable
	metav1.Object
}

// mark is a write or a live read that the cache does not show yet (W1 to W7).
type mark[T object] struct {
	kind   kind
	object T    // the latest known state; the zero value if there is none
	sent   T    // what was sent, if the answer was lost; otherwise the zero value
	others bool // a live read found another owner's object
	seen   bool // the cache has shown that object, in this or an older state
	since  time.Time
}

type kind int8

const (
	written   kind = iota // or read live
	deleted               // by this process: the object is gone, or waits for its finalizers
	gone                  // the API server does not have it
	uncertain             // a write may have been made, or not
)

// Begin records the objects of an owner when a process begins to act. Live are the objects that it listed from the API
// server, and cached those in the cache before that list was requested. An object that only the cache has is gone. For
// [Own.Unseen], the metadata of the live objects is enough; [Own.Over] needs their content.
func (o *Own[T]) Begin(live, cached []T, now time.Time) {
	had := make(map[types.NamespacedName]T, len(cached))
	for _, state := range cached {
		had[keyOf(state)] = state
	}
	for _, listed := range live {
		key := keyOf(listed)
		if state, has := had[key]; !has || older(state, listed) {
			o.note(key, mark[T]{kind: written, object: listed, since: now})
		}
		delete(had, key)
	}
	for key, state := range had {
		o.note(key, mark[T]{kind: gone, object: state, seen: true, since: now})
	}
}

// Wrote records the answer to a create, an update or a patch, and returns err. The object is what the API server returned.
// On an error, it is the object that was sent: its namespace, name and owner annotation ([Owner.NoteOn]) are used.
func (o *Own[T]) Wrote(object T, err error, now time.Time) error {
	switch {
	case isNil(object):
	case err == nil:
		o.note(keyOf(object), mark[T]{kind: written, object: object, since: now})
	case !Refused(err):
		o.note(keyOf(object), mark[T]{kind: uncertain, sent: object, since: now})
	}
	return err
}

// Deleted records the answer to a delete of an object, and returns err, or nil if the object was already gone.
func (o *Own[T]) Deleted(object T, err error, now time.Time) error {
	if isNil(object) {
		return err
	}
	deletion := mark[T]{kind: deleted, object: object, since: now}
	_, late := o.marks[keyOf(object)]
	deletion.seen = !late // it was found in the cache
	switch {
	case err == nil:
		o.note(keyOf(object), deletion)
	case apierrors.IsNotFound(err):
		deletion.kind = gone
		o.note(keyOf(object), deletion)
		return nil
	case !Refused(err):
		o.note(keyOf(object), mark[T]{kind: uncertain, since: now})
	}
	return err
}

// Read records the answer of the API server about an uncertain object. It returns nil if the object is there or is not
// found, and otherwise err: then nothing may be planned yet. If the object belongs to another owner than what was sent
// under its name, it is among [Own.Foreign] from now on.
func (o *Own[T]) Read(key types.NamespacedName, object T, err error, now time.Time) error {
	switch sent := o.marks[key].sent; {
	case err == nil && !isNil(object) && !isNil(sent) && isOthers(sent, object):
		o.note(key, mark[T]{kind: gone, object: object, others: true, since: now})
	case err == nil && !isNil(object):
		o.note(key, mark[T]{kind: written, object: object, since: now})
	case apierrors.IsNotFound(err):
		o.note(key, mark[T]{kind: gone, since: now})
		return nil
	}
	return err
}

// Foreign are the objects of other owners that live reads found under names that this process wrote for an owner, by
// namespace and name. Over, Current and Unseen leave them out. Pass them to [StepsOf] with the owner's own objects: StepsOf
// then takes another name, and reports them.
func (o *Own[T]) Foreign(owner Owner) (objects []T) {
	for _, known := range o.marks {
		if known.kind != gone || !known.others {
			continue
		}
		if _, sent := owner.Noted(known.sent); sent {
			objects = append(objects, known.object)
		}
	}
	slices.SortFunc(objects, func(a, b T) int { return byKey(keyOf(a), keyOf(b)) })
	return objects
}

// Refused says that an error means that the write was certainly not made, and that a stale cache is not the reason. Tell
// such an error to users. It is false after a lost answer, and for conflicts and AlreadyExists.
func Refused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500
}

// note replaces a mark, and keeps what the mark before knew of the same object.
func (o *Own[T]) note(key types.NamespacedName, next mark[T]) {
	if o.marks == nil {
		o.marks = make(map[types.NamespacedName]mark[T])
	}
	if before, marked := o.marks[key]; marked {
		if isNil(next.object) {
			next.object = before.object
		}
		if isNil(next.sent) {
			next.sent = before.sent
		}
		next.seen = next.seen || before.seen && !isNil(before.object) && before.object.GetUID() == next.object.GetUID()
	}
	o.marks[key] = next
}

func isNil[T object](object T) bool {
	var none T
	return object == none
}

func keyOf[T object](object T) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// byKey is the order of returned objects (W8).
func byKey(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// older says whether one state of an object is older than another. Resource versions grow with each write of any object.
func older[T object](a, b T) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order < 0
}
