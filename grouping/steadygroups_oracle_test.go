// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/cohort-ocm/cohort/grouping"
)

// divideSteadilyByTheRules is G6, word by word, for the names "x" and none. Clusters are given in their
// order, each with its new name and its previous group, -1 for none; "-" is not selected.
func divideSteadilyByTheRules(previous []string, names []string, homes []int, size int) string {
	type group struct{ clusters []int }
	index := 0
	result := ""
	for _, name := range []string{"x", ""} {
		var groups []*group
		placed := make([]bool, len(names))
		for i, previousName := range previous {
			if previousName != name {
				continue
			}
			g := &group{}
			for c := range names {
				if names[c] == name && homes[c] == i && len(g.clusters) < size {
					g.clusters = append(g.clusters, c)
					placed[c] = true
				}
			}
			groups = append(groups, g)
		}
		for c := range names {
			if names[c] != name || placed[c] {
				continue
			}
			room := len(groups) - 1
			for room >= 0 && len(groups[room].clusters) >= size {
				room--
			}
			if room < 0 {
				groups = append(groups, &group{})
				room = len(groups) - 1
			}
			groups[room].clusters = append(groups[room].clusters, c)
		}
		for len(groups) > 0 && len(groups[len(groups)-1].clusters) == 0 {
			groups = groups[:len(groups)-1]
		}
		for _, g := range groups {
			if index > 0 {
				result += " | "
			}
			result += fmt.Sprint(index)
			if name != "" {
				result += fmt.Sprintf(" %q", name)
			}
			result += ":"
			slices.Sort(g.clusters)
			for i, c := range g.clusters {
				if i > 0 {
					result += " "
				}
				result += string(rune('a' + c))
			}
			index++
		}
	}
	if index == 0 {
		return "0:"
	}
	return result
}

// G6: up to four clusters, each in any previous group or none, and now under either name or gone, for
// nine lists of previous groups and five sizes, against the rules word by word.
func TestDivideEverySmallWorldWithPreviousGroups(t *testing.T) {
	clusters := worldSize()
	cases := 0
	for _, previous := range [][]string{{}, {""}, {"x"}, {"", ""}, {"x", ""}, {"x", "x"}, {"", "x"}, {"x", "", ""}, {"x", "x", ""}} {
		states := 3 * (len(previous) + 1)
		for world := range power(states, clusters) {
			names, homes := make([]string, clusters), make([]int, clusters)
			held := make([]string, len(previous))
			var selected []*clusterv1.ManagedCluster
			for c, rest := 0, world; c < clusters; c, rest = c+1, rest/states {
				name := string(rune('a' + c))
				names[c] = []string{"x", "", "-"}[rest%states%3]
				if homes[c] = rest%states/3 - 1; homes[c] >= 0 {
					held[homes[c]] += name + " "
				}
				switch names[c] {
				case "x":
					selected = append(selected, newCluster(name, "x", ""))
				case "":
					selected = append(selected, newCluster(name))
				}
			}
			var stored decisions
			for i, name := range previous {
				// With gaps, which mean nothing.
				stored = append(stored, decision(fmt.Sprintf("d-%d", i), fmt.Sprint(2*i), name, held[i]))
			}
			read := mustRead(t, stored...)
			for size := range 4 {
				cases++
				placement := newPlacement(intstr.FromInt32(int32(size)), byLabel("x", "x"))
				got := show(mustDivide(t, placement, selected, grouping.Options{Previous: read}))
				limit := size
				if size == 0 {
					limit = len(selected)
				}
				if want := divideSteadilyByTheRules(previous, names, homes, limit); got != want {
					t.Fatalf("previously %s, now %q, size %d:\n%s, want\n%s", show(read), names, size, got, want)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}
