// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"
)

// A work that does not carry what the user wrote is found, with what it lacks, and nothing panics, whichever client wrote it.
func TestBadPayloadsAreFound(t *testing.T) {
	raw := func(text string) workv1.ManifestWorkSpec {
		return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(text)}}}}}
	}
	for name, tt := range map[string]struct {
		spec workv1.ManifestWorkSpec
		want string // in the finding; empty for none
	}{
		"what the user wrote":       {payload("v1"), ""},
		"no manifest":               {workv1.ManifestWorkSpec{}, "has no manifest"},
		"nothing in the manifest":   {raw(""), "cannot be read"},
		"no JSON":                   {raw("{"), "cannot be read"},
		"data of another kind":      {raw(`{"data": "v1"}`), "cannot be read"},
		"another manifest":          {raw(`{"kind": "Secret"}`), "without data.version"},
		"no version in the version": {raw(`{"data": {"version": ""}}`), "without data.version"},
		"a number below all":        {payload("v-7"), ""},
	} {
		for _, stranger := range []bool{false, true} {
			s := &tale{}
			s.set("v1", "p")
			s.decide("p", 0, "", "a")
			s.place("p", told{"", 1})
			s.look(1, s.now())
			rv := s.work("a", "v1")
			s.events[rv-1].object.(*manifestWork).Spec = tt.spec
			if !stranger {
				s.writes = []write{{verb: "POST", kind: Works, key: "a/" + setName, done: true, rv: rv, life: 1, setShown: 1, sent: dawn}}
			}
			h := s.history()
			broken := h.checkPayloads()
			if found := len(broken) == 1 && broken[0].invariant == invPayload && strings.Contains(broken[0].text, tt.want); found != (tt.want != "" && !stranger) {
				t.Errorf("%s, by a stranger %v: %v", name, stranger, broken)
			}
			says := func(*replicaSet) Saying { return Saying{} }
			h.keepFailures(time.Second)
			byStranger := h.check(0, 0)
			if stranger && (len(byStranger) != 1 || !strings.Contains(byStranger[0].text, "written by a stranger")) {
				t.Errorf("%s: %v", name, byStranger)
			}
			_ = append(append(h.checkEnd(dawn, says), h.checkWaits(time.Second)...), h.checkLeft(0, 0, says)...)
			_ = historyOf(&observation{world: &world{}, history: h})
			p := &player{world: &world{cut: &cutOff{shares: []float64{0, 0}, after: time.Second}}}
			if p.strokeOf("w-a", versionIn(h.events[rv-1].object.(*manifestWork))).cut {
				t.Errorf("%s: nothing cuts a cluster off", name)
			}
		}
	}
}

// A controller that changes the spec of the set breaks what it is to roll out, be it that nothing is left to read.
func TestASpecThatIsChangedIsFound(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*replicaSet)
		user   bool
		want   int
	}{
		"the user does":                  {func(o *replicaSet) { o.Generation++ }, true, 0},
		"only an annotation":             {func(o *replicaSet) { o.Annotations = map[string]string{"a": "b"} }, false, 0},
		"the template":                   {func(o *replicaSet) { o.Generation++; o.Spec.ManifestWorkTemplate = workv1.ManifestWorkSpec{} }, false, 1},
		"a strategy loses what it needs": {func(o *replicaSet) { o.Generation++; o.Spec.PlacementRefs[0].RolloutStrategy.ProgressivePerGroup = nil }, false, 1},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		s.look(1, s.now())
		rv := s.set("v1", "p")
		tt.change(s.events[rv-1].object.(*replicaSet))
		if !tt.user {
			s.writes = []write{{verb: "PUT", kind: ReplicaSets, key: "w/" + setName, done: true, rv: rv, life: 1, sent: dawn}}
		}
		s.work("a", "v1")
		h := s.history()
		if got := h.checkPayloads(); len(got) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		says := func(*replicaSet) Saying { return Saying{} }
		_ = append(h.check(0, 0), append(h.checkEnd(dawn, says), h.checkLeft(0, 0, says)...)...)
		_ = historyOf(&observation{world: &world{}, history: h})
	}
}
