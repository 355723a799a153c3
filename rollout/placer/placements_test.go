// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/status"
)

// ofTwo is an owner with the Placements fleet, one cluster at a time, and edge, all at once.
func ofTwo() *thing {
	owner := newThing(oneAtATime())
	owner.Spec.Second, owner.Spec.SecondStrategy.Type = "edge", clusterv1alpha1.All
	return owner
}

// Each Placement has a rollout of its own. A cluster that both select belongs to the first. Sentences name the Placement.
func TestEachPlacementHasItsStrategy(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	h.selectsBy("edge", "b", "c", "d")
	h.make(ofTwo())
	p := newProcess(h, things)
	p.settle()
	if h.having() != "a c d" {
		t.Errorf("%q have started, and a must by the first Placement, c and d by the second", h.having())
	}
	if message := conditionOf(h, ConditionReconciling).Message; !strings.Contains(message, "placement fleet: ") || !strings.Contains(message, "placement edge: ") {
		t.Errorf("it says %q, and must name both Placements", message)
	}
	// Of two events with the same reason the recorder sends only one.
	if all := told(h); len(all) != 1 || !contain(all, "placement fleet: a started; placement edge: c, d started") {
		t.Errorf("the events are %q, and one must tell of both Placements", all)
	}
	h.answerAll()
	p.settle()
	if h.having() != "a b c d" {
		t.Errorf("%q have started, and b must", h.having())
	}
	h.answerAll()
	p.settle()
	if conditionOf(h, ConditionReady).Status != metav1.ConditionTrue || h.thing().Status.Done != 4 {
		t.Errorf("Ready is %v, and %d are done", conditionOf(h, ConditionReady), h.thing().Status.Done)
	}
	if _, stored := h.thing().Annotations["cohort.open-cluster-management.io/left"]; stored {
		t.Error("nothing is deselected, and a record is stored")
	}
}

// A failure stops its Placement alone, and the owner is Stalled. Objects of both Placements cause a reconcile.
func TestAFailureStopsOnePlacement(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	h.selectsBy("edge", "c")
	h.make(ofTwo())
	p := newProcess(h, things)
	p.settle()
	h.answer(h.work("a"), false)
	p.settle()
	h.selectsBy("edge", "c", "d")
	p.settle()
	if h.having() != "a c d" {
		t.Errorf("%q have started, b must not, and d must", h.having())
	}
	if c := conditionOf(h, ConditionStalled); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "placement fleet: ") {
		t.Errorf("Stalled is %v", c)
	}
	for _, name := range []string{"fleet", "edge"} {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name}}
		if owners := p.ownersOfPlacement(placement); !reflect.DeepEqual(owners, []types.NamespacedName{ownerKey}) {
			t.Errorf("Placement %s concerns %v", name, owners)
		}
	}
}

// A cluster that moves to the other Placement keeps its ManifestWork, which is not written.
func TestAClusterMovesBetweenPlacements(t *testing.T) {
	h := newHub(t)
	h.selects("a")
	h.selectsBy("edge", "b")
	h.make(ofTwo())
	p := newProcess(h, things)
	p.settle()
	h.answerAll()
	p.settle()
	before := h.work("a").ResourceVersion
	h.selects()
	p.settle()
	h.selectsBy("edge", "a", "b")
	p.settle()
	h.now = h.now.Add(2 * grace)
	p.settle()
	if work := h.work("a"); work == nil || work.ResourceVersion != before {
		t.Errorf("a has %v, and its ManifestWork must stay as it was", work)
	}
	h.selectsBy("edge", "b")
	p.settle()
	h.now = h.now.Add(2 * grace)
	p.settle()
	if h.work("a").DeletionTimestamp == nil {
		t.Error("no Placement selects a, and its ManifestWork stays")
	}
}

// While the first Placement is missing, the clusters that it leaves for the second are unknown: nothing starts, and nothing
// is deleted.
func TestALaterPlacementWaitsForAnEarlierOne(t *testing.T) {
	h := newHub(t)
	h.selectsBy("edge", "c")
	h.make(ofTwo())
	newProcess(h, things).settle()
	if message := conditionOf(h, ConditionReconciling).Message; h.having() != "" || !strings.Contains(message, "there is no Placement apps/fleet") {
		t.Errorf("%q have started, and it says %q", h.having(), message)
	}
}

// A failed cluster that is deselected still counts after its owner has named another Placement.
func TestARecordOutlivesThePlacement(t *testing.T) {
	h, p := rolling(t, "a", "b")
	h.answer(h.work("a"), false)
	p.settle()
	h.selects("b")
	p.settle()
	h.now = h.now.Add(2 * grace)
	p.settle()
	h.answer(h.work("a"), true) // the agent removes its finalizer
	p.settle()
	h.selectsBy("edge", "b")
	h.change(func(owner *thing) { owner.Spec.Placement = "edge" })
	p.settle()
	newProcess(h, things).settle()
	if h.having() != "" || conditionOf(h, ConditionStalled).Status != metav1.ConditionTrue {
		t.Errorf("%q have ManifestWorks, and Stalled is %v: the failure of a is forgotten", h.having(), conditionOf(h, ConditionStalled))
	}
}

// A failed cluster that moves to the other Placement stops both, as a version may move the clusters on which it fails. The sum
// counts it once.
func TestTheFailureOfAMovedClusterCountsOnce(t *testing.T) {
	h := newHub(t)
	h.selects("a", "b")
	h.selectsBy("edge", "d")
	owner := ofTwo()
	owner.Spec.SecondStrategy = oneAtATime()
	h.make(owner)
	p := newProcess(h, things)
	p.settle()
	h.answer(h.work("a"), false)
	h.answer(h.work("d"), true)
	p.settle()
	h.selects("b")
	h.selectsBy("edge", "a", "d", "e")
	p.settle()
	if h.having() != "a d" {
		t.Errorf("%q have started; a failed in both Placements, and neither may go on", h.having())
	}
	const says = ": 1 of 4 clusters done, 1 in flight (of these 1 failed); "
	if message := conditionOf(h, ConditionStalled).Message; !strings.Contains(message, says) || strings.Count(message, "the rollout is stopped: a") != 2 {
		t.Errorf("Stalled says %q; it must have %q, and that a stops both", message, says)
	}
	h.answer(h.work("a"), true)
	p.settle()
	if h.having() != "a b d e" || conditionOf(h, ConditionStalled).Status != metav1.ConditionFalse {
		t.Errorf("a recovered, %q have started, and Stalled is %v", h.having(), conditionOf(h, ConditionStalled))
	}
}

// A cluster fails in one Placement, is deselected, loses its ManifestWork, and joins the other Placement. It gets nothing: it
// has failed there, too, until another attempt is wanted. Neither a restart nor the rollback changes that.
func TestAFailedClusterDoesNotStartInAnotherPlacement(t *testing.T) {
	for _, way := range []struct{ from, to string }{{"edge", "fleet"}, {"fleet", "edge"}} {
		t.Run("from "+way.from+" to "+way.to, func(t *testing.T) {
			h := newHub(t)
			h.selectsBy(way.from, "a")
			h.selectsBy(way.to)
			owner := ofTwo()
			owner.Spec.SecondStrategy = oneAtATime()
			h.make(owner)
			p := newProcess(h, things)
			p.settle()
			h.answer(h.work("a"), false)
			p.settle()
			h.selectsBy(way.from)
			p.settle()
			h.now = h.now.Add(2 * grace)
			p.settle()
			h.answer(h.work("a"), false) // the agent removes its finalizer
			p.settle()
			if h.having() != "" {
				t.Fatalf("%q have ManifestWorks, and a must have lost its own", h.having())
			}
			for range 2 {
				h.selectsBy(way.to, "a", "b")
				p.settle()
				if c := conditionOf(h, ConditionStalled); h.having() != "" || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "placement "+way.to+": ") {
					t.Errorf("%q have started, and Stalled is %v: it must name %s", h.having(), c, way.to)
				}
				if left := h.recorded(way.to); !slices.Equal(left, []string{"a"}) {
					t.Errorf("the record of %s has %q, and must have a once", way.to, left)
				}
				h.selectsBy(way.to, "b")
				p = newProcess(h, things)
				p.settle()
			}
			h.selectsBy(way.to)
			h.selectsBy(way.from, "a")
			p.settle()
			if left := h.recorded(way.from); h.having() != "" || !slices.Equal(left, []string{"a"}) {
				t.Errorf("back in %s %q have started, and the record has %q", way.from, h.having(), left)
			}
			h.selectsBy(way.from)
			h.selectsBy(way.to, "a")
			h.annotate("cohort.open-cluster-management.io/retry", "1 of "+h.thing().Status.Version)
			p.settle()
			if h.having() != "a" {
				t.Errorf("%q have started, and a must: it is tried again", h.having())
			}
			h.answerAll()
			p.settle()
			if c := conditionOf(h, ConditionReady); c.Status != metav1.ConditionTrue {
				t.Errorf("Ready is %v, and a succeeded", c)
			}
		})
	}
}

// recorded are the clusters in the record of a Placement.
func (h *hub) recorded(placement string) (clusters []string) {
	h.t.Helper()
	records, err := status.RecordsOf(h.thing())
	must(h.t, err)
	for _, left := range records[placement].Deselected {
		clusters = append(clusters, left.Cluster)
	}
	return clusters
}

// Each Placement needs a name of its own. Errors of a strategy have the path of its field.
func TestInvalidPlacements(t *testing.T) {
	for says, spoil := range map[string]func(*thing){
		"Duplicate value": func(o *thing) { o.Spec.Second = o.Spec.Placement },
		"spec.secondStrategy.progressive": func(o *thing) {
			o.Spec.SecondStrategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "soon"}}}
		},
	} {
		owner := ofTwo()
		spoil(owner)
		if _, err := things.Validator().ValidateCreate(t.Context(), owner); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the validator says %v, and must say %q", err, says)
		}
	}
}
