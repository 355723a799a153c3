// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// wrote updates the caches, reconciles, and fails if that does not write what is wanted.
func (h *hub) wrote(want string) {
	h.t.Helper()
	if got := h.reconcile(); got != want {
		h.t.Fatalf("wrote %q, want %q", got, want)
	}
}

func TestStartsAsManyAsTheStrategyAllows(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c", "d")
	h.create(ref("prod", atATime(2)))
	h.wrote("create a, create b")
	h.wrote("") // in flight, silent
	h.answer(status.Progressing, "a")
	h.wrote("")
	h.answer(status.Succeeded, "a")
	h.wrote("create c")
	h.answer(status.Succeeded, "b", "c")
	h.wrote("create d")
	h.answer(status.Succeeded, "d")
	h.wrote("")

	work, set := h.work("a"), h.set()
	if !strings.HasPrefix(work.Name, "web-") || work.Annotations["cohort.open-cluster-management.io/owner"] != "ManifestWorkReplicaSet.work.open-cluster-management.io/apps/web/"+string(set.UID) || work.Labels[kit.OwnerLabel] != "apps.web" || work.Labels[placementLabel] != "prod" {
		t.Errorf("a's work is %s with labels %v", work.Name, work.Labels)
	}
	if stamp := status.StampOf(work); stamp.Version != writes.VersionOf(set.Spec.ManifestWorkTemplate) || !stamp.Applied.Equal(h.clock) {
		t.Errorf("a's work is stamped %+v", stamp)
	}
	if !slices.Contains(set.Finalizers, finalizer) {
		t.Error("there is no finalizer")
	}
}

func TestNothingHappensWhereNothingChanged(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.wrote("")
	before := h.set().ResourceVersion
	h.clock = h.clock.Add(time.Hour)
	h.wrote("")
	if after := h.set().ResourceVersion; after != before {
		t.Error("the set was written")
	}
}

func TestPlansNothingUntilTheCacheShowsItsWrites(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c", "d")
	h.create(ref("prod", atATime(2)))
	h.wrote("create a, create b")
	for range 3 { // the cache shows not even the set's status
		if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
			t.Fatalf("wrote %q, %+v, %v", wrote, result, err)
		}
	}
	h.must(h.caches.sets.Update(h.set()))
	for range 3 { // the cache shows the set, and one work of two
		if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != writes.Patience || err != nil {
			t.Fatalf("wrote %q, %+v, %v", wrote, result, err)
		}
		h.must(h.caches.works.Update(h.work("a")))
	}
	h.answer(status.Succeeded, "a")
	h.wrote("create c")
}

func TestReadsTheStatusThatItWrote(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.answer(status.Succeeded, "a")
	h.wrote("") // nothing but the status
	h.must(h.caches.works.Update(h.work("a")))
	if _, result, err := h.look(); result.RequeueAfter != kit.Gather || err != nil {
		t.Errorf("%+v, %v", result, err)
	}
}

// A work that is deleted before the cache shows it never appears in the cache.
func TestAsksTheServerWhatTheCacheNeverShows(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.must(h.server.Delete(t.Context(), h.work("a")))
	h.wrote("")
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("create a")
}

func TestAnswerLost(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.create(ref("prod", atATime(1)))
	h.fail = func(string, string) (error, bool) { return errors.New("connection reset"), true }
	h.catchUp()
	if _, _, err := h.look(); err == nil {
		t.Fatal("no error")
	}
	h.fail = nil
	h.must(h.caches.sets.Update(h.set()))
	if wrote, _, err := h.look(); wrote != "" || err != nil {
		t.Errorf("wrote %q, %v by a cache without a's work", wrote, err)
	}
	h.answer(status.Succeeded, "a")
	h.wrote("create b")
}

func TestOneClusterRefuses(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.create(ref("prod", atATime(3)))
	h.fail = func(_, cluster string) (error, bool) {
		if cluster == "b" {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, cluster), false
		}
		return nil, true
	}
	h.catchUp()
	wrote, _, err := h.look()
	if wrote != "create a, create c" || err == nil || !strings.Contains(err.Error(), "cluster b: ") {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	if len(h.set().Status.Conditions) != 3 {
		t.Error("no status")
	}
	if told := h.events(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning Refused cluster b: ") {
		t.Errorf("told %q", told)
	}
	h.catchUp()
	h.look()
	if rolledOut := meta.FindStatusCondition(h.set().Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut); !strings.Contains(rolledOut.Message, "b starts once the API server accepts the write of its object, which it refused: ") {
		t.Errorf("%s: %s; it must say why b does not start", rolledOut.Type, rolledOut.Message)
	}
	h.fail = nil
	h.wrote("create b")
}

func TestTemplateChanges(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.answer(status.Succeeded, "a")
	h.wrote("create b")
	h.answer(status.Succeeded, "b")
	uid := h.work("a").UID

	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
	h.wrote("update a")
	h.wrote("") // a succeeded with the earlier version
	h.answer(status.Succeeded, "a")
	h.wrote("update b")
	if work := h.work("a"); work.UID != uid || !strings.Contains(string(work.Spec.Workload.Manifests[0].Raw), "two") {
		t.Errorf("a's work is %v", work)
	}
}

// An agent reports 45 minutes after the write, with transition times from before. Its soak runs from the first answer: the
// next cluster waits for the whole soak, even if the controller restarts meanwhile.
func TestALateAnswerSoaksFromTheAnswer(t *testing.T) {
	const soak = 30 * time.Minute
	for _, restarts := range []bool{false, true} {
		h := newHub(t)
		h.place("prod", "a", "b")
		slow := atATime(1)
		slow.Progressive.MinSuccessTime.Duration = soak
		h.create(ref("prod", slow))
		h.wrote("create a")
		for _, c := range []struct{ cluster, next string }{{"a", "create b"}, {"b", ""}} {
			h.clock = h.clock.Add(time.Minute)
			h.answer(status.Succeeded, c.cluster)
			h.wrote("update " + c.cluster) // the time of its answer
			h.clock = h.clock.Add(soak)
			h.wrote(c.next)
		}

		h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
		h.wrote("update a")
		h.clock = h.clock.Add(45 * time.Minute)
		h.answer(status.Succeeded, "a")
		h.wrote("update a") // the time of its answer
		if stamp := status.StampOf(h.work("a")); !stamp.Answered.Equal(h.clock) || !stamp.Applied.Equal(h.clock.Add(-45*time.Minute)) {
			t.Errorf("stamped %+v", stamp)
		}
		h.clock = h.clock.Add(soak - time.Second)
		if restarts {
			h.memories.Forget(theSet)
		}
		h.wrote("")
		h.clock = h.clock.Add(time.Second)
		h.wrote("update b")
	}
}

// R5, R50: a cluster that moved to another placement, or was deselected, counts in the earlier placement until it is done.
// Therefore its first answer is recorded even if the new placement has no soak. The record keeps the time from which it
// soaks.
func TestFirstAnswerOfAClusterThatMovedIsNoted(t *testing.T) {
	for name, now := range map[string]string{"it is in another placement": "test", "it is nowhere": ""} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			h.place("prod", "a", "b")
			h.place("test", "c")
			soaking := atATime(1)
			soaking.Progressive.MinSuccessTime.Duration = time.Minute
			h.create(ref("prod", soaking), ref("test", clusterv1alpha1.RolloutStrategy{}))
			h.wrote("create a, create c")
			h.place("prod", "b")
			want := ""
			if now != "" {
				h.place(now, "a", "c")
				want = "update a" // its label
			}
			h.wrote(want)
			h.answer(status.Succeeded, "a")
			h.wrote("update a") // the time of its answer
			h.clock = h.clock.Add(time.Second)
			h.wrote("")
			before := h.set().ResourceVersion
			for range 3 {
				h.clock = h.clock.Add(time.Second)
				h.wrote("")
			}
			if after := h.set(); after.ResourceVersion != before {
				t.Errorf("the set is written again and again: %v", after.Annotations)
			}
			h.clock = h.clock.Add(time.Minute)
			h.wrote(map[bool]string{true: "create b", false: "create b, delete a"}[now != ""])
		})
	}
}

func TestTemplateChangesWhileWritesAreMade(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.create(ref("prod", atATime(3)))
	h.fail = func(string, string) (error, bool) {
		if len(h.writes) == 0 {
			h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
			h.must(h.caches.sets.Update(h.set()))
		}
		return nil, true
	}
	h.catchUp()
	if wrote, result, err := h.look(); wrote != "create a" || result.RequeueAfter == 0 || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.fail = nil
	h.wrote("create b, create c, update a")
}

func TestClusterMovesToAnotherPlacement(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.place("test", "c")
	h.create(ref("prod", atATime(2)), ref("test", atATime(1)))
	h.wrote("create a, create b, create c")
	h.answer(status.Succeeded, "a", "b", "c")
	h.wrote("")
	before := h.work("b")

	// Between the two writes no placement selects b.
	h.place("prod", "a")
	h.wrote("")
	h.clock = h.clock.Add(grace - time.Second)
	h.place("test", "b", "c")
	h.wrote("update b")
	h.clock = h.clock.Add(grace)
	h.wrote("")

	after := h.work("b")
	if after.UID != before.UID || after.Generation != before.Generation || after.Labels[placementLabel] != "test" {
		t.Errorf("before %v\nafter %v", before, after)
	}
	if applied := status.StampOf(after).Applied; !applied.Before(h.clock.Add(-grace)) {
		t.Error("its soak begins anew")
	}
	if s := h.set().Status.PlacementsSummary; s[0].Summary.Total != 1 || s[1].Summary.Total != 2 {
		t.Errorf("summary %+v", s)
	}
}

func TestClusterInSeveralPlacementsBelongsToTheFirst(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.place("all", "a", "b", "c")
	h.create(ref("prod", atATime(1)), ref("all", clusterv1alpha1.RolloutStrategy{}))
	h.wrote("create a, create c")
	h.answer(status.Succeeded, "a")
	h.wrote("create b")
}

// While the first placement is incomplete, its clusters are unknown, and so is the rest for the second.
func TestIncompletePlacementHoldsThoseBehindIt(t *testing.T) {
	h := newHub(t)
	h.place("all", "a", "b", "c")
	h.create(ref("prod", atATime(1)), ref("all", clusterv1alpha1.RolloutStrategy{}))
	h.wrote("")
	verified := meta.FindStatusCondition(h.set().Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementVerified)
	if verified.Reason != workv1alpha1.ReasonPlacementDecisionNotFound {
		t.Errorf("%+v", verified)
	}
	h.place("prod", "a")
	h.wrote("create a, create b, create c")
}

func TestIncompletePlacementDoesNotHoldThoseBeforeIt(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)), ref("later", atATime(1)))
	h.wrote("create a, create b")
	h.place("prod", "a")
	h.wrote("")
	h.clock = h.clock.Add(time.Minute)
	h.wrote("") // b may belong to later
	h.place("later", "x")
	h.wrote("create x")
	h.clock = h.clock.Add(grace)
	h.wrote("delete b")
}

func TestClusterIsDeselected(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)))
	h.wrote("create a, create b")
	h.place("prod", "a")
	h.catchUp()
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != grace || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.clock = h.clock.Add(grace)
	h.wrote("delete b")
	if wrote, _, _ := h.look(); wrote != "" {
		t.Errorf("wrote %q before the cache shows the deletion", wrote)
	}
	h.wrote("")
}

func TestCacheWithoutDecisionsRemovesNothing(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	for range 3 {
		h.catchUp()
		h.must(h.caches.decisions.Replace(nil, ""))
		if wrote, _, err := h.look(); wrote != "" || err != nil {
			t.Errorf("wrote %q, %v", wrote, err)
		}
		h.clock = h.clock.Add(grace)
	}
}

// The counts in the placement's status are equal before and after the exchange.
func TestClustersAreExchanged(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)))
	h.wrote("create a, create b")
	h.wrote("")
	var decisions clusterv1beta1.PlacementDecisionList
	h.must(h.server.List(t.Context(), &decisions))
	decisions.Items[0].Status.Decisions[1].ClusterName = "c"
	h.must(h.server.Update(t.Context(), &decisions.Items[0]))
	h.wrote("") // b has the version and is in flight
	h.answer(status.Succeeded, "b")
	h.wrote("create c")
}

func TestNamesThePlacementThatIsNotThere(t *testing.T) {
	h := newHub(t)
	h.place("all", "a")
	h.create(ref("prod", atATime(1)), ref("all", atATime(1)))
	h.wrote("")
	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.PlacementRefs[0].Name = "production" })
	h.wrote("")
	for _, c := range h.set().Status.Conditions {
		if strings.Contains(c.Message, `"prod"`) || strings.Contains(c.Message, "placement prod:") {
			t.Errorf("%s: %s", c.Type, c.Message)
		}
	}
}

// OCM's controller generates names. A cluster keeps the work that it has.
func TestTakesOverWorksOfOtherNames(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	for _, name := range []string{"web-x2x4z", "web-b7k2q"} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: "1", Generation: 1, Labels: map[string]string{kit.OwnerLabel: "apps.web"}}}
		work.CreationTimestamp = metav1.NewTime(h.clock)
		h.put(work)
	}
	h.wrote("delete a, update a")
	if work := h.work("a"); work.Name != "web-b7k2q" {
		t.Errorf("%s was kept", work.Name)
	}
}

// Of several works of a cluster the one with the controller's name is kept, even if another is older. Only that one is
// updated.
func TestClusterWithTwoWorksMoves(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.place("test", "b")
	h.create(ref("prod", atATime(1)), ref("test", atATime(1)))
	h.wrote("create a, create b")
	h.answer(status.Succeeded, "a", "b")
	kept := h.work("b")
	stray := kept.DeepCopy()
	stray.Name, stray.UID, stray.CreationTimestamp = "stray", "stray", metav1.NewTime(h.clock.Add(-time.Hour))
	h.put(stray)
	h.place("prod", "a", "b")
	h.place("test")
	h.wrote("delete b, update b")
	if work := h.work("b"); work.UID != kept.UID || work.Labels[placementLabel] != "prod" {
		t.Errorf("%s is kept", work.Name)
	}
}

func TestWorkThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	work := h.work("a")
	work.Finalizers = []string{"agent"}
	h.must(h.server.Update(t.Context(), work))
	h.must(h.server.Delete(t.Context(), work))
	h.wrote("")
	work = h.work("a")
	work.Finalizers = nil
	h.must(h.server.Update(t.Context(), work))
	h.wrote("create a")
}

func TestSetIsDeleted(t *testing.T) {
	for _, policy := range []workv1alpha1.CascadeDeletionPolicy{workv1alpha1.Background, workv1alpha1.Foreground} {
		t.Run(string(policy), func(t *testing.T) {
			h := newHub(t)
			h.place("prod", "a", "b")
			h.create(ref("prod", atATime(2)))
			h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.CascadeDeletionPolicy = policy })
			h.wrote("create a, create b")
			work := h.work("a") // takes its time; the cache does not show b's
			work.Finalizers = []string{"agent"}
			h.must(h.server.Update(t.Context(), work))
			h.must(h.server.Delete(t.Context(), h.set()))
			h.catchUp()
			h.must(h.caches.works.Delete(h.work("b")))

			var wrote []string
			look := func() {
				w, _, err := h.look()
				h.must(err)
				wrote = append(wrote, w)
				h.catchUp()
			}
			look()
			if gone := h.caches.set(theSet) == nil; gone != (policy == workv1alpha1.Background) {
				t.Errorf("the set is gone: %v", gone)
			}
			if policy == workv1alpha1.Foreground {
				work = h.work("a")
				work.Finalizers = nil
				h.must(h.server.Update(t.Context(), work))
				h.catchUp()
				look()
				look()
			}
			if h.caches.set(theSet) != nil {
				t.Error("the set is still there")
			}
			all := strings.Join(wrote, ", ")
			if strings.Count(all, "delete a") != 1 || strings.Count(all, "delete b") != 1 {
				t.Errorf("wrote %q", wrote)
			}
			look()
			if h.memories.Len() != 0 {
				t.Error("it is remembered")
			}
		})
	}
}

func TestInvalidSetIsRefusedUntilItChanges(t *testing.T) {
	wrong := atATime(1)
	wrong.Progressive.MaxConcurrency = intstr.FromString("200%")
	for name, refs := range map[string][]workv1alpha1.LocalPlacementReference{
		"placement prod: progressive.maxConcurrency": {ref("prod", wrong)},
		"spec.placementRefs: Required":               nil,
		"spec.placementRefs[1].name: Duplicate":      {ref("prod", atATime(1)), ref("prod", atATime(2))},
	} {
		h := newHub(t)
		h.place("prod", "a")
		h.create(refs...)
		h.catchUp()
		wrote, _, err := h.look()
		if wrote != "" || !errors.Is(err, reconcile.TerminalError(nil)) || !strings.Contains(err.Error(), name) {
			t.Errorf("wrote %q, %v", wrote, err)
		}
		if told := h.events(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning Invalid ") {
			t.Errorf("told %q", told)
		}
		h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) {
			spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{ref("prod", atATime(1))}
		})
		h.wrote("create a")
	}
}

// If the group of a decision is unknown, such as after an edit of its label, nothing starts.
func TestDecisionsOfNoGroup(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	var decisions clusterv1beta1.PlacementDecisionList
	h.must(h.server.List(t.Context(), &decisions))
	decisions.Items[0].Labels[clusterv1beta1.DecisionGroupIndexLabel] = "first"
	h.must(h.server.Update(t.Context(), &decisions.Items[0]))
	h.wrote("")
}

func TestStatus(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b", "c")
	h.place("test", "d")
	h.create(ref("prod", atATime(2)), ref("test", atATime(1)))
	h.wrote("create a, create b, create d")
	h.answer(status.Succeeded, "a", "d")
	h.answer(status.Failed, "b")
	h.wrote("") // b failed, and no failure is tolerated
	st := h.set().Status
	if s := st.Summary; s.Total != 3 || s.DesiredTotal != 4 || s.Available != 2 || s.Degraded != 1 || s.Updated != 3 {
		t.Errorf("summary %+v", s)
	}
	if s := st.PlacementsSummary; len(s) != 2 || s[0].AvailableDecisionGroups != "0/1" || s[1].AvailableDecisionGroups != "1/1" {
		t.Errorf("placements %+v", s)
	}
	for conditionType, reason := range map[string]string{
		workv1alpha1.ManifestWorkReplicaSetConditionPlacementVerified:   workv1alpha1.ReasonAsExpected,
		workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied: workv1alpha1.ReasonNotAsExpected,
		workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut:  workv1alpha1.ReasonProgressing,
	} {
		if c := meta.FindStatusCondition(st.Conditions, conditionType); c == nil || c.Reason != reason {
			t.Errorf("%s is %+v, want %s", conditionType, c, reason)
		}
	}
}

func TestDeadlineIsComeBackFor(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	strategy := atATime(1)
	strategy.Progressive.ProgressDeadline = "10m"
	strategy.Progressive.MaxFailures = intstr.FromInt(1)
	h.create(ref("prod", strategy))
	h.wrote("create a")
	h.catchUp()
	if _, result, err := h.look(); result.RequeueAfter != 10*time.Minute || err != nil {
		t.Errorf("%+v, %v", result, err)
	}
	h.clock = h.clock.Add(10 * time.Minute)
	h.restart() // what must last is stored in objects
	h.wrote("create b")
}
