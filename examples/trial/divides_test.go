// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// The scheduler of the worlds divides clusters as package grouping does. That this is how OCM's own scheduler divides them, the module
// examples/controllers/ocm tests with the source of that.
func TestTheSchedulerDividesAsOCMs(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 33))
		s := &scheduler{named: pick(rng, nil, []string{"canary"}, []string{"eu", "canary"}), groupOf: func(c string) string { return []string{"", "canary", "eu"}[c[len(c)-1]%3] }}
		size := rng.IntN(5)
		placement := &placement{}
		divides := &placement.Spec.DecisionStrategy.GroupStrategy
		if divides.ClustersPerDecisionGroup = intstr.FromString("100%"); size > 0 {
			divides.ClustersPerDecisionGroup = intstr.FromInt32(int32(size))
		}
		for _, name := range s.named {
			divides.DecisionGroups = append(divides.DecisionGroups, clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": name}}}})
		}
		var selected []string
		var managed []*clusterv1.ManagedCluster
		for _, i := range rng.Perm(rng.IntN(12)) {
			name := fmt.Sprintf("c%02d", i)
			group := s.groupOf(name)
			if group != "" && !slices.Contains(s.named, group) {
				continue // no world has a label that no group is named after
			}
			selected = append(selected, name)
			managed = append(managed, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"group": group}}})
		}
		groups, err := grouping.Divide(placement, managed, grouping.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]grouping.Key{}, map[string]grouping.Key{}
		for key, decision := range groups.All() {
			want[decision.ClusterName] = key
		}
		divided := s.divide(selected, size)
		for i, g := range divided {
			for _, c := range g.clusters {
				got[c] = grouping.Key{Index: int32(i), Name: g.name}
			}
		}
		if !maps.Equal(got, want) || len(divided) != groups.Len() {
			t.Fatalf("seed %d: %d groups %v, want %d %v", seed, len(divided), got, groups.Len(), want)
		}
	}
}
