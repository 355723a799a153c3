// SPDX-License-Identifier: Apache-2.0

package limits_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	_ "github.com/cohort-ocm/cohort/internal/seeded"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

func ExampleLeft() {
	left := limits.All()
	left[limits.KindRamp] = limits.Ramp{Initial: 2, Soaked: 5, Used: 3}.Left()
	left[limits.KindShares] = limits.Shares{Most: 4, Used: 3}.Left()
	kind, n := left.Least()
	fmt.Println(kind == limits.KindShares, n)
	left.Take(n)
	_, n = left.Least()
	fmt.Println(n)
	// Output:
	// true 1
	// 0
}

// R36: the limit that lets the fewest start is the reason, of equals the first; what starts is taken off all that limit.
func TestTheLeastOfAllLimitsCounts(t *testing.T) {
	none := limits.All()
	if kind, n := none.Least(); kind != limits.KindNone || n != limits.Unlimited {
		t.Errorf("without a limit: %d lets %d start", kind, n)
	}
	none.Take(5)
	if none != limits.All() {
		t.Errorf("no limit lets %v start once 5 do", none)
	}
	rapid.Check(t, func(t *rapid.T) {
		left, most := limits.All(), limits.Unlimited
		for kind := limits.KindShares; kind < limits.NumKinds; kind++ {
			if rapid.Bool().Draw(t, "limits") {
				left[kind] = rapid.IntRange(0, 4).Draw(t, "left")
			}
			most = min(most, left[kind])
		}
		kind, n := left.Least()
		if n != most || left[kind] != most || slices.Index(left[:], most) != int(kind) {
			t.Fatalf("%v: %d lets %d start", left, kind, n)
		}
		if n == limits.Unlimited {
			return
		}
		before := left
		left.Take(n)
		for kind := range left {
			if want := before[kind] - n; before[kind] != limits.Unlimited && left[kind] != want || before[kind] == limits.Unlimited && left[kind] != before[kind] {
				t.Fatalf("%v less %d is %v", before, n, left)
			}
		}
	})
}

// R11, R57: what holds slots beyond the limit has to end as well.
func TestExcessIsHowManyHaveToEndBeforeOneMoreStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := limits.Concurrency{Most: rapid.IntRange(0, 5).Draw(t, "most"), Used: rapid.IntRange(0, 9).Draw(t, "used")}
		starting := rapid.IntRange(0, c.Left()).Draw(t, "starting")
		excess := c.Excess(starting)
		for ended := range c.Used + starting + 2 {
			if later := (limits.Concurrency{Most: c.Most, Used: c.Used + starting - ended}); (later.Left() > 0) != (ended >= excess) {
				t.Fatalf("%+v, %d start: %d left once %d ended, and %d have to", c, starting, later.Left(), ended, excess)
			}
		}
		s := limits.Shares{Most: c.Most, Used: c.Used}
		if s.Left() != c.Left() || s.Excess(starting) != excess {
			t.Fatalf("%+v leaves %d, %+v leaves %d", s, s.Left(), c, c.Left())
		}
	})
}

// R57: no share of concurrency, or more failures than the share: nothing starts, whatever ends.
func TestAHubWithoutAShareStartsNothing(t *testing.T) {
	for _, test := range []struct {
		why    string
		shares limits.Shares
		none   bool
		left   int
	}{
		{"no share of concurrency", limits.Shares{Most: 0}, true, 0},
		{"as many failures as the share", limits.Shares{Most: 2, MaxFailures: 1, Failures: 1}, false, 2},
		{"more failures than the share", limits.Shares{Most: 2, MaxFailures: 1, Failures: 2}, true, 0},
		{"all in use", limits.Shares{Most: 2, Used: 2}, false, 0},
		{"more in use than the share: some were asked back", limits.Shares{Most: 2, Used: 5}, false, 0},
	} {
		if test.shares.IsNone() != test.none || test.shares.Left() != test.left {
			t.Errorf("%s: none is %v, %d left", test.why, test.shares.IsNone(), test.shares.Left())
		}
	}
}

// R35: one more may start as soon as fewer hold a slot than have soaked, or than the initial number.
func TestARampIsFreedByWhatEndsAndSoaks(t *testing.T) {
	if left := (limits.Ramp{Soaked: 3, Used: 9}).Left(); left != limits.Unlimited {
		t.Errorf("without a ramp %d are left", left)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := limits.Ramp{
			Initial: rapid.IntRange(1, 4).Draw(t, "initial"), Soaked: rapid.IntRange(0, 8).Draw(t, "soaked"), Used: rapid.IntRange(0, 12).Draw(t, "used"),
		}
		starting := rapid.IntRange(0, r.Left()).Draw(t, "starting")
		for ended := range r.Used + starting + 1 {
			for soaked := range ended + 1 {
				later := limits.Ramp{Initial: r.Initial, Soaked: r.Soaked + soaked, Used: r.Used + starting - ended}
				if (later.Left() > 0) != r.IsFreedBy(starting, ended, soaked) {
					t.Fatalf("%+v, %d start: %d ended, %d of them soaked: %d left", r, starting, ended, soaked, later.Left())
				}
			}
		}
		if r.Left() > 0 && r.Used+r.Left() != r.Bound() {
			t.Fatalf("%+v leaves %d of %d", r, r.Left(), r.Bound())
		}
	})
}

// R36: Next is the first time at which one more may start than now.
func TestTheNextStartIsWhenOneMoreMay(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		s := limits.Starts{Most: rapid.IntRange(1, 4).Draw(t, "most"), Per: 20}
		var starts []time.Time
		for _, ago := range rapid.SliceOfN(rapid.IntRange(0, 19), 0, 6).Draw(t, "ago") {
			starts = append(starts, now.Add(-time.Duration(ago)))
		}
		unknown := rapid.IntRange(0, 2).Draw(t, "unknown")
		at := func(later time.Time) int { // an unknown one counts as started at any time
			n := unknown
			for _, start := range starts {
				if later.Sub(start) < s.Per {
					n++
				}
			}
			return s.Left(limits.Recent{N: n})
		}
		r := s.Recent(slices.Clone(starts), unknown)
		if s.Left(r) != at(now) || r.N != len(starts)+unknown || r.Unknown != unknown {
			t.Fatalf("%v, %d unknown: %+v", starts, unknown, r)
		}
		want := time.Time{}
		for later := time.Duration(1); later <= 20 && want.IsZero(); later++ {
			if at(now.Add(later)) > at(now) {
				want = now.Add(later)
			}
		}
		if !r.Next.Equal(want) {
			t.Fatalf("%+v of %v, %d unknown: next at %v, want %v", s, starts, unknown, r.Next, want)
		}
	})
	var unset limits.Starts
	if unset.IsSet() || unset.Left(limits.Recent{N: 9}) != limits.Unlimited {
		t.Error("no bound limits")
	}
}

// R65: the last ones wait until all others are settled.
func TestKeptPlacesWait(t *testing.T) {
	for _, test := range []struct {
		why    string
		places limits.Places
		want   int
	}{
		{"none is kept", limits.Places{Waiting: 3, IsUnderWay: true}, limits.Unlimited},
		{"those beside the kept places start", limits.Places{Kept: 1, Waiting: 3, IsUnderWay: true}, 2},
		{"the last wait for those", limits.Places{Kept: 2, Waiting: 2, IsUnderWay: true}, 0},
		{"and start once these are settled", limits.Places{Kept: 2, Waiting: 2}, limits.Unlimited},
	} {
		if got := test.places.Left(); got != test.want {
			t.Errorf("%s: %d, want %d", test.why, got, test.want)
		}
	}
}

// R40, R66: how many are exposed at a time.
func TestStagesExposeAsManyAsHoldSlotsOrFailed(t *testing.T) {
	for _, test := range []struct {
		why      string
		exposure limits.Exposure
		loads    []limits.Load
		want     int
	}{
		{"no stage", limits.Exposure{}, nil, 0},
		{"the slots", limits.Exposure{}, []limits.Load{{Clusters: 9, Slots: 3, Tolerated: 1}}, 3},
		{"the slots, and those that failed and gave theirs back", limits.Exposure{Frees: true}, []limits.Load{{9, 3, 1}}, 4},
		{"no more than there are", limits.Exposure{Frees: true}, []limits.Load{{3, 3, 2}}, 3},
		{"those that failed in a stage before", limits.Exposure{}, []limits.Load{{9, 3, 1}, {9, 3, 1}}, 4},
		{"which are no more than had a slot", limits.Exposure{}, []limits.Load{{9, 1, 5}, {9, 3, 0}}, 4},
		{"likewise with slots given back", limits.Exposure{Frees: true}, []limits.Load{{9, 3, 1}, {9, 3, 1}}, 5},
		{"a ramp starts with its initial number", limits.Exposure{Ramp: 2}, []limits.Load{{3, 3, 0}}, 2},
		{"and doubles what soaked", limits.Exposure{Ramp: 2}, []limits.Load{{20, 20, 0}}, 10},
		{"where the ramp lets fewer start, fewer failed: the first of a stage needs a slot, too", limits.Exposure{Ramp: 2}, []limits.Load{{2, 2, 2}, {1, 1, 0}, {20, 1, 0}}, 2},
		{"it does not count failures that gave their slot back", limits.Exposure{Ramp: 2, Frees: true}, []limits.Load{{6, 6, 2}}, 4},
		{"a cluster that failed has the only slot of the ramp: no stage behind begins", limits.Exposure{Ramp: 1}, []limits.Load{{2, 2, 2}, {20, 1, 0}}, 1},
		{"three soaked, two failed: the third slot is for the first behind", limits.Exposure{Ramp: 1}, []limits.Load{{5, 5, 5}, {1, 1, 0}}, 3},
	} {
		if got := test.exposure.InOrder(slices.Values(test.loads)); got != test.want {
			t.Errorf("%s: %d, want %d", test.why, got, test.want)
		}
	}
}

// R66: stages side by side expose together what each does, as far as the ramp lets them.
func TestStagesSideBySideExposeTogether(t *testing.T) {
	a, b := limits.Load{Clusters: 9, Slots: 3, Tolerated: 1}, limits.Load{Clusters: 4, Slots: 2, Tolerated: 1}
	for _, test := range []struct {
		why      string
		exposure limits.Exposure
		want     int
	}{
		{"the sum", limits.Exposure{}, 5},
		{"with slots given back", limits.Exposure{Frees: true}, 7},
		{"by the ramp", limits.Exposure{Ramp: 2}, 5},
		{"by a ramp that is tighter", limits.Exposure{Ramp: 1, Frees: true}, 7},
	} {
		e := test.exposure
		got := e.AtOnce(func(yield func(limits.Load, int) bool) {
			_ = yield(a, e.Active(a)) && yield(b, e.Active(b))
		})
		if got != test.want {
			t.Errorf("%s: %d, want %d", test.why, got, test.want)
		}
	}
	lenient := limits.Load{Clusters: 4, Slots: 4, Tolerated: 2}
	frees := limits.Exposure{Ramp: 1, Frees: true}
	if got := frees.AtOnce(func(yield func(limits.Load, int) bool) { yield(lenient, frees.Active(lenient)) }); got != 3 {
		t.Errorf("two of four failed and gave their slots back, one soaked: %d are exposed, want 3", got)
	}
	full := limits.Load{Clusters: 4, Slots: 4}
	e := limits.Exposure{Ramp: 1}
	if got := e.AtOnce(func(yield func(limits.Load, int) bool) { yield(full, e.Active(full)) }); got != 2 {
		t.Errorf("a ramp lets %d of 4 be exposed, want 2", got)
	}
}

// keys are the keys of groups.
type keys []grouping.Key

func (k keys) Len() int                   { return len(k) }
func (k keys) Key(group int) grouping.Key { return k[group] }

// R23: a group is behind all gates that name it, and the one that opens last is the reason.
func TestAGroupIsBehindAllGatesThatNameIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, names := time.Unix(100, 0), []string{"", "a", "b"}
		drawKey := func() grouping.Key {
			return grouping.Key{
				Index: rapid.Int32Range(0, 2).Draw(t, "index"), Name: rapid.SampledFrom(names).Draw(t, "name"),
				Placement: rapid.SampledFrom([]string{"", "p"}).Draw(t, "placement"),
			}
		}
		var groups keys
		for range rapid.IntRange(0, 4).Draw(t, "groups") {
			groups = append(groups, drawKey())
		}
		var all []limits.GroupGate
		for range rapid.IntRange(0, 4).Draw(t, "gates") {
			gate := limits.GroupGate{Group: drawKey()}
			if gate.Name = rapid.SampledFrom(names).Draw(t, "gate"); rapid.Bool().Draw(t, "opens") {
				gate.Opens = time.Unix(rapid.Int64Range(98, 103).Draw(t, "at"), 0)
			}
			all = append(all, gate)
		}
		means := func(gate, group grouping.Key) bool {
			same := gate.Name == group.Name && gate.Name != "" || gate.Name == "" && gate.Index == group.Index
			return same && (gate.Placement == "" || gate.Placement == group.Placement)
		}
		gates := limits.NewGates(all)
		closed, unmatched := gates.Closed(groups, now), gates.Unmatched(groups)
		for group, key := range groups {
			var last *limits.Gate
			for i := range all {
				if gate := all[i].Gate; means(all[i].Group, key) && !gate.IsOpen(now) && (last == nil || gate.OpensAfter(*last)) {
					last = &gate
				}
			}
			got, is := closed[stages.Group(group)]
			if is != (last != nil) || is && got != *last {
				t.Fatalf("%v of %v, gates %v: got %v, want %v", key, groups, all, got, last)
			}
		}
		for _, gate := range all {
			exists := false
			for _, key := range groups {
				if exists = exists || means(gate.Group, key); limits.IsGateBefore(gate.Group, key) != means(gate.Group, key) {
					t.Fatalf("%v before %v", gate.Group, key)
				}
			}
			told := slices.ContainsFunc(unmatched, func(key grouping.Key) bool {
				return key.Name == gate.Group.Name && key.Placement == gate.Group.Placement && (key.Name != "" || key.Index == gate.Group.Index)
			})
			if exists == told {
				t.Fatalf("%v of %v: told %v", gate.Group, groups, unmatched)
			}
			if others := gates.Without(gate.Group); len(others) != len(gates)-1 {
				t.Fatalf("%d of %d gates are left without %v", len(others), len(gates), gate.Group)
			}
		}
	})
}

// R23: unknown is last of all; of equals the first by name is named.
func TestOneGateOpensAfterAnother(t *testing.T) {
	at := func(name string, second int64) limits.Gate {
		return limits.Gate{Name: name, Opens: time.Unix(second, 0)}
	}
	unknown := limits.Gate{Name: "z"}
	for _, test := range []struct {
		why          string
		later, other limits.Gate
	}{
		{"later", at("b", 2), at("a", 1)},
		{"unknown", unknown, at("a", 1)},
		{"by name", at("a", 1), at("b", 1)},
		{"both unknown, by name", limits.Gate{Name: "a"}, unknown},
	} {
		if !test.later.OpensAfter(test.other) || test.other.OpensAfter(test.later) || test.later.OpensAfter(test.later) {
			t.Errorf("%s: %v, %v", test.why, test.later, test.other)
		}
	}
	now := time.Unix(5, 0)
	if unknown.IsOpen(now) || unknown.UntilOpen(now) != 0 || !at("a", 5).IsOpen(now) || at("a", 6).IsOpen(now) || at("a", 6).UntilOpen(now) != time.Second {
		t.Error("a gate is open from the time at which it opens")
	}
}
