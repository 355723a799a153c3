// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// place says where one cluster of a small fleet is stored and desired; -1 is nowhere.
type place struct{ stored, desired int }

// smallFleet turns places into objects o0, o1, …: all of them stored and desired. Each is a group of its own, so that an object
// of the surge could serve only one of them: two writes where a surge takes one.
func smallFleet(objects int, places []place) (stored, desired []*clusterv1beta1.PlacementDecision) {
	for o := range objects {
		name := fmt.Sprintf("o%d", o)
		for _, list := range []*[]*clusterv1beta1.PlacementDecision{&stored, &desired} {
			pd := decision(name)
			pd.Labels[clusterv1beta1.DecisionGroupIndexLabel] = strconv.Itoa(o)
			*list = append(*list, pd)
		}
	}
	for c, p := range places {
		d := clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%d", c)}
		if p.stored >= 0 {
			stored[p.stored].Status.Decisions = append(stored[p.stored].Status.Decisions, d)
		}
		if p.desired >= 0 {
			desired[p.desired].Status.Decisions = append(desired[p.desired].Status.Decisions, d)
		}
	}
	return stored, desired
}

// search is an exhaustive search for updates. It knows nothing of surges and order: any object may be written at
// any time with any set of the clusters that it stores or desires. The only rules are D5, for every order of a
// step's writes, and the budget of writes and steps.
type search struct {
	allowed, want []uint // by object: clusters that it may have, and that it has in the end
	stay          []uint // each a cluster that is stored and desired, as a bit
}

func newSearch(objects int, places []place) (search, []uint) {
	s := search{allowed: make([]uint, objects), want: make([]uint, objects)}
	have := make([]uint, objects)
	for c, p := range places {
		bit := uint(1) << c
		if p.stored >= 0 {
			have[p.stored] |= bit
			s.allowed[p.stored] |= bit
		}
		if p.desired >= 0 {
			s.want[p.desired] |= bit
			s.allowed[p.desired] |= bit
		}
		if p.stored >= 0 && p.desired >= 0 {
			s.stay = append(s.stay, bit)
		}
	}
	return s, have
}

// possible reports whether the end can be reached with these numbers of writes and steps.
func (s search) possible(have []uint, writes, steps int) bool {
	open := 0
	for o := range have {
		if have[o] != s.want[o] {
			open++
		}
	}
	if open == 0 {
		return true
	}
	if open > writes || steps == 0 {
		return false
	}
	return s.step(have, append([]uint(nil), have...), 0, writes, writes, steps)
}

// step chooses what the objects from o on have after this step.
func (s search) step(have, next []uint, o, left, writes, steps int) bool {
	if o == len(have) {
		return left < writes && s.never5(have, next) && s.possible(next, left, steps-1)
	}
	next[o] = have[o]
	if s.step(have, next, o+1, left, writes, steps) {
		return true
	}
	if left == 0 {
		return false
	}
	for set := s.allowed[o]; ; set = (set - 1) & s.allowed[o] {
		if next[o] = set; set != have[o] && s.step(have, next, o+1, left-1, writes, steps) {
			return true
		}
		if set == 0 {
			break
		}
	}
	next[o] = have[o]
	return false
}

// never5 is D5 for one step: in the worst order all that goes has gone before anything comes, so some object
// must have the cluster before and after.
func (s search) never5(have, next []uint) bool {
	for _, bit := range s.stay {
		kept := false
		for o := range have {
			kept = kept || have[o]&next[o]&bit != 0
		}
		if !kept {
			return false
		}
	}
	return true
}

// D4: no update of any kind has fewer writes: for every fleet of three objects and three clusters, stored and
// desired anywhere or nowhere, and every fleet of four objects and four clusters that stay selected. Of these, three steps make a few
// take one more.
func TestNoUpdateHasFewerWrites(t *testing.T) {
	for _, world := range []struct {
		objects, clusters, nowhere int
	}{
		{3, 3, -1}, // clusters come and go, too
		{4, 4, 0},  // circles of two, three and four, chains, two circles with an object in common
	} {
		t.Run(fmt.Sprintf("objects=%d clusters=%d", world.objects, world.clusters), func(t *testing.T) {
			var kinds []place
			for s := world.nowhere; s < world.objects; s++ {
				for d := world.nowhere; d < world.objects; d++ {
					kinds = append(kinds, place{s, d})
				}
			}
			fleets, more := 0, 0
			combinations(kinds, world.clusters, func(places []place) {
				for _, steps := range []int{0, 2, 3} {
					if world.objects == 4 && steps == 3 && !exhaustive.On {
						continue
					}
					fleets++
					if writes, fewest := optimum(t, world.objects, places, steps); writes > fewest {
						if more++; steps != 3 || writes > fewest+1 {
							t.Fatalf("%v within %d steps: %d writes where %d would do", places, steps, writes, fewest)
						}
					}
				}
			})
			if t.Logf("%d fleets, one write more in %d", fleets, more); more*1000 > fleets*5 {
				t.Errorf("one write more in %d of %d fleets", more, fleets)
			}
		})
	}
}

// D4: larger fleets, drawn at random with a fixed seed, seldom have fewer writes.
func TestFewUpdatesHaveFewerWritesInRandomFleets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1346))
	got, want := 0, 0
	for range exhaustive.Of(8, 60, 400) {
		places := make([]place, 4+rng.IntN(4))
		for c := range places {
			places[c] = place{rng.IntN(5), rng.IntN(5)}
		}
		for _, steps := range []int{0, 2, 3, 4} {
			writes, fewest := optimum(t, 5, places, steps)
			if got, want = got+writes, want+fewest; writes > fewest+1 {
				t.Errorf("%v within %d steps: %d writes where %d would do", places, steps, writes, fewest)
			}
		}
	}
	if t.Logf("%d writes, the fewest are %d", got, want); got*100 > want*101 {
		t.Errorf("%d writes where %d would do", got, want)
	}
}

// optimum gives the writes of an update, and the fewest that there are.
func optimum(t *testing.T, objects int, places []place, steps int) (writes, fewest int) {
	t.Helper()
	stored, desired := smallFleet(objects, places)
	update, err := decisionupdate.Diff(stored, desired, within(steps))
	if err != nil {
		t.Fatal(err)
	}
	s, have := newSearch(objects, places)
	if steps == 0 {
		steps = 2 * objects // no object is written more often than that in an update with fewer writes
	}
	if !s.possible(have, update.Writes(), steps) {
		t.Fatalf("the search knows no update for %v within %d steps, so it is wrong:\n%s", places, steps, update)
	}
	for fewest = update.Writes(); fewest > 0 && s.possible(have, fewest-1, steps); {
		fewest--
	}
	return update.Writes(), fewest
}

// combinations calls visit with each choice of n kinds, in any order but with repetition.
func combinations(kinds []place, n int, visit func([]place)) {
	chosen := make([]place, 0, n)
	var choose func(from int)
	choose = func(from int) {
		if len(chosen) == n {
			visit(chosen)
			return
		}
		for k := from; k < len(kinds); k++ {
			chosen = append(chosen, kinds[k])
			choose(k)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
}

// edge is a cluster that moves from one object to another.
type edge = place

// fewestByTrial tries all sets of surged objects, straight from D4: an object is written for the last time when
// every object that its clusters go to has them, by an earlier step; a surged object has them from step 1 on.
// It returns the size of the smallest set that gets all written within steps.
func fewestByTrial(objects int, edges []edge, steps int) int {
	if steps == 0 {
		steps = 2 * objects
	}
	waits := make([]uint, objects)
	for _, e := range edges {
		waits[e.stored] |= 1 << e.desired
	}
	best := objects
	for surged := uint(0); surged < 1<<objects; surged++ {
		if bits.OnesCount(surged) >= best {
			continue
		}
		var there, done uint
		for range steps {
			now := done
			for o := range objects {
				if waits[o]&^there == 0 && (surged&(1<<o) == 0 || there&(1<<o) != 0) {
					now |= 1 << o
				}
			}
			done = now
			there = done | surged
		}
		if done == 1<<objects-1 {
			best = bits.OnesCount(surged)
		}
	}
	return best
}

func surges(update decisionupdate.Update) int {
	n := 0
	for _, step := range update.Steps {
		for _, w := range step {
			if w.Surge {
				n++
			}
		}
	}
	return n
}

func diffOf(t *testing.T, objects int, edges []edge, steps int) decisionupdate.Update {
	t.Helper()
	stored, desired := smallFleet(objects, edges)
	update, err := decisionupdate.Diff(stored, desired, within(steps))
	if err != nil {
		t.Fatal(err)
	}
	return update
}

func randomEdges(rng *rand.Rand, objects, n int) []edge {
	var edges []edge
	for range n {
		u := rng.IntN(objects)
		edges = append(edges, edge{u, (u + 1 + rng.IntN(objects-1)) % objects})
	}
	return edges
}

// D4: chains and circles of any length have the fewest writes that there are.
func TestChainsAndCirclesHaveTheFewestWrites(t *testing.T) {
	for n := 2; n <= 60; n++ {
		var chain []edge
		for o := range n - 1 {
			chain = append(chain, edge{o, o + 1})
		}
		for _, steps := range []int{0, 2, 3, 4, 7, 10, 59} {
			want := 0
			if steps > 0 && n > steps {
				want = (n - steps + steps - 2) / (steps - 1) // ⌈(n-s)/(s-1)⌉
			}
			if got := surges(diffOf(t, n, chain, steps)); got != want {
				t.Errorf("chain of %d within %d steps: %d surges, want %d", n, steps, got, want)
			}
			circle := 1
			if steps > 0 {
				circle = (n + steps - 2) / (steps - 1) // every stretch between two surges is at most s-1 long
			}
			if got := surges(diffOf(t, n, append(chain[:n-1:n-1], edge{n - 1, 0}), steps)); got != circle {
				t.Errorf("circle of %d within %d steps: %d surges, want %d", n, steps, got, circle)
			}
		}
	}
}

// D4: trees of more than twelve objects, whether clusters come from one object or go to one, are cut as a trial
// of all sets would.
func TestTreesHaveTheFewestWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 25 {
		const objects = 14
		var in, out []edge
		for o := 1; o < objects; o++ {
			parent := max(0, o-1-rng.IntN(4))
			in, out = append(in, edge{o, parent}), append(out, edge{parent, o})
		}
		for _, steps := range []int{2, 3, 4} {
			for _, edges := range [][]edge{in, out} {
				if got, want := surges(diffOf(t, objects, edges, steps)), fewestByTrial(objects, edges, steps); got != want {
					t.Errorf("%d surges, want %d within %d steps: %v", got, want, steps, edges)
				}
			}
		}
	}
}

// D4: for objects that hang together in any way, the update is good, not always best. This states how good, so that it can't get worse
// unnoticed.
func TestLargerFleetsComeCloseToTheFewestWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, steps := range []int{0, 2, 3, 5} {
		got, want, worst := 0, 0, 0
		for range 30 {
			objects := 6 + rng.IntN(9)
			edges := randomEdges(rng, objects, objects+rng.IntN(2*objects))
			update := diffOf(t, objects, edges, steps)
			fewest := fewestByTrial(objects, edges, steps)
			got += update.Writes()
			want += update.Writes() - surges(update) + fewest
			worst = max(worst, surges(update)-fewest)
		}
		t.Logf("within %d steps: %d writes, the fewest are %d (%.1f%% more); at worst %d more in a fleet", steps, got, want, 100*float64(got-want)/float64(want), worst)
		if got*100 > want*102 || worst > 1 {
			t.Errorf("within %d steps: %d writes where %d would do; %d more in one fleet", steps, got, want, worst)
		}
	}
}

// D4: a surge that others make unnecessary is left out, also where there are too many moves to look for such. The
// circles are k1-k2, k1-k3, k2-k4 and k3-k5: k1 has most ways through it, but k2 and k3 break all of them.
func TestSurgeIsNeverForNoCluster(t *testing.T) {
	var edges []edge
	for _, circle := range [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 4}} {
		edges = append(edges, edge{circle[0], circle[1]}, edge{circle[1], circle[0]})
	}
	const first, objects = 5, 2705 // the others hand a cluster to each of the next hundred, in no circle
	edges = append(edges, edge{3, first})
	for o := first; o < objects; o++ {
		for next := o + 1; next <= o+99 && next < objects; next++ {
			edges = append(edges, edge{o, next})
		}
	}
	stored, desired := smallFleet(objects, edges)
	for i := range stored { // names in the order of the numbers
		stored[i].Name = fmt.Sprintf("k%05d", i+1)
		desired[i].Name = stored[i].Name
	}
	if update := mustDiff(t, stored, desired, rolling); surges(update) != 2 || update.Writes() != objects+2 {
		t.Errorf("%d surges, %d writes, want 2 and %d", surges(update), update.Writes(), objects+2)
	}
}
