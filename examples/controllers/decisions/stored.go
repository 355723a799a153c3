package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// written is what the cache has to show of a Placement's PlacementDecisions before an update can be made from it. An
// update from an older cache might take a cluster from the one object that still has it. The zero value has the API
// server asked, as after a restart: nobody knows what the process before has written.
type written struct {
	known  bool                 // otherwise the API server has to be asked
	least  map[string]string    // by name: the resourceVersion that the object must have, or a later one
	gone   map[string]types.UID // by name: the object that must be gone, or going
	latest time.Time
}

// patience is how long the cache may take before the API server is asked. An object that someone else deletes before the
// cache has seen it never comes into the cache.
const patience = 10 * time.Second

// stored lists the PlacementDecisions of a Placement. Current is false as long as the cache does not show all that was
// written.
func (c *controller) stored(ctx context.Context, placement *clusterv1beta1.Placement, memory *memory) (stored []*clusterv1beta1.PlacementDecision, current bool, err error) {
	cached := c.caches.decisionsOf(placement)
	w := &memory.written
	if w.known && w.shown(cached) {
		*w = written{known: true}
		return cached, true, nil
	}
	if w.known && c.now().Sub(w.latest) < patience {
		return nil, false, nil
	}
	var list clusterv1beta1.PlacementDecisionList
	if err := c.live.List(ctx, &list, client.InNamespace(placement.Namespace)); err != nil { // no selector finds an owner
		return nil, false, err
	}
	for i := range list.Items {
		if isOf(&list.Items[i], placement) {
			stored = append(stored, &list.Items[i])
		}
	}
	w.listed(stored, cached, c.now())
	return stored, true, nil
}

// note notes what was written. Where a request got no answer, nobody knows what it has done.
func (w *written) note(outcome decisionupdate.Outcome, now time.Time) {
	if outcome.Unknown() {
		*w = written{}
		return
	}
	for _, pd := range outcome.Stored {
		w.must(pd, now)
	}
	for _, write := range outcome.Writes {
		if write.Verb == decisionupdate.VerbDelete && write.Complete {
			w.mustNot(write.From, now)
		}
	}
}

// listed notes what the API server has listed: the cache may be behind it, too.
func (w *written) listed(stored, cached []*clusterv1beta1.PlacementDecision, now time.Time) {
	*w = written{known: true}
	there := map[types.UID]bool{}
	for _, pd := range stored {
		there[pd.UID] = true
		w.must(pd, now)
	}
	for _, pd := range cached {
		if !there[pd.UID] {
			w.mustNot(pd, now)
		}
	}
}

func (w *written) must(pd *clusterv1beta1.PlacementDecision, now time.Time) {
	if w.least == nil {
		w.least = map[string]string{}
	}
	w.least[pd.Name], w.latest = pd.ResourceVersion, now
	delete(w.gone, pd.Name)
}

func (w *written) mustNot(pd *clusterv1beta1.PlacementDecision, now time.Time) {
	if w.gone == nil {
		w.gone = map[string]types.UID{}
	}
	w.gone[pd.Name], w.latest = pd.UID, now
	delete(w.least, pd.Name)
}

// shown says whether the cache has come as far.
func (w *written) shown(cached []*clusterv1beta1.PlacementDecision) bool {
	reached := 0
	for _, pd := range cached {
		if uid, gone := w.gone[pd.Name]; gone && uid == pd.UID && pd.DeletionTimestamp.IsZero() {
			return false
		}
		if least, written := w.least[pd.Name]; written {
			if older(pd.ResourceVersion, least) {
				return false
			}
			reached++
		}
	}
	return reached == len(w.least)
}

func older(a, b string) bool {
	if b == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
