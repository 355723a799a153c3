// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// An approval of a gate says what it starts now, or why it starts nothing.
func ExampleResult_WouldStart() {
	groups, _ := grouping.FromNames(map[grouping.Key][]string{{Name: "canary"}: {"a"}, {Index: 1, Name: "prod"}: {"b", "c"}})
	prod := grouping.Key{Index: 1, Name: "prod"}
	for _, canary := range []status.RolloutStatus{status.Progressing, status.Succeeded} {
		reports := []status.Report{{Cluster: "a", Status: canary, LastTransitionTime: now}}
		r, _ := rollout.Plan(perGroup(config("", "30m", 0)), groups, reports, now, rollout.Options{Gates: []rollout.ClosedGate{{Group: prod}}})
		clusters, otherwise := r.WouldStart(prod)
		fmt.Println(len(clusters), otherwise)
	}
	// Output:
	// 0 waiting for group 0 "canary": 0 of 1 done; a is progressing and times out at 2026-11-21T12:30:00Z
	// 2
}

// R61: what a result says of an approval is what a plan with the gate open does.
func TestWouldStartIsWhatAPlanWithTheGateOpenStarts(t *testing.T) {
	holds(t, func(t fataler, p trial) string {
		if len(p.gates) == 0 {
			w := p.world
			if len(w.groups) == 0 {
				return ""
			}
			w.gates = []closedGate{{w.groups[len(w.groups)/2], rollout.Gate{Name: "approval"}}}
			p = try(t, w, p.groups)
		}
		for _, gate := range p.gates {
			open := p.world
			same := func(g closedGate) bool {
				return g.group.Name == gate.group.Name && g.group.Placement == gate.group.Placement && (g.group.Name != "" || g.group.Index == gate.group.Index)
			}
			open.gates = slices.DeleteFunc(slices.Clone(p.gates), same)
			after := try(t, open, p.groups).result
			want := slices.DeleteFunc(slices.Clone(after.Start), func(c rollout.Cluster) bool { return slices.Contains(p.result.Start, c) })
			got, otherwise := p.result.WouldStart(gate.group)
			if !slices.Equal(got, want) {
				return fmt.Sprintf("opening %v would start %v, and starts %v", gate.group, got, want)
			}
			if len(want) > 0 && otherwise != (rollout.BlockReason{}) {
				return fmt.Sprintf("opening %v starts %v, and %v", gate.group, want, otherwise)
			}
			if otherwise == (rollout.BlockReason{}) {
				for c, reason := range after.Blocked() {
					if len(want) == 0 && same(closedGate{group: c.Group}) {
						return fmt.Sprintf("opening %v starts none, and why %s still waits is not said: %v", gate.group, c.Name, reason)
					}
				}
				continue
			}
			if !slices.ContainsFunc(after.BlockCounts(), func(h rollout.BlockCount) bool { return h.Reason == otherwise }) {
				return fmt.Sprintf("opening %v starts none as %v, which no reason of %v is", gate.group, otherwise, after)
			}
		}
		return ""
	})
}

// The version is the seed: each version begins elsewhere, and a version that goes on keeps its order.
func ExampleShuffled() {
	clusters := []string{"paris", "oslo", "rome", "bern", "wien"}
	for _, version := range []string{"v1", "v2", "v3"} {
		slices.SortFunc(clusters, rollout.Shuffled(version))
		fmt.Println(version, clusters)
	}
	// Output:
	// v1 [rome wien paris bern oslo]
	// v2 [wien bern rome paris oslo]
	// v3 [wien bern paris rome oslo]
}

// Each cluster is first about as often as any other, and names that differ in a digit do not stay neighbours.
func TestShuffledIsFair(t *testing.T) {
	const versions, clusters = 2000, 20
	first, beside := map[string]int{}, 0
	for v := range versions {
		names := make([]string, clusters)
		for i := range names {
			names[i] = fmt.Sprintf("cluster%02d", i)
		}
		slices.SortFunc(names, rollout.Shuffled(fmt.Sprint("v", v)))
		first[names[0]]++
		for i := range clusters - 1 {
			a, b := slices.Index(names, fmt.Sprintf("cluster%02d", i)), slices.Index(names, fmt.Sprintf("cluster%02d", i+1))
			if a-b == 1 || b-a == 1 {
				beside++
			}
		}
	}
	for name, n := range first { // 100 on average, with a deviation of 10
		if n < 50 || n > 150 {
			t.Errorf("%s is first in %d of %d versions", name, n, versions)
		}
	}
	if share := float64(beside) / (versions * (clusters - 1)); len(first) != clusters || share < 0.08 || share > 0.12 { // 2 of 20
		t.Errorf("%d clusters are first in some version, and of neighbours by name %.3f stay neighbours", len(first), share)
	}
}

// A deleted owner: the workload goes in the reverse order of the groups, at most two clusters at a time.
func ExampleRemovals() {
	groups, _ := grouping.FromNames(map[grouping.Key][]string{{Name: "canary"}: {"a"}, {Index: 1}: {"b", "c", "d"}})
	there := map[string]bool{"a": true, "b": true, "c": true, "d": true, "gone": true}
	for len(there) > 0 {
		var reports []status.Report
		for name := range there {
			reports = append(reports, status.Report{Cluster: name, Status: status.Succeeded})
		}
		next, _ := rollout.Removals(perGroup(config("", "", 0)), groups, reports, 2, rollout.Options{})
		fmt.Println(next)
		for _, name := range next {
			delete(there, name) // its agent has let go of it
		}
	}
	// Output:
	// [gone]
	// [b c]
	// [d]
	// [a]
}

// R62: the laws of removal in order, from any state to the end.
func TestRemovals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawn(t).world(20)
		groups := w.read(t)
		opts := w.options()
		most := rapid.IntRange(1, 4).Draw(t, "most")
		there := map[string]bool{} // whether it is being deleted
		for _, m := range w.members {
			if rapid.IntRange(0, 4).Draw(t, "has it") > 0 {
				there[m.name] = rapid.IntRange(0, 5).Draw(t, "deleting") == 0
			}
		}
		there["x-left"] = false
		plan, err := rollout.Plan(w.strategy, groups, nil, w.now, opts)
		if err != nil {
			t.Fatal(err)
		}
		stageOf := func(cluster string) int {
			for i, s := range plan.Schedule.Stages {
				for _, m := range w.members {
					if m.name == cluster && slices.Contains(s.Groups, m.group) {
						return i
					}
				}
			}
			return len(plan.Schedule.Stages) // its group is unknown
		}
		ignored := func(cluster string) bool { return slices.Contains(opts.Ignored, cluster) }
		for round := 0; len(there) > 0; round++ {
			if round > 100 {
				t.Fatalf("%v is never removed", there)
			}
			var reports []status.Report
			going := 0
			for name, deleting := range there {
				reports = append(reports, status.Report{Cluster: name, Status: status.Failed, Deleting: deleting})
				if deleting && !ignored(name) {
					going++
				}
			}
			next, err := rollout.Removals(w.strategy, groups, reports, most, opts)
			if err != nil {
				t.Fatal(err)
			}
			counted := slices.DeleteFunc(slices.Clone(next), ignored)
			if len(counted) > 0 && going+len(counted) > most || len(counted) == 0 && going == 0 && slices.ContainsFunc(slices.Collect(maps.Keys(there)), func(n string) bool { return !ignored(n) }) {
				t.Fatalf("%v with %d on their way, at most %d: %v", next, going, most, there)
			}
			for _, name := range next {
				if deleting, is := there[name]; !is || deleting {
					t.Fatalf("%s is to be removed, and is not there or is being deleted", name)
				}
				for other := range there {
					mine, its := stageOf(name), stageOf(other)
					after := its == len(plan.Schedule.Stages) && mine < its || its < len(plan.Schedule.Stages) && mine < its && comesBefore(plan.Schedule, mine, its)
					if after && !ignored(other) {
						t.Fatalf("%s goes before %s, which comes after it in the rollout", name, other)
					}
				}
				there[name] = true
			}
			for name, deleting := range there { // agents let go of some
				if deleting && (rapid.Bool().Draw(t, "gone") || round > 50) {
					delete(there, name)
				}
			}
		}
	})
	if _, err := rollout.Removals(all(""), nil, []status.Report{{}}, 0, rollout.Options{Attempt: -1}); err == nil || err.Error() != "attempt: Invalid value: -1: must not be negative\nreports[0].cluster: Required value: must be the name of a ManagedCluster\nmost: Invalid value: 0: must be at least 1" {
		t.Errorf("refused with %v", err)
	}
}

// The third cluster of five knows that it is the third, and the first of its group.
func ExampleResult_Positions() {
	groups, _ := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b"}, {Index: 1}: {"c", "d", "e"}})
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded}, {Cluster: "b", Status: status.Succeeded}}
	r, _ := rollout.Plan(perGroup(config("", "", 0)), groups, reports, now, rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1)})
	noted := map[string]rollout.Position{"a": {Index: 1, InGroup: 1}, "b": {Index: 2, InGroup: 2}} // from their objects
	fmt.Printf("%+v\n", r.Positions(noted)["c"])
	// Output:
	// {Index:3 Of:5 InGroup:1 OfGroup:3}
}

// A template has values for each cluster. The version of a cluster names both, so a new value is a new version there alone: that cluster
// waits for its turn, and the others are done. A whole controller with such versions is on trial in examples/trial/values_test.go.
func ExamplePlan_valuesPerCluster() {
	groups, _ := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c"}})
	version := func(cluster string) string { // such as a hash of what the cluster is to have
		return "template1 " + map[string]string{"b": "replicas 5"}[cluster]
	}
	var reports []status.Report
	for _, cluster := range []string{"a", "b", "c"} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster}}
		status.StampOf(work).NoteOn(work, "template1 ", 0, now) // b has no value of its own yet
		r, _ := status.FromManifestWork(status.WorkState{Work: work, Version: version(cluster)})
		reports = append(reports, r)
	}
	r, _ := rollout.Plan(progressive("3", config("", "30m", 0)), groups, reports, now, rollout.Options{})
	fmt.Println(r)
	// Output:
	// starting b; in flight a, c; recheck after 30m0s
}

// R64: a number never changes, and no two are the same, whatever joins, leaves, is lost or restarts.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noted, has, selected := map[string]rollout.Position{}, map[string]bool{}, map[string]bool{}
		left := false // some cluster was deselected, with the version or without
		for range 12 {
			members := map[grouping.Key][]string{}
			for _, name := range clusterNames {
				switch { // of a group that stays, as a group has its own numbers
				case rapid.IntRange(0, 5).Draw(t, "selected") > 0:
					members[grouping.Key{Index: int32(name[0] % 2)}] = append(members[grouping.Key{Index: int32(name[0] % 2)}], name)
					selected[name] = true
				case selected[name]:
					delete(has, name)
					delete(noted, name)
					left = true
				}
			}
			groups, err := grouping.FromNames(members)
			if err != nil {
				t.Fatal(err)
			}
			var reports []status.Report
			for name := range has {
				reports = append(reports, status.Report{Cluster: name, Status: status.Succeeded})
			}
			r, err := rollout.Plan(progressive("2", config("", "", 0)), groups, reports, now, rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all := r.Positions(noted)
			seen, seenIn := map[int]string{}, map[string]string{}
			for name, p := range all {
				if before, had := noted[name]; had && (before.Index != p.Index || before.InGroup != p.InGroup) {
					t.Fatalf("%s was %+v and is %+v", name, before, p)
				}
				in := fmt.Sprint(name[0]%2, p.InGroup)
				if seen[p.Index] != "" || seenIn[in] != "" || p.Of != groups.NumClusters() || p.Index < 1 || !left && (p.Index > p.Of || p.InGroup > p.OfGroup) {
					t.Fatalf("%s is %+v, and %s and %s as well", name, p, seen[p.Index], seenIn[in])
				}
				seen[p.Index], seenIn[in] = name, name
			}
			for _, c := range r.Start {
				if _, numbered := all[c.Name]; !numbered {
					t.Fatalf("%s starts without a number", c.Name)
				}
				if rapid.IntRange(0, 3).Draw(t, "written") > 0 { // else the write is lost
					has[c.Name], noted[c.Name] = true, all[c.Name]
				}
			}
		}
	})
}
