// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// sizes are how large a fleet is, and between what the size of its groups changes.
type sizes struct {
	clusters          int // that there are; about half of them are selected
	smallest, largest int // clustersPerDecisionGroup
}

// small keeps fleets small, so that there are many redistributions a second. Each group is one object.
func small() sizes { return sizes{clusters: 24, smallest: 1, largest: 6} }

// large has groups that need two or three objects.
func large() sizes { return sizes{clusters: 440, smallest: 60, largest: 240} }

// fleet is a placement with a selection that changes at random, next to the clusters that it selects from.
type fleet struct {
	placement *clusterv1beta1.Placement
	sizes     sizes
	rng       *rand.Rand

	clusters []*clusterv1.ManagedCluster
	selected map[string]bool
	steady   bool // clusters keep their group and groups their objects where they can
}

// The first named group selects by label, the second by claim.
const canary, edge = "canary", "edge"

func newFleet(namespace string, sizes sizes, seed uint64) *fleet {
	f := &fleet{sizes: sizes, rng: rand.New(rand.NewPCG(seed, 4)), selected: map[string]bool{}}
	f.placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web", UID: types.UID(namespace)}}
	groups := &f.placement.Spec.DecisionStrategy.GroupStrategy
	groups.ClustersPerDecisionGroup = intstr.FromInt(sizes.largest)
	groups.DecisionGroups = []clusterv1beta1.DecisionGroup{
		{GroupName: canary, ClusterSelector: clusterv1beta1.GroupClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{canary: ""}},
		}},
		{GroupName: edge, ClusterSelector: clusterv1beta1.GroupClusterSelector{
			ClaimSelector: clusterv1beta1.ClusterClaimSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: edge, Operator: metav1.LabelSelectorOpExists}},
			},
		}},
	}
	for i := range sizes.clusters {
		c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-c%03d", namespace, i)}}
		f.clusters = append(f.clusters, c)
		f.selected[c.Name] = i%2 == 0
	}
	return f
}

// change adds and removes clusters, or changes the groups' size, what their selectors match, or whether groups
// are steady.
func (f *fleet) change() {
	groups := &f.placement.Spec.DecisionStrategy.GroupStrategy
	size := f.sizes.smallest + f.rng.IntN(f.sizes.largest-f.sizes.smallest+1)
	switch f.rng.IntN(9) {
	case 0:
		groups.ClustersPerDecisionGroup = intstr.FromInt(size)
	case 1:
		groups.ClustersPerDecisionGroup = intstr.FromString(fmt.Sprintf("%d%%", min(1+200*size/f.sizes.clusters, 100)))
	case 2:
		f.some(func(c *clusterv1.ManagedCluster) {
			if len(c.Labels) > 0 {
				c.Labels = nil
			} else {
				c.Labels = map[string]string{canary: ""}
			}
		})
	case 3:
		f.some(func(c *clusterv1.ManagedCluster) {
			if len(c.Status.ClusterClaims) > 0 {
				c.Status.ClusterClaims = nil
			} else {
				c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: edge}}
			}
		})
	case 4:
		f.steady = !f.steady
	default:
		f.some(func(c *clusterv1.ManagedCluster) { f.selected[c.Name] = !f.selected[c.Name] })
	}
}

// some changes one to three clusters.
func (f *fleet) some(change func(*clusterv1.ManagedCluster)) {
	for range 1 + f.rng.IntN(3) {
		change(f.clusters[f.rng.IntN(len(f.clusters))])
	}
}

// desired returns the PlacementDecisions that a placement controller wants for the selected clusters, given
// those that are stored.
func (f *fleet) desired(t testing.TB, stored []*decision) []*decision {
	t.Helper()
	var selected []*clusterv1.ManagedCluster
	for _, c := range f.clusters {
		if f.selected[c.Name] {
			selected = append(selected, c)
		}
	}
	divide := func() ([]*decision, error) {
		if !f.steady {
			groups, err := grouping.Divide(f.placement, selected, grouping.Options{})
			if err != nil {
				return nil, err
			}
			return groups.Decisions(f.placement)
		}
		previous, err := grouping.Read(nil, stored)
		if err != nil {
			return nil, err
		}
		groups, err := grouping.Divide(f.placement, selected, grouping.Options{Previous: previous})
		if err != nil {
			return nil, err
		}
		return groups.Decisions(f.placement, stored...)
	}
	objects, err := divide()
	if err != nil {
		t.Error(err)
		return stored
	}
	return objects
}

// several reports whether some group has more than one object.
func several(objects []*decision) bool {
	seen := map[string]bool{}
	for _, o := range objects {
		index := o.Labels[clusterv1beta1.DecisionGroupIndexLabel]
		if seen[index] {
			return true
		}
		seen[index] = true
	}
	return false
}
