// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// benchWorld is n clusters of two placements in ten groups each, half of them done, the others waiting.
func benchWorld(b *testing.B, n int) (*override.Resolution, []passes.Replica) {
	b.Helper()
	p := policy(policyv1.Enforce, naiveLimits{typ: clusterv1alpha1.Progressive})
	p.Spec.RolloutStrategy.Progressive.MaxConcurrency = intstr.FromString("10%")
	groups := map[string][]naiveGroup{"1": make([]naiveGroup, 10), "2": make([]naiveGroup, 10)}
	var replicas []passes.Replica
	for i := range n {
		name := fmt.Sprintf("cluster-%06d", i)
		g := &groups[fmt.Sprint(i*2/n+1)][i%10]
		g.clusters = append(g.clusters, name)
		r := passes.Replica{Cluster: name, Version: "v2", Action: policyv1.Inform, RolloutStatus: status.ToApply, Compliance: policyv1.NonCompliant}
		if i < n/2 {
			r.Action, r.RolloutStatus, r.Compliance = policyv1.Enforce, status.Succeeded, policyv1.Compliant
		}
		replicas = append(replicas, r)
	}
	var bindings []override.Binding
	for _, name := range []string{"1", "2"} {
		bindings = append(bindings, override.Binding{Name: name, PlacementRef: placement(name), Groups: groupsOf(groups[name])})
	}
	r, err := override.Resolve(p, bindings)
	if err != nil {
		b.Fatal(err)
	}
	return r, replicas
}

// BenchmarkPropagate propagates to n clusters; half are done and a tenth starts.
func BenchmarkPropagate(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			r, replicas := benchWorld(b, n)
			b.ReportAllocs()
			for b.Loop() {
				p, err := passes.Propagate(r, "v2", status.Record{}, replicas, time.Time{}, rollout.Options{})
				if err != nil || len(p.Start) != n/10 {
					b.Fatal(p, err)
				}
			}
		})
	}
}

// BenchmarkSetStatus sets the status of a root policy that is bound to n clusters.
func BenchmarkSetStatus(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			r, replicas := benchWorld(b, n)
			p, err := passes.Propagate(r, "v2", status.Record{}, replicas, time.Time{}, rollout.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				var st policyv1.PolicyStatus
				if !p.SetStatus(&st) {
					b.Fatal(st)
				}
			}
		})
	}
}
