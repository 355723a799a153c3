// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/policy"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A rollout of ten waves, whatever the size of the fleet.
func BenchmarkHub(b *testing.B) {
	rule := policyv1.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "all"}
	for _, n := range []int{100, 1000, 10000, 100000} {
		p := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		p.Spec.RolloutStrategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive,
			Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromString("10%")}}
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("cluster-%06d", i))
		}
		groups := groupsOf(b, map[grouping.Key][]string{{}: names})
		resolution, err := override.Resolve(p, []override.Binding{{Name: "all", PlacementRef: rule, Groups: groups}})
		if err != nil {
			b.Fatal(err)
		}
		life := simulation.Life{{After: time.Minute, Status: status.Succeeded}}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := policy.New(resolution, "1", rollout.Options{}).Play(func(string) simulation.Life { return life }, start()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
