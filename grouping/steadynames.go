package grouping

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/surge"
)

// keeper cuts groups into objects, given the stored objects in the order of parse.
type keeper struct {
	*Groups
	stored  []source        // those that stay
	holders []int32         // for each position the first stored object that has it under the labels of its group, or -1
	names   map[string]bool // of all stored objects
	prefix  string
	last    int // the highest number in use for an object that is not stored
}

// newKeeper finds out which of the placement's stored objects stay, and with which clusters.
func newKeeper(g *Groups, placement *clusterv1beta1.Placement, stored []source) *keeper {
	k := &keeper{
		Groups:  g,
		stored:  make([]source, 0, len(stored)),
		holders: make([]int32, g.NumClusters()),
		names:   make(map[string]bool, len(stored)),
		prefix:  placement.Name + "-decision-",
	}
	for i := range stored {
		s := &stored[i]
		k.names[s.object] = true
		if !goes(s.from, placement.UID) && !s.isUnfit() && !surge.Holds(s.from) {
			k.stored = append(k.stored, *s)
		}
	}
	for position := range k.holders {
		k.holders[position] = -1
	}
	for i, object := range k.stored {
		for _, d := range object.decisions {
			position, ok := g.Position(d.ClusterName)
			if ok && k.holders[position] < 0 && g.keys[g.groups[position]] == object.key {
				k.holders[position] = int32(i)
			}
		}
	}
	return k
}

// cut gives the content of the i-th group's objects in the order of their names.
func (k *keeper) cut(i int) []source {
	start, stored := k.ofGroup(k.keys[i])
	fill := make([]int, len(stored))
	for bin := range fill {
		fill[bin] = bin
	}
	parts := pack(k.members[k.starts[i]:k.starts[i+1]], MaxDecisions, fill, func(position int32) int {
		return max(int(k.holders[position])-start, -1)
	})
	empty := k.Size(i) == 0
	if empty {
		parts = make([][]int32, 1)
	}
	var objects []source
	for bin, positions := range parts {
		if len(positions) == 0 && !empty {
			continue
		}
		object := source{key: k.keys[i], decisions: make([]clusterv1beta1.ClusterDecision, 0, len(positions))}
		for _, position := range positions {
			object.decisions = append(object.decisions, k.decision(position))
		}
		if bin < len(stored) {
			object.object = stored[bin].object
		} else {
			object.object = k.unusedName()
		}
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b source) int { return compareNames(a.object, b.object) })
	return objects
}

// ofGroup gives the stored objects of a group, and where they start among all.
func (k *keeper) ofGroup(key Key) (start int, stored []source) {
	start, _ = slices.BinarySearchFunc(k.stored, key, func(s source, key Key) int { return s.key.Compare(key) })
	stored = k.stored[start:]
	if end := slices.IndexFunc(stored, func(s source) bool { return s.key != key }); end >= 0 {
		stored = stored[:end]
	}
	return start, stored
}

// unusedName gives the name with the next number that no stored object has.
func (k *keeper) unusedName() string {
	for {
		k.last++
		if name := k.prefix + strconv.Itoa(k.last); !k.names[name] {
			return name
		}
	}
}

// goes says whether a stored object will vanish by itself: it is being deleted, or the garbage collector will delete
// it, since an earlier placement of the same name controls it.
func goes(d *clusterv1beta1.PlacementDecision, placement types.UID) bool {
	if d.DeletionTimestamp != nil {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(d)
	return owner != nil && owner.UID != "" && placement != "" && owner.UID != placement
}

// isUnfit says whether an object cannot be kept. Its index label is not written as Decisions writes it, such as "01", so
// keeping the object would change the label. Or it has no name, which no stored object lacks.
func (s *source) isUnfit() bool {
	label, _ := s.label()
	return s.object == "" || label != strconv.Itoa(int(s.key.Index))
}
