// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Behind returns when to requeue an owner while the caches do not show all its writes; 0 once they do. Until then nothing
// is planned: a cluster that was just started would look like one that waits, and another would start in its place. The
// first two functions count the unseen writes to the owner and to its objects, like Unseen of [writes.Own]; again is
// RecheckAfter of the objects' Own.
func Behind(owner, objects func() (unseen int, err error), again func() time.Duration) (time.Duration, error) {
	unseen, err := owner()
	switch {
	case err != nil:
		return 0, err
	case unseen > 0:
		return Gather, nil // the predicates drop the event of a status write
	}
	if unseen, err = objects(); err == nil && unseen > 0 {
		return cmp.Or(again(), writes.Patience), nil // an event follows, unless the object was deleted before the cache showed it
	}
	return 0, err
}

// Paces says when to requeue objects. The zero value is ready to use.
type Paces struct{ failing Memories[writes.Pace] }

// After returns when to requeue an object that is due after recheck, or 0 for only by an event. After an error it is at
// most a pause, which doubles with each error in a row, as in [writes.Pace].
func (p *Paces) After(key types.NamespacedName, err error, recheck time.Duration) time.Duration {
	if err == nil {
		p.failing.Forget(key)
		return new(writes.Pace).After(nil, recheck)
	}
	return p.failing.Of(key).After(err, recheck)
}
