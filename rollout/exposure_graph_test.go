// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// ordered is a random fleet of up to seven groups that go in a random order of their names.
func ordered(pick picker) (world, rollout.Options) {
	w := world{now: now}
	after := make(map[string][]string)
	n, repeats := 1+pick(7), pick.oneIn(3)
	for i := range n {
		key := grouping.Key{Index: int32(i), Name: fmt.Sprint("n", i)}
		if repeats {
			key.Name = fmt.Sprint("n", pick(n))
		}
		w.groups = append(w.groups, key)
		for range pick(5) {
			w.members = append(w.members, member{fmt.Sprintf("c%d%d", i, len(w.members)), key})
		}
	}
	for i := range n {
		for j := range i {
			if pick.oneIn(3) {
				after[fmt.Sprint("n", i)] = append(after[fmt.Sprint("n", i)], fmt.Sprint("n", j))
			}
		}
	}
	w.strategy = perGroup(config([]string{"", "1", "2", "50%"}[pick(4)], []string{"", "1h"}[pick(2)], 0), [][]string{nil, {"n0"}}[pick(2)]...)
	if n := pick(4); n > 0 {
		size := intstr.FromInt(n)
		w.perGroup = &size
	}
	return w, merged(w.options(), rollout.Options{GroupOrder: after})
}

// R33, R40: where groups go side by side, most clusters are exposed with the best choice of groups that are complete and
// groups that are active, among all choices.
func TestExposureOfAGraphIsThatOfTheBestChoiceOfActiveGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 40))
	for range exhaustive.Of(800, 20_000, 100_000) {
		w, opts := ordered(random.IntN)
		isBestChoice(t, w, opts)
	}
}

// R33, R40: what comes first in the list must not keep those from a place that have no other, and gives them no more than it has.
func TestExposureOfAGraphWhereOneHasToGiveWay(t *testing.T) {
	type group struct {
		name  string
		size  int
		after []string
	}
	for _, c := range []struct {
		groups []group
		want   int
		why    string
	}{
		{[]group{{"p", 3, nil}, {"q", 3, nil}, {"after both", 3, []string{"p", "q"}}, {"after p", 3, []string{"p"}}}, 6, "those of two groups"},
		{
			[]group{{"p", 3, nil}, {"q", 3, nil}, {"r", 10, nil}, {"after all", 6, []string{"p", "q", "r"}}, {"after p", 5, []string{"p"}}},
			18, "those that come after p, instead of it, and those of q and r",
		},
	} {
		w, after := world{now: now, strategy: perGroup(config("", "", 0))}, make(map[string][]string)
		for i, g := range c.groups {
			w.groups = append(w.groups, grouping.Key{Index: int32(i), Name: g.name})
			after[g.name] = g.after
			for j := range g.size {
				w.members = append(w.members, member{fmt.Sprintf("c%d%02d", i, j), w.groups[i]})
			}
		}
		if e := isBestChoice(t, w, rollout.Options{GroupOrder: after}); e.Exposed != c.want {
			t.Errorf("%d exposed, want %d: %s", e.Exposed, c.want, c.why)
		}
	}
}

func isBestChoice(t fataler, w world, opts rollout.Options) exposure.Exposure {
	t.Helper()
	groups := w.read(t)
	e, err := exposure.Of(w.strategy, groups, exposure.Span{}, now, opts)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := rollout.Plan(w.strategy, groups, nil, now, opts)
	if err != nil {
		t.Fatal(err)
	}
	before := beforeOf(plan.Schedule)
	exposed, inFlight := 0, 0
	var choose func(i int, complete []bool, ofExposed, ofInFlight int)
	choose = func(i int, complete []bool, ofExposed, ofInFlight int) {
		if i == len(e.Stages) {
			exposed, inFlight = max(exposed, ofExposed), max(inFlight, ofInFlight)
			return
		}
		stage := e.Stages[i]
		for _, b := range before[i] {
			if !complete[b] {
				choose(i+1, append(complete, false), ofExposed, ofInFlight)
				return
			}
		}
		choose(i+1, append(complete, false), ofExposed+stage.Exposed, ofInFlight+stage.InFlight)
		choose(i+1, append(complete, true), ofExposed+min(stage.MaxFailures, stage.Exposed), ofInFlight+min(stage.MaxFailures, stage.InFlight))
	}
	choose(0, nil, 0, 0)
	if e.Exposed != exposed || e.InFlight != inFlight {
		t.Fatal(fmt.Sprintf("%v\n%d exposed and %d in flight by trying all\n%v", e, exposed, inFlight, plan.Schedule))
	}
	return e
}

// beforeOf lists of each stage which it comes directly after.
func beforeOf(s rollout.Schedule) [][]int {
	if s.After != nil {
		return s.After
	}
	before := make([][]int, len(s.Stages))
	for i := range before {
		if i > 0 {
			before[i] = []int{i - 1}
		}
	}
	return before
}

// R33, R40: the same in graphs that are too large for all choices, by a greatest flow that is found one way at a time.
func TestExposureOfALargeGraphIsThatOfTheBestChoice(t *testing.T) {
	for n := range exhaustive.Of(20, 60) {
		for _, before := range []int{1, 2, 5, 0} {
			groups, order := apart(t, 2*n+3, before)
			strategy := perGroup(config([]string{"", "2", "50%"}[n%3], []string{"", "1h"}[n%2], 0))
			e, err := exposure.Of(strategy, groups, exposure.Span{}, now, order)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := rollout.Plan(strategy, groups, nil, now, order)
			if err != nil {
				t.Fatal(err)
			}
			exposed := mostByFlow(beforeOf(plan.Schedule), func(i int) (active, passed int) {
				return e.Stages[i].Exposed, min(e.Stages[i].MaxFailures, e.Stages[i].Exposed)
			})
			if e.Exposed != exposed {
				t.Fatalf("%d groups, each after %d: %v\nwant %d exposed", 2*n+3, before, e, exposed)
			}
		}
	}
}

// R35, R40: how many of a group of a graph may hold a slot by a ramp depends on all groups that do not come after it, also those
// behind it in the list, however many groups there are.
func TestExposureOfAGroupWithARampCountsAllThatDoNotComeAfterIt(t *testing.T) {
	const n, large = 130, 1000
	for at := range n {
		names, after := make(map[grouping.Key][]string), make(map[string][]string)
		others, last := 0, at // of those that come after it
		for i := range n {
			key := grouping.Key{Index: int32(i), Name: fmt.Sprint("g", i)}
			size := 1
			if i == at {
				size = large
			}
			for j := range size {
				names[key] = append(names[key], fmt.Sprintf("c%d-%d", i, j))
			}
			switch {
			case i > at && i%3 > 0: // by those between
				after[key.Name] = []string{fmt.Sprint("g", last)}
				last = i
			case i != at:
				others++
			}
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		e, err := exposure.Of(perGroup(config("", "", 0)), groups, exposure.Span{}, now, rollout.Options{Ramp: ptr(1), GroupOrder: after})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := e.Stages[at].Exposed, (others+large)/2; got != want {
			t.Errorf("of group %d are %d exposed, want %d: %d clusters do not come after it", at, got, want, others)
		}
	}
}

// mostByFlow gives what all stages count active, less the greatest flow to the differences to what they count complete, from each stage
// through all that it comes after, directly or not. It looks for a way for each cluster.
func mostByFlow(before [][]int, count func(i int) (active, passed int)) (rest int) {
	n := len(before)
	ancestors, room, taken := make([]map[int]bool, n), make([]int, n), make([]map[int]int, n) // by which group, of how many clusters
	for i := range n {
		ancestors[i], taken[i] = map[int]bool{}, map[int]int{}
		for _, b := range before[i] {
			ancestors[i][b] = true
			maps.Copy(ancestors[i], ancestors[b])
		}
		active, passed := count(i)
		room[i] = active - passed
	}
	var place func(i int, seen map[int]bool) bool
	place = func(i int, seen map[int]bool) bool {
		for at := range ancestors[i] {
			if seen[at] {
				continue
			}
			seen[at] = true
			if room[at] > 0 {
				room[at]--
				taken[at][i]++
				return true
			}
			for by, k := range taken[at] {
				if k > 0 && place(by, seen) {
					taken[at][by]--
					taken[at][i]++
					return true
				}
			}
		}
		return false
	}
	for i := range n {
		active, _ := count(i)
		for range active {
			if !place(i, map[int]bool{}) {
				rest++
			}
		}
	}
	return rest
}

// BenchmarkExposeGraph has a hundred names, each in a row of groups, that come after one another in ten tracks and in the end
// together.
func BenchmarkExposeGraph(b *testing.B) {
	names, after := make(map[grouping.Key][]string), make(map[string][]string)
	for i := range 100_000 {
		track, step := i/1000%10, i/10_000
		key := grouping.Key{Index: int32(i / 100), Name: fmt.Sprintf("track-%d-%d", track, step)}
		names[key] = append(names[key], fmt.Sprintf("cluster-%06d", i))
		if step > 0 && i%1000 == 0 {
			after[key.Name] = []string{fmt.Sprintf("track-%d-%d", track, step-1), fmt.Sprintf("track-%d-%d", (track+1)%10, step-1)}
		}
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		b.Fatal(err)
	}
	order := rollout.Options{GroupOrder: after}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := exposure.Of(perGroup(config("2", "1h", 0)), groups, exposure.Span{Longest: time.Hour}, now, order); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExposeLayers has names where each group of one comes after all groups of the one before: n times n pairs.
func BenchmarkExposeLayers(b *testing.B) {
	for _, n := range []int{100, 200, 400, 800} {
		names, after := make(map[grouping.Key][]string), make(map[string][]string)
		for layer := range 2 {
			for i := range n {
				key := grouping.Key{Index: int32(layer*n + i), Name: fmt.Sprintf("layer-%d-%d", layer, i)}
				for j := range 3 + i%5 {
					names[key] = append(names[key], fmt.Sprintf("cluster-%d-%d-%d", layer, i, j))
				}
				for before := range layer * n {
					after[key.Name] = append(after[key.Name], fmt.Sprintf("layer-0-%d", before))
				}
			}
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			b.Fatal(err)
		}
		order := rollout.Options{GroupOrder: after}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := exposure.Of(perGroup(config("1", "1h", 0)), groups, exposure.Span{Longest: time.Hour}, now, order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// apart is n groups of a few clusters with names of their own. Each comes after a number of the groups before it, at random,
// or after half of them where that is 0.
func apart(tb testing.TB, n, before int) (*grouping.Groups, rollout.Options) {
	random := rand.New(rand.NewPCG(uint64(n), uint64(before)))
	names, after := make(map[grouping.Key][]string), make(map[string][]string)
	for i := range n {
		key := grouping.Key{Index: int32(i), Name: fmt.Sprintf("g%05d", i)}
		for j := range 1 + random.IntN(9) {
			names[key] = append(names[key], fmt.Sprintf("cluster-%05d-%d", i, j))
		}
		picked := random.Perm(i)
		if before > 0 {
			picked = picked[:min(i, before)]
		} else {
			picked = picked[:i/2]
		}
		for _, j := range picked {
			after[key.Name] = append(after[key.Name], fmt.Sprintf("g%05d", j))
		}
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		tb.Fatal(err)
	}
	return groups, rollout.Options{GroupOrder: after}
}

// BenchmarkExposeApart has groups whose predecessors are all different. The time per pair must hardly grow.
func BenchmarkExposeApart(b *testing.B) {
	for _, before := range []int{2, 10, 0} {
		for _, n := range []int{10, 100, 1_000} {
			groups, order := apart(b, n, before)
			b.Run(fmt.Sprintf("before=%d/n=%d", before, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := exposure.Of(perGroup(config("1", "1h", 0)), groups, exposure.Span{Longest: time.Hour}, now, order); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
