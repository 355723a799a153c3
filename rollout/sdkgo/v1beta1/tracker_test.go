// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

// object is a PlacementDecision of the placement web. Without an index it has no label.
func object(name, index, group string, clusters ...string) *clusterv1beta1.PlacementDecision {
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "apps", Labels: map[string]string{clusterv1beta1.PlacementLabel: "web"},
	}}
	if index != "" {
		d.Labels[clusterv1beta1.DecisionGroupIndexLabel] = index
		d.Labels[clusterv1beta1.DecisionGroupNameLabel] = group
	}
	for _, cluster := range clusters {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return d
}

// cache is a lister whose content a test changes.
type cache struct {
	mu      sync.Mutex
	objects []*clusterv1beta1.PlacementDecision
	err     error
	asked   string // the selector and the namespace of the last call
}

func (c *cache) set(objects ...*clusterv1beta1.PlacementDecision) *cache {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects = objects
	return c
}

// List implements PlacementDecisionGetter.
func (c *cache) List(selector labels.Selector, namespace string) ([]*clusterv1beta1.PlacementDecision, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = selector.String() + " in " + namespace
	return c.objects, c.err
}

func web() *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps"}}
}

// show writes groups as `0canary(a b) 1(c)`.
func show(groups sdkv1beta1.ClusterGroupsMap) string {
	var all []string
	for _, key := range groups.GetOrderedGroupKeys() {
		all = append(all, fmt.Sprintf("%d%s(%s)", key.GroupIndex, key.GroupName, strings.Join(sets.List(groups[key]), " ")))
	}
	return strings.Join(all, " ")
}

// The differences of doc.go on stored objects.
func TestRefresh(t *testing.T) {
	elsewhere := object("d-2", "0", "", "b")
	elsewhere.Namespace = "other"
	for _, test := range []struct {
		why     string
		objects []*clusterv1beta1.PlacementDecision
		want    string // groups, or a part of the error
	}{
		{"nothing is no group", nil, ""},
		{"indexes may have gaps", []*clusterv1beta1.PlacementDecision{object("d-1", "3", "", "c"), object("d-2", "0", "canary", "a")}, "0canary(a) 3(c)"},
		{"an index may have two names for a moment", []*clusterv1beta1.PlacementDecision{object("d-1", "0", "y", "b"), object("d-2", "0", "x", "a")}, "0x(a) 0y(b)"},
		{"a cluster of two groups is in the lower", []*clusterv1beta1.PlacementDecision{object("d-1", "1", "", "a", "b"), object("d-2", "0", "", "a")}, "0(a) 1(b)"},
		{"a decision without a cluster is passed over", []*clusterv1beta1.PlacementDecision{object("d-1", "0", "", "a", "")}, "0(a)"},
		{"an object without an index is of group 0", []*clusterv1beta1.PlacementDecision{object("d-1", "", "", "a"), object("d-2", "1", "", "b")}, "0(a) 1(b)"},
		{"objects without a name are not one", []*clusterv1beta1.PlacementDecision{object("", "0", "", "a"), object("", "0", "", "b")}, "0(a b)"},
		{"another namespace", []*clusterv1beta1.PlacementDecision{object("d-1", "0", "", "a"), elsewhere}, "placementDecisions[other/d-2].metadata.namespace"},
		{"a negative index is none, and the object of group 0", []*clusterv1beta1.PlacementDecision{object("d-1", "-1", "", "a")}, "0(a)"},
		{"an object twice", []*clusterv1beta1.PlacementDecision{object("d-1", "0", "", "a"), object("d-1", "0", "", "a")}, "Duplicate value"},
	} {
		lister := new(cache).set(test.objects...)
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(web(), lister, nil)
		got := ""
		if err := tracker.Refresh(); err != nil {
			if got = err.Error(); strings.Contains(got, test.want) {
				got = test.want
			}
		} else {
			got = show(tracker.ExistingClusterGroupsBesides())
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.why, got, test.want)
		}
		if want := clusterv1beta1.PlacementLabel + "=web in apps"; lister.asked != want {
			t.Errorf("%s: asked for %s, want %s", test.why, lister.asked, want)
		}
	}
}

func TestAnErrorLeavesTheGroups(t *testing.T) {
	lister := new(cache)
	lister.err = errors.New("no connection")
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(web(), lister, sets.New("a"))
	if err := tracker.Refresh(); !errors.Is(err, lister.err) {
		t.Errorf("got %v, want the lister's error", err)
	}
	lister.err = nil
	lister.set(object("d-1", "0", "", "b"), object("d-1", "0", "", "b"))
	if _, _, err := tracker.GetClusterChanges(); err == nil {
		t.Error("an object that is listed twice was read")
	}
	if got := show(tracker.ExistingClusterGroupsBesides()); got != "0(a)" {
		t.Errorf("the groups are %s, want those that were there", got)
	}
}

func TestWithoutPlacementOrGetterRefreshDoesNothing(t *testing.T) {
	for _, tracker := range []*sdkv1beta1.PlacementDecisionClustersTracker{
		sdkv1beta1.NewPlacementDecisionClustersTracker(nil, new(cache), sets.New("a")),
		sdkv1beta1.NewPlacementDecisionClustersTracker(web(), nil, sets.New("a")),
	} {
		added, removed, err := tracker.GetClusterChanges()
		if err != nil || added.Len() != 0 || removed.Len() != 0 || show(tracker.ExistingClusterGroupsBesides()) != "0(a)" {
			t.Errorf("got %v, %v, %v, want no change", added, removed, err)
		}
	}
}

func TestGetClusterChanges(t *testing.T) {
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(web(), new(cache).set(object("d-1", "0", "", "b"), object("d-2", "1", "", "c")), sets.New("a", "b"))
	added, removed, err := tracker.GetClusterChanges()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([2][]string{{"c"}, {"a"}}, [2][]string{sets.List(added), sets.List(removed)}); diff != "" {
		t.Errorf("added and removed (-want +got):\n%s", diff)
	}
}

func TestExistingClusterGroups(t *testing.T) {
	tracker := sdkv1beta1.NewPlacementDecisionClustersTrackerWithGroups(nil, nil, sdkv1beta1.ClusterGroupsMap{
		{GroupName: "canary"}:                sets.New("a"),
		{GroupName: "canary", GroupIndex: 1}: sets.New("b", "a", ""),
		{GroupIndex: 5}:                      sets.New("c"),
	})
	for _, test := range []struct {
		why           string
		keys          []sdkv1beta1.GroupKey
		these, others string
	}{
		{"no key", nil, "", "0canary(a) 1canary(b) 5(c)"},
		{"a name means all its groups", []sdkv1beta1.GroupKey{{GroupName: "canary", GroupIndex: 7}}, "0canary(a) 1canary(b)", "5(c)"},
		{"without a name the index counts", []sdkv1beta1.GroupKey{{GroupIndex: 1}, {GroupIndex: 5}}, "1canary(b) 5(c)", "0canary(a)"},
		{"keys of no group", []sdkv1beta1.GroupKey{{GroupIndex: 2}, {GroupName: "x"}}, "", "0canary(a) 1canary(b) 5(c)"},
	} {
		these, others := tracker.ExistingClusterGroups(test.keys...), tracker.ExistingClusterGroupsBesides(test.keys...)
		if show(these) != test.these || show(others) != test.others {
			t.Errorf("%s: got %s besides %s, want %s besides %s", test.why, show(these), show(others), test.these, test.others)
		}
	}
	all := tracker.ExistingClusterGroupsBesides()
	all[sdkv1beta1.GroupKey{GroupIndex: 5}].Insert("x")
	if got := sets.List(tracker.ExistingClusterGroupsBesides().GetClusters()); !cmp.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the clusters are %v after a set was changed, want them as they were", got)
	}
}

func TestClusterToGroupKey(t *testing.T) {
	first, second := sdkv1beta1.GroupKey{GroupIndex: 1}, sdkv1beta1.GroupKey{GroupName: "x", GroupIndex: 2}
	groups := sdkv1beta1.ClusterGroupsMap{second: sets.New("a", "b"), first: sets.New("a")}
	want := map[string]sdkv1beta1.GroupKey{"a": first, "b": second}
	for range 20 { // for any order of the map
		if diff := cmp.Diff(want, groups.ClusterToGroupKey()); diff != "" {
			t.Fatalf("groups (-want +got):\n%s", diff)
		}
	}
}

func TestGroups(t *testing.T) {
	of := func(uid string, selected int32) *clusterv1beta1.Placement {
		p := web()
		p.UID = "1"
		if uid == "" {
			p.UID = ""
		}
		p.Status.NumberOfSelectedClusters = selected
		return p
	}
	written := of("1", 2)
	written.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{{Decisions: []string{"d-1"}, ClustersCount: 2}}
	scheduled := of("", 0) // scheduled by a test, to no cluster
	scheduled.Status.Conditions = []metav1.Condition{{Type: clusterv1beta1.PlacementConditionSatisfied}}
	grouped := of("", 0)
	grouped.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{{Decisions: []string{"d-1"}}}
	const unwritten = "an API server's is, before a scheduler has written the status: the next plan is an error, which says so"
	unscheduled := of("1", 0)
	unscheduled.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	stale := of("1", 7)
	stale.Annotations = unscheduled.Annotations
	for _, test := range []struct {
		why        string
		placement  *clusterv1beta1.Placement
		incomplete bool
	}{
		{"where OCM does not schedule, no status is written", unscheduled, false},
		{"and one that is there is stale", stale, false},
		{"a unit test's Placement is not compared", of("", 0), false},
		{unwritten, of("1", 0), true},
		{"a unit test's is, where the test writes the status", of("", 1), true},
		{"or its conditions", scheduled, true},
		{"or its groups", grouped, true},
		{"by the number alone", of("1", 2), false},
		{"with its groups", written, false},
	} {
		unlabelled := object("d-1", "", "", "a", "b")
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(test.placement, new(cache).set(unlabelled), nil)
		if err := tracker.Refresh(); err != nil {
			t.Fatal(err)
		}
		groups, err := tracker.Groups()
		if (err != nil) != (test.why == unwritten) || (groups.Incomplete() != "") != test.incomplete {
			t.Errorf("%s: incomplete because %q, %v", test.why, groups.Incomplete(), err)
		}
	}
	negative := sdkv1beta1.NewPlacementDecisionClustersTrackerWithGroups(web(), new(cache).set(object("d-1", "0", "", "a")),
		sdkv1beta1.ClusterGroupsMap{{GroupIndex: -1}: sets.New("a")})
	if _, err := negative.Groups(); err == nil {
		t.Error("a group with a negative index is no error")
	}
	if err := negative.Refresh(); err != nil {
		t.Fatal(err)
	}
	if _, err := negative.Groups(); err != nil {
		t.Errorf("the error stays after a refresh: %v", err)
	}
}

// A caller that wants no comparison, as with sdk-go, passes only the namespace and name of the Placement.
func TestTheComparisonIsSwitchedOff(t *testing.T) {
	half := web() // one of two objects is written
	half.UID, half.Status.NumberOfSelectedClusters = "1", 4
	alone := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: half.Namespace, Name: half.Name}}
	for placement, compared := range map[*clusterv1beta1.Placement]bool{half: true, alone: false} {
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, new(cache).set(object("d-1", "0", "", "a", "b")), nil)
		if err := tracker.Refresh(); err != nil {
			t.Fatal(err)
		}
		groups, err := tracker.Groups()
		if err != nil || groups.NumClusters() != 2 || (groups.Incomplete() != "") != compared {
			t.Errorf("with the status %v: %d clusters, incomplete because %q, %v", compared, groups.NumClusters(), groups.Incomplete(), err)
		}
	}
}

// Many goroutines refresh and read concurrently. Each sees groups of one state.
func TestConcurrentUse(t *testing.T) {
	lister := new(cache).set(object("d-1", "0", "", "a"), object("d-2", "1", "", "b"))
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(web(), lister, sets.New("c"))
	if err := tracker.Refresh(); err != nil {
		t.Fatal(err)
	}
	states := []string{"0(a) 1(b)", "0(b) 1(a)"}
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range 200 {
				switch (worker + i) % 4 {
				case 0:
					lister.set(object("d-1", "0", "", "a"), object("d-2", "1", "", "b"))
				case 1:
					lister.set(object("d-1", "0", "", "b"), object("d-2", "1", "", "a"))
				case 2:
					added, removed, err := tracker.GetClusterChanges()
					if err != nil || added.Len()+removed.Len() > 0 {
						t.Errorf("added %v, removed %v, %v: the clusters are always the same two", added, removed, err)
					}
				default:
					if got := show(tracker.ExistingClusterGroupsBesides()); got != states[0] && got != states[1] {
						t.Errorf("the groups are %s", got)
					}
				}
			}
		})
	}
	wait.Wait()
}
