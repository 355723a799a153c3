package trial

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// objects are those of clusters that are there, in order.
func (r *runner) objects() (all []object) {
	r.mu.Lock()
	j := r.jury()
	r.mu.Unlock()
	t := r.subject.Trade
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
	t := r.subject.Trade
	if t.edit == nil {
		return
	}
	if all := r.objects(); len(all) > 0 {
		o := pick(rng, all...)
		_ = t.patch(ctx, r.user, t.object, o, patchOf(o, t.edit(o, rng)))
	}
}

// takeOver has all objects of a complete rollout be as another controller writes them, and another process begin. Nothing else happens for a
// while.
func (r *runner) takeOver(ctx context.Context) {
	t := r.subject.Trade
	if t.strip == nil || r.ignored != DutyAdopt && drawn(r.seed, "switch").IntN(3) > 0 {
		return
	}
	r.mu.Lock()
	complete := r.jury().complete(time.Now())
	r.mu.Unlock()
	all := r.objects()
	if !complete || slices.ContainsFunc(all, func(o object) bool { return !t.adopts(o) }) {
		return
	}
	from := time.Now()
	for _, o := range all {
		_ = t.patch(ctx, r.user, t.object, o, patchOf(nil, t.strip(o))) // it may be gone
	}
	r.leader().net.die()
	r.sleep(ctx, 4*time.Second)
	r.sel.Lock()
	r.switched = span{from, time.Now()}
	r.sel.Unlock()
}
