package grouping

// heritage maps the previous groups to a new division. Without previous groups it is empty.
type heritage struct {
	homes []int32 // of each position, the previous group whose name it still matches, or -1
	bins  []int   // of each previous group, its place among the groups of its name if that still exists
	sizes []int   // of each part, how many previous groups it continues
}

// inherit finds which previous groups the parts continue. Groups are identified by name. So the clusters of a name that
// is listed twice go to its first part, and inherit changes partOf accordingly.
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

// homes gives the previous group of each of the sorted names, or -1.
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
