// SPDX-License-Identifier: Apache-2.0

package grouping

// heritage maps the previous groups to a new division. Without previous groups it is empty.
type heritage struct {
	bins  []int32 // of each position, the place of its group among the previous groups of its name, or -1
	sizes []int   // of each part, how many previous groups it continues
	fills [][]int // of each part, the places in the order in which they fill
}

// inherit finds which previous groups the parts continue. Groups are identified by name: the clusters of a name that
// is listed twice go to its first part, and inherit changes partOf accordingly.
func (d division) inherit(previous *Groups, names []string, partOf []int32) heritage {
	heritage := heritage{sizes: make([]int, len(d.groups)+1), fills: make([][]int, len(d.groups)+1)}
	if previous.Len() == 0 {
		return heritage
	}
	parts := make(map[string]int, len(heritage.sizes)) // the first of each name
	for part := len(d.groups); part >= 0; part-- {
		parts[d.name(part)] = part
	}
	for position, part := range partOf {
		partOf[position] = int32(parts[d.name(int(part))])
	}
	heritage.bins = make([]int32, len(names))
	if previous.standing == nil {
		heritage.byIndex(d, previous, names, parts, partOf)
	} else {
		heritage.byPlace(d, previous.standing, names, parts, partOf)
	}
	for part := range heritage.fills {
		heritage.fills[part] = previous.fill(d.name(part), heritage.sizes[part])
	}
	return heritage
}

// byIndex takes the order of the indexes for the places.
func (h *heritage) byIndex(division division, previous *Groups, names []string, parts map[string]int, partOf []int32) {
	places := make([]int32, previous.Len()) // of each previous group, if its name still exists
	for i, key := range previous.keys {
		if part, ok := parts[key.Name]; ok {
			places[i] = int32(h.sizes[part])
			h.sizes[part]++
		}
	}
	before := 0
	for position, name := range names {
		for before < len(previous.names) && previous.names[before] < name {
			before++
		}
		h.bins[position] = -1
		if before < len(previous.names) && previous.names[before] == name {
			if home := previous.groups[before]; previous.keys[home].Name == division.name(int(partOf[position])) {
				h.bins[position] = places[home]
			}
		}
	}
}

// byPlace takes the places that are stored. A cluster that stands in several groups of its name is at home in the lowest.
func (h *heritage) byPlace(division division, of *standing, names []string, parts map[string]int, partOf []int32) {
	for name, size := range of.sizes {
		if part, ok := parts[name]; ok {
			h.sizes[part] = size
		}
	}
	homes := of.homes
	for position, name := range names {
		for len(homes) > 0 && homes[0].cluster < name {
			homes = homes[1:]
		}
		h.bins[position] = -1
		for ; len(homes) > 0 && homes[0].cluster == name; homes = homes[1:] {
			if h.bins[position] < 0 && homes[0].group.Name == division.name(int(partOf[position])) {
				h.bins[position] = homes[0].group.Index
			}
		}
	}
}

// cut divides the members of a part into its groups.
func (h heritage) cut(part int, members []int32, size int) [][]int32 {
	groups := pack(members, size, h.fills[part], func(position int32) int { return int(h.bins[position]) })
	for len(groups) > 0 && len(groups[len(groups)-1]) == 0 {
		groups = groups[:len(groups)-1]
	}
	return groups
}
