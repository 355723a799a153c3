// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

// drawCluster draws a cluster of a thousand, in canary, eu or no named group.
func drawCluster(rng *rand.Rand, name string) *clusterv1.ManagedCluster {
	group := []string{"canary", "eu", "eu", "", "", "", "", "", "", ""}[rng.IntN(10)]
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"in": group}}}
}

// D4: on a hub of 1000 clusters where some join, some leave and some change their group, nearly every object is written once. The same with
// steady division and names, and so it is where all is divided and numbered anew, as by OCM's scheduler.
func TestOnHubsObjectsAreWrittenOnce(t *testing.T) {
	for _, test := range []struct {
		steady bool
		most   float64 // writes for an object that differs
	}{{true, 1.02}, {false, 1.1}} {
		writes, objects := 0, 0
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 37))
			p := newPlacer(100).placement
			clusters := make([]*clusterv1.ManagedCluster, 1000)
			for i := range clusters {
				clusters[i] = drawCluster(rng, fmt.Sprintf("c%08x", rng.Uint32()))
			}
			var stored []*pd
			for range 10 {
				var options grouping.Options
				var names []*pd
				if test.steady {
					previous, err := grouping.Read(p, stored)
					if err != nil {
						t.Fatal(err)
					}
					options.Previous, names = previous, stored
				}
				groups, err := grouping.Divide(p, clusters, options)
				if err != nil {
					t.Fatal(err)
				}
				desired, err := groups.Decisions(p, names...)
				if err != nil {
					t.Fatal(err)
				}
				writes += mustDiff(t, stored, desired, within(10)).Writes()
				objects += mustDiff(t, stored, desired, decisionupdate.UpdateStrategy{}).Writes()
				if p.Status, err = grouping.Status(desired); err != nil {
					t.Fatal(err)
				}
				stored = desired
				for range 10 {
					i := rng.IntN(len(clusters))
					clusters[i] = drawCluster(rng, fmt.Sprintf("c%08x", rng.Uint32())) // one leaves, and another joins
					i = rng.IntN(len(clusters))
					clusters[i] = drawCluster(rng, clusters[i].Name)
				}
			}
		}
		t.Logf("steady %v: %d writes of %d objects", test.steady, writes, objects)
		if float64(writes) > float64(objects)*test.most {
			t.Errorf("steady %v: %d writes of %d objects", test.steady, writes, objects)
		}
	}
}
