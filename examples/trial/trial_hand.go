// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// objects are those of clusters that are there, in order.
func (r *runner) objects() (all []object) {
	r.mu.Lock()
	j := r.checker()
	r.mu.Unlock()
	t := r.subject.Delivery
	for i := range j.states {
		if o := j.at(i, 1<<62); o != nil && i.kind == t.object && !t.isOwner(o) && o.GetDeletionTimestamp() == nil {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b object) int { return strings.Compare(a.GetNamespace(), b.GetNamespace()) })
	return all
}

// edit has a person change the object of a cluster by hand. A conflict is as if there had been none.
func (r *runner) edit(ctx context.Context, rng *rand.Rand) {
	t := r.subject.Delivery
	if t.edit == nil {
		return
	}
	if all := r.objects(); len(all) > 0 {
		o := pick(rng, all...)
		_ = t.patch(ctx, r.user, t.object, o, patchOf(o, t.edit(o, rng)))
	}
}

// takeOver has all objects of a complete rollout be as another controller writes them, and another process begin, and says whether that was in
// the middle of an edit: some or all objects have the next version, and no process has answered it. Nothing else happens for a while.
func (r *runner) takeOver(ctx context.Context) (edited bool, err error) {
	t, rng := r.subject.Delivery, drawn(r.seed, "switch")
	if t.strip == nil || t.validates(r.trial) || r.ignored != DutyAdopt && rng.IntN(3) > 0 {
		return false, nil
	}
	r.mu.Lock()
	complete := r.checker().complete(time.Now())
	r.mu.Unlock()
	all := r.objects()
	if !complete || slices.ContainsFunc(all, func(o object) bool { return !t.adopts(o) }) {
		return false, nil
	}
	from, next := time.Now(), fmt.Sprintf("v%d", r.version+1)
	other := r.site.clients("propagator") // managed fields have one time for all that a manager wrote, and people write, too
	r.leader().net.die()
	edited = len(all) > 0 && t.replicates(r.trial, all[0], next) != nil && r.ignored == "" && rng.IntN(2) == 0
	most := len(all)
	if edited {
		if r.ignored == "" && rng.IntN(2) == 0 {
			most = 1 + rng.IntN(most)
		}
		if err = r.next(ctx); err != nil {
			return true, err
		}
	}
	for i, o := range all {
		patch := t.strip(o)
		if edited && i < most {
			patch = t.replicates(r.trial, o, next)
		}
		_ = t.patch(ctx, other, t.object, o, patchOf(nil, patch)) // it may be gone
	}
	r.sleep(ctx, 4*time.Second)
	r.sel.Lock()
	r.switched, r.switchedPartly = span{from, time.Now()}, edited && most < len(all)
	r.sel.Unlock()
	return edited, nil
}
