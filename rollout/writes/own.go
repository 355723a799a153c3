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

// Patience is how long a cache may take to show a write before the API server is asked. It is also how long to wait, at most,
// for the event of a write that the cache does not show yet.
const Patience = 10 * time.Second

// Own has what a process wrote of one kind, or read from the API server, for as long as its cache does not show it. T is the
// type that the cache has, such as *workv1.ManifestWork. The zero value is ready to use. It is not safe for concurrent use: a
// controller keeps one for each owner, and looks at an owner in one goroutine at a time. With a single worker, one can serve all
// owners.
//
// What it is given it keeps, and does not change.
type Own[T object] struct {
	marks map[types.NamespacedName]mark[T]
}

// object is anything with metadata. No value of it may be nil but the zero value.
type object interface {
	comparable
	metav1.Object
}

// mark is what is known of an object that the cache does not show yet (W1 to W7).
type mark[T object] struct {
	kind   kind
	object T    // the latest state that is known; the zero value where none is
	sent   T    // what was sent when its answer was lost; the zero value where nothing was
	others bool // the object was read, and is another owner's
	seen   bool // the cache has shown that object, in this state or before
	since  time.Time
}

type kind int8

const (
	written kind = iota // or read from the API server
	deleted             // by this process: it is gone, or waits for its finalizers
	gone                // the API server does not have it
	doubt               // nobody knows whether a write was made
)

// Begin notes what the API server has when a process begins to act: live is what it listed for this owner, and cached
// what the cache had before that list was asked for. What only the cache has is gone. The objects of live need their metadata
// alone where [Own.Unseen] is used, and their content where [Own.Over] is.
func (o *Own[T]) Begin(live, cached []T, now time.Time) {
	had := make(map[types.NamespacedName]T, len(cached))
	for _, c := range cached {
		had[keyOf(c)] = c
	}
	for _, l := range live {
		key := keyOf(l)
		if c, has := had[key]; !has || older(c, l) {
			o.note(key, mark[T]{kind: written, object: l, since: now})
		}
		delete(had, key)
	}
	for key, c := range had {
		o.note(key, mark[T]{kind: gone, object: c, seen: true, since: now})
	}
}

// Wrote notes the answer to a create, an update or a patch, and returns err. The object is what the API server returned. Where
// there is an error, it is the object that was sent: its namespace and name, and its owner ([Owner.NoteOn]) if it notes one.
func (o *Own[T]) Wrote(object T, err error, now time.Time) error {
	switch {
	case isNil(object):
	case err == nil:
		o.note(keyOf(object), mark[T]{kind: written, object: object, since: now})
	case !Refused(err):
		o.note(keyOf(object), mark[T]{kind: doubt, sent: object, since: now})
	}
	return err
}

// Deleted notes the answer to a delete of an object, and returns err. It returns nil where the object was gone already.
func (o *Own[T]) Deleted(object T, err error, now time.Time) error {
	if isNil(object) {
		return err
	}
	m := mark[T]{kind: deleted, object: object, since: now}
	_, late := o.marks[keyOf(object)]
	m.seen = !late // it was found in the cache
	switch {
	case err == nil:
		o.note(keyOf(object), m)
	case apierrors.IsNotFound(err):
		m.kind = gone
		o.note(keyOf(object), m)
		return nil
	case !Refused(err):
		o.note(keyOf(object), mark[T]{kind: doubt, since: now})
	}
	return err
}

// Read notes what the API server said of an object that was unsure. It returns nil where the object is there or is not found,
// and otherwise err: then nothing may be planned yet. An object that belongs to another owner than what was sent under its name is not
// one's own, and is among [Own.Foreign] from now on.
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

// Foreign are the objects that were found where this process wanted to write for an owner, and that belong to another, by namespace and
// name. Over, Current and Unseen leave them out. Hand them to [StepsOf] beside the owner's own, which then takes another name, and tells
// whose they are.
func (o *Own[T]) Foreign(owner Owner) (objects []T) {
	for _, m := range o.marks {
		if m.kind != gone || !m.others {
			continue
		}
		if _, sent := owner.Noted(m.sent); sent {
			objects = append(objects, m.object)
		}
	}
	slices.SortFunc(objects, func(a, b T) int { return byKey(keyOf(a), keyOf(b)) })
	return objects
}

// Refused says of an error that the write was certainly not made, and not for the reason that a cache is behind. So it is an
// error to tell people about. It is false where the answer was lost, and for conflicts and AlreadyExists.
func Refused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500
}

// note keeps a mark in place of the one before, with what that knew of the same object.
func (o *Own[T]) note(key types.NamespacedName, m mark[T]) {
	if o.marks == nil {
		o.marks = make(map[types.NamespacedName]mark[T])
	}
	if before, marked := o.marks[key]; marked {
		if isNil(m.object) {
			m.object = before.object
		}
		if isNil(m.sent) {
			m.sent = before.sent
		}
		m.seen = m.seen || before.seen && !isNil(before.object) && before.object.GetUID() == m.object.GetUID()
	}
	o.marks[key] = m
}

func isNil[T object](object T) bool {
	var none T
	return object == none
}

func keyOf[T object](object T) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// byKey is the order in which objects are given (W8).
func byKey(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// older says whether one state of an object is from before another. Resource versions grow with each write of any object.
func older[T object](a, b T) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order < 0
}
