// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"time"
)

// unregisters says whether a person deletes the ManagedClusters of clusters that left, in place of ignoring them.
func (t *trial) unregisters(of *Delivery) bool {
	return of.unregisters && (t.ignored == DutyUnregistered || t.ignored == "" && drawn(t.seed, "unregister").IntN(3) == 0)
}

// unregisterAll deletes the ManagedClusters of all clusters that were deselected and have dead agents, and says whether there were any.
func (r *runner) unregisterAll(ctx context.Context) (any bool) {
	selected := map[string]bool{}
	for _, c := range r.selection() {
		selected[c] = true
	}
	for _, c := range r.clusters(r.pool) {
		if a := r.crew.all[c]; !a.dead.Load() || selected[c] || !r.gone[c].IsZero() || !r.deleted[c].IsZero() {
			continue
		}
		any = true
		r.deselect(c)
		r.unregister(ctx, c)
		r.sel.Lock()
		r.gone[c] = time.Now()
		r.sel.Unlock()
	}
	return any
}

// removeOwner has a person delete the owner in the end, which leaves nothing behind.
func (r *runner) removeOwner(ctx context.Context) error {
	t := r.subject.Delivery
	if !t.unregisters || r.ignored != DutyOwnerGone && (r.ignored != "" || drawn(r.seed, "owner").IntN(4) > 0) {
		return nil
	}
	r.mu.Lock()
	j := r.checker()
	r.mu.Unlock()
	s, longest := j.present(), j.patience()+unshownFor
	if s == nil {
		return nil
	}
	if err := t.remove(ctx, r.user, t.owner, s.owner); err != nil {
		return err
	}
	left := r.objects()
	for start := time.Now(); len(left) > 0 && time.Since(start) < longest && ctx.Err() == nil; left = r.objects() {
		r.sleep(ctx, 250*time.Millisecond)
	}
	for _, o := range left {
		r.kept = append(r.kept, violation{invariant: invRemoved, text: fmt.Sprintf("%s has %s %v after its owner was deleted", o.GetNamespace(), o.GetName(), longest)})
	}
	return nil
}
