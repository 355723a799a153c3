// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

// touch changes an object as another writer would.
func (s *server) touch(t *testing.T, name string, change func(*pd)) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.objects[name].DeepCopy()
	change(next)
	s.put(next, false)
}

// D10: a conflict is retried with fresh data when what was the update was made from is still there.
func TestConflictIsRetriedIfNothingThatMattersHasChanged(t *testing.T) {
	for _, test := range []struct {
		name, why string
		verb      string // another writer writes before these
		object    string
	}{
		{"D10 status", "another writer annotates the object before its status is written", "updateStatus", "w1"},
		{"D10 labels", "the same before its labels are written", "update", "w2"},
		{"D10 between labels and status", "the same between the two", "updateStatus", "w2"},
		{"D10 created object", "the same between create and status", "updateStatus", "w4"},
		{"D10 delete", "a delete asks for the version that was the update was made from", "delete", "w3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(state("w1 0: a", "w2 0: b", "w3 0: c")...)
			desired := state("w1 0: a x", "w2 1: b y", "w4 0: d")
			update := mustDiff(t, s.list(), desired, rolling)
			touched := 0
			s.before = func(verb, name string) error {
				if verb == test.verb && name == test.object && touched < 3 {
					touched++
					s.touch(t, name, func(o *pd) {
						o.Annotations = map[string]string{"touched": fmt.Sprint(touched)}
						o.Labels["foreign"] = fmt.Sprint(touched)
					})
				}
				return nil
			}
			outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
			if err != nil || outcome.Retried != 3 {
				t.Fatalf("%s: %d retries, %v", test.why, outcome.Retried, err)
			}
			if o := s.objects[test.object]; o != nil {
				if o.Annotations["touched"] != "3" || o.Labels["foreign"] != "3" {
					t.Errorf("another writer's writes are lost: %v %v", o.Annotations, o.Labels)
				}
				delete(o.Labels, "foreign")
			}
			wantStored(t, s, desired)
		})
	}
}

// D10: a conflict that doesn't end is an error, after five requests.
func TestEndlessConflictIsAnError(t *testing.T) {
	s := newServer(state("w1: a")...)
	update := mustDiff(t, s.list(), state("w1: b"), rolling)
	s.before = func(verb, name string) error {
		if verb != "get" {
			s.touch(t, name, func(*pd) {})
		}
		return nil
	}
	requests := s.record()
	outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
	if !apierrors.IsConflict(err) || outcome.Retried != 4 || len(*requests) != 9 {
		t.Errorf("%d retries, requests %v, %v", outcome.Retried, *requests, err)
	}
}

// D10: if what was the update was made from has changed, nothing is overwritten and the error says to begin again.
func TestChangedObjectIsStale(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *server)
		want   string
	}{
		{"D10 other clusters", func(s *server) {
			s.touch(t, "w1", func(o *pd) { o.Status.Decisions = append(o.Status.Decisions, o.Status.Decisions[0]) })
		}, "update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its status.decisions have changed; list again"},
		{"D10 another group", func(s *server) {
			s.touch(t, "w1", func(o *pd) { o.Labels["cluster.open-cluster-management.io/decision-group-index"] = "7" })
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its label cluster.open-cluster-management.io/decision-group-index is "7", not "0"; list again`},
		{"D10 a label that the update changes", func(s *server) {
			s.touch(t, "w1", func(o *pd) { o.Labels["tier"] = "silver" })
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its label tier is "silver", not ""; list again`},
		{"D10 another owner's controller", func(s *server) {
			s.touch(t, "w1", func(o *pd) { ownedBy([]*pd{o}, "web", "p2", "Placement") })
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its controller has the UID "p2", not ""; list again`},
		{"D10 created again", func(s *server) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.put(s.objects["w1"].DeepCopy(), true)
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its UID is "uid-3", not "uid-1": it was deleted and created again; list again`},
		{"D10 deleted before the update", func(s *server) { delete(s.objects, "w1") },
			`update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: it is gone; list again`},
		{"D10 delete of what has changed", func(s *server) {
			s.touch(t, "w2", func(o *pd) { o.Status.Decisions = nil })
		}, "delete PlacementDecision w2: stored PlacementDecision w2 is not what the update was made from: its status.decisions have changed; list again"},
		{"D10 created by another writer", func(s *server) {
			_, _ = s.Create(context.Background(), state("w3: x")[0], metav1.CreateOptions{})
		}, "create PlacementDecision w3: stored PlacementDecision w3 is not what the update was made from: it exists already; list again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(state("w1 0: a", "w2: b")...)
			desired := state("w1 0: a y", "w3: c")
			desired[0].Labels["tier"] = "gold"
			update := mustDiff(t, s.list(), desired, rolling)
			test.change(s)
			_, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
			var again *decisionupdate.StaleError
			if !errors.As(err, &again) || err.Error() != test.want || again.Err == nil {
				t.Fatalf("got  %v\nwant %s", err, test.want)
			}
			if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), mustDiff(t, s.list(), desired, rolling)); err != nil {
				t.Fatalf("planned again: %v", err)
			}
			wantStored(t, s, desired)
		})
	}
}

// D10: a delete of what isn't there has succeeded, also when it vanishes during a conflict.
func TestDeleteOfMissingObjectSucceeds(t *testing.T) {
	for _, during := range []string{"delete", "get"} {
		s := newServer(state("w1: a", "w2: b")...)
		update := mustDiff(t, s.list(), state("w1: a"), rolling)
		s.before = func(verb, _ string) error {
			if during == "get" && verb == "delete" {
				s.touch(t, "w2", func(*pd) {})
			}
			if verb == during {
				delete(s.objects, "w2")
			}
			return nil
		}
		outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
		if err != nil || brief(outcome) != "delete w2" {
			t.Errorf("gone at %s: %s, %v", during, brief(outcome), err)
		}
	}
}

// D10: an object of the surge, which the update made itself, is deleted after a conflict like any other, unless another writer made it anew.
func TestConflictOfAnObjectOfTheSurge(t *testing.T) {
	mixed := numbers(1, 800)
	rand.New(rand.NewPCG(10, 15)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	stored, desired := divided(100, numbers(1, 800)), divided(100, mixed)
	for _, anew := range []bool{false, true} {
		s := newServer(stored...)
		update := mustDiff(t, s.list(), desired, rolling)
		hit := false
		s.before = func(verb, name string) error {
			if strings.Contains(name, "-surge") && verb == "delete" && !hit {
				hit = true
				s.mu.Lock()
				defer s.mu.Unlock()
				s.put(s.objects[name].DeepCopy(), anew)
			}
			return nil
		}
		outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
		if stale := new(decisionupdate.StaleError); !hit || errors.As(err, &stale) != anew || (err == nil) == anew || !anew && outcome.Retried != 1 {
			t.Errorf("made anew: %t, met: %t; %d retries, %v", anew, hit, outcome.Retried, err)
		}
	}
}

// D10: a name that another owner's object has stays taken. The error says so as a value, and another name is taken, whether the caller
// hands the object on or lists all of the namespace.
func TestATakenNameIsToldFromAListThatIsBehind(t *testing.T) {
	placement := newPlacer(1).placement
	for _, test := range []struct {
		why   string
		other *pd
		taken bool
	}{
		{"of another placement", decision("web-decision-1", "x"), true},
		{"without an owner", decision("web-decision-1"), true},
		{"its own, which the list misses", decision("web-decision-1", "a"), false},
	} {
		test.other.Namespace = "ns"
		switch {
		case !test.taken:
			test.other.Labels[clusterv1beta1.PlacementLabel] = "web"
		case len(test.other.Status.Decisions) > 0:
			test.other.Labels[clusterv1beta1.PlacementLabel] = "db"
		default:
			test.other.Labels = nil
		}
		p := &placer{newServer(test.other), placement, grouping.MaxDecisions}
		groups, err := grouping.Divide(placement, fleet("a"), grouping.Options{})
		if err != nil {
			t.Fatal(err)
		}
		desired, err := groups.Decisions(placement)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decisionupdate.Applier{Client: p}.Apply(t.Context(), mustDiff(t, nil, desired, rolling))
		var stale *decisionupdate.StaleError
		if !errors.As(err, &stale) || (stale.Taken != nil) != test.taken || !apierrors.IsAlreadyExists(err) {
			t.Fatalf("%s: error %v, want taken %v", test.why, err, test.taken)
		}
		if test.taken {
			if desired, err = groups.Decisions(placement, stale.Taken); err != nil || desired[0].Name != "web-decision-2" {
				t.Errorf("%s: desired %v, error %v, want web-decision-2", test.why, desired, err)
			}
		}
		p.settle(t, fleet("a"))
		if test.taken && stateOf([]*pd{p.objects["web-decision-1"]}) != stateOf([]*pd{test.other}) {
			t.Errorf("%s: it was changed", test.why)
		}
	}
}
