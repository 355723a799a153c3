// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

func stage(name string, mandatory bool, seats ...Seat) Stage {
	return Stage{Name: name, Mandatory: mandatory, Size: len(seats), Seats: seats}
}

var (
	waits = func(c string) Seat { return Seat{Cluster: c} }
	done  = func(c string) Seat { return Seat{Cluster: c, Done: true} }
	moves = func(c string) Seat { return Seat{Cluster: c, Holds: true} }
	fails = func(c string) Seat { return Seat{Cluster: c, Over: true, Failed: true, Holds: true} }
	late  = func(c string) Seat { return Seat{Cluster: c, Over: true} } // timed out, but for the grace
)

func TestWhichLimitsAStartBreaks(t *testing.T) {
	none, half := intstr.FromInt32(0), intstr.FromString("50%")
	pool := func(failures intstr.IntOrString, slots int, stages ...Stage) *Rollout {
		r := &Rollout{Stages: stages, Failures: failures, Slots: slots}
		for _, s := range stages {
			r.Size += s.Size
		}
		return r
	}
	groups := func(failures intstr.IntOrString, stages ...Stage) *Rollout {
		r := pool(failures, 0, stages...)
		r.PerGroup = true
		return r
	}
	astray := fails("moved")
	astray.Astray = true
	for _, test := range []struct {
		why  string
		r    *Rollout
		want string
	}{
		{"a slot is free", pool(none, 2, stage("all", false, moves("a"), waits("x"))), "[]"},
		{"none is", pool(none, 1, stage("all", false, moves("a"), waits("x"))), "[1 others are in flight (a), allowed are 1]"},
		{"its own is none of another one", pool(none, 1, stage("all", false, moves("x"))), "[]"},
		{"it is nowhere", pool(none, 0, stage("all", false, fails("a"))), "[]"},
		{"it counts where it was, too", groups(none, stage("gone", false, Seat{Cluster: "x", Holds: true, Away: true}), stage("1", false, waits("x"))), "[x of group gone isn't done]"},
		{"a failed cluster keeps a slot, and counts", pool(none, 1, stage("all", false, fails("a"), waits("x"))),
			"[1 others are in flight (a), allowed are 1 1 of 2 clusters failed, tolerated are 0]"},
		{"a possibly failed cluster does not count", pool(none, 1, stage("all", false, late("a"), waits("x"))), "[]"},
		{"half of two may fail", pool(half, 2, stage("all", false, fails("a"), waits("x"))), "[]"},
		{"a mandatory stage is waited for", pool(half, 9, stage("canary", true, waits("a"), done("b")), stage("all", false, waits("x"))), "[a of group canary isn't done]"},
		{"also if all of it are over", pool(half, 9, stage("canary", true, late("a")), stage("all", false, waits("x"))), "[a of group canary isn't done]"},
		{"it tolerates no failure, also in itself", pool(half, 9, stage("canary", true, fails("a"), waits("x")), stage("all", false, waits("b"))), "[1 of 2 clusters of group canary failed, tolerated are 0]"},
		{"it has no limit", pool(none, 1, stage("canary", true, moves("a"), waits("x")), stage("all", false)), "[]"},
		{"a group waits for those before it", groups(none, stage("0", false, moves("a"), done("b")), stage("1", false, waits("x"))), "[a of group 0 isn't done]"},
		{"and not for those behind it", groups(none, stage("0", false, waits("x")), stage("1", false, moves("a"))), "[]"},
		{"a failed cluster is over", groups(half, stage("0", false, fails("a"), done("b")), stage("1", false, waits("x"))), "[]"},
		{"each group has a budget of its own", groups(intstr.FromInt32(1), stage("0", false, fails("a")), stage("1", false, fails("b"), waits("x"))), "[]"},
		{"a breach behind it stops it, too", groups(none, stage("0", false, waits("x")), stage("1", false, fails("a"))), "[1 of 1 clusters of group 1 failed, tolerated are 0]"},
		{"it is unknown which group to count it in", groups(none, stage("0", false, astray), stage("1", false, waits("x"))), "[]"},
		{"all together count it", pool(none, 9, stage("canary", true, astray), stage("all", false, waits("x"))), "[1 of 2 clusters failed, tolerated are 0]"},
		{"all together count a cluster once", pool(intstr.FromInt32(1), 9, stage("all", false, fails("a"), fails("a"), waits("x"))), "[]"},
	} {
		var got []string
		for _, b := range test.r.Forbids("x") {
			got = append(got, b.String())
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, want %s", test.why, got, test.want)
		}
	}
}

func TestLongListsOfClustersAreCut(t *testing.T) {
	b := Breach{Kind: Concurrency, Clusters: []string{"a", "b", "c", "d", "e", "f"}, Allowed: 6}
	if got, want := b.String(), "6 others are in flight (a, b, c, d, e …), allowed are 6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCountsAndSlots(t *testing.T) {
	for _, test := range []struct {
		limit         string
		n, size, want int
	}{{"3", 10, 4, 3}, {"25%", 10, 4, 3}, {"0", 10, 4, 4}, {"0", 10, 0, 10}, {"100%", 10, 4, 10}, {"0%", 10, 4, 0}} {
		if got := Slots(intstr.Parse(test.limit), test.n, test.size); got != test.want {
			t.Errorf("%s of %d in groups of %d: %d, want %d", test.limit, test.n, test.size, got, test.want)
		}
	}
}

func TestStagesOfGroups(t *testing.T) {
	named := []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}, {GroupIndex: 3}}
	type group struct {
		index int
		name  string
	}
	mandatory := func(g group) bool { return IsMandatory(named, g.index, g.name) }
	groups := []group{{0, "eu"}, {1, "canary"}, {2, ""}, {3, ""}}
	for _, test := range []struct {
		perGroup bool
		groups   []group
		want     string
		first    int
	}{
		{true, groups, "[[{1 canary}] [{3 }] [{0 eu}] [{2 }]]", 2},
		{false, groups, "[[{1 canary}] [{3 }] [{0 eu} {2 }]]", 2},
		{false, groups[1:2], "[[{1 canary}] []]", 1}, // the pool is there, and empty
		{true, groups[1:2], "[[{1 canary}]]", 1},
	} {
		stages, first := Divide(slices.Clone(test.groups), test.perGroup, mandatory)
		if got := fmt.Sprint(stages); got != test.want || first != test.first {
			t.Errorf("per group %v: %s and %d, want %s and %d", test.perGroup, got, first, test.want, test.first)
		}
	}
}
