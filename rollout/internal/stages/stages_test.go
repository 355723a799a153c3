// SPDX-License-Identifier: Apache-2.0

package stages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	_ "github.com/cohort-ocm/cohort/internal/seeded"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// keys are the keys of groups.
type keys []grouping.Key

func (k keys) Len() int                   { return len(k) }
func (k keys) Key(group int) grouping.Key { return k[group] }

// named gives groups of one placement with these names.
func named(names ...string) (all keys) {
	for i, name := range names {
		all = append(all, grouping.Key{Index: int32(i), Name: name})
	}
	return all
}

func ExampleGraph() {
	groups := named("", "canary", "")
	mandatory := stages.NewMandatory([]clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}})
	pool := stages.New(groups, stages.Layout{Mandatory: mandatory})
	each := stages.New(groups, stages.Layout{Mandatory: mandatory, Single: true})
	fmt.Println(drawn(&pool))
	fmt.Println(drawn(&each))
	// Output:
	// [1]! [0 2]
	// [1]! [0] [2]
}

// drawn gives the groups of each stage, and what the stage comes directly after where that is not the one before it: `[1]! [0] [2]<0,1`.
func drawn(g *stages.Graph) string {
	var all []string
	for stage := range g.Len() {
		s := strings.ReplaceAll(fmt.Sprint(g.Groups(stage)), "stages.", "")
		if g.IsMandatory(stage) {
			s += "!"
		}
		if !g.IsChain() {
			s += "<" + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.DirectlyBefore(stage)), " ", ","), "[]")
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

// R9 to R12, R26, R33, R44: how groups become stages.
func TestGroupsBecomeStages(t *testing.T) {
	canary := []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	first := []clusterv1alpha1.MandatoryDecisionGroup{{GroupIndex: 0}}
	unknown := append(keys{{Index: -1}}, named("", "canary")...)
	for _, test := range []struct {
		why       string
		keys      keys
		mandatory []clusterv1alpha1.MandatoryDecisionGroup
		layout    stages.Layout
		order     map[string][]string
		want      string
	}{
		{why: "no group, no stage", want: ""},
		{why: "a pool of one group is no group in a sequence", keys: named(""), want: "[0]"},
		{why: "all groups in one pool, by their index", keys: named("", "", ""), want: "[0 1 2]"},
		{why: "each a stage", keys: named("", ""), layout: stages.Layout{Single: true}, want: "[0] [1]"},
		{why: "a name means all groups of that name", keys: named("canary", "", "canary"), mandatory: canary, want: "[0]! [2]! [1]"},
		{why: "an index means the group with that index, whatever its name", keys: named("a", "b"), mandatory: first, want: "[0]! [1]"},
		{why: "only mandatory groups: there is no pool", keys: named("canary"), mandatory: canary, want: "[0]!"},
		{why: "an unknown group is in the pool where all are", keys: unknown, want: "[0 1 2]"},
		{why: "an unknown group is alone and first where there is a mandatory one", keys: unknown, mandatory: canary, want: "[0]! [2]! [1]"},
		{why: "an unknown group is alone and first where each is a stage", keys: unknown, layout: stages.Layout{Single: true}, want: "[0]! [1] [2]"},
		{why: "a rollback pools the mandatory groups, by their index", keys: named("", "canary", ""), mandatory: canary, layout: stages.Layout{Reversed: true}, want: "[0 1 2]"},
		{why: "a rollback pools an unknown group", keys: unknown, mandatory: canary, layout: stages.Layout{Reversed: true}, want: "[0 1 2]"},
		{
			why:  "a rollback of single groups ends with the mandatory ones, and the unknown one",
			keys: unknown, mandatory: canary, layout: stages.Layout{Single: true, Reversed: true}, want: "[1] [2] [0]",
		},
		{why: "an order has no part in a pool", keys: named("a", "b"), order: map[string][]string{"a": {"b"}}, want: "[0 1]"},
		{
			why:  "an order that is a chain has no links",
			keys: named("a", "b"), layout: stages.Layout{Single: true}, order: map[string][]string{"a": {"b"}}, want: "[1] [0]",
		},
		{why: "an empty order lets all go at once", keys: named("a", "b"), layout: stages.Layout{Single: true}, order: map[string][]string{}, want: "[0]< [1]<"},
		{
			why: "all come after the last mandatory group", keys: named("a", "canary", "b"), mandatory: canary,
			layout: stages.Layout{Single: true}, order: map[string][]string{}, want: "[1]!< [0]<0 [2]<0",
		},
		{
			why: "a name without a group passes on what comes before it", keys: named("a", "c", "d"),
			layout: stages.Layout{Single: true}, order: map[string][]string{"c": {"gone"}, "gone": {"a"}}, want: "[0]< [1]<0 [2]<",
		},
		{
			why: "a name without a group passes on what comes before it beside others, once", keys: named("a", "b", "d", "c"), layout: stages.Layout{Single: true},
			order: map[string][]string{"c": {"gone", "b", "too"}, "gone": {"a", "d"}, "too": {"gone", "b"}}, want: "[0]< [1]< [2]< [3]<0,1,2",
		},
		{
			why: "groups of one name come one after the other", keys: named("a", "a", "b"),
			layout: stages.Layout{Single: true}, order: map[string][]string{"b": {"a"}}, want: "[0] [1] [2]",
		},
		{
			why: "a rollback turns a graph round", keys: named("a", "b", "c"), layout: stages.Layout{Single: true, Reversed: true},
			order: map[string][]string{"b": {"a"}, "c": {"a"}}, want: "[2]< [1]< [0]<0,1",
		},
	} {
		layout := test.layout
		layout.Mandatory = stages.NewMandatory(test.mandatory)
		if test.order != nil {
			layout.Order, _ = stages.NewOrder(test.order)
		}
		g := stages.New(test.keys, layout)
		if got := drawn(&g); got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}

// All groups are one stage only where neither single groups nor mandatory ones are asked for; a rollback has no mandatory ones.
func TestALayoutSaysWhetherAllGroupsArePooled(t *testing.T) {
	mandatory := stages.NewMandatory([]clusterv1alpha1.MandatoryDecisionGroup{{GroupIndex: 5}}) // also one that no group is
	for _, test := range []struct {
		layout stages.Layout
		want   bool
	}{
		{stages.Layout{}, true},
		{stages.Layout{Reversed: true}, true},
		{stages.Layout{Single: true}, false},
		{stages.Layout{Single: true, Reversed: true}, false},
		{stages.Layout{Mandatory: mandatory}, false},
		{stages.Layout{Mandatory: mandatory, Reversed: true}, true},
	} {
		if got := test.layout.IsPooled(); got != test.want {
			t.Errorf("%+v: pooled is %v, want %v", test.layout, got, test.want)
		}
	}
}

// A pool stands behind the mandatory groups and is not a group in a sequence; all other stages are.
func TestOnlyThePoolIsNoSingleGroup(t *testing.T) {
	mandatory := stages.NewMandatory([]clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}})
	pool := stages.New(named("canary", "b"), stages.Layout{Mandatory: mandatory})
	each := stages.New(named("canary", "b"), stages.Layout{Mandatory: mandatory, Single: true})
	if !pool.IsSingle(0) || pool.IsSingle(1) || !each.IsSingle(1) {
		t.Errorf("single: %v %v in a pool, %v by groups", pool.IsSingle(0), pool.IsSingle(1), each.IsSingle(1))
	}
}

// R33: a cycle is told from its first name back to that, and of several cycles one.
func TestACycleOfNamesIsNoOrder(t *testing.T) {
	for _, test := range []struct {
		why   string
		after map[string][]string
		want  []string
	}{
		{"after itself", map[string][]string{"a": {"a"}}, []string{"a", "a"}},
		{"begins with the first name", map[string][]string{"c": {"b"}, "b": {"d"}, "d": {"c"}}, []string{"b", "d", "c", "b"}},
		{"begins with its first name, wherever it is found", map[string][]string{"a": {"c"}, "c": {"b"}, "b": {"c"}}, []string{"b", "c", "b"}},
		{"what leads to it is no part of it", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, []string{"b", "c", "b"}},
	} {
		order, cycle := stages.NewOrder(test.after)
		if order != nil || !slices.Equal(cycle, test.want) {
			t.Errorf("%s: order %v, cycle %q, want %q", test.why, order, cycle, test.want)
		}
	}
}

// world is a layout of groups, as a property draws it.
type world struct {
	keys      keys
	mandatory []clusterv1alpha1.MandatoryDecisionGroup
	order     map[string][]string // nil without one
	reversed  bool
}

func draw(t *rapid.T) (w world) {
	names := []string{"", "a", "b", "c", "d", "e"}
	n := rapid.IntRange(0, 8).Draw(t, "groups")
	for i := range n {
		w.keys = append(w.keys, grouping.Key{
			Index: int32(i), Name: rapid.SampledFrom(names).Draw(t, "name"), Placement: rapid.SampledFrom([]string{"", "p"}).Draw(t, "placement"),
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "entries") {
		w.mandatory = append(w.mandatory, clusterv1alpha1.MandatoryDecisionGroup{
			GroupName: rapid.SampledFrom(names).Draw(t, "entry"), GroupIndex: rapid.Int32Range(0, 8).Draw(t, "index"),
		})
	}
	if rapid.Bool().Draw(t, "ordered") {
		w.order = make(map[string][]string)
		for i, name := range names { // each only after those before it, so that there is no cycle
			for _, before := range names[:i] {
				if rapid.IntRange(0, 3).Draw(t, "pair") == 0 {
					w.order[name] = append(w.order[name], before)
				}
			}
		}
	}
	w.reversed = rapid.Bool().Draw(t, "reversed")
	return w
}

func (w *world) graph() stages.Graph {
	l := stages.Layout{Mandatory: stages.NewMandatory(w.mandatory), Single: true, Reversed: w.reversed}
	if w.order != nil {
		l.Order, _ = stages.NewOrder(w.order)
	}
	return stages.New(w.keys, l)
}

func (w *world) isMandatory(group int) bool {
	return slices.ContainsFunc(w.mandatory, func(m clusterv1alpha1.MandatoryDecisionGroup) bool {
		return m.GroupName != "" && m.GroupName == w.keys[group].Name || m.GroupName == "" && m.GroupIndex == w.keys[group].Index
	})
}

// isNamedAfter says whether a name comes after another, directly or through others.
func (w *world) isNamedAfter(name, other string) bool {
	return slices.ContainsFunc(w.order[name], func(before string) bool { return before == other || w.isNamedAfter(before, other) })
}

// comesAfter is R33 and R44 word by word.
func (w *world) comesAfter(group, other int) bool {
	if w.reversed {
		group, other = other, group
	}
	a, b := w.keys[group], w.keys[other]
	switch mandatory := w.isMandatory(group); {
	case mandatory != w.isMandatory(other):
		return !mandatory
	case mandatory || w.order == nil:
		return a.Index > b.Index
	case a.Name == b.Name && a.Placement == b.Placement:
		return a.Index > b.Index
	default:
		return w.isNamedAfter(a.Name, b.Name)
	}
}

// R33, R44: Before and Behind are what the rules say of each pair of groups, DirectlyBefore has no stage that another one has in between
// and all that lead to the others, and each stage stands behind all that it comes after.
func TestAGraphComesAfterAsTheRulesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		g := w.graph()
		for stage := range g.Len() {
			group, before := int(g.First(stage)), g.Before(stage)
			reached := make(map[stages.Stage]bool)
			for i, direct := range g.DirectlyBefore(stage) {
				if i > 0 && direct <= g.DirectlyBefore(stage)[i-1] {
					t.Fatalf("%+v: stage %d comes after %v, not each once in order", w, stage, g.DirectlyBefore(stage))
				}
				reached[direct] = true
				for earlier, is := range g.Before(direct) {
					reached[stages.Stage(earlier)] = reached[stages.Stage(earlier)] || is
				}
			}
			for other := range g.Len() {
				want := w.comesAfter(group, int(g.First(other)))
				if other != stage && want != before[other] {
					t.Fatalf("%+v: group %d after %d: %v, want %v", w, group, g.First(other), before[other], want)
				}
				if before[other] != slices.Contains(g.Behind(other), stage) || before[other] != reached[other] || before[other] && other >= stage {
					t.Fatalf("%+v: %d behind %d: %v by Behind, %v by what is directly before", w, stage, other, g.Behind(other), reached[other])
				}
			}
			if same := g.SamePredecessors(stage); same > stage || !slices.Equal(g.DirectlyBefore(same), g.DirectlyBefore(stage)) {
				t.Fatalf("%+v: stage %d has the predecessors of %d", w, stage, same)
			}
			var behind []stages.Stage
			for later := range g.Len() {
				if g.Before(later)[stage] {
					behind = append(behind, later)
				}
			}
			if !slices.Equal(g.Behind(stage), behind) {
				t.Fatalf("%+v: behind %d are %v, want %v", w, stage, g.Behind(stage), behind)
			}
		}
	})
}

// Every group is in exactly one stage, and a caller may change what After gives.
func TestStagesPartTheGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		g := w.graph()
		seen := make(map[stages.Group]bool)
		for stage := range g.Len() {
			for _, group := range g.Groups(stage) {
				if seen[group] || g.Of(group) != stage {
					t.Fatalf("%+v: group %d is in stage %d and in %d", w, group, stage, g.Of(group))
				}
				seen[group] = true
			}
		}
		if len(seen) != len(w.keys) || g.NumGroups() != stages.Group(len(w.keys)) {
			t.Fatalf("%+v: %d of %d groups are in a stage", w, len(seen), len(w.keys))
		}
		before := drawn(&g)
		after := g.After()
		if (after == nil) != g.IsChain() {
			t.Fatalf("%+v: %v for a chain: %v", w, after, g.IsChain())
		}
		for stage := range after {
			var numbers []int
			for _, before := range g.DirectlyBefore(stages.Stage(stage)) {
				numbers = append(numbers, int(before))
			}
			if !slices.Equal(after[stage], numbers) {
				t.Fatalf("%+v: stage %d after %v, want %v", w, stage, after[stage], numbers)
			}
		}
		for stage := range after {
			for i := range after[stage] {
				after[stage][i] = -1
			}
		}
		if now := drawn(&g); now != before {
			t.Fatalf("%+v: %s became %s", w, before, now)
		}
	})
}
