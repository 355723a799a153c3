package grouping

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// DecisionsKeeping is [Groups.Decisions] with steady names: given the PlacementDecisions of the
// placement that are stored, a name is only ever used for the group that its object's labels say, and a
// cluster stays in its object as long as it stays in that group. So no stored object changes its labels,
// and few are rewritten.
//
// Clusters that are new to a group fill its objects that have room, in the order of their names, and
// then new objects, with the lowest numbers that no stored object has. A stored object with more than
// MaxDecisions clusters gives up its last ones. A stored object that is not in the result is to be deleted: its
// group is gone, it has none of its clusters left, or it lacks the index label. An object that is being deleted,
// or that an earlier placement of the same name controls, keeps nothing: its clusters go to others. Objects that are no longer full are not merged; Decisions cuts
// anew.
//
// Within an object, clusters are in the order of their group; across the objects of a group they are not.
//
// The errors are the same as from Decisions for placement, and from [Read] for stored, whose objects must be of
// this placement. It takes time linear in the clusters of g and stored.
func (g *Groups) DecisionsKeeping(placement *clusterv1beta1.Placement, stored []*clusterv1beta1.PlacementDecision) ([]*clusterv1beta1.PlacementDecision, error) {
	if placement == nil {
		return nil, nilPlacement()
	}
	if errs := validateName(placement, nil); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}
	if err := ofOnePlacement(field.NewPath("groups"), g); err != nil {
		return nil, err
	}
	if _, err := parse(stored); err != nil {
		return nil, err
	}
	if err := validateStored(placement, stored); err != nil {
		return nil, err
	}
	reusable, err := parse(slices.DeleteFunc(slices.Clone(stored), func(d *clusterv1beta1.PlacementDecision) bool {
		return goes(d, placement) || isUnfit(d)
	}))
	if err != nil {
		return nil, err
	}

	k := newKeeper(g, placement.Name, reusable)
	for _, d := range stored {
		k.names[d.Name] = true
	}
	var result []*clusterv1beta1.PlacementDecision
	for i := range g.Len() {
		for _, o := range k.cut(i) {
			result = append(result, newDecision(placement, o.object, o.key, o.decisions))
		}
	}
	return result, nil
}

// keeper cuts groups into objects, given those that are stored, in the order of parse.
type keeper struct {
	*Groups
	stored  []source
	holders []int32 // of each position the first stored object that has it under the labels of its group, or -1
	names   map[string]bool
	prefix  string
	last    int // the highest number in use for an object that is not stored
}

func newKeeper(g *Groups, placement string, stored []source) *keeper {
	k := &keeper{
		Groups:  g,
		stored:  stored,
		holders: make([]int32, g.NumClusters()),
		names:   make(map[string]bool, len(stored)),
		prefix:  placement + "-decision-",
	}
	for position := range k.holders {
		k.holders[position] = -1
	}
	for i, object := range stored {
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

// goes says whether a stored object goes without anybody's doing, and what it has with it: it is being deleted, or will
// be by the garbage collector, since an earlier placement of the same name controls it.
func goes(d *clusterv1beta1.PlacementDecision, placement *clusterv1beta1.Placement) bool {
	if d.DeletionTimestamp != nil {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(d)
	return owner != nil && owner.UID != "" && placement.UID != "" && owner.UID != placement.UID
}

// isUnfit says whether an object cannot be kept: its index label is not written as Decisions writes it, such as "01", so
// that keeping it would change its label; or it has no name, which no stored object has.
func isUnfit(d *clusterv1beta1.PlacementDecision) bool {
	index, _, err := groupIndex(d)
	return d.Name == "" || err == nil && d.Labels[clusterv1beta1.DecisionGroupIndexLabel] != strconv.Itoa(int(index))
}
