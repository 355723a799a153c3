// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"testing"

	"k8s.io/client-go/tools/cache"
)

// D5, seen through an informer: what the package comment of decisionupdate says of old and new client-go. Three
// events wait in an informer's queue: d1 gets its labels, d2 gets the cluster, d1 loses it. A queue that merges
// the events of an object shows the cluster nowhere for an instant.
func TestOnlyQueuesInOrderShowEveryState(t *testing.T) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, test := range []struct {
		name   string
		queue  cache.Queue
		absent bool
	}{
		{"in order, as of client-go 0.33", cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, store, nil), false},
		{"merging, as before", cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: store, EmitDeltaTypeReplaced: true}), true},
	} {
		for _, o := range []*decision{pd("d1", "1", "c"), pd("d2", "0", "c"), pd("d1", "1")} {
			if err := test.queue.Update(o); err != nil {
				t.Fatal(err)
			}
		}
		where := map[string]bool{"d1": true} // before these events
		absent := false
		for !absent && (where["d1"] || len(where) < 2) {
			_, err := test.queue.Pop(func(obj any, _ bool) error {
				for _, delta := range obj.(cache.Deltas) {
					o := delta.Object.(*decision)
					where[o.Name] = len(o.Status.Decisions) > 0
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			absent = !where["d1"] && !where["d2"]
		}
		if absent != test.absent {
			t.Errorf("%s: absent for an instant: %v, want %v", test.name, absent, test.absent)
		}
	}
}
