// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"maps"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// The rules on the order of groups: R10, R12, R33.

// sequence is the groups that go one by one: the mandatory ones (R12), then under ProgressivePerGroup the
// others (R10). R33: each as soon as all that it comes after are in the sequence; of several the one with the lower index.
// R44: in the rollback the reverse, and none but under ProgressivePerGroup.
func (o *oracle) sequence() (sequence []grouping.Key) {
	if o.kind == clusterv1alpha1.All || o.back != nil && o.kind != clusterv1alpha1.ProgressivePerGroup {
		return nil
	}
	if o.inOrder != nil {
		return o.inOrder
	}
	var left []grouping.Key
	for _, g := range o.groups {
		if o.r12Named(g) {
			left = append(left, g)
		}
	}
	if o.kind == clusterv1alpha1.ProgressivePerGroup {
		for _, g := range o.groups {
			if !o.r12Named(g) {
				left = append(left, g)
			}
		}
	}
	if o.ordered == nil {
		sequence, left = left, nil
	}
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(g grouping.Key) bool {
			return !slices.ContainsFunc(left, func(other grouping.Key) bool { return other != g && o.r33Forward(other, g) })
		})
		sequence = append(sequence, left[i])
		left = slices.Delete(left, i, i+1)
	}
	if o.back != nil {
		slices.Reverse(sequence)
	}
	return sequence
}

// r12Named says whether an entry of the strategy names a group.
func (o *oracle) r12Named(group grouping.Key) bool {
	if group == unknown && !o.isPooled() { // R47
		return true
	}
	return slices.ContainsFunc(o.mandatory, func(entry clusterv1alpha1.MandatoryDecisionGroup) bool { return r12Names(entry, group) })
}

// R33: whether a group comes before another one. R44: in the rollback after it.
func (o *oracle) r33(first, second grouping.Key) bool {
	if o.back != nil {
		return o.r33Forward(second, first)
	}
	return o.r33Forward(first, second)
}

// R33, forward. R10: without the option by the index. R12: a mandatory group comes before all others.
func (o *oracle) r33Forward(first, second grouping.Key) bool {
	byIndex := slices.Index(o.groups, first) < slices.Index(o.groups, second)
	switch {
	case o.r12Named(first) != o.r12Named(second):
		return o.r12Named(first)
	case o.r12Named(first) || o.ordered == nil || o.kind != clusterv1alpha1.ProgressivePerGroup:
		return byIndex
	case first.Name == second.Name:
		return first.Placement == second.Placement && byIndex
	}
	return r33After(o.ordered, second.Name, first.Name)
}

// r33After says whether a name comes after another one, directly or not.
func r33After(after map[string][]string, name, before string) bool {
	for _, direct := range after[name] {
		if direct == before || r33After(after, direct, before) {
			return true
		}
	}
	return false
}

// r33Cycle says whether a name comes after itself.
func r33Cycle(after map[string][]string) bool {
	reached := map[string]map[string]bool{}
	for name, direct := range after {
		reached[name] = map[string]bool{}
		for _, before := range direct {
			reached[name][before] = true
		}
	}
	for range after {
		for name := range reached {
			for before := range maps.Clone(reached[name]) {
				maps.Copy(reached[name], reached[before])
			}
		}
	}
	for name := range reached {
		if reached[name][name] {
			return true
		}
	}
	return false
}

// r33Schedule is for each stage all stages that it comes after; nil where it comes after all before it.
func (o *oracle) r33Schedule() [][]int {
	if o.ordered == nil || o.kind != clusterv1alpha1.ProgressivePerGroup {
		return nil
	}
	sequence := o.sequence()
	after, chain := make([][]int, len(sequence)), true
	for i, g := range sequence {
		for j, before := range sequence[:i] {
			if o.r33(before, g) {
				after[i] = append(after[i], j)
			}
		}
		chain = chain && len(after[i]) == i
	}
	if chain {
		return nil
	}
	return after
}

// allAfter is for each stage of a schedule all stages that it comes after, directly or not; nil where it comes after all
// before it.
func allAfter(s rollout.Schedule) [][]int {
	if s.After == nil {
		return nil
	}
	all := make([][]int, len(s.After))
	for i, direct := range s.After {
		for _, before := range direct {
			all[i] = append(append(all[i], before), all[before]...)
		}
		slices.Sort(all[i])
		all[i] = slices.Compact(all[i])
	}
	return all
}

// comesBefore says whether a stage of a schedule comes before another one.
func comesBefore(s rollout.Schedule, first, second int) bool {
	if s.After == nil {
		return first < second
	}
	return slices.Contains(allAfter(s)[second], first)
}

// R33: names that no group has, in order.
func (o *oracle) r33WithoutGroup() {
	if o.ordered == nil || o.kind != clusterv1alpha1.ProgressivePerGroup {
		return
	}
	var names []string
	for name, before := range o.ordered {
		names = append(append(names, name), before...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.ContainsFunc(o.groups, func(g grouping.Key) bool { return g.Name == name }) {
			o.warn(rollout.Warning{Type: rollout.WarningOrderWithoutGroup, Group: grouping.Key{Name: name}, Known: o.known()})
		}
	}
}
