// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// divided divides clusters into sequential objects of the given size, as grouping does. Their strings share no memory
// with another call's objects, just as the objects from a lister don't.
func divided(size int, clusters []int) []*clusterv1beta1.PlacementDecision {
	var objects []*clusterv1beta1.PlacementDecision
	for part := range slices.Chunk(clusters, size) {
		pd := decision(fmt.Sprintf("web-decision-%d", len(objects)+1))
		for _, c := range part {
			pd.Status.Decisions = append(pd.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("cluster-%07d", c)})
		}
		objects = append(objects, pd)
	}
	return objects
}

// numbers returns the numbers from first to last.
func numbers(first, last int) []int {
	var all []int
	for i := first; i <= last; i++ {
		all = append(all, i)
	}
	return all
}

// A shift: n objects of 100 clusters, and one more cluster in front.
func BenchmarkShift(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		stored, desired := divided(100, numbers(1, 100*n)), divided(100, numbers(0, 100*n))
		for _, way := range []struct {
			name     string
			strategy decisionupdate.UpdateStrategy
		}{
			{"unbounded", rolling},
			{"steps=10", within(10)},
			{"surgeAndFinalize", twoPhases},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", way.name, n), func(b *testing.B) { benchmark(b, stored, desired, way.strategy) })
		}
	}
}

// Nothing to do, the most frequent of all updates.
func BenchmarkUnchanged(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		stored, desired := divided(100, numbers(1, 100*n)), divided(100, numbers(1, 100*n))
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { benchmark(b, stored, desired, rolling) })
	}
}

// Every cluster moves anywhere: circles wherever one looks.
func BenchmarkShuffle(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		clusters := numbers(1, 100*n)
		stored := divided(100, clusters)
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
		desired := divided(100, clusters)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { benchmark(b, stored, desired, rolling) })
	}
}

func benchmark(b *testing.B, stored, desired []*clusterv1beta1.PlacementDecision, strategy decisionupdate.UpdateStrategy) {
	b.ReportAllocs()
	var update decisionupdate.Update
	for b.Loop() {
		update = mustDiff(b, stored, desired, strategy)
	}
	b.ReportMetric(float64(update.Writes()), "writes")
	b.ReportMetric(float64(extras(update)), "extra")
}
