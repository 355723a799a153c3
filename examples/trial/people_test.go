// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The observer reads frozen and allowed clusters from the annotations of the set.
func TestFrozenAndAllowedClusters(t *testing.T) {
	until := dawn.Add(time.Minute).Format(time.RFC3339)
	for name, tt := range map[string]struct {
		freeze, allowlist string
		now               time.Time
		frozen, seen      bool
	}{
		"nothing is said":                   {"", "", dawn, false, true},
		"it is frozen":                      {"b why; a why", "", dawn, true, true},
		"another one is frozen":             {"b a", "", dawn, false, true},
		"it is frozen until later":          {"a=" + until + " why", "", dawn, true, true},
		"it was frozen until now":           {"a=" + until + " why", "", dawn.Add(time.Minute), false, true},
		"it is allowed":                     {"", "b, a of hash", dawn, false, true},
		"others are allowed":                {"", "b, aa of hash", dawn, false, false},
		"it is allowed for another version": {"", "a of old", dawn, false, false},
		"it is allowed for an unknown one":  {"", "a of none", dawn, false, false},
	} {
		s := &scene{set: &replicaSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"freeze": tt.freeze, "allowlist": tt.allowlist}}},
			freeze: "freeze", allowlist: "allowlist", named: map[string]string{"hash": "v2", "old": "v1"}}
		if frozen, seen := s.isFrozen("a", tt.now), s.isAllowed("a", "v2"); frozen != tt.frozen || seen != tt.seen {
			t.Errorf("%s: frozen %v, want %v; allowed %v, want %v", name, frozen, tt.frozen, seen, tt.seen)
		}
	}
}

// Among the worlds with people are some with two placements and some in which leaders change. Where groups go one after the other no cluster is
// frozen, since the observer does not know that groups go on without frozen ones.
func TestWorldsWithPeopleAreDrawn(t *testing.T) {
	of := &Subject{Placements: 2, Replicas: 2}
	two, leaders, both := 0, 0, 0
	for seed := uint64(1); seed <= 60; seed++ {
		w := drawPeople(seed, of, "")
		has := func(what string) bool {
			return slices.ContainsFunc(w.script, func(c change) bool { return c.what == what })
		}
		for _, f := range w.fleets() {
			_, perGroup, mandatory, _ := parts(&f.strategy)
			if perGroup && (has(freezesOne) || has(allowsSome)) || len(*mandatory) > 0 {
				t.Errorf("%s", w)
			}
		}
		if len(w.others) > 0 && has(moves) {
			two++
		}
		if w.elects && w.replicas == 2 && has(cuts) {
			leaders++
		}
		if len(w.others) > 0 && w.elects {
			both++
		}
	}
	if two < 10 || leaders < 10 || both < 5 {
		t.Errorf("of 60 worlds %d move clusters between placements, %d cut leaders, %d have both", two, leaders, both)
	}
}
