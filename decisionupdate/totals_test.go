package decisionupdate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// D4: what the updates of many worlds of full objects cost in total. For up to four objects the oracle says in the whole runs that
// no update is better. Here there is no oracle, so that many more worlds can be looked at than in the other tests of the inner loop, and
// none gets worse unnoticed. Whoever makes one better writes the new total here.
func TestUpdatesOfManyWorldsCostWhatTheyDid(t *testing.T) {
	for _, want := range []struct {
		objects, limit, bound, worlds int
		total                         cost
	}{
		{3, 2, 0, 100, cost{380, 23, 362}},
		{3, 2, 2, 100, cost{571, 142, 279}},
		{3, 2, 3, 100, cost{442, 72, 345}},
		{3, 2, 4, 100, cost{376, 39, 343}},
		{4, 3, 0, 20, cost{114, 7, 100}},
		{4, 3, 2, 20, cost{170, 43, 60}},
		{4, 3, 3, 20, cost{127, 18, 74}},
		{4, 3, 4, 20, cost{116, 15, 85}},
		{4, 1, 0, 100, cost{370, 47, 354}},
		{4, 1, 2, 100, cost{620, 166, 263}},
		{4, 1, 3, 100, cost{470, 91, 312}},
		{4, 1, 4, 100, cost{391, 51, 313}},
		{5, 3, 0, 100, cost{719, 85, 553}},
		{5, 3, 2, 100, cost{1161, 326, 298}},
		{5, 3, 3, 100, cost{864, 180, 393}},
		{5, 3, 4, 100, cost{810, 154, 461}},
		{5, 2, 0, 100, cost{652, 67, 486}},
		{5, 2, 2, 100, cost{1020, 269, 295}},
		{5, 2, 3, 100, cost{814, 164, 381}},
		{5, 2, 4, 100, cost{722, 112, 435}},
		{6, 4, 0, 100, cost{865, 85, 612}},
		{6, 4, 2, 100, cost{1408, 396, 300}},
		{6, 4, 3, 100, cost{1079, 232, 400}},
		{6, 4, 4, 100, cost{988, 188, 481}},
		{8, 5, 0, 100, cost{1286, 176, 812}},
		{8, 5, 2, 100, cost{1910, 549, 300}},
		{8, 5, 3, 100, cost{1500, 341, 400}},
		{8, 5, 4, 100, cost{1372, 281, 494}},
	} {
		t.Run(fmt.Sprintf("%d objects of at most %d clusters, within %d steps", want.objects, want.limit, want.bound), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5313, uint64(want.objects*100+want.limit*10+want.bound)))
			var total cost
			for range want.worlds {
				matrix, grouping := drawFull(rng, want.objects, want.limit)
				_, stored, desired := worldOfMatrix(matrix, grouping, want.limit)
				update, err := decisionupdate.DiffUpTo(stored, desired, within(want.bound), want.limit)
				if err != nil {
					t.Fatal(err)
				}
				if fullest(update) > want.limit {
					t.Fatalf("D9: %v %v: %d clusters in an object:\n%s", matrix, grouping, fullest(update), update)
				}
				got := costOf(update)
				total = cost{total.writes + got.writes, total.extras + got.extras, total.steps + got.steps}
			}
			if total != want.total {
				t.Errorf("%+v, want %+v", total, want.total)
			}
		})
	}
}

// drawFull draws objects that are full or nearly so, in groups, and where their clusters go.
func drawFull(rng *rand.Rand, objects, limit int) (matrix [][]int, grouping []int) {
	matrix, grouping = make([][]int, objects), make([]int, objects)
	for i := range matrix {
		matrix[i], grouping[i] = make([]int, objects), rng.IntN(1+rng.IntN(objects))
	}
	places := make([]int, 0, objects*limit)
	for i := range objects * limit {
		places = append(places, i/limit)
	}
	goals := append([]int(nil), places...)
	rng.Shuffle(len(goals), func(i, j int) { goals[i], goals[j] = goals[j], goals[i] })
	for i := range len(places) - rng.IntN(objects*limit/2+1) {
		matrix[places[i]][goals[i]]++
	}
	return matrix, grouping
}
