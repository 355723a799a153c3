package writes

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Over lays what was written over what the cache has of an owner's objects: in place of what is older, and behind what is there
// where the cache has nothing. What is gone is left out. The objects keep the cache's order; those that only this process knows
// come behind, by namespace and name. Objects are shared, not copied. Where the cache shows all writes, the result is cached itself.
//
// Unsure are objects to read from the API server before anything is planned, by namespace and name. Hand each answer to
// [Own.Read], and ask again. An object that was deleted is among them until the cache shows that: the answer to a delete does not
// say whether the object is gone or waits for its finalizers.
func (o *Own[T]) Over(cached []T, now time.Time) (objects []T, unsure []types.NamespacedName) {
	if len(o.marks) == 0 {
		return cached, nil
	}
	objects = make([]T, 0, len(cached)+len(o.marks))
	there := make(map[types.NamespacedName]bool, len(o.marks))
	for _, c := range cached {
		key := keyOf(c)
		if _, marked := o.marks[key]; !marked {
			objects = append(objects, c)
			continue
		}
		there[key] = true
		m, v := o.settle(key, c, true, now)
		switch v {
		case shown, unknown:
			objects = append(objects, c)
		case instead:
			objects = append(objects, m.object)
		}
		if v != shown && (v == unknown || m.tooLong(now)) {
			unsure = append(unsure, key)
		}
	}
	var none T
	added := len(objects)
	for key := range o.marks {
		if there[key] {
			continue
		}
		m, v := o.settle(key, none, false, now)
		if v == instead {
			objects = append(objects, m.object)
		}
		if v == unknown || v == instead && m.tooLong(now) {
			unsure = append(unsure, key)
		}
	}
	slices.SortFunc(objects[added:], func(a, b T) int { return byKey(keyOf(a), keyOf(b)) })
	slices.SortFunc(unsure, byKey)
	return objects, unsure
}

// Current does what Over does, and reads what is unsure from the API server. It returns the first error of read but NotFound: then
// nothing may be planned.
func (o *Own[T]) Current(cached []T, read func(types.NamespacedName) (T, error), now func() time.Time) ([]T, error) {
	for {
		objects, unsure := o.Over(cached, now())
		if len(unsure) == 0 {
			return objects, nil
		}
		if err := o.ask(unsure, read, now); err != nil {
			return nil, err
		}
	}
}

// ask reads objects from the API server.
func (o *Own[T]) ask(unsure []types.NamespacedName, read func(types.NamespacedName) (T, error), now func() time.Time) error {
	for _, key := range unsure {
		object, err := read(key)
		if err := o.Read(key, object, err, now()); err != nil {
			return err
		}
	}
	return nil
}

// Unseen counts the writes that the store of an informer does not show yet. Plan nothing for the owner until it is 0: each write is an event when
// the store shows it, and [Own.RecheckAfter] says when to come back in case there is none. What is unsure it reads from the API server, as Current
// does, with the same errors. The store is asked for keys of client-go: namespace/name, or the name alone. Its errors are returned, and one
// if it has something else than a T. It takes time linear in the writes, not in the objects.
func (o *Own[T]) Unseen(store interface {
	GetByKey(key string) (object any, exists bool, err error)
}, read func(types.NamespacedName) (T, error), now func() time.Time) (unseen int, err error) {
	for {
		unseen, unsure, err := o.unseen(store.GetByKey, now())
		if len(unsure) == 0 || err != nil {
			return unseen, err
		}
		if err := o.ask(unsure, read, now); err != nil {
			return unseen, err
		}
	}
}

// unseen counts the writes that are not shown, and gives what is to be read.
func (o *Own[T]) unseen(get func(string) (any, bool, error), now time.Time) (unseen int, unsure []types.NamespacedName, err error) {
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
		m, v := o.settle(key, cached, has, now)
		if v == shown || v == drop && (!has || m.others) {
			continue
		}
		if unseen++; m.kind != deleted && v == unknown || m.tooLong(now) {
			unsure = append(unsure, key)
		}
	}
	slices.SortFunc(unsure, byKey)
	return unseen, unsure, nil
}

// RecheckAfter says when to look again where no event need come of it: Patience after a write that the cache does not show, since
// someone may have deleted the object before the cache showed it. However often it is asked meanwhile, that time stays the same. It is 0
// where nothing is awaited, 1 ns where the time has come already, and takes time linear in the writes.
func (o *Own[T]) RecheckAfter(now time.Time) (soonest time.Duration) {
	for _, m := range o.marks {
		if m.kind == gone {
			continue
		}
		if after := max(Patience-now.Sub(m.since), overdue); soonest == 0 || after < soonest { // what is due is read at once
			soonest = after
		}
	}
	return min(soonest, Patience)
}

// verdict is what becomes of an object in the cache that is marked.
type verdict int8

const (
	shown   verdict = iota // the cache has come as far
	instead                // what was written goes in place of it
	drop                   // it is gone
	unknown                // until it is read
)

// forgotten is after how long nobody expects a cache to show an object that was gone before it came (W2).
const forgotten = time.Hour

// settle forgets a mark that the cache has come up with, and otherwise keeps what the cache has shown (W2).
func (o *Own[T]) settle(key types.NamespacedName, cached T, has bool, now time.Time) (mark[T], verdict) {
	before := o.marks[key]
	m := before
	if has && m.kind == doubt && (isNil(m.object) || older(m.object, cached)) {
		m.object = cached
	}
	m.seen = m.seen || has && !isNil(m.object) && cached.GetUID() == m.object.GetUID()
	v := m.judge(cached, has)
	if v == unknown && m.kind == gone { // what the cache has now is what is read
		m.kind, m.object, m.seen = doubt, cached, true
	}
	if v == shown || v == drop && !has && now.Sub(m.since) >= forgotten {
		delete(o.marks, key)
	} else if m != before {
		o.marks[key] = m
	}
	return m, v
}

// judge says whether the cache shows what is marked (W1 to W7).
func (m *mark[T]) judge(cached T, has bool) verdict {
	same := has && !isNil(m.object) && cached.GetUID() == m.object.GetUID()
	later := has && !isNil(m.object) && older(m.object, cached)
	switch {
	case m.kind == doubt:
		return unknown
	case m.kind == written:
		if has && !older(cached, m.object) || !has && m.seen {
			return shown
		}
		return instead
	case !has && m.seen, m.kind == deleted && later && !same: // another one has its name
		return shown
	case m.kind == deleted:
		if same && cached.GetDeletionTimestamp() != nil && !older(cached, m.object) {
			return shown
		}
		return unknown
	case has && (isNil(m.object) || later && !same): // of another one nobody knows whether it is from before
		return unknown
	default:
		return drop
	}
}

// tooLong says whether a cache has taken so long that the API server is asked.
func (m *mark[T]) tooLong(now time.Time) bool { return now.Sub(m.since) >= Patience }
