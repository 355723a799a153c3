// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// ownAddOn wants a version of an add-on group by group, with a deadline that is never reached.
func (s *tale) ownAddOn(version string) int64 {
	owner := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "t"}}
	owner.Spec.InstallStrategy = addonv1beta1.InstallStrategy{Type: addonv1beta1.AddonInstallStrategyPlacements, Placements: []addonv1beta1.PlacementStrategy{{
		PlacementRef: addonv1beta1.PlacementRef{Namespace: "t", Name: placementName}, Configs: []addonv1beta1.AddOnConfig{configOf(version)},
		RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
			ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "None"}}},
	}}}
	return s.add(AddOns, owner)
}

// doneAddOn has a cluster's add-on say that it does what it should.
func (s *tale) doneAddOn(cluster, version string) int64 {
	o := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "t"}}
	o.Status.ConfigReferences = []addonv1beta1.ConfigReference{referenceTo(configOf(version))}
	o.Status.ConfigReferences[0].LastAppliedConfig = o.Status.ConfigReferences[0].DesiredConfig
	return s.add(OnClusters, o)
}

// R47, R52: the group of a deselected or moved cluster exists again before all others when it is gone, be it that only its index went to another one. So
// those that wait for it do not wait for nothing; they do if it is done.
func TestAClusterThatWaitsForAGroupThatIsGone(t *testing.T) {
	decide := func(s *tale, groups ...[]string) { // each with its name first
		var all []told
		for i, g := range groups {
			s.decide(placementName, i, g[0], g[1:]...)
			all = append(all, told{g[0], int32(len(g) - 1)})
		}
		s.place(placementName, all...)
	}
	for name, tt := range map[string]struct {
		before, after [][]string // the first cluster of group eu has started, and is in flight
		could         string
		doneToo       string // what could start if it were done
		order         bool   // the others may not start, however it is read
	}{
		"it left, and its group is gone": {
			[][]string{{"eu", "t-c0"}, {"", "t-c1", "t-c2"}}, [][]string{{"", "t-c1", "t-c2"}}, "[]", "[t-c1 t-c2]", true},
		"it left, and its group has another index": {
			[][]string{{"canary", "t-c3"}, {"eu", "t-c0", "t-c1"}, {"", "t-c2"}}, [][]string{{"eu", "t-c1"}, {"", "t-c2"}}, "[]", "[t-c1]", false},
		"its group has another index": {
			[][]string{{"canary", "t-c3"}, {"eu", "t-c0", "t-c1"}, {"", "t-c2"}}, [][]string{{"eu", "t-c0", "t-c1"}, {"", "t-c2"}}, "[]", "[t-c1]", false},
		"it left, and its group is there": {
			[][]string{{"eu", "t-c0", "t-c1"}, {"", "t-c2"}}, [][]string{{"eu", "t-c1"}, {"", "t-c2"}}, "[t-c1]", "[t-c1]", false},
	} {
		for _, done := range []bool{false, true} {
			s := &tale{}
			s.ownAddOn("v1")
			decide(s, tt.before...)
			s.addOn("t-c0", "v1")
			if done {
				s.doneAddOn("t-c0", "v1")
			}
			old := s.events
			decide(s, tt.after...)
			for _, e := range old { // the decisions that are not there any more
				if e.id.kind == Decisions && e.id.key == fmt.Sprintf("w/%s-%d", placementName, len(tt.after)) {
					s.add(Decisions, e.object.DeepCopyObject().(object))
					s.events[len(s.events)-1].gone = true
				}
			}
			j := s.checker()
			j.trial.pool = []string{"c0", "c1", "c2", "c3"}
			j.trial.groupOf = map[string]string{}
			for _, g := range tt.before {
				for _, c := range g[1:] {
					j.trial.groupOf[short(c)] = g[0]
				}
			}
			now := dawn.Add(time.Minute)
			snapshot, want := j.present(), tt.could
			if done {
				want = tt.doneToo
			}
			_, could := snapshot.waits(now)
			if got := fmt.Sprint(could); got != want {
				t.Errorf("%s, done %v: %s could start, want %s (%s)", name, done, got, want, snapshot.ref.incomplete)
			}
			ordered := len(snapshot.forbids("t-c2", now, leniency{}, whereTheyAre)) > 0 && len(snapshot.forbids("t-c2", now, leniency{}, whereTheyWere)) > 0
			if behind := len(tt.after) > 1; !done && ordered != (tt.order || behind) {
				t.Errorf("%s: t-c2 may not start: %v", name, ordered)
			}
		}
	}
}

// A process waits for its own write until its caches show it, or it asks the API server after a while. Where another client removed the
// object first, it waits in vain, and all that waits for it does so for a reason. What it has seen it does not wait for.
func TestAClusterThatWaitsForAWriteThatNoCacheShows(t *testing.T) {
	for name, tt := range map[string]struct {
		sees bool // the process looks while its caches show the object
		own  bool // the process removed it
		gone bool
		late bool
	}{
		"another client removed it before it was shown": {gone: true},
		"another client removed it when it was seen":    {gone: true, sees: true, late: true},
		"the process removed it":                        {gone: true, own: true, late: true},
		"it is still there":                             {late: true},
	} {
		s := &tale{}
		s.ownAddOn("v1")
		s.decide(placementName, 0, "", "t-c0", "t-c1")
		s.place(placementName, told{"", 2})
		s.look(1, s.now())
		rv := s.addOn("t-c2", "v1") // it was selected just now
		at := func(rv int64) time.Time { return dawn.Add(time.Duration(rv) * time.Second) }
		s.writes = append(s.writes, write{verb: "POST", kind: OnClusters, key: "t-c2/t", done: true, rv: rv, life: 1, sent: at(rv).Add(-100 * time.Millisecond), answered: at(rv)})
		if tt.sees {
			s.look(1, s.now())
		}
		if tt.gone {
			gone := s.addOn("t-c2", "v1")
			s.events[len(s.events)-1].gone = true
			if tt.own {
				s.writes = append(s.writes, write{verb: "DELETE", kind: OnClusters, key: "t-c2/t", done: true, life: 1, sent: at(gone).Add(-100 * time.Millisecond), answered: at(gone)})
			}
		}
		for range 9 {
			s.ownAddOn("v1")
		}
		j := s.checker()
		if found := len(j.checkLate()) > 0; found != tt.late {
			t.Errorf("%s: late %v, want %v", name, found, tt.late)
		}
		if !tt.late { // when it has asked, it is late as any other is
			for range 12 {
				s.ownAddOn("v1")
			}
			if len(s.checker().checkLate()) == 0 {
				t.Errorf("%s: it waits for ever", name)
			}
		}
	}
}

// R32: the time until removal begins anew where decisions were partially observed, be it for a moment between two looks of the judge.
func TestADeselectedClusterIsAwayAnewAfterPartiallyObservedDecisions(t *testing.T) {
	for _, half := range []bool{false, true} {
		s := &tale{}
		s.ownAddOn("v1")
		s.decide(placementName, 0, "", "t-c0", "t-c1")
		s.place(placementName, told{"", 2})
		s.addOn("t-c1", "v1")
		s.decide(placementName, 0, "", "t-c0")
		s.place(placementName, told{"", 1})
		for range 4 {
			s.ownAddOn("v1")
		}
		if half {
			s.decide(placementName, 0, "", "t-c0", "t-c2")
			at := s.events[len(s.events)-1].at
			s.decide(placementName, 0, "", "t-c0")
			s.events[len(s.events)-2].at = at.Add(200 * time.Millisecond)
			s.events[len(s.events)-1].at = at.Add(210 * time.Millisecond)
		}
		for range 4 {
			s.ownAddOn("v1")
		}
		j := s.checker()
		j.trial.pool = []string{"c0", "c1"}
		if found := j.checkPrompt(s.events[len(s.events)-1].at); (len(found) > 0) == half {
			t.Errorf("partially observed in between %v: %v", half, found)
		}
	}
}

// A cluster of which only its failure is left, as its object is gone, has failed and waits for none. One of which a start without an answer is
// left is waited for.
func TestAClusterThatHasFailedWaitsForNone(t *testing.T) {
	s := &tale{}
	s.ownAddOn("v1")
	s.decide(placementName, 0, "", "t-c0", "t-c1")
	s.place(placementName, told{"", 2})
	snapshot := s.checker().present()
	snapshot.ghosts["t-c0"] = observed{version: "v1", started: true, answer: doesNot, applied: dawn}
	snapshot.ghosts["t-c1"] = observed{version: "v1", started: true, answer: awaited, applied: dawn}
	if wait, could := snapshot.waits(dawn.Add(time.Minute)); fmt.Sprint(wait, could) != "[t-c1] []" {
		t.Errorf("%v wait, %v could start", wait, could)
	}
}
