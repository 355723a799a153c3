// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"cmp"
	"slices"
)

// onlyGrows reports whether clusters are added and every stored one stays in its place. That is so when nothing is
// stored, or only the object without clusters of an empty selection, and after a crash in the middle of such an update.
func (f *fleet) onlyGrows() bool {
	return slices.ContainsFunc(f.objects, func(object object) bool { return object.gains }) &&
		!slices.ContainsFunc(f.objects, func(object object) bool { return object.loses })
}

// fill adds clusters group by group: the named groups one a step, in the order of their index, then all others in
// one step, then it deletes (D12). An object that only gets other metadata belongs to the first step. A reader that doesn't know how many clusters the Placement has selected never sees
// a cluster of a later group while a named group before it isn't complete.
func (f *fleet) fill() []Step {
	var named []Group
	for o := range f.objects {
		if obj := &f.objects[o]; obj.desired != nil && obj.grows() {
			if group := groupOf(obj.desired.Labels); group.Name != "" && !slices.Contains(named, group) {
				named = append(named, group)
			}
		}
	}
	slices.SortFunc(named, func(a, b Group) int { return cmp.Or(cmp.Compare(a.index(), b.index()), cmp.Compare(a.Name, b.Name)) })

	rest := len(named)
	steps := make([]Step, rest+2)
	for o := range f.objects {
		obj := &f.objects[o]
		step := rest
		switch {
		case !obj.differs():
			continue
		case obj.desired == nil:
			step = rest + 1
		case !obj.grows():
			step = 0
		default:
			if group := groupOf(obj.desired.Labels); group.Name != "" {
				step = slices.Index(named, group)
			}
		}
		steps[step] = append(steps[step], obj.final(nil))
	}
	return steps
}

// grows reports whether the object is new or gets clusters.
func (o *object) grows() bool { return o.gains || o.stored == nil }
