package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/bitset"
)

// GroupOrder says which groups come after which under ProgressivePerGroup, in place of the order of their index. It maps
// the name of a group to the names of the groups that have to be complete before it starts. Groups whose name has no entry
// start as soon as the mandatory groups are complete. So several groups can be under way at a time:
//
//	rollout.GroupOrder(map[string][]string{
//		"staging-eu": {"canary"}, "prod-eu": {"staging-eu"},
//		"staging-us": {"canary"}, "prod-us": {"staging-us"},
//	})
//
// GroupOrder(nil) starts all groups behind the mandatory ones at once. With a gate before each ([Closed]), they start in the
// order in which their gates open.
//
// Groups of the same name still come one after the other by their index, in each placement. Groups without a name have the
// empty name. A name means the groups of every placement. Mandatory groups come before all others. A closed gate holds its
// group and the groups after it, and nothing else. A breach in any group stops all. With [Ramp] or [MaxStarts], groups start
// clusters in the order of [Schedule].Stages.
//
// A name that comes after itself is an error. The result warns of a name that no group has. What comes after such a name
// comes after the predecessors of that name; where it has none, it starts freely. So look at the Warnings before the first
// start. The other types ignore the option, and the result warns of that. The map is copied.
func GroupOrder(after map[string][]string) Option {
	order := &groupOrder{after: make(map[string][]string, len(after))}
	for name, before := range after {
		order.after[name] = slices.Compact(slices.Sorted(slices.Values(before)))
	}
	err := order.cycle()
	return func(o *options) { o.groupOrder, o.groupOrderErr = order, err }
}

// groupOrder has what was given to the option GroupOrder.
type groupOrder struct {
	after map[string][]string
}

// cycle gives an error where a name comes after itself, for the first such name.
func (o *groupOrder) cycle() *field.Error {
	done := make(map[string]bool, len(o.after)) // names from which no cycle can be reached
	var path []string
	var visit func(name string) []string
	visit = func(name string) []string {
		if at := slices.Index(path, name); at >= 0 {
			return path[at:]
		}
		if done[name] {
			return nil
		}
		path = append(path, name)
		for _, before := range o.after[name] {
			if cycle := visit(before); cycle != nil {
				return cycle
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.after)) {
		if cycle := visit(name); cycle != nil {
			return cycleError(cycle)
		}
	}
	return nil
}

// cycleError begins a cycle with its first name.
func cycleError(cycle []string) *field.Error {
	first := slices.Index(cycle, slices.Min(cycle))
	cycle = append(slices.Clone(cycle[first:]), cycle[:first+1]...)
	quoted := make([]string, len(cycle))
	for i, name := range cycle {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return field.Invalid(field.NewPath("groupOrder").Key(cycle[0]), cycle[1], "must not come after itself: "+strings.Join(quoted, " after "))
}

// graph says which groups come after which, by their places among all groups.
type graph struct {
	order  []int32   // each group is behind all that it comes after
	before [][]int32 // for each group what it comes directly after
}

// arrange makes a graph of the groups under ProgressivePerGroup with the option GroupOrder: first the mandatory groups,
// one after the other, then the others (R33). Groups that may go in any order are in the order of their index.
func (s *schedule) arrange(mandatory, others []int32) graph {
	g := graph{order: mandatory, before: make([][]int32, s.groups.Len())}
	for i := 1; i < len(mandatory); i++ {
		g.before[mandatory[i]] = mandatory[i-1 : i]
	}
	chains := s.chains(others)
	for name, ofName := range chains {
		before := s.lastOf(chains, name)
		if len(before) == 0 && len(mandatory) > 0 {
			before = mandatory[len(mandatory)-1:]
		}
		for _, chain := range ofName {
			g.before[chain[0]] = before
			for i := 1; i < len(chain); i++ {
				g.before[chain[i]] = chain[i-1 : i]
			}
		}
	}
	g.sort(others)
	return g
}

// chains gives the groups of each name, in each placement, that come one after the other.
func (s *schedule) chains(groups []int32) map[string][][]int32 {
	type chain struct{ placement, name string }
	chains, at := make(map[string][][]int32), make(map[chain]int)
	for _, group := range groups {
		key := s.groups.Key(int(group))
		of := chain{key.Placement, key.Name}
		i, known := at[of]
		if !known {
			i = len(chains[key.Name])
			at[of] = i
			chains[key.Name] = append(chains[key.Name], nil)
		}
		chains[key.Name][i] = append(chains[key.Name][i], group)
	}
	return chains
}

// lastOf lists the last group of each chain that a name comes after, in order. In place of a name without a chain it
// takes the names that this one comes after.
func (s *schedule) lastOf(chains map[string][][]int32, name string) (last []int32) {
	seen := make(map[string]bool)
	var add func(name string)
	add = func(name string) {
		for _, before := range s.options.groupOrder.after[name] {
			if seen[before] {
				continue
			}
			seen[before] = true
			for _, chain := range chains[before] {
				last = append(last, chain[len(chain)-1])
			}
			if chains[before] == nil {
				add(before)
			}
		}
	}
	add(name)
	slices.Sort(last)
	return last
}

// sort puts the other groups behind the mandatory ones, each behind all that it comes after, otherwise by their index.
func (g *graph) sort(others []int32) {
	after := make([][]int32, len(g.before))
	missing := make([]int, len(g.before)) // for each group how many that it comes after are not in order yet
	ready := bitset.New(len(g.before))
	isOther := make([]bool, len(g.before))
	for _, group := range others {
		isOther[group] = true
	}
	for _, group := range others {
		for _, before := range g.before[group] {
			if isOther[before] {
				after[before] = append(after[before], group)
				missing[group]++
			}
		}
		if missing[group] == 0 {
			ready.Add(int(group))
		}
	}
	g.order = slices.Grow(g.order, len(others))
	for group, ok := ready.Next(0); ok; group, ok = ready.Next(0) {
		ready.Remove(group)
		g.order = append(g.order, int32(group))
		for _, next := range after[group] {
			if missing[next]--; missing[next] == 0 {
				ready.Add(int(next))
			}
		}
	}
}

// turnRound gives the reverse graph, in which each group comes after those that came after it (R44).
func (g graph) turnRound() graph {
	round := graph{order: slices.Clone(g.order), before: make([][]int32, len(g.before))}
	slices.Reverse(round.order)
	for _, group := range g.order {
		for _, before := range g.before[group] {
			round.before[before] = append(round.before[before], group)
		}
	}
	return round
}

// link notes what each stage comes directly after, where the stages are the groups of a graph, in its order, and not a
// chain.
func (s *schedule) link(g graph) {
	after, chain := make([][]int, len(g.order)), true
	for stage, group := range g.order {
		after[stage] = make([]int, len(g.before[group]))
		for i, before := range g.before[group] {
			after[stage][i] = int(s.stageOf[before])
		}
		slices.Sort(after[stage])
		chain = chain && (stage == 0 || slices.Contains(after[stage], stage-1))
	}
	if !chain {
		s.After, s.members = after, g.order
	}
}

// checkGroupOrder warns of the names in the option GroupOrder that no group has, in order.
func (s *schedule) checkGroupOrder() {
	order := s.options.groupOrder
	if order == nil || s.Type != clusterv1alpha1.ProgressivePerGroup {
		return
	}
	unknown := make(map[string]bool)
	for name, before := range order.after {
		unknown[name] = true
		for _, name := range before {
			unknown[name] = true
		}
	}
	for i := range s.groups.Len() {
		delete(unknown, s.groups.Key(i).Name)
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		s.warn(Warning{Type: WarningOrderWithoutGroup, Group: grouping.Key{Name: name}, Known: s.known()})
	}
}
