// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"cmp"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/place"
)

// standing is where clusters stand by the places that are stored with their objects, for a division that follows.
type standing struct {
	homes []home
	has   map[Key]bool   // the groups that have an object, each with its place instead of an index
	sizes map[string]int // by name, how many places there are
}

// home is one of the groups that a cluster stands in.
type home struct {
	cluster string
	group   Key // with its place instead of an index
}

func compareHomes(a, b home) int {
	return cmp.Or(strings.Compare(a.cluster, b.cluster), a.group.Compare(b.group))
}

// findPlaces gives each source the group that it is of: its name, and the place of its group among those of the name. Sources have the
// order of parse. An object has no place if another controller or a person wrote it, or its labels. Then it is of the group that another object with its
// labels is of, or else of the group behind the one with the next lower index of its name.
func findPlaces(sources []source) {
	behind := map[string]int{} // by name: the place behind the index that was seen last
	for end := 0; end < len(sources); {
		start := end
		for end < len(sources) && sources[end].key == sources[start].key {
			end++
		}
		name := sources[start].key.Name
		lowest, known, strange := behind[name], false, false
		for i := start; i < end; i++ {
			source := &sources[i]
			n, ok := place.Read(source.from.Labels, source.from.Annotations)
			source.group, source.strange = Key{Index: int32(n), Name: name}, !ok
			strange = strange || !ok
			if ok && !source.assumed && (!known || n < lowest) {
				lowest, known = n, true
			}
		}
		for i := start; i < end; i++ {
			if sources[i].strange {
				sources[i].group.Index = int32(lowest)
			}
		}
		if known || strange {
			behind[name] = lowest + 1
		}
	}
}

// stand gives where the clusters of the sources stand, or nil if that is what their indexes say: each is in one group, and the groups of a name have
// their places in the order of their indexes.
func stand(sources []source, distinct int) *standing {
	total, ordered := 0, true
	next := map[string]int32{}
	for i := range sources {
		source := &sources[i]
		total += source.named
		if begins(sources, i) {
			next[source.key.Name]++
		}
		ordered = ordered && source.group.Index == next[source.key.Name]-1
	}
	if ordered && total == distinct {
		return nil
	}
	of := &standing{homes: make([]home, 0, total), has: make(map[Key]bool), sizes: make(map[string]int)}
	for i := range sources {
		source := &sources[i]
		of.has[source.group] = true
		of.sizes[source.group.Name] = max(of.sizes[source.group.Name], int(source.group.Index)+1)
		for _, decision := range source.decisions {
			if decision.ClusterName != "" {
				of.homes = append(of.homes, home{decision.ClusterName, source.group})
			}
		}
	}
	slices.SortFunc(of.homes, compareHomes)
	of.homes = slices.Compact(of.homes)
	return of
}

// settledGroups counts the groups of each name that the placement's status has: those of the last update that was completed. It is nil where
// no scheduler writes them: on a hub that is older than decision groups, and where OCM does not schedule.
func settledGroups(placement *clusterv1beta1.Placement) map[string]int {
	status := &placement.Status
	if len(status.DecisionGroups) == 0 && status.NumberOfSelectedClusters > 0 || unscheduled(placement) {
		return nil
	}
	settled := make(map[string]int)
	for i := range status.DecisionGroups {
		settled[status.DecisionGroups[i].DecisionGroupName]++
	}
	return settled
}

// fill gives the order in which the previous groups of a name fill. The last fills first (G6). But an update that was cut short has left
// groups without an object, or new ones that the status does not have yet. New clusters fill the same groups as before it was cut short:
// the new ones come last, in their order.
func (g *Groups) fill(name string, size int) []int {
	settled := size
	if g.settled != nil {
		settled = min(size, g.settled[name])
	}
	missing := func(at int) bool { return g.standing != nil && !g.standing.has[Key{Index: int32(at), Name: name}] }
	fill := make([]int, 0, size)
	for at := range settled {
		if missing(at) {
			fill = append(fill, at)
		}
	}
	for at := settled - 1; at >= 0; at-- {
		if !missing(at) {
			fill = append(fill, at)
		}
	}
	for at := settled; at < size; at++ {
		fill = append(fill, at)
	}
	return fill
}
