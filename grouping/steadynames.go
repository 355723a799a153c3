// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"cmp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/surge"
)

// keeper cuts groups into objects, given the stored objects.
type keeper struct {
	*Groups
	places  []Key           // of each group, with its place among the groups of its name instead of its index
	stored  []source        // those that stay, by their groups
	holders []int32         // for each position the first stored object of its group that has it, or -1
	names   map[string]bool // of all stored objects, also those of others
	prefix  string
	last    int // the highest number in use for an object that is not stored
}

// newKeeper finds out which of the placement's stored objects stay, and with which clusters.
func newKeeper(groups *Groups, placement *clusterv1beta1.Placement, stored []source) *keeper {
	keeper := &keeper{
		Groups:  groups,
		stored:  make([]source, 0, len(stored)),
		holders: make([]int32, groups.NumClusters()),
		names:   make(map[string]bool, len(stored)),
		prefix:  placement.Name + "-decision-",
	}
	for i := range stored {
		source := &stored[i]
		if source.object != "" && !goes(source.from, placement.UID) && !surge.Holds(source.from) {
			keeper.stored = append(keeper.stored, *source)
		}
	}
	slices.SortStableFunc(keeper.stored, func(a, b source) int { return cmp.Or(a.group.Compare(b.group), compareNames(a.object, b.object)) })
	number := map[string]int32{}
	for i := range groups.Len() {
		name := groups.keys[i].Name
		keeper.places = append(keeper.places, Key{Index: number[name], Name: name})
		number[name]++
	}
	for position := range keeper.holders {
		keeper.holders[position] = -1
	}
	for i, object := range keeper.stored {
		for _, decision := range object.decisions {
			position, ok := groups.Position(decision.ClusterName)
			if ok && keeper.holders[position] < 0 && keeper.places[groups.groups[position]] == object.group {
				keeper.holders[position] = int32(i)
			}
		}
	}
	return keeper
}

// cut gives the content of the i-th group's objects in the order of their names.
func (keep *keeper) cut(i int) []source {
	start, stored := keep.ofGroup(keep.places[i])
	fill := make([]int, len(stored))
	for bin := range fill {
		fill[bin] = bin
	}
	parts := pack(keep.members[keep.starts[i]:keep.starts[i+1]], MaxDecisions, fill, func(position int32) int {
		return max(int(keep.holders[position])-start, -1)
	})
	empty := keep.Size(i) == 0
	if empty {
		parts = make([][]int32, 1)
	}
	var objects []source
	for bin, positions := range parts {
		if len(positions) == 0 && !empty {
			continue
		}
		object := source{key: keep.keys[i], group: keep.places[i], decisions: make([]clusterv1beta1.ClusterDecision, 0, len(positions))}
		for _, position := range positions {
			object.decisions = append(object.decisions, keep.decision(position))
		}
		if bin < len(stored) {
			object.object = stored[bin].object
		} else {
			object.object = keep.unusedName()
		}
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b source) int { return compareNames(a.object, b.object) })
	return objects
}

// ofGroup gives the stored objects of a group, and where they start among all.
func (keep *keeper) ofGroup(group Key) (start int, stored []source) {
	start, _ = slices.BinarySearchFunc(keep.stored, group, func(source source, group Key) int { return source.group.Compare(group) })
	stored = keep.stored[start:]
	if end := slices.IndexFunc(stored, func(source source) bool { return source.group != group }); end >= 0 {
		stored = stored[:end]
	}
	return start, stored
}

// unusedName gives the name with the next number that no stored object has.
func (keep *keeper) unusedName() string {
	for {
		keep.last++
		if name := keep.prefix + strconv.Itoa(keep.last); !keep.names[name] {
			return name
		}
	}
}

// goes says whether a stored object will vanish by itself: it is being deleted, or the garbage collector will delete
// it, since an earlier placement of the same name controls it.
func goes(decision *clusterv1beta1.PlacementDecision, placement types.UID) bool {
	if decision.DeletionTimestamp != nil {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(decision)
	return owner != nil && owner.UID != "" && placement != "" && owner.UID != placement
}
