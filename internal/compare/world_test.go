// SPDX-License-Identifier: Apache-2.0

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
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	ownv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	ownv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
	"github.com/cohort-ocm/cohort/status"
)

// now is the time of every comparison.
var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// TestMain sets the clocks of the reference and the drop-in, which are variables of their packages, before any test reads
// them. No test changes them, so that tests may run in parallel.
func TestMain(m *testing.M) {
	sdkv1alpha1.RolloutClock = clocktesting.NewFakeClock(now)
	ownv1alpha1.RolloutClock = clocktesting.NewFakeClock(now)
	os.Exit(m.Run())
}

// group is a decision group as one PlacementDecision stores it.
type group struct {
	key      grouping.Key
	clusters []string
}

// selection is what the Placement says of its clusters: how many there are by its status, which are more than those stored
// while PlacementDecisions are being written, and how many it wants in a group, 0 for all.
type selection struct {
	missing, perGroup int
}

// fleet is the selected clusters as all sides hold them between reconciles.
type fleet struct {
	stored []group
	selection
	groups *grouping.Groups
	sdkgo  *sdkv1alpha1.RolloutHandler[struct{}]
	dropIn *ownv1alpha1.RolloutHandler[struct{}]
}

// world is all that a decision depends on but the time.
type world struct {
	*fleet
	strategy clusterv1alpha1.RolloutStrategy
	reports  []status.Report
}

// newFleet stores groups and lets all sides read them.
func newFleet(tb testing.TB, groups ...group) *fleet {
	tb.Helper()
	return selected(tb, selection{}, groups...)
}

// selected is a fleet of a Placement that says more than that its clusters are all there.
func selected(tb testing.TB, s selection, groups ...group) *fleet {
	tb.Helper()
	decisions := stored(groups)
	placement := s.placement(tb, decisions)
	read, err := grouping.Read(placement, decisions)
	if err != nil {
		tb.Fatal(err)
	}
	theirs := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, lister(decisions), nil)
	ours := ownv1beta1.NewPlacementDecisionClustersTracker(placement, lister(decisions), nil)
	for _, err := range []error{theirs.Refresh(), ours.Refresh()} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	f := &fleet{stored: groups, selection: s, groups: read}
	if f.sdkgo, err = sdkv1alpha1.NewRolloutHandler[struct{}](theirs, nil); err != nil {
		tb.Fatal(err)
	}
	if f.dropIn, err = ownv1alpha1.NewRolloutHandler[struct{}](ours, nil); err != nil {
		tb.Fatal(err)
	}
	return f
}

// placement is the Placement of the decisions.
func (s selection) placement(tb testing.TB, decisions []*clusterv1beta1.PlacementDecision) *clusterv1beta1.Placement {
	tb.Helper()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1"}}
	p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(int32(s.perGroup))
	var err error
	if p.Status, err = grouping.Status(decisions); err != nil {
		tb.Fatal(err)
	}
	p.Status.NumberOfSelectedClusters += int32(s.missing)
	return p
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
	fmt.Fprintf(&b, "strategy: %s\nplacement: %+v\n", describe(w.strategy), w.selection)
	for _, g := range w.stored {
		fmt.Fprintf(&b, "%v: %s\n", g.key, strings.Join(g.clusters, " "))
	}
	b.WriteString("reports:")
	for _, r := range w.reports {
		age := "at an unknown time"
		if !r.LastTransitionTime.IsZero() {
			age = now.Sub(r.LastTransitionTime).String() + " ago"
		}
		fmt.Fprintf(&b, " %s %s %s", r.Cluster, r.Status, age)
		if !r.Applied.IsZero() {
			fmt.Fprintf(&b, " applied %v ago", now.Sub(r.Applied))
		}
		b.WriteByte(';')
	}
	return b.String()
}
