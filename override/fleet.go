// SPDX-License-Identifier: Apache-2.0

package override

import (
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// fleet numbers the clusters in the order in which their names first occur. All but the lookup of names then works on small
// integers. That lookup takes most of Resolve's time.
type fleet struct {
	numbers map[string]int32
	names   []string
}

// part is a binding that takes part in the resolution.
type part struct {
	*Binding
	// binds says that the binding binds its clusters, decides that it enforces the policy on them, and isIgnored that it
	// would have more effect under the strategy All.
	binds, decides, isIgnored bool
}

// bind gives the clusters that the parts (by name, names distinct) bind, with their actions.
func bind(parts []part, action policyv1.RemediationAction) []Cluster {
	largest := 0
	for i := range parts {
		largest = max(largest, parts[i].Groups.NumClusters())
	}
	fleet := fleet{
		numbers: make(map[string]int32, largest),
		names:   make([]string, 0, largest),
	}
	selected := make([][]int32, len(parts))
	for i := range parts {
		if parts[i].binds {
			selected[i] = fleet.read(int32(i), &parts[i])
		}
	}
	// Sub filters come after all others: by then all bound clusters are known.
	for i := range parts {
		if part := &parts[i]; !part.binds && (part.decides || part.isIgnored) {
			selected[i] = fleet.read(int32(i), part)
		}
	}
	return fleet.list(parts, selected, action)
}

// read gives the clusters that the i-th part selects, each once. For a part that does not bind, it gives only known
// clusters.
func (f *fleet) read(i int32, part *part) []int32 {
	excluded := setOf(part.Excluded)
	selected := make([]int32, 0, part.Groups.NumClusters())
	for position := range part.Groups.NumClusters() {
		name := part.Groups.Cluster(position)
		if excluded[name] {
			continue
		}
		k, known := f.numbers[name]
		if !known {
			if !part.binds {
				continue
			}
			k = int32(len(f.names))
			f.numbers[name] = k
			f.names = append(f.names, name)
		}
		selected = append(selected, k)
	}
	return selected
}

func setOf(names []string) map[string]bool {
	if len(names) == 0 {
		return nil
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// list gives the clusters sorted by name. Adjacent clusters that the same bindings select share their lists.
func (f *fleet) list(parts []part, selected [][]int32, action policyv1.RemediationAction) []Cluster {
	order := make([]int32, len(f.names))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(f.names[a], f.names[b]) })

	by, ends := invert(selected, len(f.names))
	names := arena{chunk: min(2*len(by), 8192)}
	out := make([]Cluster, len(order))
	var previous []int32 // empty before the first cluster, which has some
	for i, k := range order {
		own := by[ends[k]:ends[k+1]]
		if slices.Equal(own, previous) {
			out[i] = out[i-1]
		} else {
			out[i] = explain(parts, own, action, &names)
		}
		out[i].Name = f.names[k]
		previous = own
	}
	return out
}

// invert turns the clusters of each binding into the bindings of each cluster. Cluster k has by[ends[k]:ends[k+1]], in
// order.
func invert(selected [][]int32, clusters int) (by []int32, ends []int) {
	// While filling, ends[k+1] is the place for the next binding of cluster k: at first the start of cluster k's bindings, at
	// last their end.
	ends = make([]int, clusters+2)
	for _, numbers := range selected {
		for _, k := range numbers {
			ends[k+2]++
		}
	}
	for k := 2; k < len(ends); k++ {
		ends[k] += ends[k-1]
	}
	by = make([]int32, ends[clusters+1])
	for i, numbers := range selected {
		for _, k := range numbers {
			by[ends[k+1]] = int32(i)
			ends[k+1]++
		}
	}
	return by, ends
}

// explain gives what clusters that exactly these parts select have in common.
func explain(parts []part, by []int32, action policyv1.RemediationAction, names *arena) Cluster {
	cluster := Cluster{
		Action:    action,
		BoundBy:   names.pick(parts, by, func(part *part) bool { return part.binds }),
		DecidedBy: names.pick(parts, by, func(part *part) bool { return part.decides }),
		IgnoredBy: names.pick(parts, by, func(part *part) bool { return part.isIgnored }),
	}
	if len(cluster.DecidedBy) > 0 {
		cluster.Action = policyv1.Enforce
	}
	return cluster
}

// arena cuts many small lists of names from a few large slices of chunk names.
type arena struct {
	chunk int
	free  []string
}

// pick gives the names of the parts that the function accepts, nil if there are none.
func (a *arena) pick(parts []part, of []int32, accepts func(*part) bool) []string {
	if len(a.free) < len(of) {
		a.free = make([]string, max(a.chunk, len(of)))
	}
	count := 0
	for _, i := range of {
		if part := &parts[i]; accepts(part) {
			a.free[count] = part.Name
			count++
		}
	}
	if count == 0 {
		return nil
	}
	picked := a.free[:count:count]
	a.free = a.free[count:]
	return picked
}
