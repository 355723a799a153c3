package trial

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// R52: who moves to another group counts where it started. The judge blames nobody who counts it in either.
func TestWhoMovedCountsInEither(t *testing.T) {
	at := func(s int, groups ...place) dated {
		d := dated{stay{places: map[string]place{}}, dawn.Add(time.Duration(s) * time.Second)}
		for _, g := range groups {
			d.places["a"] = g
		}
		return d
	}
	zero, one := place{"p", "", 0}, place{"p", "", 1}
	for name, tt := range map[string]struct {
		stays []dated
		want  bool
	}{
		"it stays":                          {[]dated{at(0, zero), at(20, zero)}, false},
		"it moves":                          {[]dated{at(0, zero), at(20, one)}, true},
		"it moved long before it started":   {[]dated{at(0, one), at(5, zero), at(20, zero)}, false},
		"it moved just before it started":   {[]dated{at(0, one), at(9, zero)}, true},
		"it left and came back":             {[]dated{at(0, zero), at(20), at(21, zero)}, false},
		"it left and came back elsewhere":   {[]dated{at(0, zero), at(20), at(21, one)}, true},
		"nobody knows where it ever was":    {nil, false},
		"it was moved there and back again": {[]dated{at(0, zero), at(20, one), at(21, zero)}, true},
	} {
		s := &scene{works: map[string][]seenWork{"a": {{version: "v1", applied: dawn.Add(10 * time.Second)}}}, stays: tt.stays}
		if got := s.changedGroup("a", "v1"); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		if s.changedGroup("a", "v2") || s.changedGroup("b", "v1") {
			t.Errorf("%s: of what has no work with this version nothing is known", name)
		}
	}

	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(0), ProgressDeadline: "1s"}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	failing := seenWork{manifestWork: &manifestWork{}, version: "v1", applied: dawn.Add(10 * time.Second)}
	groups := []seenGroup{{index: 0, clusters: []string{"a"}}, {index: 1, clusters: []string{"b"}}}
	for moved, want := range map[bool]bool{false: true, true: false} {
		s := &scene{set: &replicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, works: map[string][]seenWork{"a": {failing}}, stays: []dated{at(0, zero), at(20, zero)}}
		if moved {
			s.stays = []dated{at(0, one), at(20, zero)}
		}
		s.refs = []*seenRef{{name: "p", strategy: strategy, groups: groups, groupOf: map[string]int{"a": 0, "b": 1}, selected: map[string]int{"a": 0, "b": 1}}}
		broken := false
		for _, v := range s.forbids("b", "v1", dawn.Add(time.Minute), leniency{}) {
			broken = broken || v.invariant == invOrder || v.invariant == invBudget
		}
		if broken != want {
			t.Errorf("moved %v: broken %v", moved, broken)
		}
	}
}
