package compare

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// now is the time of every comparison.
var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// TestMain sets the reference's clock, which is a variable of its package, before any test reads it. No
// test changes it, so that tests may run in parallel.
func TestMain(m *testing.M) {
	sdkv1alpha1.RolloutClock = clocktesting.NewFakeClock(now)
	os.Exit(m.Run())
}

// group is a decision group as one PlacementDecision stores it.
type group struct {
	key      grouping.Key
	clusters []string
}

// fleet is the selected clusters as both sides hold them between reconciles.
type fleet struct {
	stored []group
	groups *grouping.Groups
	sdkgo  *sdkv1alpha1.RolloutHandler[struct{}]
}

// world is all that a decision depends on but the time.
type world struct {
	*fleet
	strategy clusterv1alpha1.RolloutStrategy
	reports  []status.Report
}

// newFleet stores groups and lets both sides read them.
func newFleet(tb testing.TB, groups ...group) *fleet {
	tb.Helper()
	decisions := stored(groups)
	read, err := grouping.Read(nil, decisions)
	if err != nil {
		tb.Fatal(err)
	}
	tracker := newTracker(decisions)
	if err := tracker.Refresh(); err != nil {
		tb.Fatal(err)
	}
	handler, err := sdkv1alpha1.NewRolloutHandler[struct{}](tracker, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &fleet{groups, read, handler}
}

// inGroups is a fleet of groups without a name, with indexes from 0, given as "a b" "c d".
func inGroups(tb testing.TB, clusters ...string) *fleet {
	tb.Helper()
	groups := make([]group, len(clusters))
	for i, names := range clusters {
		groups[i] = group{grouping.Key{Index: int32(i)}, strings.Fields(names)}
	}
	return newFleet(tb, groups...)
}

func stored(groups []group) []*clusterv1beta1.PlacementDecision {
	decisions := make([]*clusterv1beta1.PlacementDecision, len(groups))
	for i, g := range groups {
		decisions[i] = &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns",
			Name:      fmt.Sprintf("p-decision-%d", i+1),
			Labels: map[string]string{
				clusterv1beta1.PlacementLabel:          "p",
				clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(int(g.key.Index)),
				clusterv1beta1.DecisionGroupNameLabel:  g.key.Name,
			},
		}}
		for _, name := range g.clusters {
			decisions[i].Status.Decisions = append(decisions[i].Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: name})
		}
	}
	return decisions
}

// newTracker is the reference's reader of PlacementDecisions, before its first Refresh.
func newTracker(decisions []*clusterv1beta1.PlacementDecision) *sdkv1beta1.PlacementDecisionClustersTracker {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	return sdkv1beta1.NewPlacementDecisionClustersTracker(placement, lister(decisions), nil)
}

// lister gives the reference the same objects that grouping.Read gets.
type lister []*clusterv1beta1.PlacementDecision

func (l lister) List(labels.Selector, string) ([]*clusterv1beta1.PlacementDecision, error) {
	return l, nil
}

// String describes the world for a failure, with the ages of the reports.
func (w world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "strategy: %s\n", describe(w.strategy))
	for _, g := range w.stored {
		fmt.Fprintf(&b, "%v: %s\n", g.key, strings.Join(g.clusters, " "))
	}
	b.WriteString("reports:")
	for _, r := range w.reports {
		age := "at an unknown time"
		if !r.LastTransitionTime.IsZero() {
			age = now.Sub(r.LastTransitionTime).String() + " ago"
		}
		fmt.Fprintf(&b, " %s %s %s;", r.Cluster, r.Status, age)
	}
	return b.String()
}
