package kit

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Unseen counts the writes that a store does not show yet. What is unsure is read from the API server. An error of read is returned,
// unless the object is not found.
func Unseen[T interface {
	comparable
	metav1.Object
}](own *writes.Own[T], store cache.Indexer, read func(types.NamespacedName) (T, error), now func() time.Time) (int, error) {
	cached := func(key types.NamespacedName) (object T, has bool) {
		o, has, _ := store.GetByKey(cache.NewObjectName(key.Namespace, key.Name).String()) // never an error
		if has {
			object = o.(T)
		}
		return object, has
	}
	for {
		unseen, unsure := own.Unseen(cached, now())
		if len(unsure) == 0 {
			return unseen, nil
		}
		for _, key := range unsure {
			object, err := read(key)
			if err := own.Read(key, object, err, now()); err != nil {
				return 0, err
			}
		}
	}
}

// Behind says when to look at an owner again if its writes are not all seen yet; 0 if they are. Until then nothing is planned: a cluster
// that was just started would be seen as one that waits, and another one would start in its place. The first two functions count the unseen
// writes of the owner itself and of its objects, as Unseen does; again says when an object is unsure that the store does not show, as
// RecheckAfter of [writes.Own] does.
func Behind(owner, objects func() (unseen int, err error), again func() time.Duration) (time.Duration, error) {
	unseen, err := owner()
	if unseen > 0 {
		return Gather, nil // no event comes of a write of the status
	}
	if err == nil {
		unseen, err = objects()
	}
	if unseen > 0 {
		return cmp.Or(again(), writes.Patience), nil // each is an event, unless someone deleted the object before
	}
	return 0, err
}

// Paces says when to look at objects again. The zero value is ready to use.
type Paces struct{ failing Memories[writes.Pace] }

// After is when to look at an object again that is to be looked at after recheck, or by an event alone if that is 0: beside an error
// no later than after a pause, which doubles with each error in a row.
func (p *Paces) After(key types.NamespacedName, err error, recheck time.Duration) time.Duration {
	if err == nil {
		p.failing.Forget(key)
		return recheck
	}
	return p.failing.Of(key).After(err, recheck)
}
