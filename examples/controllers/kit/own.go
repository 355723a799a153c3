package kit

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Behind says when to look at an owner again if its writes are not all seen yet; 0 if they are. Until then nothing is planned: a cluster
// that was just started would be seen as one that waits, and another one would start in its place. The first two functions count the unseen
// writes of the owner itself and of its objects, as Unseen of [writes.Own] does; again says when an object is unsure that the store does not show, as
// its RecheckAfter does.
func Behind(owner, objects func() (unseen int, err error), again func() time.Duration) (time.Duration, error) {
	unseen, err := owner()
	switch {
	case err != nil:
		return 0, err
	case unseen > 0:
		return Gather, nil // no event comes of a write of the status
	}
	if unseen, err = objects(); err == nil && unseen > 0 {
		return cmp.Or(again(), writes.Patience), nil // each is an event, unless someone deleted the object before
	}
	return 0, err
}

// Paces says when to look at objects again. The zero value is ready to use.
type Paces struct{ failing Memories[writes.Pace] }

// After is when to look at an object again that is to be looked at after recheck, or by an event alone if that is 0: beside an error
// no later than after a pause, which doubles with each error in a row, as [writes.Pace] says.
func (p *Paces) After(key types.NamespacedName, err error, recheck time.Duration) time.Duration {
	if err == nil {
		p.failing.Forget(key)
		return new(writes.Pace).After(nil, recheck)
	}
	return p.failing.Of(key).After(err, recheck)
}
