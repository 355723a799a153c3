// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/removals"
)

// groupByGroup rolls out one group after the other.
var groupByGroup = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}

// placeBy makes a placement select clusters, in groups of a size.
func (h *hub) placeBy(size int, name string, clusters ...string) {
	h.t.Helper()
	h.place(name, clusters...)
	placement := &clusterv1beta1.Placement{}
	h.must(h.server.Get(h.t.Context(), client.ObjectKey{Namespace: theSet.Namespace, Name: name}, placement))
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt(size)
	var selected []*clusterv1.ManagedCluster
	for _, cluster := range clusters {
		selected = append(selected, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{})
	h.must(err)
	decisions, err := groups.Decisions(placement)
	h.must(err)
	placement.Status, err = grouping.Status(decisions)
	h.must(err)
	h.put(placement)
	h.must(h.server.DeleteAllOf(h.t.Context(), &clusterv1beta1.PlacementDecision{}, client.InNamespace(theSet.Namespace),
		client.MatchingLabels{clusterv1beta1.PlacementLabel: name}))
	for _, decision := range decisions {
		h.put(decision)
	}
}

// inOrder starts the controller with -remove-at-most.
func inOrder(t *testing.T, most int) *hub {
	h := newHub(t)
	h.order = &removals.Order{AtMost: most}
	h.restart()
	return h
}

// rolledOut rolls out to all of the placements' clusters. Their works have a finalizer of the agent.
func (h *hub) rolledOut(refs ...workv1alpha1.LocalPlacementReference) {
	h.t.Helper()
	h.create(refs...)
	for h.reconcile() != "" {
		h.eachWork(func(work *workv1.ManifestWork) {
			setConditions(work, status.Succeeded, h.clock)
			h.must(h.server.Status().Update(h.t.Context(), work))
			work.Finalizers = []string{"agent"}
			h.must(h.server.Update(h.t.Context(), work))
		})
	}
	h.events()
}

func (h *hub) eachWork(do func(*workv1.ManifestWork)) {
	h.t.Helper()
	var works workv1.ManifestWorkList
	h.must(h.server.List(h.t.Context(), &works))
	for i := range works.Items {
		do(&works.Items[i])
	}
}

// deleted deletes the set, as a user does.
func (h *hub) deleted() {
	h.t.Helper()
	h.must(h.server.Delete(h.t.Context(), h.set()))
}

// letGo makes the agents of clusters remove their finalizers.
func (h *hub) letGo(clusters ...string) {
	h.t.Helper()
	h.eachWork(func(work *workv1.ManifestWork) {
		if slices.Contains(clusters, work.Namespace) {
			if work.DeletionTimestamp == nil {
				h.t.Fatalf("the work of %s is not being deleted", work.Namespace)
			}
			work.Finalizers = nil
			h.must(h.server.Update(h.t.Context(), work))
		}
	})
}

func (h *hub) isGone() bool {
	h.t.Helper()
	err := h.server.Get(h.t.Context(), theSet, &workv1alpha1.ManifestWorkReplicaSet{})
	h.must(client.IgnoreNotFound(err))
	return err != nil
}

// says is the message of the set's condition about its removal.
func (h *hub) says() string {
	h.t.Helper()
	c := meta.FindStatusCondition(h.set().Status.Conditions, removals.Condition)
	if c == nil {
		return ""
	}
	if c.Status != metav1.ConditionFalse {
		h.t.Errorf("the condition is %+v", c)
	}
	return c.Reason + ": " + c.Message
}

// said fails if that message is not the wanted one.
func (h *hub) said(want string) {
	h.t.Helper()
	if got := h.says(); got != want {
		h.t.Fatalf("it says\n%s, want\n%s", got, want)
	}
}

// R62: works are deleted in the reverse order of the groups, the next when the one before is gone, under any deletion
// policy, and with a restart at each step. The set is deleted last. Its condition says which are next.
func TestADeletedSetGoesInOrder(t *testing.T) {
	for _, policy := range []workv1alpha1.CascadeDeletionPolicy{workv1alpha1.Background, workv1alpha1.Foreground} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarts %v", policy, restarts), func(t *testing.T) {
				h := inOrder(t, 2)
				h.placeBy(3, "prod", "a", "b", "c", "d", "e", "f", "g")
				h.rolledOut(ref("prod", groupByGroup))
				h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.CascadeDeletionPolicy = policy })
				h.deleted()
				for _, step := range []struct{ gone, wrote, says, event string }{
					{"", "delete g", "in deletion: g; 6 more to delete, at most 2 at a time", "new"},
					{"", "", "in deletion: g; 6 more to delete, at most 2 at a time", ""},
					{"g", "delete d, delete e", "in deletion: d, e; 4 more to delete, at most 2 at a time", "new"},
					{"e", "delete f", "in deletion: d, f; 3 more to delete, at most 2 at a time", "new"},
					{"d", "", "in deletion: f; 3 more to delete, at most 2 at a time", "new"}, // no cluster of an earlier group yet
					{"f", "delete a, delete b", "in deletion: a, b; 1 more to delete, at most 2 at a time", "new"},
					{"a b", "delete c", "in deletion: c", "new"},
				} {
					h.letGo(strings.Fields(step.gone)...)
					h.wrote(step.wrote)
					says := "RemovedInOrder: placement prod: " + step.says
					h.said(says)
					want := map[string][]string{"new": {"Normal " + strings.Replace(says, ": ", " ", 1)}}[step.event]
					if told := h.events(); !slices.Equal(told, want) {
						t.Errorf("told %q, want %q", told, want)
					}
					if restarts {
						h.restart()
					}
				}
				if h.wrote(""); h.isGone() {
					t.Fatal("the set is gone, and a work hangs")
				}
				h.letGo("c")
				h.wrote("")
				if !h.isGone() {
					t.Error("the set is still there")
				}
				h.wrote("")
				if h.memories.Len() != 0 {
					t.Error("it is remembered")
				}
			})
		}
	}
}

// While the cache does not show own writes, nothing is deleted: the cache may lack a work that this process or the one
// before created, or a deletion.
func TestAStaleCacheDeletesNothing(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		h := inOrder(t, 1)
		h.placeBy(1, "prod", "a", "b")
		h.rolledOut(ref("prod", groupByGroup))
		h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
		h.must(h.server.Update(t.Context(), without(h.work("b"))))
		h.must(h.server.Delete(t.Context(), h.work("b")))
		h.wrote("update a")
		h.answer(status.Succeeded, "a")
		h.wrote("create b")
		before := h.caches.works.List() // without b's, which is to be deleted first
		h.deleted()
		if restarts {
			h.restart()
		}
		look := func(want string) {
			t.Helper()
			if wrote, result, err := h.look(); wrote != want || result.RequeueAfter == 0 || err != nil {
				t.Errorf("restarts %v: wrote %q, want %q; %+v, %v", restarts, wrote, want, result, err)
			}
		}
		h.catchUp()
		h.must(h.caches.works.Replace(before, ""))
		look("")
		h.catchUp()
		look("delete b")
		if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil { // the cache does not show the condition either
			t.Errorf("restarts %v: wrote %q, %+v, %v", restarts, wrote, result, err)
		}
		h.must(h.caches.sets.Update(h.set()))
		look("") // the cache still has b's work
		h.catchUp()
		look("delete a")
	}
}

func without(work *workv1.ManifestWork) *workv1.ManifestWork {
	work.Finalizers = nil
	return work
}

// A work that another leader created keeps the set, even if no cache shows it.
func TestTheLastLookIsAtTheServer(t *testing.T) {
	h := inOrder(t, 1)
	h.placeBy(1, "prod", "a", "b")
	h.rolledOut(ref("prod", groupByGroup))
	h.deleted()
	h.wrote("delete b")
	h.catchUp()
	h.must(h.caches.works.Delete(h.work("b")))
	h.must(h.caches.works.Delete(h.work("a")))
	for range 2 {
		if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter == 0 || err != nil || h.isGone() {
			t.Fatalf("wrote %q, %+v, %v; the set is gone: %v", wrote, result, err, h.isGone())
		}
		h.must(h.caches.sets.Update(h.set()))
	}
	h.said("RemovedInOrder: placement prod: in deletion: b; 1 more to delete, at most 1 at a time")
	h.letGo("b")
	h.must(h.caches.works.Replace(nil, ""))
	if wrote, _, err := h.look(); wrote != "delete a" || err != nil || h.isGone() {
		t.Errorf("wrote %q, %v; the set is gone: %v", wrote, err, h.isGone())
	}
}

// A Placement that is deleted together with the set is not awaited. Then the groups are unknown, and the bound holds.
func TestThePlacementIsDeletedTogetherWithTheSet(t *testing.T) {
	for _, terminating := range []bool{false, true} {
		h := inOrder(t, 2)
		h.placeBy(1, "prod", "a", "b", "c")
		h.rolledOut(ref("prod", groupByGroup))
		placement := &clusterv1beta1.Placement{}
		h.must(h.server.Get(t.Context(), client.ObjectKey{Namespace: "apps", Name: "prod"}, placement))
		if terminating { // its decisions are deleted first
			placement.Finalizers = []string{"another-controller"}
			h.must(h.server.Update(t.Context(), placement))
		}
		h.must(h.server.Delete(t.Context(), placement))
		h.must(h.server.DeleteAllOf(t.Context(), &clusterv1beta1.PlacementDecision{}, client.InNamespace("apps")))
		h.deleted()
		h.wrote("delete a, delete b")
		h.said("RemovedInOrder: placement prod: in deletion: a, b; 1 more to delete, at most 2 at a time")
		h.letGo("a")
		h.wrote("delete c")
		h.letGo("b", "c")
		h.wrote("")
		if !h.isGone() {
			t.Errorf("terminating %v: the set is still there", terminating)
		}
	}
}

// While decisions are partially observed nothing is deleted, and the condition says so. Deletion goes on when they are
// complete, or when a live read shows that the Placement is gone. A cache that lacks the Placement is not enough.
func TestPartiallyObservedDecisionsDeleteNothing(t *testing.T) {
	for name, test := range map[string]struct {
		half func(h *hub, decision *clusterv1beta1.PlacementDecision)
		over func(h *hub)
		next string
	}{
		"they get whole": {
			func(h *hub, decision *clusterv1beta1.PlacementDecision) {
				h.must(h.server.Delete(t.Context(), decision))
			},
			func(h *hub) { h.placeBy(1, "prod", "a", "b", "c") },
			"delete c",
		},
		"the Placement goes": {
			func(h *hub, decision *clusterv1beta1.PlacementDecision) {
				h.must(h.server.Delete(t.Context(), decision))
			},
			func(h *hub) {
				h.must(h.server.Delete(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "prod"}}))
			},
			"delete a",
		},
		"a person has all go": {
			func(h *hub, decision *clusterv1beta1.PlacementDecision) {
				h.must(h.server.Delete(t.Context(), decision))
			},
			func(h *hub) { h.annotate(removals.Annotation, "0") },
			"delete a, delete b, delete c",
		},
		"the cache lacks the Placement": {
			func(h *hub, _ *clusterv1beta1.PlacementDecision) {
				h.must(h.caches.placements.Replace(nil, ""))
			},
			func(*hub) {},
			"delete c",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := inOrder(t, 1)
			h.placeBy(1, "prod", "a", "b", "c")
			h.rolledOut(ref("prod", groupByGroup))
			h.deleted()
			var decisions clusterv1beta1.PlacementDecisionList
			h.must(h.server.List(t.Context(), &decisions))
			for _, decision := range decisions.Items {
				if decision.Status.Decisions[0].ClusterName == "c" {
					h.catchUp()
					test.half(h, &decision)
				}
			}
			for range 3 {
				if !strings.HasPrefix(name, "the cache") {
					h.catchUp()
				}
				if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter == 0 || result.RequeueAfter > writes.Patience || err != nil {
					t.Fatalf("wrote %q, %+v, %v", wrote, result, err)
				}
				h.must(h.caches.sets.Update(h.set()))
			}
			if says := h.says(); !strings.HasPrefix(says, "PlacementIncomplete: no work is deleted: placement prod: ") {
				t.Errorf("it says %s", says)
			}
			if told := h.events(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning PlacementIncomplete no work is deleted: ") {
				t.Errorf("told %q", told)
			}
			test.over(h)
			h.wrote(test.next)
		})
	}
}

// R62: each placementRef has the bound for itself. Deselected clusters belong to the last one, and their works are deleted
// first. A placementRef without a Placement blocks no other.
func TestEachPlacementGoesByItself(t *testing.T) {
	h := inOrder(t, 1)
	h.placeBy(1, "prod", "a", "b")
	h.placeBy(1, "none")
	h.placeBy(1, "test", "b", "c", "d", "e")
	h.rolledOut(ref("prod", groupByGroup), ref("none", groupByGroup), ref("test", groupByGroup))
	h.placeBy(1, "test", "b", "d", "e")
	h.must(h.server.Delete(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "none"}}))
	h.deleted()
	h.wrote("delete b, delete c")
	h.said("RemovedInOrder: placement prod: in deletion: b; 1 more to delete, at most 1 at a time. " +
		"placement test: in deletion: c; 2 more to delete, at most 1 at a time")
	h.letGo("b")
	h.wrote("delete a")
	h.letGo("a")
	h.wrote("")
	h.letGo("c")
	h.wrote("delete e")
	h.letGo("e")
	h.wrote("delete d")
	h.letGo("d")
	h.wrote("")
	if !h.isGone() {
		t.Error("the set is still there")
	}
}

// R62: the work of a deselected cluster is deleted with the group in the record, even after a restart. A record of another
// version does not count.
func TestADeselectedClusterKeepsTheGroupOfTheRecord(t *testing.T) {
	for _, other := range []bool{false, true} {
		h := inOrder(t, 1)
		h.placeBy(2, "prod", "a", "b", "c")
		h.create(ref("prod", clusterv1alpha1.RolloutStrategy{}))
		h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) {
			spec.PlacementRefs[0].RolloutStrategy = groupByGroup
		})
		h.wrote("create a, create b")
		h.answer(status.Succeeded, "a")
		h.answer(status.Failed, "b")
		h.place("other", "c")
		h.placeBy(1, "prod", "a", "c") // groups with the same keys
		for range 2 {
			h.wrote("")
		}
		if got := h.left(); !slices.Equal(got, []string{"b"}) {
			t.Fatalf("the record has %v", got)
		}
		work := h.work("a").DeepCopy()
		work.Namespace, work.UID = "c", "of c"
		h.put(work)
		if other {
			h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
		}
		h.restart()
		h.deleted()
		order := []string{"delete c", "delete a", "delete b"} // a and b are in group 0
		if other {
			order = []string{"delete b", "delete c", "delete a"}
		}
		for _, want := range order {
			h.wrote(want)
		}
	}
}

// A work that hangs in deletion counts towards the bound until the cluster is ignored, by name or by deleting the
// ManagedCluster. With Background the set does not wait for it, with Foreground it does.
func TestADeadAgentHoldsItsPlaceUntilItsClusterIsIgnored(t *testing.T) {
	for _, policy := range []workv1alpha1.CascadeDeletionPolicy{workv1alpha1.Background, workv1alpha1.Foreground} {
		for _, by := range []string{"name", "ManagedCluster"} {
			t.Run(string(policy)+" by "+by, func(t *testing.T) {
				h := inOrder(t, 1)
				h.placeBy(1, "prod", "a", "b")
				h.rolledOut(ref("prod", groupByGroup))
				h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.CascadeDeletionPolicy = policy })
				h.deleted()
				h.wrote("delete b")
				for range 3 {
					h.catchUp()
					if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter == 0 || result.RequeueAfter > writes.Patience || err != nil {
						t.Fatalf("wrote %q, %+v, %v", wrote, result, err)
					}
					h.clock = h.clock.Add(writes.Patience)
				}
				if by == "name" {
					h.annotate(ignoreAnnotation, "b")
				} else {
					h.must(h.server.Delete(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}}))
				}
				h.restart()
				h.wrote("delete a")
				h.said("RemovedInOrder: placement prod: in deletion: a; ignored: b")
				h.wrote("")
				h.letGo("a")
				h.wrote("")
				if gone := h.isGone(); gone != (policy == workv1alpha1.Background) {
					t.Fatalf("the set is gone: %v", gone)
				}
				if policy == workv1alpha1.Foreground {
					h.said("RemovedInOrder: placement prod: ignored: b")
					h.letGo("b")
					h.wrote("")
					if !h.isGone() {
						t.Error("the set is still there")
					}
				}
			})
		}
	}
}

// An ignored cluster keeps its turn. The set stays until that cluster's work is being deleted.
func TestAnIgnoredClusterKeepsItsTurn(t *testing.T) {
	h := inOrder(t, 1)
	h.placeBy(2, "prod", "a", "b", "c")
	h.rolledOut(ref("prod", groupByGroup))
	h.annotate(ignoreAnnotation, "a, b")
	h.deleted()
	h.wrote("delete c")
	h.letGo("c")
	h.wrote("delete a, delete b")
	if h.isGone() {
		t.Error("the set is gone")
	}
	h.wrote("")
	if !h.isGone() {
		t.Error("the set is still there")
	}
}

// The annotation of the set overrides the flag, even if it changes later. With an unreadable value no work is deleted. With
// 0 all works are deleted at once, whatever else is wrong.
func TestTheAnnotationCountsInPlaceOfTheFlag(t *testing.T) {
	h := inOrder(t, 0)
	h.placeBy(4, "prod", "a", "b", "c", "d")
	h.rolledOut(ref("prod", groupByGroup))
	h.annotate(removals.Annotation, "1")
	h.deleted()
	h.wrote("delete a")
	for _, wrong := range []string{"-1", "many", "", "50%"} {
		h.annotate(removals.Annotation, wrong)
		h.wrote("")
		if says := h.says(); !strings.HasPrefix(says, `Invalid: no work is deleted, unless the annotation `+removals.Annotation+` is "0": metadata.annotations[`+removals.Annotation+"]: Invalid value: ") {
			t.Errorf("%q: it says %s", wrong, says)
		}
	}
	if told := h.events(); len(told) != 5 || !strings.HasPrefix(told[4], "Warning Invalid no work is deleted") {
		t.Errorf("told %q", told)
	}
	h.annotate(removals.Annotation, "2")
	h.wrote("delete b")
	h.annotate("cohort.open-cluster-management.io/gates", "prod=never")
	h.letGo("b")
	h.wrote("")
	if says := h.says(); !strings.HasPrefix(says, "Invalid: ") || !strings.Contains(says, "cohort.open-cluster-management.io/gates") {
		t.Errorf("it says %s", says)
	}
	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) {
		spec.PlacementRefs, spec.CascadeDeletionPolicy = nil, workv1alpha1.Foreground
	})
	h.annotate(removals.Annotation, "0")
	h.wrote("delete c, delete d")
	h.said("")
	h.letGo("a", "c", "d")
	h.wrote("")
	if !h.isGone() {
		t.Error("the set is still there")
	}
}

// With an unreadable strategy no work is deleted, and the condition has its path. A set without works needs no strategy.
func TestAFaultyDeletedSet(t *testing.T) {
	wrong := groupByGroup
	wrong.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{}
	wrong.ProgressivePerGroup.ProgressDeadline = "soon"
	faults := map[string]func(h *hub){
		"spec.placementRefs: ": func(h *hub) {
			h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.PlacementRefs = nil })
		},
		"placement prod: progressivePerGroup.progressDeadline: ": func(h *hub) {
			h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.PlacementRefs[0].RolloutStrategy = wrong })
		},
		"metadata.annotations[cohort.open-cluster-management.io/left]: ": func(h *hub) {
			h.annotate("cohort.open-cluster-management.io/left", "{")
		},
	}
	for names, fault := range faults {
		for _, works := range []bool{true, false} {
			h := inOrder(t, 1)
			h.place("prod", "a")
			h.rolledOut(ref("prod", groupByGroup))
			fault(h)
			if !works {
				h.must(h.server.Update(t.Context(), without(h.work("a"))))
				h.must(h.server.Delete(t.Context(), h.work("a")))
			}
			h.deleted()
			h.wrote("")
			if gone := h.isGone(); gone == works {
				t.Errorf("%s the set is gone: %v", names, gone)
			}
			if works {
				if says := h.says(); !strings.Contains(says, names) {
					t.Errorf("it says %s, without %s", says, names)
				}
			}
		}
	}
}

// Works with other names or without a stamp, and several works of one cluster, are all deleted in the turn of their
// cluster.
func TestWorksOfOtherNamesGoInTheirTurn(t *testing.T) {
	h := inOrder(t, 1)
	h.placeBy(1, "prod", "a", "b", "c")
	h.rolledOut(ref("prod", groupByGroup))
	for i, name := range []string{"web-x2x4z", "web-b7k2q"} {
		h.put(&workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{
			Namespace: "b", Name: name, UID: "1", Labels: map[string]string{kit.OwnerLabel: "apps.web"}, Finalizers: []string{"agent"},
		}})
		if i == 0 { // a user deletes it
			h.must(h.server.Delete(t.Context(), &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: name}}))
		}
	}
	h.deleted()
	h.wrote("delete c")
	h.letGo("c")
	h.wrote("delete b, delete b")
	h.wrote("")
	h.letGo("b")
	h.wrote("delete a")
}

// A rejected deletion counts towards the bound, and causes an event. While the API server does not answer, nothing is
// deleted, and the set stays.
func TestWhatFailsKeepsTheOrder(t *testing.T) {
	h := inOrder(t, 1)
	h.placeBy(1, "prod", "a", "b")
	h.rolledOut(ref("prod", groupByGroup))
	h.deleted()
	h.fail = func(string, string) (error, bool) {
		return apierrors.NewForbidden(workv1.Resource("manifestworks"), "b", nil), false
	}
	for range 2 {
		h.catchUp()
		if wrote, result, err := h.look(); wrote != "" || err == nil || result.RequeueAfter == 0 {
			t.Errorf("wrote %q, %+v, %v", wrote, result, err)
		}
	}
	if told := h.events(); len(told) != 3 || !strings.HasPrefix(told[0], "Warning Refused cluster b: ") {
		t.Errorf("told %q", told)
	}
	h.fail = nil
	h.wrote("delete b")

	h.live = interceptor.NewClient(h.server, interceptor.Funcs{
		Get: func(_ context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*metav1.PartialObjectMetadata); is {
				return errors.New("no ManagedCluster can be read")
			}
			return c.Get(t.Context(), key, o, opts...)
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("no work can be listed")
		},
	})
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || err == nil || !strings.Contains(err.Error(), "no ManagedCluster") {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	h.letGo("b")
	h.wrote("delete a")
	h.letGo("a")
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || err == nil || !strings.Contains(err.Error(), "no work can be listed") || h.isGone() {
		t.Errorf("wrote %q, %v; the set is gone: %v", wrote, err, h.isGone())
	}
}
