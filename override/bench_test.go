package override_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cohort-ocm/cohort/override"
)

// BenchmarkResolve binds a policy by 100 bindings, each of a tenth of a fleet of n clusters, half of
// them sub filters that enforce. "blocks" gives ten bindings each tenth of the fleet. "drawn" draws each
// binding's clusters at random, so that nearly every cluster has bindings of its own, and lists them by
// name, as placements do; "shuffled" lists them in any order.
func BenchmarkResolve(b *testing.B) {
	for _, shape := range []string{"blocks", "drawn", "shuffled"} {
		for _, n := range []int{100, 1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/n=%d", shape, n), func(b *testing.B) {
				bindings := largeWorld(shape, n)
				policy := &override.Policy{}
				b.ReportAllocs()
				for b.Loop() {
					result, err := override.Resolve(policy, bindings)
					if err != nil || len(result.Clusters) == 0 {
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
		if shape == "drawn" {
			slices.Sort(share)
		}
		bindings[i] = override.Binding{
			Name:         fmt.Sprintf("binding-%02d", i),
			PlacementRef: placement(fmt.Sprintf("placement-%02d", i)),
			SubFilter:    i%20 >= 10,
			Enforce:      i%20 >= 10,
			Clusters:     share,
		}
	}
	return bindings
}

func placement(name string) override.PlacementRef {
	return override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: name}
}

// BenchmarkBindings reads n bindings of one namespace, of which every tenth is the policy's, itself or
// through one of n/100 sets.
func BenchmarkBindings(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var sets []*override.PolicySet
			for i := range n / 100 {
				set := policySet(fmt.Sprint("set", i), "other", "policy")
				set.Spec.Exclusions = []override.Exclusion{{PolicyName: "policy", ClusterNames: []string{"lab2", "lab1"}}}
				sets = append(sets, set)
			}
			bindings := make([]*override.PlacementBinding, n)
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
