package trial

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The observer reads who is held, and who was reviewed, from the annotations of the set.
func TestWhomPeopleLetStart(t *testing.T) {
	until := dawn.Add(time.Minute).Format(time.RFC3339)
	for name, tt := range map[string]struct {
		hold, reviewed string
		now            time.Time
		held, seen     bool
	}{
		"nobody says anything":                {"", "", dawn, false, true},
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
