package override_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cohort-ocm/cohort/override"
)

// BenchmarkResolve binds a policy by 100 bindings, each of a tenth of a fleet of n clusters, half of
// them sub filters that enforce. "drawn" draws each binding's clusters at random, so that nearly every
// cluster has bindings of its own; "blocks" gives ten bindings each tenth of the fleet.
func BenchmarkResolve(b *testing.B) {
	for _, shape := range []string{"drawn", "blocks"} {
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
		if shape == "drawn" {
			random.Shuffle(n, func(i, j int) { fleet[i], fleet[j] = fleet[j], fleet[i] })
			share = fleet[:n/10]
		}
		bindings[i] = override.Binding{
			Name:         fmt.Sprintf("binding-%02d", i),
			PlacementRef: placement(fmt.Sprintf("placement-%02d", i)),
			SubFilter:    i%20 >= 10,
			Enforce:      i%20 >= 10,
			Clusters:     slices.Clone(share),
		}
	}
	return bindings
}

func placement(name string) override.PlacementRef {
	return override.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: name}
}
