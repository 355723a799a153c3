package grouping

// Previous makes [Divide] steady: given the groups that the clusters were in, as from [Read], a
// cluster that is still selected and still matches the name of its group stays in it while the group is
// within its size. Without previous groups, or with nil, every change divides anew.
//
// Clusters that are new to a name fill its last group, then those before it that have room, then new
// groups. A group that loses all its clusters stays, empty, while a later group of its name has some, so
// that the groups of a name never change places. When the size shrinks, only what exceeds it moves, the
// last clusters of each group by name or score; when it grows, nothing moves, and groups that could now
// be one stay apart. Where the size is a percentage it changes with the number of selected clusters, and
// the same holds.
//
// A group is known by its name and its place among the groups of that name, not by its index: indexes
// have no gaps, so where a name gains or loses a group, the groups of the names behind it get other
// indexes and keep their clusters. For the same reason a name that decisionGroups lists twice has all its
// groups at the first place. What is remembered is what previous holds: a name that was gone for a while
// starts anew.
//
// An object that has no index label, or one that is no index, as after an edit by hand, is put where an index is missing for its
// name, so that nobody moves; where none is, behind the last group of its name. But where none is and an object of the name is full
// ([MaxDecisions]), it may have had others of its group beside it, and its clusters are new to their name. An index label that was
// edited to another index is believed.
func Previous(groups *Groups) Option {
	return func(o *options) { o.previous = groups }
}

// heritage is the previous groups in terms of a new division. Without previous groups it is empty.
type heritage struct {
	homes []int32 // of each position, the previous group whose name it still matches, or -1
	bins  []int   // of each previous group, its place among the groups of its name, or -1
	sizes []int   // of each part, how many previous groups it continues
}

// inherit finds what the parts continue. Since groups are known by their names, clusters of a name that is
// listed twice go to its first part, which changes partOf.
func (d division) inherit(previous *Groups, names []string, partOf []int32) heritage {
	h := heritage{sizes: make([]int, len(d.groups)+1)}
	if previous.Len() == 0 {
		return h
	}
	if previous.placed != nil {
		previous = previous.placed
	}
	parts := make(map[string]int, len(h.sizes)) // the first of each name
	for part := len(d.groups); part >= 0; part-- {
		parts[d.name(part)] = part
	}
	h.bins = make([]int, previous.Len())
	for i := range h.bins {
		h.bins[i] = -1
	}
	for i, key := range previous.keys {
		if part, ok := parts[key.Name]; ok {
			h.bins[i] = h.sizes[part]
			h.sizes[part]++
		}
	}
	h.homes = homes(previous, names)
	for position, home := range h.homes {
		name := d.name(int(partOf[position]))
		partOf[position] = int32(parts[name])
		if home >= 0 && previous.keys[home].Name != name {
			h.homes[position] = -1
		}
	}
	return h
}

// homes gives the previous group of each of the names, which are sorted, or -1.
func homes(previous *Groups, names []string) []int32 {
	homes := make([]int32, len(names))
	before := 0
	for position, name := range names {
		for before < len(previous.names) && previous.names[before] < name {
			before++
		}
		homes[position] = -1
		if before < len(previous.names) && previous.names[before] == name {
			homes[position] = previous.groups[before]
		}
	}
	return homes
}

// cut divides the members of a part into its groups.
func (h heritage) cut(part int, members []int32, size int) [][]int32 {
	// The last group fills first.
	fill := make([]int, h.sizes[part])
	for i := range fill {
		fill[i] = len(fill) - 1 - i
	}
	groups := pack(members, size, fill, func(position int32) int {
		if home := h.homes[position]; home >= 0 {
			return h.bins[home]
		}
		return -1
	})
	for len(groups) > 0 && len(groups[len(groups)-1]) == 0 {
		groups = groups[:len(groups)-1]
	}
	return groups
}
