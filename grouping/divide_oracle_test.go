// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// worldCluster is all that the small world's rules look at.
type worldCluster struct {
	name  string
	x, y  bool   // has the label
	claim string // of region
	score int64
}

// worldGroup is a named group as the API has it and, beside it, as a plain question.
type worldGroup struct {
	group   clusterv1beta1.DecisionGroup
	matches func(worldCluster) bool
}

// groupSize is a clustersPerDecisionGroup as the API has it and, beside it, as a plain question: are n
// clusters of a total at most it?
type groupSize struct {
	size intstr.IntOrString
	fits func(n, total int) bool
}

// divideByTheRules is G1 to G4, word by word.
func divideByTheRules(clusters []worldCluster, groups []worldGroup, size groupSize, byScore bool) string {
	total := len(clusters)
	clusters = slices.Clone(clusters)
	sort.Slice(clusters, func(i, j int) bool {
		if byScore && clusters[i].score != clusters[j].score {
			return clusters[i].score > clusters[j].score
		}
		return clusters[i].name < clusters[j].name
	})
	result := ""
	index := 0
	emit := func(name string, members []worldCluster) {
		if index > 0 {
			result += " | "
		}
		if name != "" {
			name = fmt.Sprintf(" %q", name)
		}
		result += fmt.Sprint(index) + name + ":"
		for i, c := range members {
			if i > 0 {
				result += " "
			}
			result += c.name
		}
		index++
	}
	for i := 0; i <= len(groups); i++ {
		var members []worldCluster
		for _, c := range clusters {
			first := 0
			for first < len(groups) && !groups[first].matches(c) {
				first++
			}
			if first == i {
				members = append(members, c)
			}
		}
		name := ""
		if i < len(groups) {
			name = groups[i].group.GroupName
		}
		for len(members) > 0 {
			n := len(members)
			for n > 1 && !size.fits(n, total) {
				n--
			}
			emit(name, members[:n])
			members = members[n:]
		}
	}
	if index == 0 {
		emit("", nil)
	}
	return result
}

// worldSize is how many clusters the small worlds have. The race detector has nothing to find in them and
// makes them ten times as slow.
func worldSize() int {
	if raced {
		return 3
	}
	return exhaustive.Of(3, 4)
}

func groupSizes() []groupSize {
	sizes := []groupSize{{intstr.IntOrString{}, func(int, int) bool { return true }}}
	for count := range int32(5) {
		sizes = append(sizes, groupSize{intstr.FromInt32(count + 1), func(n, _ int) bool { return n <= int(count)+1 }})
	}
	for _, percent := range []int{1, 25, 26, 50, 51, 67, 75, 99, 100} {
		// n is at most the percentage rounded up if n-1 is below the percentage.
		sizes = append(sizes, groupSize{intstr.FromString(fmt.Sprintf("%d%%", percent)), func(n, total int) bool { return (n-1)*100 < percent*total }})
	}
	return sizes
}

func worldStrategies() [][]worldGroup {
	hasX := worldGroup{byLabel("x", "x"), func(c worldCluster) bool { return c.x }}
	hasY := worldGroup{byLabel("y", "y"), func(c worldCluster) bool { return c.y }}
	inEU := worldGroup{byClaim("eu", "region", "eu"), func(c worldCluster) bool { return c.claim == "eu" }}
	all := worldGroup{clusterv1beta1.DecisionGroup{GroupName: "all"}, func(worldCluster) bool { return true }}
	labelAndClaim := worldGroup{byLabel("both", "x"), func(c worldCluster) bool { return c.x && c.claim == "eu" }}
	labelAndClaim.group.ClusterSelector.ClaimSelector = inEU.group.ClusterSelector.ClaimSelector
	notX := worldGroup{byLabel("not", "x"), func(c worldCluster) bool { return !c.x }}
	notX.group.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = metav1.LabelSelectorOpDoesNotExist
	again := worldGroup{byLabel("x", "y"), hasY.matches}
	return [][]worldGroup{nil, {hasX}, {hasX, hasY}, {hasY, hasX}, {inEU, hasX}, {labelAndClaim, inEU}, {notX, all}, {hasX, inEU, again}}
}

// worldFleets yields every fleet of up to n clusters: all labels, claims and scores.
func worldFleets(n int, yield func([]worldCluster)) {
	kinds := []worldCluster{{}, {x: true}, {y: true, score: 1}, {x: true, y: true, claim: "us"}, {claim: "eu", score: 2}, {x: true, claim: "eu", score: 1}}
	var extend func(fleet []worldCluster)
	extend = func(fleet []worldCluster) {
		yield(fleet)
		if len(fleet) == n {
			return
		}
		for _, c := range kinds {
			c.name = string(rune('a' + len(fleet)))
			extend(append(slices.Clip(fleet), c))
		}
	}
	extend(nil)
}

// G1, G2, G3, G4: every fleet of up to four clusters of six kinds, under eight strategies and fifteen
// sizes, by name and by score, against the rules word by word.
func TestDivideEverySmallFleet(t *testing.T) {
	n := worldSize()
	strategies, sizes := worldStrategies(), groupSizes()
	cases := 0
	worldFleets(n, func(world []worldCluster) {
		clusters := make([]*clusterv1.ManagedCluster, len(world))
		scores := map[string]int64{}
		for i, c := range world {
			cluster := newCluster(c.name)
			if c.x {
				cluster.Labels["x"] = ""
			}
			if c.y {
				cluster.Labels["y"] = "v"
			}
			if c.claim != "" {
				cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "region", Value: c.claim}}
			}
			clusters[(i+cases)%len(world)] = cluster // turned round by another amount each time
			scores[c.name] = c.score
		}
		for _, groups := range strategies {
			for i, size := range sizes {
				cases++
				placement := newPlacement(size.size)
				for _, g := range groups {
					strategy := &placement.Spec.DecisionStrategy.GroupStrategy
					strategy.DecisionGroups = append(strategy.DecisionGroups, g.group)
				}
				byScore := (cases+i)%2 == 0
				if byScore {
					placement.Spec.SortBy = clusterv1beta1.PlacementSortByScore
				}
				got := show(mustDivide(t, placement, clusters, grouping.Options{Scores: scores}))
				if want := divideByTheRules(world, groups, size, byScore); got != want {
					t.Fatalf("%+v of %+v, size %s, by score %v:\n%s, want\n%s", groups, world, size.size.String(), byScore, got, want)
				}
			}
		}
	})
	t.Logf("%d cases", cases)
}
