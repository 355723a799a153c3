// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// act has something happen.
func (r *runner) act(ctx context.Context, what string) error {
	switch what {
	case nextVersion:
		return r.next(ctx)
	case restarts:
		r.crash()
		return nil
	case stops:
		r.leader().net.die()
		return nil
	case stopsAtOnce:
		if r.got(ctx) != "" {
			r.leader().net.die()
		}
		return nil
	case dropsAtOnce:
		r.deselect(r.got(ctx))
		return nil
	case revivesOne:
		for _, c := range r.clusters(r.pool) {
			if a := r.crew.all[c]; a.dead.Load() && r.deleted[c].IsZero() {
				a.orders <- lives
				return nil
			}
		}
		return nil
	case ignoresOne:
		return r.ignore(ctx)
	case deletesOne:
		return r.delete(ctx)
	case blinks:
		if c := r.any(func(string) bool { return true }); c != "" {
			r.deselect(c)
			r.sleep(ctx, time.Duration(50+r.rng.IntN(600))*time.Millisecond)
			r.reselect(c)
		}
		return nil
	case dropsOne:
		r.deselect(r.any(func(string) bool { return true }))
		return nil
	case dropsAtWork:
		r.mu.Lock()
		j := r.checker()
		r.mu.Unlock()
		s := j.present()
		r.deselect(r.any(func(c string) bool { return s != nil && s.stands(c, time.Now(), leniency{}).holds }))
		return nil
	case selectsOne:
		var out []string
		r.sel.Lock()
		for _, c := range r.clusters(r.pool) {
			if !slices.Contains(r.selected, c) && r.deleted[c].IsZero() {
				out = append(out, c)
			}
		}
		r.sel.Unlock()
		if len(out) > 0 {
			r.reselect(pick(r.rng, out...))
		}
	}
	return nil
}

// got waits for a cluster that gets the wanted version; empty if none does within some seconds.
func (r *runner) got(ctx context.Context) string {
	t, seen := r.subject.Delivery, 0
	for start := time.Now(); time.Since(start) < 8*time.Second && ctx.Err() == nil; r.sleep(ctx, 10*time.Millisecond) {
		r.mu.Lock()
		fresh := r.events[seen:]
		seen = len(r.events)
		r.mu.Unlock()
		for _, e := range fresh {
			if e.id.kind != t.object || e.gone || t.isOwner(e.object) {
				continue
			}
			if h := t.read(e.object); h.started && h.version == fmt.Sprintf("v%d", r.version) {
				return e.object.GetNamespace()
			}
		}
	}
	return ""
}

// any draws one of the clusters that the person selects, if there are several.
func (r *runner) any(is func(cluster string) bool) string {
	r.sel.Lock()
	defer r.sel.Unlock()
	var all []string
	for _, c := range r.selected {
		if is(c) {
			all = append(all, c)
		}
	}
	if len(all) == 0 || len(r.selected) < 2 {
		return ""
	}
	return pick(r.rng, all...)
}

func (r *runner) deselect(cluster string) {
	r.sel.Lock()
	defer r.sel.Unlock()
	if i := slices.Index(r.selected, cluster); i >= 0 {
		r.selected = slices.Delete(r.selected, i, i+1)
		r.removed[cluster] = true
	}
}

func (r *runner) reselect(cluster string) {
	r.sel.Lock()
	defer r.sel.Unlock()
	if !slices.Contains(r.selected, cluster) {
		r.selected = append(r.selected, cluster)
	}
}

// ignore has an operator ignore a cluster that is dead, or else one that failed or is in flight.
func (r *runner) ignore(ctx context.Context) error {
	r.mu.Lock()
	j := r.checker()
	r.mu.Unlock()
	s := j.present()
	if s == nil {
		return nil
	}
	for _, dead := range []bool{true, false} {
		for _, c := range r.clusters(r.pool) {
			at := s.stands(c, time.Now(), leniency{})
			if r.crew.all[c].dead.Load() == dead && (at.failed || at.holds) && !slices.Contains(r.asked, c) {
				r.asked = append(r.asked, c)
				return r.say(ctx)
			}
		}
	}
	return nil
}

// say writes the ignored clusters on the owner.
func (r *runner) say(ctx context.Context) error {
	r.mu.Lock()
	j := r.checker()
	r.mu.Unlock()
	s := j.present()
	if s == nil {
		return nil
	}
	body := patchOf(nil, map[string]any{"metadata": map[string]any{"annotations": map[string]string{r.subject.IgnoreAnnotation: strings.Join(r.asked, ",")}}})
	return r.subject.Delivery.patch(ctx, r.user, r.subject.Delivery.owner, s.owner, body)
}

// delete has an operator ignore a cluster and delete it, with all that is in its namespace. An agent that is gone removes no
// finalizer; the person does so a while later.
func (r *runner) delete(ctx context.Context) error {
	cluster := r.any(func(string) bool { return true })
	if cluster == "" {
		return nil
	}
	r.asked = append(r.asked, cluster)
	if err := r.say(ctx); err != nil {
		return err
	}
	r.crew.all[cluster].orders <- dies
	r.deselect(cluster)
	r.sel.Lock()
	r.deleted[cluster] = time.Now()
	r.sel.Unlock()
	t := r.subject.Delivery
	var object object
	r.mu.Lock()
	for _, e := range r.events {
		if e.id.kind == t.object && e.object.GetNamespace() == cluster {
			object = e.object
		}
	}
	r.mu.Unlock()
	r.unregister(ctx, cluster)
	if object == nil {
		return nil
	}
	_ = t.remove(ctx, r.user, t.object, object) // it may be gone
	r.sleep(ctx, time.Duration(200+r.rng.IntN(1000))*time.Millisecond)
	_ = t.patch(ctx, r.user, t.object, object, patchOf(nil, map[string]any{"metadata": map[string]any{"finalizers": nil}}))
	_ = t.remove(ctx, r.user, t.object, object) // it was written again
	return nil
}
