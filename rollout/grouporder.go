package rollout

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// GroupOrder says which groups come after which under ProgressivePerGroup, in place of the order of their index. It maps
// the name of a group to the names of the groups that have to be complete before it starts. Groups whose name has no entry
// start as soon as the mandatory groups are complete. Several groups can be under way at a time:
//
//	rollout.GroupOrder{
//		"staging-eu": {"canary"}, "prod-eu": {"staging-eu"},
//		"staging-us": {"canary"}, "prod-us": {"staging-us"},
//	}
//
// An empty GroupOrder, which is not nil, starts all groups behind the mandatory ones at once. With a gate before each, they
// start in the order in which their gates open.
//
// Groups of the same name still come one after the other by their index, in each placement. Groups without a name have the
// empty name. A name means the groups of every placement. Mandatory groups come before all others. A closed gate blocks its
// group and the groups after it, and nothing else. A breach in any group stops all. With a ramp or a limit on starts, groups
// start clusters in the order of [Schedule].Stages.
//
// A name that comes after itself is an error. The result warns of a name that no group has. What comes after such a name
// comes after the predecessors of that name; where it has none, it starts freely. Look at the Warnings before the first
// start. The other types ignore the order, and the result warns of that.
//
// A plan takes time linear in the names and pairs of the order, beside sorting the names, and in the groups, and in the pairs of
// [Schedule].After, where groups that come after the same ones share theirs. Only where many names come after names without a
// group, each after other ones, a plan may look at all of these for each name.
type GroupOrder map[string][]string

// compile checks an order; nil where there is none.
func (after GroupOrder) compile(path *field.Path) (*groupOrder, *field.Error) {
	if after == nil {
		return nil, nil
	}
	order := newGroupOrder(after)
	return order, order.sort(path)
}

// groupOrder is a checked GroupOrder. Names are numbers from here on.
type groupOrder struct {
	names  []string  // in order
	after  [][]int32 // for each name those that it comes directly after, in order
	sorted []int32   // the names, each behind all that it comes after
}

func newGroupOrder(after map[string][]string) *groupOrder {
	number := make(map[string]int32, len(after))
	for name, before := range after {
		number[name] = 0
		for _, name := range before {
			number[name] = 0
		}
	}
	o := &groupOrder{names: slices.Sorted(maps.Keys(number)), after: make([][]int32, len(number))}
	for i, name := range o.names {
		number[name] = int32(i)
	}
	for name, before := range after {
		numbers := make([]int32, len(before))
		for i, name := range before {
			numbers[i] = number[name]
		}
		slices.Sort(numbers)
		o.after[number[name]] = slices.Compact(numbers)
	}
	return o
}

// sort sorts the names, or gives an error where a name comes after itself, for the first such name. It goes from each name
// to those that it comes after, as deep as it can, and takes time linear in the names and their pairs.
func (o *groupOrder) sort(at *field.Path) *field.Error {
	o.sorted = make([]int32, 0, len(o.names))
	const isSorted = -1
	depth := make([]int32, len(o.names)) // of each name on the path, from 1; 0 where it was not seen yet
	next := make([]int32, len(o.names))  // how many of those that it comes after were seen
	var path []int32
	enter := func(name int32) {
		path = append(path, name)
		depth[name] = int32(len(path))
	}
	for first := range o.names {
		if depth[first] == 0 {
			enter(int32(first))
		}
		for len(path) > 0 {
			name := path[len(path)-1]
			if int(next[name]) == len(o.after[name]) {
				path, depth[name] = path[:len(path)-1], isSorted
				o.sorted = append(o.sorted, name)
				continue
			}
			before := o.after[name][next[name]]
			next[name]++
			switch found := depth[before]; {
			case found == 0:
				enter(before)
			case found != isSorted:
				return o.cycleError(at, path[found-1:])
			}
		}
	}
	return nil
}

// cycleError gives the error for a cycle, which begins with its first name.
func (o *groupOrder) cycleError(at *field.Path, cycle []int32) *field.Error {
	first := slices.Index(cycle, slices.Min(cycle))
	var quoted []string
	for _, name := range slices.Concat(cycle[first:], cycle[:first+1]) {
		quoted = append(quoted, strconv.Quote(o.names[name]))
	}
	return field.Invalid(at.Key(o.names[cycle[first]]), o.names[cycle[(first+1)%len(cycle)]], "must not come after itself: "+strings.Join(quoted, " after "))
}

// checkGroupOrder warns of the names in the GroupOrder that no group has, in order.
func (s *schedule) checkGroupOrder() {
	order := s.options.groupOrder
	if order == nil || s.rules.typ != clusterv1alpha1.ProgressivePerGroup {
		return
	}
	has := make([]bool, len(order.names))
	for i := range s.groups.Len() {
		if name, ok := slices.BinarySearch(order.names, s.groups.Key(i).Name); ok {
			has[name] = true
		}
	}
	for i, name := range order.names {
		if !has[i] {
			s.warn(Warning{Type: WarningOrderWithoutGroup, Group: grouping.Key{Name: name}, Known: s.known()})
		}
	}
}
