// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"testing"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// A cluster reports and is deselected before its first answer is recorded. The answer is recorded nevertheless, even while
// its ManifestWork hangs in deletion. Otherwise the soak would begin anew at each reconcile, and block the others for ever.
func TestTheFirstAnswerOfADeselectedClusterIsRecorded(t *testing.T) {
	const soak = time.Minute
	for name, deleted := range map[string]bool{"its ManifestWork is there": false, "its ManifestWork hangs in deletion": true} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.selects("a", "b")
			strategy := oneAtATime()
			strategy.Progressive.MinSuccessTime.Duration = soak
			owner := newThing(strategy)
			owner.Spec.Options.RemoveAfter.Duration = time.Hour
			h.make(owner)
			p := newProcess(h, things)
			p.settle()
			h.answerAll()
			if deleted {
				must(t, h.store.Delete(t.Context(), h.work("a")))
			}
			h.selects("b")
			for range 3 {
				p.settle()
				h.now = h.now.Add(2 * soak)
				p = newProcess(h, things)
			}
			p.settle()
			if h.having() != "a b" {
				t.Errorf("%q have ManifestWorks, and b must: the soak of a is over", h.having())
			}
		})
	}
}

// A cluster whose ManagedCluster was deleted stays ignored at each reconcile, even while its ManifestWork hangs in deletion.
func TestAnIgnoredClusterStaysIgnored(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answer(h.work("a"), false)
	p.settle()
	must(t, h.store.Delete(t.Context(), h.work("a")))
	h.selects("b")
	must(t, h.store.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
	for range 4 {
		p.settle()
		if c := conditionOf(h, ConditionStalled); c.Status == metav1.ConditionTrue {
			t.Errorf("Stalled is %v", c)
		}
		h.now = h.now.Add(time.Minute)
	}
	if h.having() != "a b" {
		t.Errorf("%q have ManifestWorks, and b must", h.having())
	}
}

// The API server is down for an hour, right after a write that lost its answer. The reconciler comes back after pauses that
// grow to a minute, not in a tight loop.
func TestAnAPIServerThatIsDownIsNotStormed(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	h.make(newThing(oneAtATime()))
	p := newProcess(h, things)
	h.faults = func(w write) fault {
		if w.verb != "create" {
			return none
		}
		h.denied = "ManifestWork"
		h.faults = func(write) fault { return broken }
		return lost
	}
	for h.denied == "" {
		p.cache.show()
		p.look()
		h.now = h.now.Add(time.Second)
	}
	looks := 0
	for end := h.now.Add(time.Hour); h.now.Before(end); looks++ {
		after := p.look()
		if after == 0 || after > time.Minute {
			t.Fatalf("reconcile %d asks for the next one after %v", looks, after)
		}
		h.now = h.now.Add(after)
	}
	if most := int(time.Hour/time.Minute) + 10 + int(writes.Patience/time.Second); looks > most {
		t.Errorf("%d reconciles in an hour, and at most %d are due", looks, most)
	}
	h.denied, h.faults = "", nil
	p.settle()
	if h.having() != "a" {
		t.Errorf("%q have ManifestWorks, and a must: the API server is back", h.having())
	}
}
