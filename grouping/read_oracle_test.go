// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// storedObject is a PlacementDecision of the small world.
type storedObject struct {
	number, index int
	group         string
	clusters      string // a letter each; a dot is an empty clusterName
	unlabelled    bool   // has no label of the index, which is 0
	odd           bool   // has a label of the index that is none, which is taken for 0
	deleted       bool   // is being deleted
}

// readByTheRules is G10 and G11, word by word.
func readByTheRules(objects []storedObject) string {
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(a, b storedObject) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.group, b.group), cmp.Compare(a.number, b.number))
	})
	result := ""
	seen := "."
	for i, o := range objects {
		if i == 0 || o.index != objects[i-1].index || o.group != objects[i-1].group {
			if i > 0 {
				result += " | "
			}
			result += fmt.Sprint(o.index)
			if o.group != "" {
				result += fmt.Sprintf(" %q", o.group)
			}
			result += ":"
		}
		for _, c := range o.clusters {
			if !strings.ContainsRune(seen, c) {
				if !strings.HasSuffix(result, ":") {
					result += " "
				}
				result += string(c)
				seen += string(c)
			}
		}
	}
	return result
}

// G10, G11: every way to put up to four clusters, each into any of up to three objects, some into
// several, under all combinations of five labels; sorted by name and not, with empty slots, listed in
// any order, against the rules word by word.
func TestReadEverySmallWorld(t *testing.T) {
	labels := []storedObject{{unlabelled: true}, {odd: true, group: "a"}, {index: 0, group: "a"}, {index: 2, group: "a"}, {index: 10, group: "b"}}
	numbers := []int{1, 2, 10}
	clusters := worldSize()
	cases := 0
	check := func(objects []storedObject) {
		cases++
		stored := make([]*clusterv1beta1.PlacementDecision, len(objects))
		for i, o := range objects {
			d := o.toAPI()
			for j := range d.Status.Decisions {
				if d.Status.Decisions[j].ClusterName == "." {
					d.Status.Decisions[j].ClusterName = ""
				}
			}
			stored[(i+cases)%len(objects)] = d
		}
		if got, want := show(mustRead(t, stored...)), readByTheRules(objects); got != want {
			t.Fatalf("%+v:\n%s, want\n%s", objects, got, want)
		}
	}
	for n := range 4 {
		for world := range power(len(labels), n) {
			objects := make([]storedObject, n)
			for i, rest := 0, world; i < n; i, rest = i+1, rest/len(labels) {
				objects[i] = labels[rest%len(labels)]
				objects[i].number = numbers[i]
			}
			// Each cluster is in a subset of the objects: n bits of placing.
			for placing := range power(1<<n, clusters) {
				for i := range objects {
					objects[i].clusters = ""
					for c := range clusters {
						if placing>>(c*n+i)&1 == 1 {
							objects[i].clusters += string(rune('a' + c))
						}
					}
					switch (placing + i) % 3 {
					case 1:
						reversed := []byte(objects[i].clusters)
						slices.Reverse(reversed)
						objects[i].clusters = string(reversed)
					case 2:
						objects[i].clusters = "." + objects[i].clusters
					}
				}
				check(objects)
			}
		}
	}
	t.Logf("%d cases", cases)
}

func power(base, exponent int) int {
	result := 1
	for range exponent {
		result *= base
	}
	return result
}
