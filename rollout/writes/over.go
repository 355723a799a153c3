// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Over lays own writes over the cached objects of an owner. A write replaces an older cached object. An object that the
// cache lacks is appended, by namespace and name. Deleted objects are left out. The cached objects keep their order.
// Objects are shared, not copied. If the cache shows all writes, the result is cached itself.
//
// Uncertain are the objects to read from the API server before anything is planned, by namespace and name. Pass each answer
// to [Own.Read], and call Over again. A deleted object is uncertain until the cache shows the deletion: the answer to a
// delete does not say whether the object is gone or waits for its finalizers.
func (o *Own[T]) Over(cached []T, now time.Time) (objects []T, uncertain []types.NamespacedName) {
	if len(o.marks) == 0 {
		return cached, nil
	}
	objects = make([]T, 0, len(cached)+len(o.marks))
	there := make(map[types.NamespacedName]bool, len(o.marks))
	for _, object := range cached {
		key := keyOf(object)
		if _, marked := o.marks[key]; !marked {
			objects = append(objects, object)
			continue
		}
		there[key] = true
		known, verdict := o.settle(key, object, true, now)
		switch verdict {
		case shown, unknown:
			objects = append(objects, object)
		case instead:
			objects = append(objects, known.object)
		}
		if verdict != shown && (verdict == unknown || known.tooLong(now)) {
			uncertain = append(uncertain, key)
		}
	}
	var none T
	added := len(objects)
	for key := range o.marks {
		if there[key] {
			continue
		}
		known, verdict := o.settle(key, none, false, now)
		if verdict == instead {
			objects = append(objects, known.object)
		}
		if verdict == unknown || verdict == instead && known.tooLong(now) {
			uncertain = append(uncertain, key)
		}
	}
	slices.SortFunc(objects[added:], func(a, b T) int { return byKey(keyOf(a), keyOf(b)) })
	slices.SortFunc(uncertain, byKey)
	return objects, uncertain
}

// Current is Over that also reads uncertain objects from the API server. It returns the first error of read, except
// NotFound: then nothing may be planned.
func (o *Own[T]) Current(cached []T, read func(types.NamespacedName) (T, error), now func() time.Time) ([]T, error) {
	for {
		objects, uncertain := o.Over(cached, now())
		if len(uncertain) == 0 {
			return objects, nil
		}
		if err := o.ask(uncertain, read, now); err != nil {
			return nil, err
		}
	}
}

func (o *Own[T]) ask(uncertain []types.NamespacedName, read func(types.NamespacedName) (T, error), now func() time.Time) error {
	for _, key := range uncertain {
		object, err := read(key)
		if err := o.Read(key, object, err, now()); err != nil {
			return err
		}
	}
	return nil
}

// Unseen counts the writes that the store of an informer does not show yet. Plan nothing for the owner until it is 0. Each
// write is an event when the store shows it; [Own.RecheckAfter] says when to requeue in case no event comes. Like Current,
// Unseen reads uncertain objects from the API server, with the same errors. It looks up the store by client-go's keys:
// namespace/name, or the name alone. It returns an error of the store, and one if an item is not a T. It takes time linear
// in the writes, not in the objects.
func (o *Own[T]) Unseen(store interface {
	GetByKey(key string) (object any, exists bool, err error)
}, read func(types.NamespacedName) (T, error), now func() time.Time) (unseen int, err error) {
	for {
		unseen, uncertain, err := o.unseen(store.GetByKey, now())
		if len(uncertain) == 0 || err != nil {
			return unseen, err
		}
		if err := o.ask(uncertain, read, now); err != nil {
			return unseen, err
		}
	}
}

// unseen counts the writes that are not shown, and returns the keys to read.
func (o *Own[T]) unseen(get func(string) (any, bool, error), now time.Time) (unseen int, uncertain []types.NamespacedName, err error) {
	for key := range o.marks {
		name := key.Name
		if key.Namespace != "" {
			name = key.Namespace + "/" + name
		}
		item, has, err := get(name)
		if err != nil {
			return len(o.marks), nil, err
		}
		cached, is := item.(T)
		if has && !is {
			return len(o.marks), nil, field.TypeInvalid(field.NewPath("store").Key(name), fmt.Sprintf("%T", item), fmt.Sprint("must be a ", reflect.TypeFor[T]()))
		}
		known, verdict := o.settle(key, cached, has, now)
		if verdict == shown || verdict == drop && (!has || known.others) {
			continue
		}
		if unseen++; known.kind != deleted && verdict == unknown || known.tooLong(now) {
			uncertain = append(uncertain, key)
		}
	}
	slices.SortFunc(uncertain, byKey)
	return unseen, uncertain, nil
}

// RecheckAfter says when to requeue in case no event comes: Patience after a write that the cache does not show, since the
// object may have been deleted before the cache showed it. Other reconciles in between do not move that time. It is 0 if no
// write is unseen, and 1 ns if the time has come already. It takes time linear in the writes.
func (o *Own[T]) RecheckAfter(now time.Time) (soonest time.Duration) {
	for _, known := range o.marks {
		if known.kind == gone {
			continue
		}
		if after := max(Patience-now.Sub(known.since), overdue); soonest == 0 || after < soonest {
			soonest = after
		}
	}
	return min(soonest, Patience)
}

// verdict is how a cached state relates to a mark.
type verdict int8

const (
	shown   verdict = iota // the cache shows the write, or a later state
	instead                // the written object replaces the cached one
	drop                   // the object is gone
	unknown                // a live read has to tell
)

// forgotten is how long a mark of a gone object is kept that the cache has never shown (W2).
const forgotten = time.Hour

// settle drops a mark once the cache shows it, and otherwise records that the cache has shown the object (W2).
func (o *Own[T]) settle(key types.NamespacedName, cached T, has bool, now time.Time) (mark[T], verdict) {
	before := o.marks[key]
	known := before
	if has && known.kind == uncertain && (isNil(known.object) || older(known.object, cached)) {
		known.object = cached
	}
	known.seen = known.seen || has && !isNil(known.object) && cached.GetUID() == known.object.GetUID()
	verdict := known.judge(cached, has)
	if verdict == unknown && known.kind == gone { // read the object that the cache shows now
		known.kind, known.object, known.seen = uncertain, cached, true
	}
	if verdict == shown || verdict == drop && !has && now.Sub(known.since) >= forgotten {
		delete(o.marks, key)
	} else if known != before {
		o.marks[key] = known
	}
	return known, verdict
}

// judge compares a mark with the cached object (W1 to W7).
func (m *mark[T]) judge(cached T, has bool) verdict {
	same := has && !isNil(m.object) && cached.GetUID() == m.object.GetUID()
	later := has && !isNil(m.object) && older(m.object, cached)
	switch {
	case m.kind == uncertain:
		return unknown
	case m.kind == written:
		if has && !older(cached, m.object) || !has && m.seen {
			return shown
		}
		return instead
	case !has && m.seen, m.kind == deleted && later && !same: // another object has the name
		return shown
	case m.kind == deleted:
		if same && cached.GetDeletionTimestamp() != nil && !older(cached, m.object) {
			return shown
		}
		return unknown
	case has && (isNil(m.object) || later && !same): // another object, which may be from before the mark
		return unknown
	default:
		return drop
	}
}

// tooLong says whether the cache has been behind for so long that the API server is asked.
func (m *mark[T]) tooLong(now time.Time) bool { return now.Sub(m.since) >= Patience }
