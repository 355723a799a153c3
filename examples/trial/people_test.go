package trial

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The observer reads frozen and allowed clusters from the annotations of the set.
func TestWhomPeopleLetStart(t *testing.T) {
	until := dawn.Add(time.Minute).Format(time.RFC3339)
	for name, tt := range map[string]struct {
		hold, reviewed string
		now            time.Time
		held, seen     bool
	}{
		"nothing is said":                     {"", "", dawn, false, true},
		"it is held":                          {"b why; a why", "", dawn, true, true},
		"another one is held":                 {"b a", "", dawn, false, true},
		"it is held until later":              {"a=" + until + " why", "", dawn, true, true},
		"it was held until now":               {"a=" + until + " why", "", dawn.Add(time.Minute), false, true},
		"it was reviewed":                     {"", "b, a of hash", dawn, false, true},
		"others were reviewed":                {"", "b, aa of hash", dawn, false, false},
		"it was reviewed for another version": {"", "a of old", dawn, false, false},
		"it was reviewed for an unknown one":  {"", "a of none", dawn, false, false},
	} {
		s := &scene{set: &replicaSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"hold": tt.hold, "reviewed": tt.reviewed}}},
			hold: "hold", reviewed: "reviewed", named: map[string]string{"hash": "v2", "old": "v1"}}
		if held, seen := s.isHeld("a", tt.now), s.isReviewed("a", "v2"); held != tt.held || seen != tt.seen {
			t.Errorf("%s: held %v, want %v; reviewed %v, want %v", name, held, tt.held, seen, tt.seen)
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
			if perGroup && (has(holdsOne) || has(reviewsSome)) || len(*mandatory) > 0 {
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
