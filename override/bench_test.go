// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// BenchmarkResolve binds a policy by 100 bindings, each of a tenth of a fleet of n clusters, half of
// them sub filters that enforce. "blocks" gives ten bindings each tenth of the fleet. "drawn" draws each
// binding's clusters at random, so that nearly every cluster has bindings of its own.
func BenchmarkResolve(b *testing.B) {
	for _, shape := range []string{"blocks", "drawn"} {
		for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000) {
			b.Run(fmt.Sprintf("%s/n=%d", shape, n), func(b *testing.B) {
				bindings := largeWorld(shape, n)
				policy := &policyv1.Policy{}
				b.ReportAllocs()
				for b.Loop() {
					result, err := override.Resolve(policy, bindings)
					if err != nil || result.Incomplete() != "" {
						b.Fatal(result, err)
					}
				}
			})
		}
	}
}

func largeWorld(shape string, n int) []override.Binding {
	random := rand.New(rand.NewPCG(1, 2))
	fleet := make([]string, n)
	for i := range fleet {
		fleet[i] = fmt.Sprintf("cluster-%06d", i)
	}
	bindings := make([]override.Binding, 100)
	for i := range bindings {
		share := fleet[i%10*n/10:][:n/10]
		if shape != "blocks" {
			random.Shuffle(n, func(i, j int) { fleet[i], fleet[j] = fleet[j], fleet[i] })
			share = slices.Clone(fleet[:n/10])
		}
		bindings[i] = override.Binding{
			Name:         fmt.Sprintf("binding-%02d", i),
			PlacementRef: placement(fmt.Sprintf("placement-%02d", i)),
			SubFilter:    i%20 >= 10,
			Enforce:      i%20 >= 10,
			Groups:       oneGroup(share...),
		}
	}
	return bindings
}

// BenchmarkBindings reads n bindings of one namespace; every tenth is the policy's, itself or through one of n/100
// sets.
func BenchmarkBindings(b *testing.B) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var sets []*policyv1.PolicySet
			for i := range n / 100 {
				set := policySet(fmt.Sprint("set", i), "other", "policy")
				set.Spec.Exclusions = []policyv1.Exclusion{{PolicyName: "policy", ClusterNames: []string{"lab2", "lab1"}}}
				sets = append(sets, set)
			}
			bindings := make([]*policyv1.PlacementBinding, n)
			for i := range bindings {
				name := fmt.Sprint("binding", i)
				switch i % 20 {
				case 0:
					bindings[i] = placementBinding(name, "Policy", "policy")
				case 10:
					bindings[i] = placementBinding(name, "PolicySet", sets[i%len(sets)].Name)
				default:
					bindings[i] = placementBinding(name, "Policy", "other")
				}
			}
			policy := policy("", "")
			b.ReportAllocs()
			for b.Loop() {
				if own, err := override.Bindings(policy, bindings, sets); err != nil || len(own) != n/10 {
					b.Fatal(len(own), err)
				}
			}
		})
	}
}

// BenchmarkGroups joins the groups of the hundred bindings.
func BenchmarkGroups(b *testing.B) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			bindings := largeWorld("blocks", n)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				r := resolve(b, policy("", ""), bindings...)
				b.StartTimer()
				if r.Groups().NumClusters() != n {
					b.Fatal(r.Groups())
				}
			}
		})
	}
}
