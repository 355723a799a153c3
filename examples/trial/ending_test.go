// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// A world ends at one moment. What an agent says when no process answers it any more is not held against the status of then.
func TestWhatComesAfterTheEndIsNotJudged(t *testing.T) {
	aborted := dawn.Add(time.Second)
	subject := &Subject{
		Revision:  func(set *replicaSet) string { return wantedBy(set) },
		Revisions: func(*replicaSet, []byte) Revisions { return Revisions{Current: "v1", Update: "v2", Aborted: aborted} },
	}
	says := func(*replicaSet) Saying {
		return Saying{Over: true, Message: "; 1 of 1 clusters are rolled back to v1"}
	}
	for name, tt := range map[string]struct {
		after bool // it fails when the world has ended
		want  string
	}{
		"the agent fails again when the world has ended":      {true, ""},
		"the agent has failed before, and it does not say so": {false, `should say "0 of 1 clusters`},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.set("v2", "p")
		s.decide("p", 0, "", "a")
		s.place("p", told{"", 1})
		p := &player{world: &world{}, subject: subject}
		answers := func(done bool) {
			o := &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: setName, Generation: 1}, Spec: payload("v1")}
			o.Status.Conditions = observe(nil, map[bool]phase{true: ok, false: failing}[done], 1, dawn)
			s.add(Works, o)
		}
		answers(true)
		p.events = s.events
		p.end(dawn.Add(time.Minute))
		answers(false)
		p.events = s.events
		if !tt.after {
			p.end(dawn.Add(time.Minute))
		}
		var status []violation
		for _, v := range p.judged().checkBack(p.ended, says) {
			if v.invariant == invStatus {
				status = append(status, v)
			}
		}
		if found := len(status) == 1 && strings.Contains(status[0].text, tt.want); found != (tt.want != "") || tt.want == "" && len(status) > 0 {
			t.Errorf("%s: %v", name, status)
		}
	}
}

// A cluster that starts takes the place of those behind. So no cluster waits for nothing as long as one starts.
func TestAClusterThatStartsTakesThePlaceOfOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(s *tale)
		late    bool
	}{
		"no cluster starts": {func(s *tale) { s.set("v1", "p") }, true},
		"another one does":  {func(s *tale) { s.work("b", "v1") }, false},
	} {
		s := &tale{}
		s.set("v1", "p")
		s.work("a", "v1")
		s.decide("p", 0, "", "a", "b", "c")
		s.place("p", told{"", 3})
		s.set("v1", "p")
		s.set("v1", "p")
		tt.between(s)
		s.set("v1", "p")
		s.set("v1", "p")
		late := s.history().checkWaits(4 * time.Second)
		if found := len(late) > 0; found != tt.late {
			t.Errorf("%s: %v", name, late)
		}

		j := trialTale()
		wait := func(n int) {
			for range n {
				j.decide("fleet", 0, "", "t-c0", "t-c1", "t-c2")
			}
		}
		wait(5)
		if tt.late {
			wait(1)
		} else {
			j.addOn("t-c1", "v1")
		}
		wait(4)
		judge := j.checker()
		late = judge.checkLate()
		if found := len(late) > 0; found != tt.late {
			t.Errorf("%s, of add-ons: %v", name, late)
		}
	}
}

// trialTale begins a tale of an add-on that all of three clusters may have, of which one does.
func trialTale() *tale {
	s := &tale{}
	owner := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "t"}}
	owner.Spec.InstallStrategy = addonv1beta1.InstallStrategy{Type: addonv1beta1.AddonInstallStrategyPlacements, Placements: []addonv1beta1.PlacementStrategy{{
		PlacementRef: addonv1beta1.PlacementRef{Namespace: "t", Name: placementName}, Configs: []addonv1beta1.AddOnConfig{configOf("v1")},
		RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}},
	}}}
	s.add(AddOns, owner)
	s.addOn("t-c0", "v1")
	s.decide("fleet", 0, "", "t-c0", "t-c1", "t-c2")
	s.place("fleet", told{"", 3})
	return s
}

func (s *tale) addOn(cluster, version string) int64 {
	o := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "t"}}
	o.Status.ConfigReferences = []addonv1beta1.ConfigReference{referenceTo(configOf(version))}
	return s.add(OnClusters, o)
}

// checker has a tale judged, by a patience of 6 s.
func (s *tale) checker() *checker {
	return &checker{history: newHistory(s.events, s.writes, s.reconciles), delivery: OfAddOns(), trial: &trial{world: &world{name: "t", fleet: fleet{name: "fleet"}, pool: []string{"c0", "c1", "c2"}}}}
}

// A user that deletes a cluster takes its policy with it. A process that had read before that it went through its first pass enforces it in good
// faith. A process that knows that it is gone does not.
func TestAFirstPassThatIsGone(t *testing.T) {
	passed, other := map[string]observed{"a": {version: "v2"}}, map[string]observed{"a": {version: "v1"}}
	for name, tt := range map[string]struct {
		truth, known map[string]observed
		broken       bool
	}{
		"it is there":                       {passed, passed, false},
		"it was read, and is gone":          {nil, passed, false},
		"it is known to be gone":            {nil, nil, true},
		"it has another version":            {other, other, true},
		"it came after the caches":          {passed, nil, false},
		"it is gone, and had another one":   {nil, other, true},
		"it has another one than was known": {other, passed, false},
	} {
		j := &checker{history: newHistory(nil, nil, nil), delivery: OfPolicies(), trial: &trial{world: &world{}}}
		if broken := j.checkPasses(event{}, "a", &snapshot{j: j, version: "v2", observed: tt.known}, &snapshot{j: j, version: "v2", observed: tt.truth}); (len(broken) > 0) != tt.broken {
			t.Errorf("%s: %v", name, broken)
		}
	}
}
