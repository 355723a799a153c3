// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

func TestWritesDecisionsAndThenTheStatus(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"}, "stage=canary")
	h.join("all", []string{"c", "d", "e"})
	h.place(groupsOf(2, "canary"))
	h.wrote("create 1, fill 1, create 2, fill 2, create 3, fill 3")
	if got := h.decisions(); got != "1 canary: a b; 2: c d; 3: e" {
		t.Error(got)
	}
	placement := h.placement()
	var list clusterv1beta1.PlacementDecisionList
	h.must(h.server.List(t.Context(), &list))
	var stored []*clusterv1beta1.PlacementDecision
	for i := range list.Items {
		stored = append(stored, &list.Items[i])
		if !metav1.IsControlledBy(&list.Items[i], placement) {
			t.Errorf("%s is not owned by its Placement", list.Items[i].Name)
		}
	}
	groups, err := grouping.Read(placement, stored)
	if err != nil || groups.Incomplete() != "" || groups.NumClusters() != 5 {
		t.Errorf("%v: %s, %v", groups, groups.Incomplete(), err)
	}
	if !meta.IsStatusConditionTrue(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied) {
		t.Errorf("conditions %v", placement.Status.Conditions)
	}
}

func TestNothingHappensWhereNothingChanged(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1, create 2, fill 2")
	h.wrote("")
	before := h.placement().ResourceVersion
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("")
	if after := h.placement().ResourceVersion; after != before {
		t.Error("the Placement was written")
	}
}

// A cluster that changes its group or is deselected moves no other one.
func TestFewClustersMove(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b", "c", "d", "e", "f"})
	h.place(groupsOf(2, "canary"))
	h.wrote("create 1, fill 1, create 2, fill 2, create 3, fill 3")
	h.must(h.server.Delete(t.Context(), h.cluster("a")))
	h.wrote("fill 1")
	h.join("all", []string{"g"})
	h.wrote("fill 1")
	if got := h.decisions(); got != "1: b g; 2: c d; 3: e f" {
		t.Error(got)
	}
}

// If a cluster is deselected, only its object is written, not the other object of its group.
func TestObjectsKeepTheirClusters(t *testing.T) {
	h := newHub(t)
	clusters := names("cluster", 110)
	h.join("all", clusters)
	h.place(func(*clusterv1beta1.PlacementSpec) {})
	h.wrote("create 1, fill 1, create 2, fill 2")
	h.must(h.server.Delete(t.Context(), h.cluster(clusters[3])))
	h.wrote("fill 1")
}

// At any time each cluster that stays selected is in a PlacementDecision, while a new first group appears, clusters change
// their groups, and groups shrink.
func TestNoClusterIsAbsent(t *testing.T) {
	h := newHub(t)
	clusters := names("cluster", 100)
	h.join("all", clusters)
	h.place(groupsOf(40))
	h.wrote("create 1, fill 1, create 2, fill 2, create 3, fill 3")
	for i, size := range []int{40, 40, 15, 7} {
		h.place(groupsOf(size, "canary"))
		h.join("all", clusters[20*i:20*i+10], "stage=canary")
		h.must(h.server.Delete(t.Context(), h.cluster(clusters[40])))
		clusters = slices.Delete(clusters, 40, 41)
		h.after = h.present(clusters...)
		h.catchUp()
		if wrote, _, err := h.look(); wrote == "" || err != nil {
			t.Fatalf("size %d: wrote %q, %v, %s", size, wrote, err, h.decisions())
		}
	}
}

// A Placement with the annotation that another scheduler writes its decisions is not touched, and neither is its status.
func TestDoesNotTouchWhatItDoesNotSchedule(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1, create 2, fill 2")
	placement := h.placement()
	placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	h.must(h.server.Update(t.Context(), placement))
	h.join("all", []string{"c"})
	h.wrote("")
}

// While the cache does not show the writes, nothing more is written.
func TestWaitsUntilTheCacheShowsItsWrites(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1, create 2, fill 2")
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
		t.Errorf("of an old Placement: wrote %q, %+v, %v", wrote, result, err)
	}
	h.show(h.caches.placements, &clusterv1beta1.PlacementList{})
	h.must(h.server.Delete(t.Context(), h.cluster("b")))
	h.show(h.caches.clusters, &clusterv1.ManagedClusterList{})
	for range 3 {
		if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != writes.Patience || err != nil {
			t.Errorf("of old decisions: wrote %q, %+v, %v", wrote, result, err)
		}
	}
	h.wrote("delete 2")

	// The same after a delete.
	h.show(h.caches.placements, &clusterv1beta1.PlacementList{})
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != writes.Patience || err != nil {
		t.Errorf("of a deleted decision: wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("")

	// The same after an update: from the old decision, c would be written a second time.
	h.join("all", []string{"c"})
	h.place(groupsOf(2))
	h.wrote("fill 1")
	h.show(h.caches.placements, &clusterv1beta1.PlacementList{})
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != writes.Patience || err != nil {
		t.Errorf("of an updated decision: wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("")
}

// A decision that is deleted before the cache shows it never appears in the cache.
func TestAsksTheServerWhatTheCacheNeverShows(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1")
	h.must(h.server.Delete(t.Context(), &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web-decision-1"}}))
	h.wrote("")
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("create 1, fill 1")
}

// After a restart the cache may be older than the writes of the process before. A live read decides.
func TestAsksTheServerAfterARestart(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1, create 2, fill 2")
	h.restart()
	h.must(h.caches.decisions.Replace(nil, ""))
	for range 2 {
		if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
			t.Fatalf("wrote %q, %+v, %v", wrote, result, err)
		}
	}
	h.wrote("")
}

// A write without an answer may or may not be made, now or later. A live read decides. If it was made, the cache is
// awaited.
func TestAnswerLost(t *testing.T) {
	for _, made := range []bool{false, true} {
		h := newHub(t)
		h.join("all", []string{"a"})
		h.place(groupsOf(1))
		h.fail = func(write string) (error, bool) { return errors.New("connection reset"), made }
		h.catchUp()
		if _, _, err := h.look(); err == nil {
			t.Fatal("no error")
		}
		h.fail = nil
		want, recheck := "create 1, fill 1", time.Duration(0)
		if made {
			want, recheck = "", writes.Patience
		}
		if wrote, result, err := h.look(); wrote != want || result.RequeueAfter != recheck || err != nil { // although the cache shows nothing
			t.Errorf("made %v: wrote %q, %+v, %v", made, wrote, result, err)
		}
		if made {
			h.wrote("fill 1")
		}
		h.wrote("")
	}
}

// The same after a delete: the object stays gone, although the cache shows it.
func TestAnswerToADeleteLost(t *testing.T) {
	for _, made := range []bool{false, true} {
		h := newHub(t)
		h.join("all", []string{"a", "b"})
		h.place(groupsOf(1))
		h.wrote("create 1, fill 1, create 2, fill 2")
		h.must(h.server.Delete(t.Context(), h.cluster("b")))
		h.fail = func(write string) (error, bool) { return errors.New("connection reset"), made }
		h.catchUp()
		if _, _, err := h.look(); err == nil {
			t.Fatal("no error")
		}
		h.fail = nil
		want, recheck := "delete 2", time.Duration(0)
		if made {
			want, recheck = "", writes.Patience
		}
		if wrote, result, err := h.look(); wrote != want || result.RequeueAfter != recheck || err != nil {
			t.Errorf("made %v: wrote %q, %+v, %v", made, wrote, result, err)
		}
		h.wrote("")
	}
}

// An object of the surge is created and deleted within one update. A stale cache may show it later, when it is gone.
func TestWaitsForTheEndOfWhatTheCacheHasNotShown(t *testing.T) {
	h := newHub(t)
	h.catchUp()
	h.restart()
	m := h.memories.Of(thePlacement)
	at := func(version string) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "apps", Name: "web-decision-9", UID: "nine", ResourceVersion: version}}
	}
	planned := at("")
	planned.UID = ""
	outcome := decisionupdate.Outcome{Writes: []decisionupdate.Written{
		{Write: decisionupdate.Write{Verb: decisionupdate.VerbCreate, Parts: []decisionupdate.Part{decisionupdate.PartLabels}, To: planned, Surge: true},
			Done: []decisionupdate.Part{decisionupdate.PartLabels}, Complete: true},
		{Write: decisionupdate.Write{Verb: decisionupdate.VerbDelete, From: at("11")}, Complete: true},
	}}
	outcome.Stored = []*clusterv1beta1.PlacementDecision{at("11")}
	outcome.Note(&m.written, h.clock)
	behind := func(want time.Duration, why string) {
		t.Helper()
		if recheck, err := h.behind(t.Context(), m); recheck != want || err != nil {
			t.Errorf("%s: %v, %v", why, recheck, err)
		}
	}
	behind(writes.Patience, "the cache has not shown it")
	h.must(h.caches.decisions.Add(at("10")))
	behind(writes.Patience, "the cache shows it, and it is gone")
	h.must(h.caches.decisions.Delete(at("10")))
	behind(0, "the cache shows that it is gone")
}

// A write that fails ends the update, and the status is not written, so that readers see that the groups are incomplete.
func TestStatusWaitsForTheDecisions(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.fail = func(write string) (error, bool) {
		if write == "fill 2" {
			return errors.New("no"), false
		}
		return nil, true
	}
	h.catchUp()
	if _, _, err := h.look(); err == nil {
		t.Fatal("no error")
	}
	if status := h.placement().Status; status.NumberOfSelectedClusters != 0 || len(status.Conditions) > 0 {
		t.Errorf("the status is %+v", status)
	}
	h.fail = nil
	h.wrote("fill 2")
	if n := h.placement().Status.NumberOfSelectedClusters; n != 2 {
		t.Errorf("%d clusters in the status", n)
	}
}

func TestLabelThatWasEditedByHand(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1, create 2, fill 2")
	var pd clusterv1beta1.PlacementDecision
	h.must(h.server.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: "web-decision-2"}, &pd))
	pd.Labels[clusterv1beta1.DecisionGroupIndexLabel] = "two"
	h.must(h.server.Update(t.Context(), &pd))
	h.events()
	h.wrote("label 2")
	if told := h.events(); len(told) != 2 || !strings.HasPrefix(told[0], "Warning Unreadable ") {
		t.Errorf("told %q", told)
	}
	h.wrote("")
}

// A user edits the placement label of a decision, or removes labels or its owner reference. No cluster vanishes, even if
// clusters move at the same time, and nothing is written twice. The Placement that the label names does not touch the
// decision.
func TestPlacementThatWasEditedByHand(t *testing.T) {
	other := types.NamespacedName{Namespace: "apps", Name: "other"}
	edit := func(label string) func(*clusterv1beta1.PlacementDecision) {
		return func(pd *clusterv1beta1.PlacementDecision) { pd.Labels[clusterv1beta1.PlacementLabel] = label }
	}
	for why, test := range map[string]struct {
		edit             func(*clusterv1beta1.PlacementDecision)
		heals, exchanges string // what is written, where nothing else changed, and where a cluster left the decision and another joined
	}{
		"another placement": {edit(other.Name), "label 1", "fill 1, label 1, fill 3"},
		"no placement":      {edit("nobody"), "label 1", "fill 1, label 1, fill 3"},
		"an empty label":    {edit(""), "label 1", "fill 1, label 1, fill 3"},
		"no label":          {func(pd *clusterv1beta1.PlacementDecision) { delete(pd.Labels, clusterv1beta1.PlacementLabel) }, "label 1", "fill 1, label 1, fill 3"},
		"no labels":         {func(pd *clusterv1beta1.PlacementDecision) { pd.Labels = nil }, "label 1", "fill 1, label 1, fill 3"},
		"no owner":          {func(pd *clusterv1beta1.PlacementDecision) { pd.OwnerReferences = nil }, "label 1", "fill 1, label 1, fill 3"},
	} {
		for _, restarted := range []bool{false, true} {
			for _, beside := range []string{"nothing", "an exchange", "other groups"} {
				h := newHub(t)
				h.join("all", []string{"a", "b", "c", "d", "e"})
				h.place(groupsOf(2))
				h.wrote("create 1, fill 1, create 2, fill 2, create 3, fill 3")
				h.put(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: other.Namespace, Name: other.Name, UID: "the other"}, Spec: clusterv1beta1.PlacementSpec{
					ClusterSets: []string{"none"}}})
				var pd clusterv1beta1.PlacementDecision
				h.must(h.server.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: "web-decision-1"}, &pd))
				test.edit(&pd)
				h.must(h.server.Update(t.Context(), &pd))
				if restarted {
					h.restart()
				}
				clusters, want := []string{"a", "c", "d", "e"}, test.heals
				switch beside {
				case "an exchange":
					h.must(h.server.Delete(t.Context(), h.cluster("b")))
					h.join("all", []string{"bb"})
					want = test.exchanges
				case "other groups":
					h.join("all", []string{"a", "d"}, "stage=canary")
					h.place(groupsOf(2, "canary"))
					want = "label 3, create 4, fill 4, fill 1, label 1, fill 2, label 2"
				}
				h.after = h.present(clusters...)
				h.catchUp()
				h.writes = nil
				_, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: other})
				h.must(err)
				if got := strings.Join(h.writes, ", "); got != "create other-decision-1" {
					t.Errorf("%s: the other Placement wrote %q", why, got)
				}
				h.catchUp()
				wrote, _, err := h.look()
				h.must(err)
				if wrote != want {
					t.Errorf("%s, restarted %v, beside %s: wrote %q, want %q", why, restarted, beside, wrote, want)
				}
				h.wrote("")
				h.clock = h.clock.Add(writes.Patience)
				h.wrote("")
				groups, err := grouping.Read(h.placement(), h.labelled())
				if err != nil || groups.Incomplete() != "" || groups.NumClusters() != 5 {
					t.Errorf("%s: %s, %v, %s", why, groups.Incomplete(), err, h.decisions())
				}
			}
		}
	}
}

// An object of another owner has the name of the Placement's first decision. An event tells it, it is not touched, and
// another name is taken.
func TestNameThatIsTaken(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a"})
	h.put(&clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web-decision-1"}})
	h.place(groupsOf(1))
	h.wrote("create 2, fill 2")
	if told := h.events(); len(told) == 0 || !strings.HasPrefix(told[0], "Warning NameTaken ") {
		t.Errorf("told %q", told)
	}
	h.wrote("")
}

func TestWhatCannotBeCarriedOut(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1, create 2, fill 2")
	h.events()
	h.place(groupsOf(-1))
	h.catchUp()
	wrote, _, err := h.look()
	if wrote != "" || !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	if told := h.events(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning Invalid spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup") {
		t.Errorf("told %q", told)
	}
	if !meta.IsStatusConditionTrue(h.placement().Status.Conditions, clusterv1beta1.PlacementConditionMisconfigured) {
		t.Errorf("conditions %v", h.placement().Status.Conditions)
	}
	h.place(groupsOf(1))
	h.wrote("")
	if meta.IsStatusConditionTrue(h.placement().Status.Conditions, clusterv1beta1.PlacementConditionMisconfigured) {
		t.Error("it is still misconfigured")
	}
}

func TestPlacementThatIsGone(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a"})
	h.place(groupsOf(1))
	h.wrote("create 1, fill 1")
	h.must(h.server.Delete(t.Context(), h.placement()))
	h.wrote("") // the garbage collector deletes the decisions
	if h.memories.Len() > 0 {
		t.Error("it is remembered")
	}
}

func TestEventsTellWhatWasWritten(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(2))
	h.wrote("create 1, fill 1")
	h.join("all", []string{"c"})
	h.wrote("create 2, fill 2")
	want := []string{
		"Normal DecisionCreate create PlacementDecision web-decision-1 (labels, status): add a, b",
		"Normal DecisionCreate create PlacementDecision web-decision-2 (labels, status): add c",
	}
	if told := h.events(); !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}
