// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// unset stands for the action of a policy that leaves it to its templates.
const unset = "unset"

// text is the bindings and the clusters that they bind.
func (p *Policy) text(b *bytes.Buffer) {
	t := table(b, "BINDING", "PLACEMENT", "SELECTS", "BINDS", "ENFORCES", "WHAT IT IS")
	for _, binding := range p.Bindings {
		row(t, binding.Name, binding.PlacementRef.Kind+" "+binding.PlacementRef.Name, binding.Selects, binding.Binds, binding.Enforces,
			binding.what())
	}
	t.Flush()
	for _, ignored := range p.Ignored {
		fmt.Fprintf(b, "ignored: %s: %s: %s\n", ignored.Binding, ignored.Type, ignored.Message)
	}
	if len(p.Clusters) == 0 {
		return
	}
	t = table(b, "ACTION", "BOUND BY", "DECIDED BY", "CLUSTERS")
	for _, like := range p.alike() {
		c := like[0]
		row(t, cmp.Or(c.Action, unset), strings.Join(c.BoundBy, ", "), cmp.Or(strings.Join(c.DecidedBy, ", "), "the policy"), listed(namesOf(like)))
	}
	t.Flush()
}

func (b Binding) what() string {
	what := "plain"
	switch {
	case b.SubFilter && b.Enforce:
		what = "sub filter that enforces"
	case b.SubFilter:
		what = "sub filter without an action"
	case b.Enforce:
		what = "enforces"
	}
	if len(b.Excluded) > 0 {
		what += ", a PolicySet excludes " + listed(b.Excluded)
	}
	return what
}

// alike puts clusters together that have the same action for the same reason. enforce comes before inform.
func (p *Policy) alike() [][]Bound {
	all := slices.Clone(p.Clusters)
	compare := func(a, b Bound) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), slices.Compare(a.BoundBy, b.BoundBy), slices.Compare(a.DecidedBy, b.DecidedBy))
	}
	slices.SortStableFunc(all, compare)
	return slices.Collect(func(yield func([]Bound) bool) {
		for begin, end := 0, 0; begin < len(all); begin = end {
			for end < len(all) && compare(all[begin], all[end]) == 0 {
				end++
			}
			if !yield(all[begin:end]) {
				return
			}
		}
	})
}

func namesOf(clusters []Bound) []string {
	names := make([]string, len(clusters))
	for i, c := range clusters {
		names[i] = c.Name
	}
	return names
}

// listed names as many clusters as the text does.
func listed(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], " "), len(names)-mostNamed)
}

// String is like "enforce/Progressing: a b c".
func (change Change) String() string {
	return fmt.Sprintf("%s/%s: %s", cmp.Or(change.Action, unset), change.RolloutStatus, listed(change.Clusters))
}

// root is the root policy's status in a line.
func (p *Policy) root() string {
	return fmt.Sprintf("root policy: %s, %s", p.Status.RolloutStatus, cmp.Or(string(p.Status.ComplianceState), "no compliance reported"))
}
