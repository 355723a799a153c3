// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// now is the time at which tests plan unless they say otherwise.
var now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// fataler is a *testing.T, B or F, or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// fleet collects the PlacementDecisions of a placement.
type fleet struct {
	tb        fataler
	decisions []*clusterv1beta1.PlacementDecision
}

func newFleet(tb fataler) *fleet { return &fleet{tb: tb} }

// group adds a group with the next index.
func (f *fleet) group(name string, clusters ...string) *fleet {
	return f.groupAt(len(f.decisions), name, clusters...)
}

func (f *fleet) groupAt(index int, name string, clusters ...string) *fleet {
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns",
		Name:      fmt.Sprintf("p-decision-%d", len(f.decisions)+1),
		Labels: map[string]string{
			clusterv1beta1.PlacementLabel:          "p",
			clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(index),
			clusterv1beta1.DecisionGroupNameLabel:  name,
		},
	}}
	for _, c := range clusters {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	f.decisions = append(f.decisions, d)
	return f
}

func (f *fleet) read() *grouping.Groups {
	f.tb.Helper()
	groups, err := grouping.Read(nil, f.decisions)
	if err != nil {
		f.tb.Fatal(err)
	}
	return groups
}

// readOfSize reads the groups together with a placement of this clustersPerDecisionGroup.
func (f *fleet) readOfSize(size intstr.IntOrString) *grouping.Groups {
	f.tb.Helper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = size
	for _, d := range f.decisions {
		placement.Status.NumberOfSelectedClusters += int32(len(d.Status.Decisions))
	}
	groups, err := grouping.Read(placement, f.decisions)
	if err != nil {
		f.tb.Fatal(err)
	}
	return groups
}
