package override

import (
	"slices"
	"strings"
)

// fleet numbers the clusters in the order in which it first meets their names, so that everything but
// the lookup of a name works on small integers. That lookup is most of what Resolve does.
type fleet struct {
	numbers map[string]int32
	names   []string
	// last is, by cluster, the binding that was the last to select it.
	last []int32
}

// bind returns the clusters that the bindings (by name, names distinct) bind, with their actions.
func bind(bindings []Binding, action RemediationAction) []Cluster {
	largest := 0
	for i := range bindings {
		largest = max(largest, len(bindings[i].Clusters))
	}
	f := fleet{
		numbers: make(map[string]int32, largest),
		names:   make([]string, 0, largest),
		last:    make([]int32, 0, largest),
	}
	selected := make([][]int32, len(bindings))
	for i := range bindings {
		if !bindings[i].SubFilter {
			selected[i] = f.read(int32(i), &bindings[i])
		}
	}
	// Sub filters come after all others: by then the bound clusters are known, and they add none.
	for i := range bindings {
		if bindings[i].SubFilter && bindings[i].Enforce {
			selected[i] = f.read(int32(i), &bindings[i])
		}
	}
	return f.list(bindings, selected, action)
}

// read returns the clusters that the i-th binding selects, each once. Of the clusters of a sub filter
// it returns those that are known.
func (f *fleet) read(i int32, binding *Binding) []int32 {
	excluded := make(map[string]bool, len(binding.Excluded))
	for _, name := range binding.Excluded {
		excluded[name] = true
	}
	selected := make([]int32, 0, len(binding.Clusters))
	for _, name := range binding.Clusters {
		if len(excluded) > 0 && excluded[name] {
			continue
		}
		k, known := f.numbers[name]
		if !known {
			if binding.SubFilter {
				continue
			}
			k = int32(len(f.names))
			f.numbers[name] = k
			f.names = append(f.names, name)
			f.last = append(f.last, -1)
		}
		if f.last[k] != i {
			f.last[k] = i
			selected = append(selected, k)
		}
	}
	return selected
}

// list returns the clusters by name. Neighbours that the same bindings select share their lists.
func (f *fleet) list(bindings []Binding, selected [][]int32, action RemediationAction) []Cluster {
	order := make([]int32, len(f.names))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(f.names[a], f.names[b]) })

	by, ends := invert(selected, len(f.names))
	names := arena{chunk: min(2*len(by), 8192)}
	out := make([]Cluster, len(order))
	var previous []int32
	for i, k := range order {
		own := by[ends[k]:ends[k+1]]
		if i > 0 && slices.Equal(own, previous) {
			out[i] = out[i-1]
		} else {
			out[i] = explain(bindings, own, action, &names)
		}
		out[i].Name = f.names[k]
		previous = own
	}
	return out
}

// invert turns the clusters of each binding into the bindings of each cluster: those of cluster k, in
// order, are by[ends[k]:ends[k+1]].
func invert(selected [][]int32, clusters int) (by []int32, ends []int) {
	// While filling, the place for the next binding of cluster k is in ends[k+1], which therefore
	// starts where cluster k does and finishes where it ends.
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

// explain returns what the clusters that these bindings select, and no others, have in common.
func explain(bindings []Binding, by []int32, action RemediationAction, names *arena) Cluster {
	c := Cluster{
		Action:    action,
		BoundBy:   names.pick(bindings, by, func(b *Binding) bool { return !b.SubFilter }),
		DecidedBy: names.pick(bindings, by, func(b *Binding) bool { return b.Enforce }),
	}
	if len(c.DecidedBy) > 0 {
		c.Action = Enforce
	}
	return c
}

// arena cuts many small lists of names from a few large slices of chunk names.
type arena struct {
	chunk int
	free  []string
}

// pick returns the names of those of the bindings that want accepts, nil if there are none.
func (a *arena) pick(bindings []Binding, of []int32, want func(*Binding) bool) []string {
	if len(a.free) < len(of) {
		a.free = make([]string, max(a.chunk, len(of)))
	}
	count := 0
	for _, i := range of {
		if b := &bindings[i]; want(b) {
			a.free[count] = b.Name
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
