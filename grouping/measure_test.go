// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// churn is a fleet that changes, and the groups and objects of a placement that follow it.
type churn struct {
	placement *clusterv1beta1.Placement
	clusters  []*clusterv1.ManagedCluster
	steady    bool
	random    *rand.Rand
	groups    *grouping.Groups
	stored    decisions
}

// newChurn starts with n clusters: two canary groups, each of a thirty-second of the fleet, and the others.
func newChurn(t rapid.TB, n, size int, steady bool) *churn {
	c := &churn{
		placement: newPlacement(intstr.FromInt(size), byLabel("west", "west"), byLabel("east", "east")),
		steady:    steady,
		random:    rand.New(rand.NewPCG(1, uint64(n))),
	}
	c.grow(n)
	c.decide(t)
	return c
}

// grow adds k clusters with names anywhere among the others.
func (c *churn) grow(k int) {
	for range k {
		cluster := newCluster(fmt.Sprintf("cluster-%010x", c.random.Int64N(1<<40)))
		switch c.random.IntN(32) {
		case 0:
			cluster.Labels["west"] = ""
		case 1:
			cluster.Labels["east"] = ""
		}
		c.clusters = append(c.clusters, cluster)
	}
}

func (c *churn) shrink(k int) {
	for range k {
		at := c.random.IntN(len(c.clusters))
		c.clusters = slices.Delete(c.clusters, at, at+1)
	}
}

func (c *churn) decide(t rapid.TB) {
	if c.steady {
		c.groups = mustDivide(t, c.placement, c.clusters, grouping.Options{Previous: c.groups})
		c.stored = mustKeep(t, c.groups, c.placement, c.stored...)
	} else {
		c.groups = mustDivide(t, c.placement, c.clusters, grouping.Options{})
		c.stored = mustDecide(t, c.groups, c.placement)
	}
}

// change removes k clusters and adds k others. It gives the groups and the objects as they were.
func (c *churn) change(t rapid.TB, k int) (*grouping.Groups, decisions) {
	groups, stored := c.groups, c.stored
	c.shrink(k)
	c.grow(k)
	c.decide(t)
	return groups, stored
}

// since says how many clusters moved to another group, and how many PlacementDecisions have to be created,
// updated or deleted.
func (c *churn) since(groups *grouping.Groups, stored decisions) (movedClusters, rewritten int) {
	was := map[string]string{}
	for _, d := range stored {
		was[d.Name] = fmt.Sprint(d.Labels, d.Status.Decisions)
	}
	for _, d := range c.stored {
		if was[d.Name] != fmt.Sprint(d.Labels, d.Status.Decisions) {
			rewritten++
		}
		delete(was, d.Name)
	}
	return len(moved(groups, c.groups)), rewritten + len(was)
}

// churns are the rows of the table: clusters, size of a group, clusters removed and added.
func churns() [][3]int {
	return [][3]int{
		{320, 150, 1}, {320, 150, 10},
		{10_000, 1_000, 1}, {10_000, 1_000, 10}, {10_000, 1_000, 100},
		{100_000, 1_000, 1}, {100_000, 1_000, 10}, {100_000, 1_000, 100},
	}
}

// G6, G8: the measure, as the table in doc.go has it: means over up to 32 changes.
func TestSteadyMovesFewClustersAndRewritesFewDecisions(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "//	%26s %23s %22s\n", "", "default", "steady")
	fmt.Fprintf(&table, "//	%8s %8s %8s  %10s %11s  %10s %10s\n", "clusters", "a group", "changed", "moved", "rewritten", "moved", "rewritten")
	for _, row := range churns() {
		n, size, k := row[0], row[1], row[2]
		if n > 320 && (raced || !exhaustive.On) {
			continue
		}
		var sums [2][2]int
		changes := min(max(20_000/n, 2), 32)
		for i, steady := range []bool{false, true} {
			c := newChurn(t, n, size, steady)
			for range changes {
				moved, rewritten := c.since(c.change(t, k))
				sums[i][0] += moved
				sums[i][1] += rewritten
				if objects := 2*k + 1; steady && (moved > 0 || rewritten > objects) {
					t.Errorf("%d of %d clusters changed: %d others moved, want none; %d objects rewritten, want at most %d", k, n, moved, rewritten, objects)
				}
			}
		}
		mean := func(sum int) string { return fmt.Sprintf("%.1f", float64(sum)/float64(changes)) }
		fmt.Fprintf(&table, "//	%8d %8d %8d  %10s %11s  %10s %10s\n", n, size, k, mean(sums[0][0]), mean(sums[0][1]), mean(sums[1][0]), mean(sums[1][1]))
	}
	t.Logf("\n%s", table.String())
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(table.String()) {
		if !strings.Contains(string(doc), line) {
			t.Errorf("doc.go does not have the line\n%s", line)
		}
	}
}

// What it costs to follow one removal and one addition, and what they move.
func BenchmarkChurn(b *testing.B) {
	for _, n := range []int{320, 10_000, 100_000} {
		for _, how := range []string{"default", "steady"} {
			b.Run(fmt.Sprintf("n=%d/%s", n, how), func(b *testing.B) {
				c := newChurn(b, n, max(150, n/100), how == "steady")
				b.ReportAllocs()
				sumMoved, sumRewritten := 0, 0
				for b.Loop() {
					groups, stored := c.change(b, 1)
					b.StopTimer()
					moved, rewritten := c.since(groups, stored)
					sumMoved += moved
					sumRewritten += rewritten
					b.StartTimer()
				}
				b.ReportMetric(float64(sumMoved)/float64(b.N), "moved/op")
				b.ReportMetric(float64(sumRewritten)/float64(b.N), "rewritten/op")
			})
		}
	}
}
