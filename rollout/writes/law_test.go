// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// hub is an API server with works of a few clusters, and a cache that is stale by a different time for each cluster.
type hub struct {
	version int
	states  map[string][]*work // by cluster: all states, nil for no object; the last is the present one
	shown   map[string]int     // by cluster: the index of the state in the cache
	knows   map[string]int     // by cluster: the index of the latest state that the process was told
	own     own
	now     time.Time
}

var clusters = []string{"a", "b", "c"}

func newHub() *hub {
	h := &hub{states: map[string][]*work{}, shown: map[string]int{}, knows: map[string]int{}, now: noon}
	for _, cluster := range clusters {
		h.states[cluster] = []*work{nil}
	}
	return h
}

func (h *hub) current(cluster string) *work {
	states := h.states[cluster]
	return states[len(states)-1]
}

func (h *hub) become(cluster string, w *work) {
	if h.version++; w != nil {
		w.ResourceVersion = strconv.Itoa(h.version)
	}
	h.states[cluster] = append(h.states[cluster], w)
}

// told notes that the process was told the present state.
func (h *hub) told(cluster string) { h.knows[cluster] = len(h.states[cluster]) - 1 }

// toldGone notes that the process was told that there is no object. What it knew of the object is void; it was not told
// whether another object came and went in between.
func (h *hub) toldGone(cluster string) {
	states, at := h.states[cluster], max(h.knows[cluster], h.shown[cluster])
	if known := states[at]; known != nil {
		for states[at] != nil && states[at].UID == known.UID {
			at++
		}
	}
	h.knows[cluster] = at
}

// create, update and remove are requests of any client.
func (h *hub) create(cluster string) (*work, error) {
	if h.current(cluster) != nil {
		return at(cluster, ""), apierrors.NewAlreadyExists(resource, "web")
	}
	w := at(cluster, "")
	w.UID = types.UID(fmt.Sprint("uid ", h.version+1))
	h.become(cluster, w)
	return w, nil
}

func (h *hub) update(cluster string, from *work) (*work, error) {
	now := h.current(cluster)
	if now == nil || from.UID != now.UID {
		return from, apierrors.NewNotFound(resource, "web")
	}
	if from.ResourceVersion != now.ResourceVersion {
		return from, apierrors.NewConflict(resource, "web", nil)
	}
	h.become(cluster, now.DeepCopy())
	return h.current(cluster), nil
}

func (h *hub) remove(cluster string, uid types.UID, finalizer bool) error {
	now := h.current(cluster)
	switch {
	case now == nil:
		return apierrors.NewNotFound(resource, "web")
	case now.UID != uid:
		return apierrors.NewConflict(resource, "web", nil)
	case !finalizer:
		h.become(cluster, nil)
	case now.DeletionTimestamp == nil:
		next := at(cluster, "@-")
		next.UID = now.UID
		h.become(cluster, next)
	}
	return nil
}

func (h *hub) cached() (all []*work) {
	for _, cluster := range clusters {
		if w := h.states[cluster][h.shown[cluster]]; w != nil {
			all = append(all, w)
		}
	}
	return all
}

// show has the cache show a later state; an informer may skip some. An absent object tells the process nothing, unless the
// cache showed before the object that the process knows (W2).
func (h *hub) show(cluster string, state int) {
	states, before, knows := h.states[cluster], h.shown[cluster], h.knows[cluster]
	h.shown[cluster] = state
	same := states[before] != nil && states[knows] != nil && states[before].UID == states[knows].UID
	if states[state] != nil || same {
		h.knows[cluster] = max(knows, state)
	}
}

func (h *hub) live() (all []*work) {
	for _, cluster := range clusters {
		if w := h.current(cluster); w != nil {
			all = append(all, w)
		}
	}
	return all
}

// view is what the process may plan from: it reads the uncertain objects, and calls Over again.
func (h *hub) view(t *rapid.T) []*work {
	for range 3 {
		objects, uncertain := h.own.Over(h.cached(), h.now)
		if len(uncertain) == 0 {
			return objects
		}
		for _, key := range uncertain {
			w, err := h.current(key.Namespace), error(nil)
			if w == nil {
				err = apierrors.NewNotFound(resource, "web")
			}
			if err := h.own.Read(key, w, err, h.now); err != nil {
				t.Fatal(err)
			}
			if w != nil {
				h.told(key.Namespace)
			} else {
				h.toldGone(key.Namespace)
			}
		}
	}
	t.Fatal("what was read is still uncertain")
	return nil
}

// step takes one random step.
func (h *hub) step(t *rapid.T) {
	cluster := rapid.SampledFrom(clusters).Draw(t, "cluster")
	seen := func() *work {
		all := h.view(t)
		i := slices.IndexFunc(all, func(w *work) bool { return w.Namespace == cluster })
		if i < 0 {
			return nil
		}
		return all[i]
	}
	answer := func(w *work, err error) {
		if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
			_ = h.own.Wrote(at(cluster, ""), errors.New("connection reset"), h.now)
			return
		}
		if _ = h.own.Wrote(w, err, h.now); err == nil {
			h.told(cluster)
		}
	}
	switch rapid.SampledFrom([]string{"write", "write", "delete", "user", "cache", "cache", "time", "restart"}).Draw(t, "step") {
	case "write":
		if w := seen(); w == nil {
			answer(h.create(cluster))
		} else {
			answer(h.update(cluster, w))
		}
	case "delete":
		w := seen()
		if w == nil {
			return
		}
		now := h.current(cluster) // an object that waits for finalizers goes on waiting
		waits := now != nil && now.DeletionTimestamp != nil
		err := h.remove(cluster, w.UID, rapid.Bool().Draw(t, "finalizer") || waits)
		if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
			_ = h.own.Deleted(w, errors.New("connection reset"), h.now)
		} else if _ = h.own.Deleted(w, err, h.now); err == nil && !waits {
			h.told(cluster)
		} else if apierrors.IsNotFound(err) {
			h.toldGone(cluster)
		}
	case "user":
		if w := h.current(cluster); w == nil {
			_, _ = h.create(cluster)
		} else if rapid.Bool().Draw(t, "deletes") {
			_ = h.remove(cluster, w.UID, rapid.Bool().Draw(t, "finalizer"))
		} else {
			_, _ = h.update(cluster, w)
		}
	case "cache":
		h.show(cluster, rapid.IntRange(h.shown[cluster], len(h.states[cluster])-1).Draw(t, "shown"))
	case "time":
		h.now = h.now.Add(rapid.SampledFrom([]time.Duration{time.Second, writes.Patience}).Draw(t, "passes"))
	case "restart":
		h.own = own{}
		h.own.Begin(h.live(), h.cached(), h.now)
		for _, cluster := range clusters {
			if h.knows[cluster] = h.shown[cluster]; h.current(cluster) != nil {
				h.told(cluster)
			} else {
				h.toldGone(cluster) // W6: if the cache has it
			}
		}
	}
}

// W1 to W7: each object that is planned from existed once, and is no older than what the process was told: by answers, by
// live reads, by the list at its beginning, by its cache. An object that the process deleted is not shown as if it stayed.
func TestNothingIsPlannedFromWhatTheProcessKnowsToBeOld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHub()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			h.step(t)
			view := h.view(t)
			for _, cluster := range clusters {
				i := slices.IndexFunc(view, func(w *work) bool { return w.Namespace == cluster })
				var got *work
				if i >= 0 {
					got = view[i]
				}
				states := h.states[cluster]
				from := slices.IndexFunc(states[h.knows[cluster]:], func(w *work) bool { return w == got })
				if from < 0 {
					t.Fatalf("%s: planned from %v, which is older than state %d of %d", cluster, got, h.knows[cluster], len(states))
				}
			}
		}
	})
}

// W9: a cache that has caught up is returned as it is, and nothing is awaited.
func TestACacheThatCaughtUpIsBelieved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHub()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			h.step(t)
		}
		for _, cluster := range clusters {
			h.shown[cluster] = len(h.states[cluster]) - 1
		}
		for range 2 { // an object that the cache never showed is read once
			h.view(t)
			h.now = h.now.Add(writes.Patience)
		}
		if view := h.view(t); !slices.Equal(view, h.live()) {
			t.Fatalf("planned from %v, where there is %v", view, h.live())
		}
		if n, err := h.own.Unseen(store(h.cached()), unread, func() time.Time { return h.now }); n > 0 || err != nil {
			t.Fatalf("%d unseen, uncertain is %v", n, err)
		}
	})
}

// W8: Unseen and Over agree: if Unseen awaits nothing, Over returns the cache as it is.
func TestWaitingAgreesWithLayingOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHub()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			h.step(t)
			if n, _ := h.own.Unseen(store(h.cached()), unread, func() time.Time { return h.now }); n > 0 {
				continue
			}
			if view := h.view(t); !slices.Equal(view, h.cached()) {
				t.Fatalf("nothing is awaited, the cache has %v, and planned is from %v", h.cached(), view)
			}
		}
	})
}
