// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"math/rand/v2"
	"testing"
)

// D4: the heuristic for large components keeps to the bound on steps, and no surge that it chooses could be left out.
func TestEachSurgeIsNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		n := 2 + rng.IntN(15)
		g := newGraph(n)
		for range 1 + rng.IntN(2*n) {
			if u, v := rng.Int32N(int32(n)), rng.Int32N(int32(n)); u != v {
				g.link(u, v)
			}
		}
		maxSteps := 2 + rng.IntN(n)
		surged := chooseSurges(g, maxSteps)
		within := func() bool {
			_, latest := g.levels(surged)
			return latest > 0 && latest <= maxSteps
		}
		if !within() {
			t.Fatalf("%v with surges %v: not within %d steps", g.out, surged, maxSteps)
		}
		for v := range surged {
			if surged[v] {
				surged[v] = false
				if within() {
					t.Fatalf("%v with surges %v: within %d steps also without that of %d", g.out, surged, maxSteps, v)
				}
				surged[v] = true
			}
		}
	}
}
