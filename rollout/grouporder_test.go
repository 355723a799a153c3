// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// chainOf is the order of the groups by index as an order of their names, where each name stands in one place; nil where
// it does not.
func chainOf(groups []grouping.Key) map[string][]string {
	after := map[string][]string{}
	for i, g := range groups {
		if i == 0 || groups[i-1].Name == g.Name {
			continue
		}
		if slices.ContainsFunc(groups[:i], func(before grouping.Key) bool { return before.Name == g.Name }) {
			return nil
		}
		after[g.Name] = []string{groups[i-1].Name}
	}
	return after
}

// allOf is all that a result says, also to a caller that asks.
func allOf(r *rollout.Result) string {
	var a answer
	a.observe(r)
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s\n%s\n%v\n%v\n%v\n", mustJSON(r), mustJSON(a), r, r.Schedule, r.Summary(), r.Blockers())
	for _, g := range r.BlockCounts() {
		fmt.Fprintln(&text, g)
	}
	for _, h := range a.Blocked {
		fmt.Fprintln(&text, h.Cluster.Name, mustJSON(r.Explain(h.Cluster.Name)))
	}
	return text.String()
}

// R33: a chain by index that is given as an order of groups makes no difference, byte for byte.
func TestAChainGivenAsGroupOrderIsWhatIsThereWithoutIt(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawn(t).world(20)
		w.strategy = perGroup(drawn(t).config())
		w.strategy.ProgressivePerGroup.MandatoryDecisionGroups = drawn(t).mandatory(w.groups)
		w.ordered = nil
		groups := w.read(t)
		without := allOf(try(t, w, groups).result)
		if w.ordered = chainOf(w.groups); w.ordered == nil {
			return
		}
		compared++
		if with := allOf(try(t, w, groups).result); with != without {
			t.Fatalf("without the option:\n%s\nwith it:\n%s\n%v", without, with, w)
		}
	})
	if compared == 0 {
		t.Error("no world has a chain")
	}
}

// R33: a name that comes after itself is an error at the first name of the cycle.
func TestGroupOrderRefusesCycles(t *testing.T) {
	for want, after := range map[string]map[string][]string{
		`groupOrder[a]: Invalid value: "a": must not come after itself: "a" after "a"`:                     {"a": {"a"}},
		`groupOrder[b]: Invalid value: "d": must not come after itself: "b" after "d" after "c" after "b"`: {"a": {"d"}, "c": {"b"}, "d": {"c", "a0"}, "b": {"d"}},
		`groupOrder[]: Invalid value: "a": must not come after itself: "" after "a" after ""`:              {"": {"a"}, "a": {""}},
	} {
		for range 10 { // in whatever order the map comes
			_, err := rollout.NewPlanner(perGroup(config("", "", 0)), nil, rollout.Options{GroupOrder: after})
			if err == nil || err.Error() != want {
				t.Fatalf("%v is refused with %v, want %s", after, err, want)
			}
		}
	}
	if _, err := rollout.NewPlanner(perGroup(config("", "", 0)), nil, rollout.Options{GroupOrder: rollout.GroupOrder{}}); err != nil {
		t.Errorf("the later of two counts, its error included; %v", err)
	}
}

// R33, R26: a name means the groups of every placement, and groups of one name are a chain in each placement alone.
func TestGroupOrderOfJoinedPlacements(t *testing.T) {
	key := func(index int32, name string) grouping.Key { return grouping.Key{Index: index, Name: name} }
	part := func(placement string, clusters map[grouping.Key][]string) grouping.PlacementGroups {
		groups, err := grouping.FromNames(clusters)
		if err != nil {
			t.Fatal(err)
		}
		return grouping.PlacementGroups{Placement: placement, Groups: groups}
	}
	groups, err := grouping.Join(
		part("east", map[grouping.Key][]string{key(0, "staging"): {"a"}, key(1, "staging"): {"b"}, key(2, "prod"): {"c"}}),
		part("west", map[grouping.Key][]string{key(0, "prod"): {"d"}, key(1, "staging"): {"e"}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	result, err := rollout.Plan(perGroup(config("", "", 0)), groups, nil, now, rollout.Options{GroupOrder: rollout.GroupOrder{"prod": {"staging"}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[group 0 "staging" of placement east]; [group 1 "staging" of placement east] after group 0 "staging" of placement east; ` +
		`[group 1 "staging" of placement west]; ` +
		`[group 2 "prod" of placement east] after group 1 "staging" of placement east and group 1 "staging" of placement west; ` +
		`[group 0 "prod" of placement west] after group 1 "staging" of placement east and group 1 "staging" of placement west`
	if got := result.Schedule.String(); got != want {
		t.Errorf("the schedule is\n%s\nwant\n%s", got, want)
	}
	if len(result.Start) != 2 || result.Start[0].Name != "a" || result.Start[1].Name != "e" {
		t.Errorf("starts %v, want a and e", result.Start)
	}
}

// R33: the caller's map is his, also while a planner goes on, and so is the schedule.
func TestGroupOrderIsTheCallers(t *testing.T) {
	after := rollout.GroupOrder{"prod": {"canary"}}
	p, err := rollout.NewPlanner(perGroup(config("", "", 0)), fleetOf(t, "canary: a", "prod: b", "zone: c").read(), rollout.Options{GroupOrder: after})
	if err != nil {
		t.Fatal(err)
	}
	after["prod"][0], after["canary"] = "ghost", []string{"canary"}
	p.SetGroups(fleetOf(t, "canary: a", "prod: b", "zone: c").read())
	const want = `[group 0 "canary"]; [group 1 "prod"] after group 0 "canary"; [group 2 "zone"]`
	result := p.Result(now)
	if got := result.Schedule.String(); got != want || len(result.Warnings) > 0 {
		t.Errorf("%s, %v", got, result.Warnings)
	}
	result.Schedule.After[1][0] = 2
	if _, reason, _ := result.Find("b"); reason.Group.Name != "canary" {
		t.Errorf("a change of the schedule moved b, which waits for %v", reason.Group)
	}
}

// R33: the schedule has each stage once that another comes directly after, on however many ways through names without a group.
func TestGroupOrderThroughNamesWithoutGroupsNamesEachGroupOnce(t *testing.T) {
	for _, c := range []struct {
		why   string
		after map[string][]string
		want  string
	}{
		{"two ghosts share a group", map[string][]string{"c": {"g", "h"}, "g": {"a", "b"}, "h": {"a"}}, "[[] [] [0 1]]"},
		{"so do a ghost and the name itself", map[string][]string{"c": {"a", "g"}, "g": {"a", "b"}}, "[[] [] [0 1]]"},
		{"a ghost behind two ghosts", map[string][]string{"c": {"g"}, "g": {"h", "i"}, "h": {"b", "j"}, "i": {"a", "j"}, "j": {"a"}}, "[[] [] [0 1]]"},
		{"a ghost that comes after nothing", map[string][]string{"b": {"g"}, "c": {"g", "a"}}, "[[] [] [0]]"},
	} {
		r := plan(t, planned{strategy: perGroup(config("", "", 0)), groups: []string{"a: x", "b: y", "c: z"}, opts: rollout.Options{GroupOrder: c.after}})
		if got := fmt.Sprint(r.Schedule.After); got != c.want {
			t.Errorf("%s: After is %s, want %s", c.why, got, c.want)
		}
	}
}
